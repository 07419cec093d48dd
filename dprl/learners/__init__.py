"""Learners: one file each, one line each here. A planner sees released counts only, by its signature."""

from dprl.learners.elimination import sdp_pe, sdp_pe_relaxed
from dprl.learners.elimination.sdp_pe import PolicyElimination
from dprl.learners.tabular import dp_ucbvi, private_ucb_vi, pucb, ucbvi, ucbvi_hoeffding
from dprl.learners.tabular.planner import Algorithm, Problem

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
