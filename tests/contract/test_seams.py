"""Nothing outside a registry asks what kind of learner, statistic, schedule or spec it has before it."""

from __future__ import annotations

import ast
import re

from dprl import ALGORITHMS, OFFLINE
from dprl.simulation import KINDS
from dprl.simulation.loops import LOOPS
from tests.problems import ROOT

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
            found += [node.lineno] * bool(RECORDS & {*re.findall(r"\w+", ast.unparse(node.args[1]))})
        elif isinstance(node, ast.Compare):
            keys = any(isinstance(n, ast.Constant) and n.value in KEYS for n in ast.walk(node))
            sides = [ast.unparse(n) for n in (node.left, *node.comparators)]
            asked = {name for side in sides for name in re.findall(r"(?<=[.'])\w+(?=']$|$)", side)}
            found += [node.lineno] * (keys and bool(asked & ASKED))
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
