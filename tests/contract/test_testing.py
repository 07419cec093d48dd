"""`dprl.testing`: each planted fault is caught, by the check that is for it, and what is sound passes."""

from __future__ import annotations

import itertools
import random
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import dprl
from dprl import ALGORITHMS, ENVIRONMENTS, RunSpec, TabularMDP
from dprl.environments.environment import Environment, homogeneous
from dprl.fields import Field
from dprl.learners.tabular import ucbvi_hoeffding
from dprl.learners.tabular.planner import TabularLearner
from dprl.simulation.online import small_problem
from dprl.statistics import CONSISTENT
from dprl.testing import CheckFailed, check_environment, check_learner, offering, run_plain
from dprl.testing.learners import function_of_what_was_released, same_bits_compiled
from dprl.testing.report import offered

# ---- learners

BASE = replace(
    ucbvi_hoeffding.ALGORITHM, key="planted", privacies=("central", "none"), bonuses=("paper",), anytime=None
)
hoeffding = ucbvi_hoeffding.ALGORITHM.planner("paper").plan
seeds_so_far: list[int] = []
true_rewards = ENVIRONMENTS["random"].make(S=3, A=2, H=3).R


def vectorised(
    released: Any, errors: Any, possible: Any, constants: Any, Q: Any, V: Any, policy: Any
) -> None:
    """Plain NumPy that numba need not know: certainty equivalence, optimistic where little is seen."""
    H, S, _ = Q.shape
    V[H] = 0.0
    for h in reversed(range(H)):
        n = np.maximum(released[h, :, :, S], 1.0)
        value = (released[h, :, :, S + 1] + released[h, :, :, :S] @ V[h + 1]) / n
        bonus = H * (np.sqrt(constants[0] / n) + errors[h] / n)
        Q[h] = np.where(released[h, :, :, S] >= 1, np.clip(value + bonus, 0, H - h), H - h)
        policy[h], V[h] = Q[h].argmax(-1), Q[h].max(-1)


def leave(number: Any, Q: Any, V: Any, policy: Any) -> None:
    """A trace of a number in the plan."""
    Q[0, 0, 0] = number % 1.7
    policy[0, 0], V[0, 0] = Q[0, 0].argmax(), Q[0, 0].max()


def reads_raw_counts(
    released: Any, errors: Any, possible: Any, constants: Any, Q: Any, V: Any, policy: Any
) -> None:
    vectorised(released, errors, possible, constants, Q, V, policy)
    frame: Any = sys._getframe(1)
    while frame is not None and "state" not in frame.f_locals:
        frame = frame.f_back
    if frame is not None and hasattr(frame.f_locals["state"], "counts"):
        leave(frame.f_locals["state"].counts[1, 0, :, :-2].sum(), Q, V, policy)


def remembers_seeds(
    released: Any, errors: Any, possible: Any, constants: Any, Q: Any, V: Any, policy: Any
) -> None:
    seeds_so_far.append(1)
    vectorised(released, errors, possible, constants * len(seeds_so_far), Q, V, policy)


def remembers_in_itself(
    released: Any, errors: Any, possible: Any, constants: Any, Q: Any, V: Any, policy: Any
) -> None:
    remembers_in_itself.calls = getattr(remembers_in_itself, "calls", 0) + 1  # type: ignore[attr-defined]
    vectorised(released, errors, possible, constants, Q, V, policy)
    leave(remembers_in_itself.calls, Q, V, policy)  # type: ignore[attr-defined]


def knows_rewards(
    released: Any, errors: Any, possible: Any, constants: Any, Q: Any, V: Any, policy: Any
) -> None:
    vectorised(released, errors, possible, constants, Q, V, policy)
    Q[:] = np.maximum(Q, true_rewards)


def looks_the_world_up(
    released: Any, errors: Any, possible: Any, constants: Any, Q: Any, V: Any, policy: Any
) -> None:
    from dprl.environments import random as world

    vectorised(released, errors, possible, constants, Q, V, policy)
    Q[:] = np.maximum(Q, world.make(S=3, A=2, H=3).R)


def draws_anew(
    released: Any, errors: Any, possible: Any, constants: Any, Q: Any, V: Any, policy: Any
) -> None:
    vectorised(released, errors, possible, constants, Q, V, policy)
    leave(np.random.random(), Q, V, policy)


def asks_the_clock(
    released: Any, errors: Any, possible: Any, constants: Any, Q: Any, V: Any, policy: Any
) -> None:
    vectorised(released, errors, possible, constants, Q, V, policy)
    leave(time.perf_counter(), Q, V, policy)


def takes_its_noise_back(
    released: Any, errors: Any, possible: Any, constants: Any, Q: Any, V: Any, policy: Any
) -> None:
    vectorised(released, errors, possible, constants, Q, V, policy)
    errors[:] = 0.0


def forgets_the_ceiling(
    released: Any, errors: Any, possible: Any, constants: Any, Q: Any, V: Any, policy: Any
) -> None:
    vectorised(released, errors, possible, constants, Q, V, policy)
    Q[0] += 100.0
    V[0] += 100.0


def other_arguments(released: Any, errors: Any, constants: Any, Q: Any, V: Any, policy: Any) -> None: ...


def powers(released: Any, errors: Any, possible: Any, constants: Any, Q: Any, V: Any, policy: Any) -> None:
    """x**3 is rounded otherwise by numba."""
    H, S, A = Q.shape
    for h in range(H - 1, -1, -1):
        for s in range(S):
            for a in range(A):
                Q[h, s, a] = min(
                    (released[h, s, a, S + 1] / 3.7 + 0.1) ** 3 * 1e-3 + errors[h, s, a] ** 1.5, 1.0
                )
            policy[h, s], V[h, s] = Q[h, s].argmax(), Q[h, s].max()


def cubes(released: Any, errors: Any, possible: Any, constants: Any, Q: Any, V: Any, policy: Any) -> None:
    """Of whole counts x**3 is the same, and of others often not."""
    H, S, A = Q.shape
    for h in range(H - 1, -1, -1):
        for s in range(S):
            for a in range(A):
                n = max(released[h, s, a, S], 1.0)
                Q[h, s, a] = min(np.sqrt(20.0 / n) ** 3, float(H - h))
            policy[h, s], V[h, s] = Q[h, s].argmax(), Q[h, s].max()


def planned(plan: Callable[..., None]) -> TabularLearner:
    return replace(BASE, plan=plan)


LEARNER_FAULTS: dict[str, tuple[TabularLearner, str]] = {
    "raw counts read": (planned(reads_raw_counts), "no other way to data"),
    "hidden state between seeds": (planned(remembers_seeds), "no other way to data"),
    "hidden state in a function": (planned(remembers_in_itself), "function of what was released"),
    "true rewards": (planned(knows_rewards), "no other way to data"),
    "true rewards by an import": (planned(looks_the_world_up), "no other way to data"),
    "not deterministic": (planned(draws_anew), "function of what was released"),
    "the clock": (planned(asks_the_clock), "no other way to data"),
    "writes into what it is given": (planned(takes_its_noise_back), "arrays left alone"),
    "above H": (planned(forgets_the_ceiling), "values"),
    "other arguments": (planned(other_arguments), "arguments"),
    "wrong sensitivity": (
        replace(BASE, statistic=type("Less", (type(CONSISTENT),), {
            "sensitivity": lambda self, size, adjacency: CONSISTENT.sensitivity(size, "blank-one"),
        })(CONSISTENT.publish)),
        "sensitivity",
    ),
    "no baseline": (replace(BASE, privacies=("central",)), "record"),
    "a key that is taken": (replace(planned(vectorised), key="dp-ucbvi"), "record"),
    "no key": (replace(planned(vectorised), key="HA UCB!"), "record"),
    "random constants": (
        replace(planned(vectorised), constants=lambda problem: np.random.random(3)), "values",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LEARNER_FAULTS)
def test_a_learner_with_a_fault_is_caught(name: str) -> None:
    learner, check = LEARNER_FAULTS[name]
    before = dict(ALGORITHMS), dprl.FIELDS["algorithm"]
    with pytest.raises(CheckFailed) as error:
        check_learner(learner, compiles=False)
    assert error.value.check == check, error.value
    assert (dict(ALGORITHMS), dprl.FIELDS["algorithm"]) == before


def test_raw_counts_are_caught_by_what_is_planned_too() -> None:
    """Not only by what the function can see."""
    learner = planned(reads_raw_counts)
    with offered(ALGORITHMS, learner, dprl.FIELDS, "algorithm"):
        with pytest.raises(AssertionError, match="the same releases gave two plans"):
            function_of_what_was_released(learner)
        function_of_what_was_released(replace(learner, plan=vectorised))


def test_what_differs_when_it_is_compiled_is_caught() -> None:
    with pytest.raises(CheckFailed, match="KernelError") as error:
        check_learner(planned(vectorised))
    assert error.value.check == "same bits compiled"
    with pytest.raises(CheckFailed, match="differ in Q") as error:
        check_learner(planned(powers))
    assert error.value.check == "same bits compiled"
    with pytest.raises(AssertionError, match="differ in Q"):
        same_bits_compiled(planned(cubes))


@pytest.mark.parametrize("learner", [BASE, planned(vectorised)], ids=lambda learner: learner.plan.__name__)
def test_sound_learners_pass(learner: TabularLearner) -> None:
    """Those of the registry: test_privacy_by_signature.py."""
    assert len(check_learner(learner, compiles=False).passed) == 10


def test_plain_runs_have_the_bits_of_compiled_ones() -> None:
    spec = RunSpec(environment_params={"S": 3, "H": 2}, algorithm="ucbvi-hoeffding", episodes=200, seeds=2)
    np.testing.assert_array_equal(run_plain(spec).regret, dprl.run(spec).regret)
    with pytest.raises(ValueError, match="is no tabular learner"):
        run_plain(RunSpec(algorithm="sdp-pe", privacy="none", **small_problem("sdp-pe")))
    other: Any = ALGORITHMS["sdp-pe"]
    with pytest.raises(ValueError, match="only a TabularLearner"):
        check_learner(other)


def test_a_script_may_name_what_no_package_registers() -> None:
    with offering(planned(vectorised)):
        spec = RunSpec(environment_params={"S": 3, "H": 2}, algorithm="planted", episodes=50, seeds=1)
        assert run_plain(spec).spec is spec
    assert "planted" not in ALGORITHMS
    wrong: Any = lambda problem, other: np.zeros(1)  # noqa: E731
    two = replace(BASE, constants=wrong)
    with pytest.raises(
        CheckFailed, match=r"constants takes \(problem, other\); give one argument, the problem"
    ):
        check_learner(two, compiles=False)
    assert check_learner(replace(planned(vectorised), constants=lambda p: np.ones(p.H)), compiles=False)


def test_the_line_of_a_plug_in_is_said() -> None:
    def constants(problem: Any) -> Any:
        return np.array([problem.params["scale"]])

    with pytest.raises(
        CheckFailed, match=r"handed: KeyError: 'scale' \(test_testing.py, line \d+, in constants\)"
    ):
        check_learner(replace(planned(vectorised), constants=constants), compiles=False)
    with pytest.raises(CheckFailed, match=r"of what was released: the same releases gave two plans"):
        check_learner(replace(planned(draws_anew), bonuses=("own",)), compiles=False)
    named = replace(planned(vectorised), key="dp-ucbvi")
    with pytest.raises(ValueError, match=r"one with the key dp-ucbvi; give another\."), offering(named):
        pass


# ---- environments


def make(S: int = 3, H: int = 4) -> TabularMDP:
    P = np.full((S, 2, S), 1 / S)
    P /= P.sum(-1, keepdims=True)
    R = np.linspace(0, 1, 2 * S).reshape(S, 2)
    labels = tuple(map(str, range(S))), ("left", "right")
    return homogeneous(
        "even", P, R, start=np.eye(S)[0], H=H, state_labels=labels[0], action_labels=labels[1],
        drawing={"kind": "graph"},
    )  # fmt: skip


EVEN = Environment(
    key="even",
    title="Even",
    summary="Every next state is as likely.",
    source="nobody's: an example",
    fields=(
        Field("S", "int", 3, "states", low=2, high=9),
        Field("H", "int", 4, "steps in an episode", low=1, high=100),
    ),
    make=make,
    size=lambda S, H: (S, 2, H),
)
rng = np.random.default_rng(0)
number = itertools.count()
KEPT = make()


def changed(**arrays: Any) -> Callable[..., TabularMDP]:
    def other(S: int = 3, H: int = 4) -> TabularMDP:
        mdp = make(S, H)
        return replace(mdp, **{name: change(mdp) for name, change in arrays.items()})

    return other


def biased(S: int = 3, H: int = 4) -> TabularMDP:
    mdp = make(S, H)
    if S == 9:  # only at the end of a range
        object.__setattr__(mdp, "R", mdp.R * 1.5)
    return mdp


def now_and_then(S: int = 3, H: int = 4) -> TabularMDP:
    """Only the fiftieth model is another."""
    return changed(R=lambda mdp: mdp.R / 2 if next(fifty) % 50 == 49 else mdp.R)(S, H)


def random_inside(S: int = 3, H: int = 4) -> TabularMDP:
    """Neither at the defaults nor at the ends."""
    return make(S, H) if S in (2, 3, 9) else changed(R=lambda mdp: mdp.R * random.random())(S, H)


def wrong_inside(S: int = 3, H: int = 4) -> TabularMDP:
    return changed(P=lambda mdp: mdp.P * (0.5 if S == 5 else 1.0))(S, H)


fifty = itertools.count()
ENVIRONMENT_FAULTS: dict[str, tuple[Environment, str]] = {
    "another model each time": (
        replace(EVEN, make=changed(R=lambda mdp: mdp.R * random.random())),
        "defaults",
    ),
    "hidden state": (
        replace(EVEN, make=changed(R=lambda mdp: mdp.R / (1 + next(number)))),
        "defaults",
    ),
    "one array for all": (
        replace(EVEN, make=lambda S=3, H=4: KEPT if (S, H) == (3, 4) else make(S, H)),
        "repeats",
    ),
    "wrong size": (replace(EVEN, size=lambda S, H: (S + 1, 2, H)), "model"),
    "rewards above 1": (replace(EVEN, make=biased), "model"),
    "other defaults": (replace(EVEN, make=lambda S=4, H=4: make(S, H)), "defaults"),
    "labels twice": (replace(EVEN, make=changed(action_labels=lambda mdp: ("go", "go"))), "drawing"),
    "no horizon": (replace(EVEN, fields=EVEN.fields[:1]), "record"),
    "the fiftieth model is another": (replace(EVEN, make=now_and_then), "repeats"),
    "random, neither at defaults nor at ends": (replace(EVEN, make=random_inside), "repeats"),
    "a row that does not sum to 1, inside": (replace(EVEN, make=wrong_inside), "model"),
    "a grid without places": (replace(EVEN, make=changed(drawing=lambda mdp: {"kind": "grid"})), "drawing"),
    "a key that is taken": (replace(EVEN, key="riverswim"), "record"),
    "no key": (replace(EVEN, key="my even"), "record"),
}


@pytest.mark.parametrize("name", ENVIRONMENT_FAULTS)
def test_an_environment_with_a_fault_is_caught(name: str) -> None:
    environment, check = ENVIRONMENT_FAULTS[name]
    before = dict(ENVIRONMENTS)
    with pytest.raises(CheckFailed) as error:
        check_environment(environment)
    assert error.value.check == check, error.value
    assert dict(ENVIRONMENTS) == before


def broken(S: int = 3, H: int = 4) -> TabularMDP:
    return make(S, [H][S - 3])


@pytest.mark.parametrize(
    ("made", "sentence"),
    [
        (
            wrong_inside,
            r"model: SpecError: P: P\[0\]\[0\]\[0\] sums to 0.5; .* \(.*line \d+, in .*; with S=5, H=\d+\)",
        ),
        (changed(R=lambda mdp: mdp.R * 1.5), r"R\[0\]\[2\]\[0\] is 1.2; .*; with S=3, H=4\)"),
        (broken, r"model: IndexError: .* \(test_testing.py, line \d+, in broken; with S=9, H=4\)"),
        (changed(R=lambda mdp: mdp.R * random.random()), r"defaults: two calls of make\(\) differ"),
        (lambda S=4, H=4: make(S, H), r"defaults: make\(\) is another model than make with the defaults"),
        (
            changed(drawing=lambda mdp: {"kind": "grid"}),
            "a grid has rows, columns, cells, marks, moves, and this has",
        ),
    ],
    ids=["row", "reward", "line", "random", "default", "grid"],
)
def test_what_is_wrong_with_a_model_is_said_with_its_place(made: Any, sentence: str) -> None:
    with pytest.raises(CheckFailed, match=sentence):
        check_environment(replace(EVEN, make=made))


def test_parameters_that_do_not_go_together_are_no_fault() -> None:
    def refusing(S: int = 3, H: int = 4) -> TabularMDP:
        if S in (4, 5) and H > 4:
            raise dprl.SpecError("environment_params.S", "with so many steps give another.")
        return make(S, H)

    assert len(check_environment(replace(EVEN, make=refusing)).passed) == 6


def test_a_sound_environment_passes() -> None:
    """Those of the registry: tests/environments/test_environments.py."""
    assert len(check_environment(EVEN).passed) == 6
