"""Algorithms: one file each, one line each here. A planner sees released counts only, by its signature."""

from dprl.algorithms import dp_ucbvi, private_ucb_vi, pucb, ucbvi, ucbvi_hoeffding
from dprl.algorithms.algorithm import Algorithm, Problem

ALGORITHMS: dict[str, Algorithm] = {
    a.key: a
    for a in (
        dp_ucbvi.ALGORITHM,
        pucb.ALGORITHM,
        private_ucb_vi.ALGORITHM,
        ucbvi.ALGORITHM,
        ucbvi_hoeffding.ALGORITHM,
        pucb.UBEV,
    )
}

__all__ = ["ALGORITHMS", "Algorithm", "Problem"]
