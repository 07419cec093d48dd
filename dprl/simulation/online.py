"""The functions that run online specs and compute their privacy guarantee, which is known before a run starts."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dprl.engine import KernelError
from dprl.engine.compiler import on_disk
from dprl.environments import ENVIRONMENTS
from dprl.fields import SpecError
from dprl.mdp import planning
from dprl.privacy.accounting import group_epsilon, scaled, separation_of, zcdp_of
from dprl.simulation import axes, cost, kinds, replay
from dprl.simulation.details import SeedTrace
from dprl.simulation.kinds import Run
from dprl.simulation.loops import loop_of
from dprl.simulation.prepare import guarantee_of
from dprl.simulation.spec import AXIS, MEASURE, RunSpec

DELTAS = tuple(10.0 ** (-k / 2) for k in range(20, 2, -1))  # 1e-10 to 0.03
FALSE = tuple(np.linspace(0.0, 1.0, 101))  # shares of false accusations
FACTORS = (4.0, 2.0, 1.4, 1.0, 0.7, 0.5, 0.3)  # multiples of the noise, for comparison


def start(spec: RunSpec, seed: int) -> Run:
    """Prepare one seed of a run in its learner's loop. Raises SpecError if a kernel cannot be compiled."""
    try:
        return loop_of(spec)(spec, seed)
    except KernelError as error:
        raise SpecError("algorithm", f"{spec.algorithm} cannot run: numba cannot compile {error}.") from None


def compiles(spec: RunSpec) -> bool:
    """Return whether numba has to compile a run's kernels on this machine before the first result."""
    loop = loop_of(spec)
    return bool(loop.lack(spec)) and not on_disk(loop.kernel)


def v_star(spec: RunSpec) -> float:
    """Return V*, the exact expected reward of one episode under an optimal policy."""
    mdp = ENVIRONMENTS[spec.environment].make(**spec.environment_params)
    return float(planning.start_value(mdp, planning.optimum(mdp).V))


def promise(spec: RunSpec) -> dict[str, Any] | None:
    """Return the privacy guarantee for a run's least protected user (replace-one), or None without privacy.

    Returns:
        deltas, epsilons: the proved pairs (epsilon, delta).
        false, missed: a test that accuses a share `false` of users falsely misses at least a share `missed` of the
            true cases (f-DP: f(x) >= 1 - delta - e^epsilon x for every proved pair).
        right: the best attacker's probability of guessing which of two equally likely worlds is true.
        rho: the rho of zero-concentrated privacy, or None if it is unknown.
        separation: the separation of the best attacker's scores.
        separations, measures: for FACTORS of this noise, the separation and the epsilon proved at `delta`.
        delta: the spec's delta, at which an attack is measured.
    """
    noise = loop_of(spec).noise_of_run(spec)
    places = noise.losses()
    if not places:
        return None
    delta = spec.delta or 0.0
    worst = max(places, key=separation_of)
    pairs = [(d, noise.epsilon(d)) for d in DELTAS]
    pairs = [(d, epsilon) for d, epsilon in pairs if math.isfinite(epsilon)]
    rho = max(map(zcdp_of, places))
    most = max(epsilon for _, epsilon in pairs)
    tangents = [(e, noise.delta(e)) for e in np.linspace(0.0, most, 40)]  # proved pairs, from epsilon = 0
    others, group = [scaled(worst, f) for f in FACTORS], noise.group
    proved = [(group * separation_of(less), group_epsilon(less, group, delta)) for less in others]
    return {
        "deltas": [d for d, _ in pairs],
        "epsilons": [epsilon for _, epsilon in pairs],
        "false": list(FALSE),
        "missed": [_missed(tangents, x) for x in FALSE],
        "right": (1 + tangents[0][1]) / 2,
        "rho": rho if math.isfinite(rho) else None,
        "separation": noise.separation,
        "separations": [d for d, _ in proved],
        "measures": [epsilon for _, epsilon in proved],
        "delta": delta,
    }


def _missed(tangents: list[tuple[float, float]], false: float) -> float:
    """Return a lower bound on the false negative rate of a test whose false positive rate is `false`."""
    found = [0.0]
    for epsilon, delta in tangents:
        found += [1 - delta - math.exp(epsilon) * false, math.exp(-epsilon) * (1 - delta - false)]
    return max(found)


kinds.register(
    RunSpec,
    start=start,
    estimate=lambda spec: cost.estimate(spec.work(spec.mechanism)),
    trace=SeedTrace,
    axis=AXIS,
    measure=MEASURE,
    axes=axes.axes,
    along=axes.along,
    compiles=compiles,
    questions={
        "guarantee": lambda spec: guarantee_of(spec, loop_of(spec).noise_of_run(spec)).to_dict(),
        "v_star": v_star,
        "promise": promise,
        replay.QUESTION: replay.replayed,
    },
)
