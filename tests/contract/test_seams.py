"""Nothing outside a registry asks what kind of learner, statistic, schedule or spec it has before it."""

from __future__ import annotations

import ast
from pathlib import Path

from dprl import ALGORITHMS, OFFLINE
from dprl.simulation import KINDS
from dprl.simulation.loops import LOOPS
from dprl.simulation.schedules import SCHEDULES

ROOT = Path(__file__).parents[2]
RECORDS = {
    "Learner", "TabularLearner", "EliminationLearner", "OfflineLearner", "OfflineSpec", "OfflineRun",
    "Counts", "Dataset", "Statistic", "Schedule", "Kind", "RunSpec", "Spec",
    "SeedRun", "EliminationRun", "SeedTrace", "FeatureGram", "ValueIterationLearner", "BatchRun",
}  # fmt: skip
KEYS = {*ALGORITHMS, *OFFLINE, *LOOPS, *KINDS, *(a.schedule for a in ALGORITHMS.values() if a.schedule)}
ASKED = {"algorithm", "loop", "kind", "key", "schedule"}  # attributes and fields that hold such keys


def offences(source: str) -> list[int]:
    """Lines that test a type of RECORDS, or compare one of ASKED with a key."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("isinstance", "issubclass"):
            names = {n.id for n in ast.walk(node.args[1]) if isinstance(n, ast.Name)}
            names |= {n.attr for n in ast.walk(node.args[1]) if isinstance(n, ast.Attribute)}
            if names & RECORDS:
                found.append(node.lineno)
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            keys = any(
                isinstance(n, ast.Constant) and n.value in KEYS for side in sides for n in ast.walk(side)
            )
            asked = {n.attr for n in sides if isinstance(n, ast.Attribute)}
            asked |= {
                str(n.slice.value)
                for n in sides
                if isinstance(n, ast.Subscript) and isinstance(n.slice, ast.Constant)
            }
            if keys and asked & ASKED:
                found.append(node.lineno)
    return found


def test_nobody_asks() -> None:
    # a module has the loops of one family
    allowed = {
        ("dprl/simulation/replay.py", "if not isinstance(spec, RunSpec):"),
        ("dprl/simulation/replay.py", "if not isinstance(learner, TabularLearner):"),
    }
    found = []
    ours = [*(ROOT / "dprl").rglob("*.py"), *(ROOT / "pages").rglob("*.py")]
    # dprl.testing asks what it was given to check
    for file in sorted(file for file in ours if "testing" not in file.relative_to(ROOT).parts):
        source = file.read_text(encoding="utf-8")
        name = file.relative_to(ROOT).as_posix()
        for line in offences(source):
            text = source.splitlines()[line - 1].strip()
            if (name, text) not in allowed:
                found.append(f"{name}:{line}: {text}")
    assert found == []


def test_each_learner_names_a_loop_and_each_schedule_its_key() -> None:
    assert {a.loop for a in ALGORITHMS.values()} == LOOPS.keys()
    assert all(SCHEDULES[key].key == key for key in SCHEDULES)
