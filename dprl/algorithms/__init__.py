"""Algorithms: one file each, one line each here. A planner sees released counts only, by its signature."""

from dprl.algorithms import dp_ucbvi, private_ucb_vi, pucb, sdp_pe, sdp_pe_relaxed, ucbvi, ucbvi_hoeffding
from dprl.algorithms.algorithm import Algorithm, Problem
from dprl.algorithms.sdp_pe import PolicyElimination

ALGORITHMS: dict[str, Algorithm | PolicyElimination] = {
    a.key: a
    for a in (
        dp_ucbvi.ALGORITHM,
        pucb.ALGORITHM,
        private_ucb_vi.ALGORITHM,
        ucbvi.ALGORITHM,
        ucbvi_hoeffding.ALGORITHM,
        pucb.UBEV,
        sdp_pe.ALGORITHM,
        sdp_pe.APEVE,
        sdp_pe_relaxed.ALGORITHM,
        sdp_pe_relaxed.APEVE,
    )
}

__all__ = ["ALGORITHMS", "Algorithm", "PolicyElimination", "Problem"]
