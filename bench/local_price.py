"""Whether the price of local privacy stops growing: python -m bench.local_price (docs/notes/local-price.md).

Every environment of `bench.everywhere` but Gymnasium's, whose runs are far from settled; `python -m bench.local_price
gymnasium` has these. 10^15 users at epsilon = 1, with one-hot questions: rows that count only users who were told to
play them, and rows that count all. The price is the regret beyond that of the same seed without privacy.
`python -m bench.bundled local-price` keeps for the page what is printed.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from bench import everywhere
from dprl import RunSpec, run
from dprl.curves import RunCurves
from dprl.metrics import growth_by_decade

PROBLEMS = [one for one in everywhere.PROBLEMS if one[0] != "gymnasium"]
SEEDS = 10
USERS = 10**15
DECADES = 3  # exponents are given for the last ones
SETTLED = 1e-9  # of V*, which the last policy loses at most where a seed has settled


def rows(problems: Sequence[everywhere.Problem] = PROBLEMS) -> Iterator[dict[str, Any]]:
    """For each environment and whose reports a row has: the mean price, the exponent of each of the last decades with
    its 95% t interval over seeds, the last one first, and how many seeds have settled."""
    for environment, params in problems:
        told: dict[str, Any] = {
            "environment": environment,
            "environment_params": params,
            "episodes": USERS,
            "seeds": SEEDS,
        }
        bare = run(RunSpec(**told, privacy="none"))
        twin = RunCurves(bare.episodes, bare.regret)
        for reports in ("played", "all"):
            found = run(RunSpec(**told, privacy="local", mechanism="unary", reports=reports))
            price = RunCurves(found.episodes, found.regret).beyond(twin)
            decades = growth_by_decade(found.episodes, price)[: -DECADES - 1 : -1]
            yield {
                "environment": environment,
                "params": params,
                "reports": reports,
                "price": float(f"{np.mean(price[:, -1]):.4g}"),
                "exponents": [[round(x, 4) for x in (d.mean, d.low, d.high)] for d in decades],
                "seeds": [d.seeds for d in decades],
                "settled": sum(bool(one.gap[-1] <= SETTLED * one.v_star) for one in found.seeds),
                "of": SEEDS,
            }


def main() -> int:
    print("environment | reports | price | exponents of decades, the last one first | settled")
    others = [one for one in everywhere.PROBLEMS if one not in PROBLEMS]
    for row in rows(others if "gymnasium" in sys.argv[1:] else PROBLEMS):
        exponents = "; ".join(f"{mean:.3f} ({low:.3f} to {high:.3f})" for mean, low, high in row["exponents"])
        told = f"{row['environment']} {row['params'] or ''}"
        print(
            f"{told} | {row['reports']} | {row['price']:.3g} | {exponents} | {row['settled']}/{row['of']}",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
