"""The papers' bounds (on regret, mistakes, or the loss of a policy learned from data), each as a record.

A bound is a sum of products of powers, so its value, formula and growth all come from one table of exponents.
The papers write O~(.) and Omega(.): constants are set to 1 here, and logarithms too, except if a formula states
them as part of its result. So only slopes, ratios and crossing points are meaningful, not a bound's height.

Everything is stated in episodes: T = K*H steps where a paper counts steps (QW23-online: sqrt(S*A*H^2*T) is
H^(3/2)*sqrt(S*A*K)); V20 and L21 count episodes already, and V20 calls them T. A data set's K trajectories are n in the
tabular part of QW23-offline. No bound is cut off at K*H.

Papers: QW23-online (Qiao, Wang, AISTATS 2023), QW23-offline (Qiao, Wang, NeurIPS 2023), V20 (Vietri, Balle,
Krishnamurthy, Wu, ICML 2020), L21 (Luyo, Garcelon, Lazaric, Pirotta, 2021), B25 (Bai, Talebi, Zhao, Cheng, Chen, 2025).
This package imports nothing from dprl except words.
"""

from __future__ import annotations

from dprl.theory.bound import BOUNDS, Bound, BoundSetting, BoundTerm

# Bounds that are not among them, with the reason, as shown next to the tables.
LEFT_OUT = (
    "Three bounds for private algorithms are left out, because we read only the abstracts of the papers. Ngo, Vietri "
    "and Wu (2022) and Sahu (2025) state √K for linear MDPs with a trusted curator. He and Zhou (2026) report gaps in "
    "recent proofs of this kind. Liao, He and Gu (2021) state K^(3/4) for linear mixtures with no trusted party."
)

__all__ = ["BOUNDS", "LEFT_OUT", "Bound", "BoundSetting", "BoundTerm"]
