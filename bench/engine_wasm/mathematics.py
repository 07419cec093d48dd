"""Compile logarithms and exponentials for WebAssembly so that they give the same bits as the GNU C library.

`log` and `exp` of the GNU C library are Arm's routines, compiled for a processor that multiplies and adds with one
rounding (`fma`). The C library that zig comes with has the same routines; `log1p` and `expm1` are in elementary.c. A
compiler puts `fma` into such code where it may: a product that is only used in one sum becomes part of the sum.
WebAssembly has no `fma`, so there no compiler does. This file does, in LLVM code, and fma.h has an exact one.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import ziglang

LIBRARY = Path(ziglang.__file__).parent / "lib" / "libc" / "musl"
HERE = Path(__file__).parent
FMA, ELEMENTARY, QUICK = HERE / "fma.h", HERE / "elementary.c", HERE / "quick.c"
ROUTINES = ("log", "log_data", "exp", "exp_data")
# Names of our own: the C library that is linked has others of the same name.
RENAMED = {"log": "gnu_log_exact", "exp": "gnu_exp", "__log_data": "gnu_logs", "__exp_data": "gnu_exps"}
SETTINGS = (
    "-O2",
    "-g0",
    "-S",
    "-emit-llvm",
    "-ffp-contract=fast",
    "-Wno-unused-command-line-argument",
    "-D__FP_FAST_FMA=1",
    "-Dhidden=",
    *(f"-D{old}={new}" for old, new in RENAMED.items()),
)


def zig(*arguments: str) -> None:
    """Run zig's C compiler for WebAssembly. Raises CalledProcessError if it fails."""
    command = [sys.executable, "-m", "ziglang", "cc", "-target", "wasm32-wasi", *arguments]
    subprocess.run(command, check=True)


def routines(folder: Path) -> list[Path]:
    """Compile the C routines to LLVM code in `folder`, with fused multiply-adds as in the GNU C library; return the
    files."""
    made = []
    own = LIBRARY / "src" / "math"
    folders = [f"-I{folder}" for folder in (own, LIBRARY / "src" / "internal", LIBRARY / "arch" / "generic")]
    headers = (*folders, "-include", str(FMA))
    for source in (*(own / f"{name}.c" for name in ROUTINES), ELEMENTARY, QUICK):
        path = folder / f"{source.stem}.ll"
        zig(*SETTINGS, *headers, str(source), "-o", str(path))
        path.write_text(contracted(path.read_text(encoding="utf-8")), encoding="utf-8")
        made.append(path)
    return made


PRODUCT = re.compile(r"^  (%[\w.]+) = fmul contract double (\S+), (\S+)$")
SUM = re.compile(r"^  (%[\w.]+) = f(add|sub) contract double (\S+), (\S+)$")
DEFINE = re.compile(r"^define .*?^}$", re.MULTILINE | re.DOTALL)


def contracted(code: str) -> str:
    """Replace each product whose only use is a sum by a fused multiply-add (`fma`); of two products in a sum, only
    the first."""
    return DEFINE.sub(lambda function: _contracted(function.group()), code)


def _contracted(function: str) -> str:
    lines = function.split("\n")
    products: dict[str, tuple[int, str, str]] = {}
    for i, line in enumerate(lines):
        if found := PRODUCT.match(line):
            products[found[1]] = (i, found[2], found[3])
    once = {name for name in products if len(re.findall(rf"{re.escape(name)}(?![\w.])", function)) == 2}
    for i, line in enumerate(lines):
        if not (found := SUM.match(line)):
            continue
        made, kind, left, right = found.groups()
        minus, subtracted = f"%minus.{made[1:]}", kind == "sub"
        if left in once:
            at, x, y = products[left]
            rest, negated = (minus, f"  {minus} = fneg double {right}\n") if subtracted else (right, "")
        elif right in once:
            at, x, y = products[right]
            rest, negated = left, f"  {minus} = fneg double {x}\n" if subtracted else ""
            x = minus if subtracted else x
        else:
            continue
        lines[at] = ""
        lines[i] = f"{negated}  {made} = call double @gnu_fma(double {x}, double {y}, double {rest})"
    return "\n".join(lines)
