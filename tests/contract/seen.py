"""What a function can see: its arguments, what it closes over, its globals, and those of what it calls."""

from __future__ import annotations

import dis
import gc
import inspect
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import BuiltinFunctionType, CodeType, MethodType
from typing import Any

import numpy as np

from dprl.learners.tabular.planner import TabularLearner
from dprl.mdp import Size
from dprl.mdp.structure import every_state
from dprl.mdp.tabular import Array
from dprl.simulation import RunSpec, SeedRun
from dprl.statistics import REPLACE_ONE
from dprl.testing.report import require
from tests.problems import finished

HOLDERS = dict, list, tuple, set, frozenset, MethodType
LIBRARIES = ("numpy", "math", "scipy", "numba", "builtins", "typing")  # they hold nothing of a run


def no_other_way(functions: Iterable[Callable[..., Any]], modules: Sequence[str]) -> None:
    """Nothing is closed over, by them or by what they call; globals are constants, and functions of these modules."""
    pending, seen = list(functions), set[Callable[..., Any]]()

    def inside(module: str, allowed: Sequence[str]) -> bool:
        return any(f"{module}.".startswith(f"{one}.") for one in allowed)

    while pending:
        function = pending.pop()
        if function in seen:
            continue
        seen.add(function)
        where = function.__qualname__
        require(not function.__closure__, f"{where} closes over {', '.join(function.__code__.co_freevars)}")
        kept = (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values())
        require(
            all(isinstance(value, int | float | str | None) for value in kept),
            f"{where} keeps an object as the default of an argument",
        )
        for code in _codes(function.__code__):
            for module in _named(code, "IMPORT_NAME"):
                fine = inside(module, LIBRARIES) or inside(module, modules)
                require(fine, f"{where} imports {module} while it runs")
            for name in _named(code, "LOAD_GLOBAL"):
                if name not in function.__globals__:
                    continue
                value = function.__globals__[name]
                if inspect.isfunction(value):
                    if not inside(value.__module__, LIBRARIES):
                        require(inside(value.__module__, modules), f"{where} calls {value.__module__}.{name}")
                        pending.append(value)
                elif inspect.ismodule(value):
                    held = inside(value.__name__, LIBRARIES) or inside(value.__name__, modules)
                    require(held, f"{where} can see the module {value.__name__}")
                else:
                    require(
                        isinstance(value, int | float | str | type | BuiltinFunctionType | np.ufunc),
                        f"{where} can see the global {name}, which is a {type(value).__name__}: what it holds can "
                        "differ between runs",
                    )


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _named(code: CodeType, operation: str) -> set[str]:
    return {str(i.argval) for i in dis.get_instructions(code) if i.opname == operation}


def only_known(given: Iterable[Any], known: Sequence[Array], hidden: Sequence[Array]) -> None:
    """Of what a planner is given, arrays outside its own record are known ones, and none is a part of hidden ones."""
    for argument in given:
        for array in argument if isinstance(argument, tuple) else [argument]:
            if isinstance(array, np.ndarray):
                own = isinstance(argument, tuple) or any(array is one for one in known)
                require(own, "it is given an array that was not released")
                shared = any(np.shares_memory(array, one) for one in hidden)
                require(not shared, "it is given an array that shares memory with data")


def reachable(root: Any) -> list[Any]:
    """Everything that can be got at from an object: attributes, items, what functions close over."""
    found: list[Any] = []
    seen: set[int] = set()
    pending = [root]
    while pending:
        value = pending.pop()
        if (
            id(value) in seen
            or inspect.ismodule(value)
            or isinstance(value, type | str | bytes | int | float)
        ):
            continue
        seen.add(id(value))
        found.append(value)
        if isinstance(value, np.ndarray):
            pending += [value.base] * (value.base is not None)
        elif inspect.isfunction(value):
            pending += [cell.cell_contents for cell in value.__closure__ or ()]
        elif isinstance(value, HOLDERS) or type(value).__module__.startswith("dprl."):
            pending += gc.get_referents(value)
    return found


# ---- a tabular learner


def sensitivity(learner: TabularLearner) -> None:
    """One user who is replaced moves the statistic by no more than it says, of all pairs of trajectories in a small
    problem."""
    small = Size(2, 1, 2)
    for bonus in learner.bonuses:
        seen_by = learner.seen(bonus)
        stated = seen_by.sensitivity(small, REPLACE_ONE)
        users = [user_of(small, seen_by.visits, seen_by.reward, *one) for one in trajectories_of(small)]
        moved = [a - b for a, b in itertools.combinations(users, 2)]
        l1 = max(float(np.abs(move).sum()) for move in moved)
        l2 = max(float((move * move).sum()) for move in moved)
        for name, most, said in (("L1 norm", l1, stated.l1), ("squared L2 norm", l2, stated.l2_squared)):
            require(most <= said * (1 + 1e-12), f"one user moves an {name} of {most:g}, and it says {said:g}")


def trajectories_of(size: Size) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    states = itertools.product(range(size.S), repeat=size.H + 1)
    return itertools.product(states, itertools.product((0, 1), repeat=size.H))


def user_of(
    size: Size, visits: float, reward: float, states: tuple[int, ...], paid: tuple[int, ...]
) -> Array:
    """What a user of one action adds to the counts, in the units in which they are released."""
    added = np.zeros((size.H, size.S, size.S + 2))
    for h, (s, x) in enumerate(itertools.pairwise(states)):
        added[h, s, x] += 1.0
        added[h, s, size.S] += visits
        added[h, s, size.S + 1] += reward * paid[h]
    return added


def handed(learner: TabularLearner) -> None:
    """Every array that plan and schedule are called with is the loop's array of released counts, or the learner's own;
    with privacy none shares memory with true counts."""
    world: Any = {"environment": "random", "environment_params": {"S": 3, "A": 2, "H": 3}}
    world |= {"schedule": "geometric:0.3", "episodes": 300, "seeds": 1}
    spec = RunSpec(algorithm=learner.key, privacy=learner.privacies[0], bonus=learner.bonuses[-1], **world)
    run, private = SeedRun(spec, 0, plain=True), spec.privacy != "none"
    state, setup = run.state, run.setup
    calls = {"plan": 0, "next_release": 0}

    def watched(name: str, known: list[Any], call: Callable[..., Any]) -> Callable[..., Any]:
        def called(*given: Any) -> Any:
            calls[name] += 1
            hidden = (state.counts, state.noisy) if private else ()
            only_known((x for x in given if isinstance(x, np.ndarray)), known, hidden)
            others = [x for x in given if not isinstance(x, np.ndarray | int | float | np.integer)]
            kinds = ", ".join(type(x).__name__ for x in others)
            require(not others, f"{name} is handed a {kinds}; constants have to be an array of floats")
            return call(*given)

        return called

    possible = run.model.possible
    np.testing.assert_array_equal(possible, every_state(run.mdp.S))  # nothing is declared
    own = [state.errors, possible, setup.constants, state.Q, state.V, state.policy]
    pace = [state.released, state.pace, setup.settings, possible, state.policy]
    run._kernels = run._kernels._replace(
        plan=watched("plan", [state.released, *own], run._kernels.plan),
        next_release=watched("next_release", pace, run._kernels.next_release),
    )
    finished(run)
    require(calls["plan"] == state.position[0] > 5, "it was not asked for a plan at each release")
    require(calls["next_release"] == calls["plan"] - 1, "the last release is not that of the last user")
