"""What a page without a server costs: python -m bench.one_page

Of runs at three numbers of users each: CPU seconds to prepare them, in an interpreter of their own with compiled
kernels, and their size in the page, with all values of epsilon and with their own alone. Then the whole page of two.
"""

from __future__ import annotations

import gzip
import subprocess
import sys
import time
from typing import Any

from dprl.figures.looks import CurveStyle
from dprl.player import PlayedCurve, Shown, player_page, sizes_of
from dprl.player.content import content
from dprl.simulation import RunSpec, run
from dprl.wasm.replay import replayed

CENTRAL = RunSpec(episodes=10**9)
RUNS = {"central": CENTRAL, "shuffle": CENTRAL.replace(privacy="shuffle")}


def packed(spec: RunSpec, found: dict[str, Any]) -> int:
    """Bytes, as they stand in a page but for the signs that they are written with."""
    curve = PlayedCurve(spec, spec.privacy, spec.privacy, CurveStyle(spec.privacy), {spec.episodes: found})
    return len(gzip.compress(content([curve], Shown()), 9))


def measure(name: str) -> None:
    """Prepare a run at all its sizes, and say what that took."""
    spec = RUNS[name]
    run(spec.replace(episodes=1000, seeds=1))  # kernels are there
    for size in sizes_of(spec):
        begin = time.process_time()
        sized = spec.replace(episodes=size)
        found = replayed(sized)
        seconds = time.process_time() - begin
        whole, alone = packed(sized, found), packed(sized, found | {"stops": found["stops"][:1]})
        print(
            f"{name}, K = {size:.0e}: {seconds:.1f} CPU s; {whole / 1000:.1f} kB, "
            f"of which all epsilons but one {(whole - alone) / 1000:.1f} kB"
        )


def main() -> None:
    """Measure each, and make the page."""
    for name in RUNS:
        subprocess.run([sys.executable, "-m", "bench.one_page", name], check=True)
    curves = [
        PlayedCurve(
            spec,
            name,
            name,
            CurveStyle(name),
            {n: replayed(spec.replace(episodes=n)) for n in sizes_of(spec)},
        )
        for name, spec in RUNS.items()
    ]
    print(f"a page of both: {len(player_page('Runs', '', curves, Shown(), footer='')) / 1e6:.2f} MB")


if __name__ == "__main__":
    measure(sys.argv[1]) if len(sys.argv) > 1 else main()
