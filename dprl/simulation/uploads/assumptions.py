"""The assumptions on the guarantee card of a release: some for privacy, others for the bound alone."""

from __future__ import annotations

from dprl.privacy.guarantee import DRAWN

ASSUMPTIONS = (
    "states, actions, horizon, rewards and their range are declared by the owner, not read off the data. The number of "
    "trajectories is public",
    "each user is in the file once, and only the declared number of steps counts. What is not declared counts as the "
    "last declared label or the nearest reward",
    "for the bound, not for privacy: users are independent of each other. What comes next depends on a user's "
    "past only through the declared state, step and action",
    "what noise of another scale releases of the same data set comes on top: ρ adds up. The same scale again is the "
    "same noise",
    "only what was released is private: not the file, nor that it was accepted or refused, nor its fitted model",
    DRAWN,
)

PEOPLE = (  # in place of the first where a column says whose an episode is; of the third, where that may be several
    "states, actions, horizon, rewards and their range are declared by the owner, not read off the data. The number of "
    "users is public, and how many episodes each of them has is not",
    "of each user the first episodes in the file count, as many as declared, whatever is in them. What is not "
    "declared counts as the last declared label or the nearest reward",
    "for the bound, not for privacy: a user's episodes stand in the order of time. What comes next depends on "
    "all that came before, earlier episodes included, only through the declared state, step and action",
)

START = "for the bound, not for privacy: episodes begin as declared, which was not computed from the file"
ESTIMATED_START = (
    "for the bound, not for privacy: future users begin as those in the file did; how they begin is estimated from the "
    "released counts of the first step"
)
ALIKE = (
    "for the bound, not for privacy: how likely each next state is, and each mean reward, is the same at every step, "
    "as declared. Where it is not, nothing is proved of the bound. What users held out say does not rest on it"
)

APART = (
    "each user is learned from or held out, by a coin that does not look at them. What is released of the two groups "
    "is about different users, so both together cost one user the larger of the two budgets"
)
