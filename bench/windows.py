"""What a shuffler's windows of batches gain and lose, on all environments of Users needed.

    python -m bench.windows [--only ledge]

For every environment, budget and loss that `assets/users.json` has: how many users it takes with rows of the last
batches (`reports="recent"`), and how many times fewer that is than with everybody's reports, which the file has. At the
end the median, and in how many numbers windows take more.
"""

from __future__ import annotations

import argparse

import numpy as np

from bench.kinds import DRAWN
from bench.users import DRAWN_EPSILONS, EACH, EPSILONS, LOSSES, MEASURED, drawn, needed
from dprl.users import Table
from pages.shared.results.bundled import asset


def main() -> None:
    """Print a line for each environment and budget, then what they say together."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default="", help="environments whose key has this in it")
    given = parser.parse_args()
    table, found = Table.from_dict(asset("users")), []
    measured = [(case, table.problems[case.key]) for case in MEASURED]
    measured += [(case, table.drawn[case.key]) for _, case in drawn(DRAWN, EACH)]
    print(
        f"environment | epsilon | times fewer users, at losses {', '.join(f'{loss:.0%}' for loss in LOSSES)}"
    )
    for case, known in measured:
        if given.only not in case.key:
            continue
        for row, epsilon in enumerate(EPSILONS if case in MEASURED else DRAWN_EPSILONS):
            windows = needed(case.spec("shuffle", epsilon).replace(reports="recent"))
            fewer = known.needed["shuffle"][row] / windows
            found += fewer[np.isfinite(fewer)].tolist()
            print(f"{case.key} | {epsilon:g} | {', '.join(f'{x:.2g}' for x in fewer)}", flush=True)
    fewer = np.array(found)
    print(
        f"{len(fewer):,} numbers: median {np.median(fewer):.2g}, from {fewer.min():.2g} to {fewer.max():.2g}; more "
        f"users in {(fewer < 1).sum()}"
    )


if __name__ == "__main__":
    main()
