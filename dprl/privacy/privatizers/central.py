"""Central privatizer: a trusted agent sees trajectories and releases noisy counts (joint DP)."""

from __future__ import annotations

from dprl.privacy.guarantee import REPLACE_ONE, SIMULATION, UNIT, Guarantee
from dprl.privacy.mechanisms import MECHANISMS, levels, make_leaves
from dprl.privacy.privatizers.privatizer import Noise, Privatizer, Request, scaled

TRUST = "The agent sees every trajectory and is trusted; all that leaves it (policies for other users) is private."


def prepare(request: Request) -> Noise:
    """Three families of counters (n, m, r), each with a third of the budget (QW23-online 5.1).

    A user touches one counter of a family at each of H steps and L nodes of its tree: node scale 3HL/epsilon.
    The leaves of the tree are the users 1..K, whatever the release times.
    """
    mechanism = MECHANISMS[request.mechanism]
    leaves = make_leaves(request.times)
    L = levels(request.K)
    scale = 3 * request.H * L / request.epsilon
    bound, std = scaled(mechanism, leaves, scale, request)
    guarantee = Guarantee(
        model="JDP",
        trust=TRUST,
        unit=UNIT,
        adjacency=REPLACE_ONE,
        mechanism=mechanism.title,
        where="in the agent: in every node of a binary tree over users, one tree for each counter of n, m and r",
        noise_formula=f"Laplace(3HL/epsilon) in each node, L = floor(log2 K) + 1 = {L}",
        noise_scale=scale,
        noise_std=float(std.max()),
        claimed_epsilon=request.epsilon,
        claimed_delta=0.0,
        # Replacing a user takes one unit out of a counter and puts one into another, at each step and in
        # each family: L1 = 2H a family, where the paper counts H (right for adding or removing a user).
        proved_epsilon=2 * request.epsilon,
        proved_delta=0.0,
        assumptions=(
            "the agent is trusted",
            "a user's own actions are not protected from that user's own data (joint privacy, billboard lemma)",
            SIMULATION,
        ),
        sources=("QW23-online section 5.1", "Chan, Shi, Song 2011, Algorithm 2", "V20 Algorithm 2"),
    )
    return Noise(mechanism, leaves, scale, bound, std, guarantee)


PRIVATIZER = Privatizer(
    key="central",
    title="Central (JDP)",
    summary="A trusted agent adds noise to running sums; every user but oneself is protected from all others.",
    trust=TRUST,
    source="QW23-online section 5.1",
    mechanisms=("laplace-tree",),
    calibrations=("paper",),
    prepare=prepare,
)
