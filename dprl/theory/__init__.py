"""The papers' bounds on regret, on mistakes, and on the loss of a policy learned from data.

A bound is a sum of products of powers. The papers write O~(.) and Omega(.), so we set constants to 1, and logarithms
too unless a paper states them as part of its result. So only slopes, ratios and crossing points are meaningful.

All bounds are in episodes, and none is cut off at K*H. If a paper counts steps, we replace T by K*H: in QW23-online,
sqrt(S*A*H^2*T) becomes H^(3/2)*sqrt(S*A*K). V20 calls episodes T, and the tabular part of QW23-offline calls a data
set's K trajectories n. Short names such as V20 are explained in papers.toml.
"""

from dprl.theory.bound import BOUNDS, Bound, BoundSetting

# Shown next to the tables of bounds.
LEFT_OUT = (
    "Three bounds for private algorithms are left out, because we read only the abstracts of the papers. Ngo, Vietri "
    "and Wu (2022) and Sahu (2025) state √K for linear MDPs with a trusted curator. He and Zhou (2026) report gaps in "
    "recent proofs of this kind. Liao, He and Gu (2021) state K^(3/4) for linear mixtures with no trusted party."
)
