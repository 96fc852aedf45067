"""Kinds of diagnostics: what each means, and where that is explained."""

from __future__ import annotations

from lsprotocol.types import DiagnosticSeverity

PAGE = "https://github.com/warpwatt/warpwatt/blob/main/docs/how-to/editor.md"
NOTABLE = 0.05
"""Share of the kernel's time from which on a line's trouble is a warning."""

EXPLANATIONS = {
    "uncoalesced-access": "The lanes of a warp touch more 32-byte sectors than their data fill.",
    "bank-conflicts": "Lanes of a warp use one bank of shared memory at different addresses and take turns.",
    "divergence": "Lanes of a warp take different ways, and those not taken sit idle.",
    "spills": "Registers do not suffice, and values go through local memory.",
    "low-occupancy": "Few warps are resident, so that little hides the latency of each.",
    "idle-sms": "The grid does not fill the GPU evenly.",
    "launch": "A launch cannot be predicted as it is described.",
    "execution": "The kernel fails when it runs with this launch.",
    "compile": "The compiler refuses the source.",
    "settings": "A setting cannot be used.",
    "gpu": "A GPU cannot be predicted for.",
    "setup": "Something that predictions need is missing.",
    "too-large": "The text is larger than what is analysed.",
    "internal": "A bug of WarpWatt.",
}
"""Code to what it means; the page of documentation has a section for each."""
QUIET = frozenset({"low-occupancy", "idle-sms"})
"""Codes that inform and never warn: often there is nothing to be done."""


def address(code: str) -> str:
    """Return where a code is explained."""
    return f"{PAGE}#{code}"


def severity(code: str, share: float) -> DiagnosticSeverity:
    """Return how grave a remark is at a line that takes this share of the time."""
    if code in QUIET or share < NOTABLE:
        return DiagnosticSeverity.Information
    return DiagnosticSeverity.Warning
