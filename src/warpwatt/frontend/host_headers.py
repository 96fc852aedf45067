"""Stand-ins for host headers under NVRTC: most are empty, some (``headers/``) hold constants of device code.

Values are those of the C standard's limits for NVIDIA's 64-bit data model (CUDA C++ Programming Guide,
"Built-in types"; ISO C, 5.2.4.2).
"""

from __future__ import annotations

from pathlib import Path

_FOLDER = Path(__file__).with_name("headers")


def _read() -> dict[str, str]:
    """Return the text of each header under its name in C and in C++, ``math.h`` and ``cmath``."""
    texts = dict.fromkeys((_FOLDER / "empty.txt").read_text(encoding="utf-8").split(), "#pragma once\n")
    for file in _FOLDER.glob("*.h"):
        texts[file.name] = texts[f"c{file.stem}"] = file.read_text(encoding="utf-8")
    return texts


HOST_HEADERS = _read()
"""Text of every header that NVRTC gets from us instead of from the system."""
