"""Native code loads however far apart its sections are put: in a process of its own, because LLVM aborts."""

import subprocess
import sys

FAR = """
import mmap, random
from warpwatt.emulate.native.llvm import compile_text, load

text = '''@table = private constant [4 x double] zeroinitializer
declare double @exp(double)
define i64 @f(i64 %x) {
  %p = getelementptr double, ptr @table, i64 %x
  %y = load double, ptr %p
  %e = call double @exp(double %y)
  %r = fptosi double %e to i64
  ret i64 %r
}'''
code, kept, draw = compile_text(text), [], random.Random(1)
reserve = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000  # MAP_NORESERVE
for _ in range(100):
    kept.append(mmap.mmap(-1, draw.choice([1 << 20, 3 << 30, 40 << 30, 1 << 14]), flags=reserve))
    kept.append(load([code]))
    if draw.random() < 0.3:
        kept.pop(draw.randrange(len(kept)))
print("loaded")
"""


def test_sections_may_lie_far_apart() -> None:
    done = subprocess.run([sys.executable, "-c", FAR], capture_output=True, text=True, check=False)
    assert done.stdout == "loaded\n", done.stderr[-500:]
