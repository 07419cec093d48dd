"""The registries of online and offline learners, which learn only from released statistics."""

from dprl.learners.elimination import sdp_pe, sdp_pe_relaxed
from dprl.learners.learner import NEEDED, PUBLIC, Learner, Problem
from dprl.learners.linear import lsvi_ucb, ucrl_vtr, ucrl_vtr_plus
from dprl.learners.offline import apvi, dp_pevi, kl_lcb, pevi, plug_in, vapvi
from dprl.learners.offline.learner import OfflineLearner
from dprl.learners.tabular import (
    dp_ucbvi,
    ldp_obi,
    private_ucb_po,
    private_ucb_vi,
    pucb,
    ucbvi,
    ucbvi_hoeffding,
)
from dprl.plugins import Registry

ALGORITHMS: Registry[Learner] = Registry(
    (a.key, a)
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
        ucrl_vtr.ALGORITHM,
        ucrl_vtr_plus.ALGORITHM,
        lsvi_ucb.ALGORITHM,
        private_ucb_po.ALGORITHM,
        private_ucb_po.UCB_PO,
        ldp_obi.ALGORITHM,  # add new ones at the end: the position sets the line style of all curves
    )
)

OFFLINE: Registry[OfflineLearner] = Registry(
    (a.key, a)
    for a in (
        apvi.DP_APVI,
        apvi.APVI,
        vapvi.DP_VAPVI,
        vapvi.VAPVI,
        pevi.PEVI,
        dp_pevi.DP_PEVI,
        kl_lcb.KL_LCB,
        plug_in.PLUG_IN,
    )
)
