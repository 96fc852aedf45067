"""Follow SKILL.md: rank candidates step by step, take what is sure, and say what each step gained.

Run ``python optimise.py [GPU]`` in this folder. Only ``warpwatt rank`` and ``predict --format brief``
are asked; no GPU is.
"""

from __future__ import annotations

import json
import subprocess
import sys

STEPS = (
    ("small_blocks.cu", "warp_per_row.cu", "block_per_row.cu"),
    ("reciprocal.cu", "fast_exponential.cu", "in_registers.cu"),
    ("vectors.cu", "small_blocks_in_registers.cu"),
)
"""What an agent wrote after reading the answers before: each changes one thing."""


def warpwatt(*words: str) -> dict:
    """Return what a command says as JSON."""
    done = subprocess.run(["warpwatt", *words], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def main(gpu: str = "h200") -> None:
    """Print a table of the steps."""
    best = "softmax.cu"
    begun = None
    print("| step | limited by, before | candidates | decision | time | energy |")
    print("|---|---|---|---|---|---|")
    for number, candidates in enumerate(STEPS, 1):
        brief = warpwatt("predict", best, "--gpu", gpu, "--format", "brief")["predictions"][0]
        begun = begun or brief
        ranking = warpwatt("rank", best, *candidates, "--gpu", gpu, "--format", "json")["rankings"][0]
        if ranking["decision"] == "take":
            best = ranking["take"]
        told = {one["name"]: one for one in ranking["order"]}[best]
        print(
            f"| {number} | {brief['limited_by']} | {', '.join(candidates)} | {ranking['sentence']} "
            f"| {told['time']['value'] * 1e6:.1f} µs | {told['energy']['value'] * 1e3:.2f} mJ |"
        )
    gain = begun["time_s"]["value"] / told["time"]["value"]
    saved = begun["energy_j"]["value"] / told["energy"]["value"]
    print(f"\n{best}: {gain:.1f} times faster, {saved:.1f} times less energy than softmax.cu")


if __name__ == "__main__":
    main(*sys.argv[1:])
