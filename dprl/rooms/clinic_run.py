"""How learning goes on once a class has played the clinic: the same algorithm, from what the class released.

The class is the first block of a run, made of real reports instead of simulated ones: the state after it is set, and
the loop goes on with simulated users. The true counts of the class are nowhere, so what it released stands as the noise
of counts of nobody; every sum that is released later is the same. What its users lost is the expectation under the
policy that they followed, which is public.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from dprl.mdp.tabular import Array
from dprl.rooms.clinic import ENVIRONMENT, PARAMETERS, released
from dprl.simulation import RunSpec, start
from dprl.simulation.loops.play import Record, follow, note, note_release
from dprl.simulation.loops.replan import SeedRun
from dprl.simulation.loops.replan_kernels import learn
from dprl.statistics.played import look_up

USERS = 10**9
SIMULATED = ("none", "central", "shuffle")  # which play all of their users in the simulator


def spec_of(privacy: str, epsilon: float) -> RunSpec:
    """The run of a class under this kind of trust, mechanisms as they are by default: locally `unary`, `played`."""
    budget = {} if privacy == "none" else {"epsilon": epsilon}
    return RunSpec(
        environment=ENVIRONMENT,
        environment_params=PARAMETERS,
        privacy=privacy,
        episodes=USERS,
        seeds=1,
        **budget,  # type: ignore[arg-type]
    )


def after_class(reports: Sequence[str], epsilon: float) -> str:
    """What becomes of learning after so many reports, as JSON: `n`; `lost`, of each kind of trust the share of the
    best possible reward that one more patient would lose right after n; `advice`, what the algorithm would tell that
    patient after the class, [H, S]; `same`, whether it is what it told the class; and `curves`, of each kind
    the points [users, share lost until then]."""
    n = len(reports)
    own = begin_after(spec_of("local", epsilon), released(reports, epsilon), n)
    advice = np.array(own.state.policy)
    best = float(own.mdp.d1 @ own.setup.V_star)
    lost = {"local": gap(own) / best}
    curves = {"local": curve(own, best)}
    for privacy in SIMULATED:
        run = cast(SeedRun, start(spec_of(privacy, epsilon), 0))
        curves[privacy] = curve(run, best)
        record = run.record
        lost[privacy] = float(record.gap[np.searchsorted(record.users, n)]) / best
    return json.dumps(
        {"n": n, "lost": lost, "advice": advice.tolist(), "same": not advice.any(), "curves": curves}
    )


def begin_after(spec: RunSpec, counts: Array, n: int) -> SeedRun:
    """The run after its first n users, of whom only `counts` [H, S, A, S + 2] was released."""
    run = cast(SeedRun, start(spec, 0))
    setup, state = run.setup, run.state
    kernels, record = run.kernels, run.arguments(0, 0)["record"]
    lose_until(n, setup, state, record, gap(run))
    state.noise[:] = (counts / setup.scales).reshape(-1)
    state.noisy[:] = counts
    state.leaves[1] = n
    look_up(n, setup, state)
    state.pace[:] = np.maximum(state.errors, setup.hidden)
    kernels.publish(state.noisy, state.errors, setup.rows, state.released)
    state.position[0] = 1
    state.position[2] = np.searchsorted(setup.ends, n)
    note_release(setup, state, record)
    learn(kernels.plan, n, run.model, setup, state, state.policy)
    follow(run.model, state)
    return run


def lose_until(n: int, setup: Any, state: Any, record: Record, loss: float) -> None:
    """The first n users follow one policy, which loses so much in expectation; points of the curve on the way."""
    position = state.position
    while (target := setup.targets[position[4]]) < n:
        state.totals[0] = target * loss
        note(position[3], target, setup, state, record)
        position[3] += 1
        position[4] += 1
    state.totals[0] = n * loss
    position[1] = n


def gap(run: SeedRun) -> float:
    """What a user loses in expectation under the policy at hand."""
    return float(run.mdp.d1 @ np.maximum(run.setup.V_star - run.state.value[0], 0.0))


def curve(run: SeedRun, best: float) -> list[tuple[int, float]]:
    """[users, share of the best possible reward lost until then, on average] once the run is at its end."""
    while not run.advance(1.0):
        pass
    record = run.record
    shares = record.regret / (record.users * best)
    return [(int(users), round(float(share), 6)) for users, share in zip(record.users, shares, strict=True)]
