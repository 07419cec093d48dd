"""What a static checker, and so an editor, sees of the API: by mypy's own words, of a script that also runs."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.test_api import FUNCTIONS, example_of

ROOT = Path(__file__).parents[1]
# Each line that ends in a comment is asked for its type, which the comment says.
SCRIPT = """
import numpy as np
import dprl

online = dprl.RunSpec(environment_params={"S": 3, "H": 2}, episodes=10, seeds=1)
data = dprl.OfflineSpec(environment_params={"S": 3, "H": 2}, n=10, seeds=1)
run, batch = dprl.run(online), dprl.run(data)

run.spec  # RunSpec
run.spec.epsilon  # float | None
run.spec.baseline()  # RunSpec
run.seeds[0]  # SeedTrace
run.seeds[0].spec  # RunSpec
batch.spec  # OfflineSpec
batch.spec.n  # int
batch.seeds[0].lower  # ndarray
dprl.run({"seeds": 1, "episodes": 10})  # Trace[SeedTrace] | Trace[OfflineTrace]
dprl.compare([run, batch]).traces  # Mapping[str, Trace[TraceCore[Spec]]]
dprl.compare({"a": run, "b": batch}).frame()  # DataFrame
dprl.Sweep(online, {"epsilon": [1.0]}).base  # RunSpec
dprl.Sweep(data, {"rho": np.logspace(-1, 1, 3), "S": range(3, 5)}).specs  # tuple[OfflineSpec, ...]
dprl.Sweep({"seeds": 1}, {"epsilon": [1.0]}).base  # RunSpec | OfflineSpec | UploadSpec | AttackSpec
run.plot("regret")  # Picture
run.plot().table  # DataFrame
dprl.from_gymnasium("FrozenLake-v1", 5)  # TabularMDP
read = dprl.spec_from_json(online.to_json())
read  # RunSpec | OfflineSpec | UploadSpec | AttackSpec
read.baseline().to_json()  # str
dprl.run(read)  # Trace[SeedTrace] | Trace[OfflineTrace] | Trace[UploadTrace] | Trace[AttackTrace]
if isinstance(read, dprl.RunSpec):
    read.replace(seeds=1).epsilon  # float | None

model = dprl.TabularMDP("coin", np.ones((1, 1, 1, 1)), np.ones((1, 1, 1)), np.ones(1), ("s",), ("a",))
dprl.RunSpec(model).environment  # str
dprl.Budget("of test_types").name  # str
dprl.OFFLINE["dp-kl-lcb"].title  # str
try:
    dprl.RunSpec(epsilon=-1)
except dprl.SpecError as error:
    error.field  # str


def read_results(
    result: dprl.SweepResult[dprl.RunSpec], beside: dprl.Comparison, policy: dprl.Policy, own: dprl.UploadSpec
) -> None:
    result.select(epsilon=0.3)  # Trace[Any]
    beside.summary()  # DataFrame
    policy.states  # tuple[str, ...]
    own.rho  # float | None


def swept(sweep: dprl.Sweep[dprl.RunSpec]) -> dprl.SweepResult[dprl.RunSpec]:
    sweep.run().plot("privacy cost")  # Picture
    sweep.run().curves  # Mapping[RunSpec, RunCurves]
    return sweep.run()


async def later() -> None:
    (await dprl.run_async(online)).spec  # Any
"""


@pytest.mark.thorough
def test_mypy_completes_specs_and_takes_what_runs(tmp_path: Path) -> None:
    exec(compile(SCRIPT, "script", "exec"), {})
    lines, asked = [], list[str]()
    for line in SCRIPT.splitlines():
        if told := re.fullmatch(r"( *)(.+)  # (.+)", line):
            asked.append(told[3])
            line = f"{told[1]}reveal_type({told[2]})"
        lines.append(line)
    examples = ["import dprl"]
    for number, function in enumerate(FUNCTIONS):
        sources = "".join(example.source for example in example_of(function).examples)
        examples.append(f"def example_{number}() -> None:\n{textwrap.indent(sources, '    ')}")
    names = {"script": [*lines, "run.spec.epsilom"], "examples": examples}
    for name, text in names.items():
        (tmp_path / f"{name}.py").write_text("\n".join(text))
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache")]
        + [str(tmp_path / f"{name}.py") for name in names],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    ).stdout.splitlines()
    ours = [line for line in done if "script.py:" in line]
    types = [
        re.sub(r"\b[a-z_]+\.(?=\w)", "", line.partition('is "')[2]) for line in ours if "Revealed" in line
    ]
    assert len(types) == len(asked)
    for found, said in zip(types, asked, strict=True):
        assert found.startswith(said), (found, said)
    wrong = [line.partition("error: ")[2] for line in ours if "error: " in line]
    assert wrong == ['"RunSpec" has no attribute "epsilom"; maybe "epsilon"?  [attr-defined]']
    assert [line for line in done if "examples.py:" in line] == []
