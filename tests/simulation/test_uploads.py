"""Runs on uploaded data sets: what is kept of them and for how long, what noise they get, and what travels where."""

from __future__ import annotations

import errno
import io
import json
import os
import signal
import stat
import time
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dprl
from dprl import OfflineSpec, SpecError, Sweep, UploadSpec, links, spec_from_json, upload
from dprl.__main__ import main
from dprl.environments import ENVIRONMENTS
from dprl.mdp import counts, planning
from dprl.mdp.counts import transitions
from dprl.mdp.tabular import Array
from dprl.privacy.exact import EXACT, STEPS, discrete_gaussian
from dprl.privacy.guarantee import DRAWN, SIMULATION
from dprl.simulation import UploadTrace, answer, answered, estimate, trace_from_bytes
from dprl.simulation.loops.offline import noise_for
from dprl.simulation.uploads import kept
from dprl.simulation.uploads import run as run_module
from dprl.simulation.uploads.declaration import declaration, declaration_text
from dprl.simulation.uploads.noise import noise_of, upload_problem_of
from dprl.simulation.uploads.run import AT_ONCE, UploadRun
from dprl.statistics import TRANSITIONS
from tests.problems import refused
from tests.two_rooms import EXAMPLE, example

HEADING = "episode,step,state,action,reward,next_state\n"
PUBLIC: dict[str, Any] = {
    "states": ["a", "b"], "actions": ["x", "y"], "horizon": 2, "rewards": [[0, 0], [1, 1]], "start": "a",
}  # fmt: skip
UNKNOWN = {name: value for name, value in PUBLIC.items() if name != "rewards"}
# y leads from a to b, where reward is; nobody takes y in b
CSV = HEADING + "".join(
    f"{who},0,a,{'xy'[who % 2]},0,{'ab'[who % 2]}\n{who},1,{'ab'[who % 2]},x,{who % 2},a\n"
    for who in range(400)
)


def uploaded(declared: dict[str, Any] = PUBLIC, **fields: Any) -> UploadSpec:
    return upload(io.BytesIO(CSV.encode()), declared, **{"held_out": 0.0, **fields})


def released(spec: UploadSpec) -> Array:
    trace: UploadTrace = dprl.run(spec).seeds[0]
    return trace.released


def test_a_table_of_pandas_is_counted_as_its_csv_is_and_only_counts_are_written(home: Path) -> None:
    table = pd.read_csv(io.StringIO(CSV))
    spec = upload(table, PUBLIC, rho=1.0, held_out=0.0)
    (path,) = [path for path in home.rglob("*") if path.is_file()]
    assert path.stem == spec.data
    of_file, of_table = kept.held(uploaded(rho=1.0).data), kept.held(spec.data)
    assert np.array_equal(of_table.record, of_file.record)
    assert of_table.n == of_file.n == spec.n == 400
    (home.parent / "people.csv").write_text(CSV, encoding="utf-8")
    with open(home.parent / "people.csv", encoding="utf-8") as opened:
        for file in (io.StringIO(CSV), opened):  # text, too
            same = kept.held(upload(file, PUBLIC, rho=1.0, held_out=0.0).data)
            assert np.array_equal(same.record, of_file.record)


def test_what_is_no_data_is_refused_in_a_sentence() -> None:
    said = r"^data: .* is not allowed; give the path of a CSV or Parquet file, or a pandas"
    for wrong in (None, 3, [1, 2], pd.read_csv(io.StringIO(CSV)).to_numpy()):
        with pytest.raises(SpecError, match=said):
            upload(wrong, PUBLIC)  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="column reward: this column is missing"):
        upload(pd.read_csv(io.StringIO(CSV)).drop(columns="reward"), PUBLIC)


def test_a_data_set_is_learned_from_and_what_is_shown_is_a_bound() -> None:
    trace = dprl.run(uploaded(rho=1e6))
    (seed,) = trace.seeds
    assert trace.at.tolist() == [400]
    assert list(trace.frame().columns) == ["seed", "n", "lower"]
    assert 0.5 < trace.values[0, 0] < 1  # y, and then 1 for certain
    assert seed.policy[0, 0] == 1
    assert seed.lower[0] == trace.values[0, 0]
    summary = trace.summary()
    assert summary["v_star"] is None
    assert summary["final_lower_mean"] == trace.values[0, 0]
    assert summary["proved_rho"] == pytest.approx(1e6, rel=1e-4)
    wider = dprl.run(uploaded(PUBLIC | {"reward_range": [-1, 3]}, rho=1e6))
    assert -2 <= wider.values[0, 0] < trace.values[0, 0]  # the same rewards, said to be less certain
    assert dprl.run(uploaded(rho=1e-6)).values[0, 0] == 0


def test_the_bound_of_a_known_model_holds() -> None:
    """On the example, whose model is known."""
    mdp = ENVIRONMENTS["custom"].make(H=2)
    v_star = planning.start_value(mdp, planning.optimum(mdp).V)
    text = example().encode()
    assert len(text) < 1.1e6
    spec = upload(io.BytesIO(text), EXAMPLE)
    found = []
    for rho in (0.00001, 0.03, 1, 100):
        (seed,) = dprl.run(spec.replace(rho=rho)).seeds
        value = planning.start_value(mdp, planning.policy_values(mdp, seed.policies[0].astype(np.int64)))
        assert seed.curve.values[0] <= value <= v_star
        found.append(seed.curve.values[0])
    assert found == sorted(found)
    assert found[-1] > 0.8 > found[0]


def test_the_card_is_that_of_noise_which_was_drawn_for_people() -> None:
    spec = uploaded(rho=0.5)
    card = dprl.run(spec).guarantee
    assert card.claimed_rho == card.proved_rho == 0.5
    assert card.users == 400
    assert DRAWN in card.assumptions
    assert SIMULATION not in card.assumptions
    assert card.mechanism == "Discrete Gaussian"
    simulated = dprl.run(OfflineSpec(environment="clinic", n=10, seeds=1)).guarantee
    assert SIMULATION in simulated.assumptions
    assert DRAWN not in simulated.assumptions
    assert simulated.mechanism == "Gaussian"
    assert answered(answer("guarantee", spec)) == json.loads(json.dumps(card.to_dict()))
    assert estimate(spec).releases == 1


def test_noise_of_one_scale_is_drawn_once_and_that_of_another_is_independent() -> None:
    spec = uploaded(rho=1.0)
    first = released(spec)
    np.testing.assert_array_equal(released(spec), first)
    planned = spec.replace(beta=0.2)
    assert planned.seed_key(0) != spec.seed_key(0)
    np.testing.assert_array_equal(released(planned), first)  # planned anew from the same release
    assert len(noisy(spec)) == 1
    released(spec.replace(rho=0.25))
    one, other = noisy(spec)
    true = transitions(kept.held(spec.data).record)
    ratio = (one["transitions"] - true) / (other["transitions"] - true)
    assert len(np.unique(ratio.round(3))) > 12  # the one is no multiple of the other


def noisy(spec: UploadSpec) -> list[dict[str, Array]]:
    """What is written down of a data set, each with its families' noisy sums, in any order."""
    found = []
    for path in kept.folder().glob(f"{spec.data}.*[!z]"):
        with np.load(io.BytesIO(path.read_bytes()[kept.DIGEST :])) as sums:
            found.append({family: sums[family] for family in sums.files})
    return found


def test_nobody_who_reads_a_spec_can_draw_its_noise() -> None:
    """The same file once more has another name, and other noise."""
    first, second = uploaded(), uploaded()
    assert first.replace(data=second.data) == second != first
    assert not np.array_equal(released(first), released(second))


def test_noise_is_added_as_whole_steps_of_the_grid(monkeypatch: pytest.MonkeyPatch) -> None:
    """To counts and sums of rewards that are whole steps, too; what the learner gets is a function of that alone."""
    spec = uploaded(UNKNOWN | {"reward_range": [-0.3, 1]}, rho=0.5)
    drawn: list[int] = []

    def draw(scale: Fraction) -> int:
        drawn.append(discrete_gaussian(scale))
        return drawn[-1]

    monkeypatch.setitem(EXACT, "gaussian", replace(EXACT["gaussian"], draw=draw))
    trace: UploadTrace = dprl.run(spec).seeds[0]
    record, (sums,) = kept.held(spec.data).record, noisy(spec)
    assert list(sums) == ["transitions", "rewards"]
    true = np.concatenate([transitions(record).ravel(), record[..., -1].ravel()])
    assert len(np.unique(true % 1)) > 1
    with_noise = np.concatenate([sums["transitions"].ravel(), sums["rewards"].ravel()])
    steps = [int(x) - int(y) for x, y in zip(with_noise * STEPS, true * STEPS, strict=True)]
    assert (with_noise * STEPS % 1 == 0).all()
    assert steps == drawn
    again = np.zeros_like(record)
    transitions(again)[...] = sums["transitions"]
    nothing = np.zeros(TRANSITIONS.draws(spec.problem_size))
    expected = TRANSITIONS.answer(again, nothing, float(trace.errors["transitions"]))
    np.testing.assert_array_equal(trace.released[..., :-1], expected[..., :-1])
    np.testing.assert_array_equal(trace.released[..., -1], sums["rewards"])


def test_what_bounds_the_noise_covers_the_grid_and_rounded_rewards() -> None:
    """Beside what covers continuous noise: a step on either side, and half a step for each of n rewards."""
    spec = uploaded(UNKNOWN)
    _, plain = noise_for(spec, upload_problem_of(spec), ())
    errors = noise_of(spec)[1]
    more = {"transitions": 2 / STEPS, "rewards": (2 + spec.n) / STEPS}
    assert errors == {name: plain[name] + more[name] for name in more}


@pytest.mark.parametrize("when", ["written", "drawn"])
def test_a_worker_that_is_killed_leaves_what_the_next_one_shows(when: str) -> None:
    """Killed once its noise is written down, before anybody has seen it, or before it is."""
    spec = uploaded(rho=1.0)
    reading, writing = os.pipe()
    child = os.fork()
    if not child:

        def killed(*given: Any) -> None:
            os.write(writing, b"there")
            os.kill(os.getpid(), signal.SIGKILL)

        try:
            where, name = (run_module, "learned_from") if when == "written" else (kept, "write_down")
            vars(where)[name] = killed
            dprl.run(spec)
        finally:
            os._exit(0)
    os.close(writing)
    with open(reading, "rb") as pipe:
        assert pipe.read() == b"there"
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
    before = noisy(spec)
    assert len(before) == (when == "written")
    shown = released(spec)
    (after,) = noisy(spec)
    if before:
        np.testing.assert_array_equal(after["transitions"], before[0]["transitions"])
    np.testing.assert_array_equal(released(spec), shown)


def test_two_workers_at_once_end_with_one_draw() -> None:
    spec = uploaded(rho=1.0)
    first, second = UploadRun(spec, 0), UploadRun(spec, 0)  # neither finds anything written down
    assert first.advance(60)
    assert second.advance(60)
    assert first._drawn != second._drawn  # but both have drawn
    np.testing.assert_array_equal(first.trace().released, second.trace().released)
    np.testing.assert_array_equal(released(spec), first.trace().released)
    assert len(list(kept.folder().iterdir())) == 2  # and nothing is left of the other draw


def test_what_cannot_be_written_down_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = uploaded(rho=1.0)

    def full(*given: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    for name in ("link", "fsync"):
        with monkeypatch.context() as patched:
            patched.setattr(os, name, full)
            run = UploadRun(spec, 0)
            with pytest.raises(SpecError, match=r"^data: noisy sums cannot be stored here .*run again\.$"):
                run.advance(60)
            assert run.curve().at.size == 0
        assert len(list(kept.folder().iterdir())) == 1
    assert released(spec).any()


def test_a_damaged_draw_is_refused_and_never_drawn_again() -> None:
    spec = uploaded(rho=1.0)
    released(spec)
    (path,) = kept.folder().glob(f"{spec.data}.*[!z]")
    good = path.read_bytes()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    for bad in (b"", good[:-1], good[:200] + bytes([good[200] ^ 1]) + good[201:], good + b"1"):
        path.write_bytes(bad)
        for _ in range(2):
            with pytest.raises(SpecError, match=r"^data: the stored release .* is never drawn again; .*\.$"):
                released(spec)
        assert path.read_bytes() == bad
    path.write_bytes(good)
    released(spec)
    released(spec.replace(rho=2.0))
    other = next(found for found in kept.folder().glob(f"{spec.data}.*[!z]") if found != path)
    other.write_bytes(good)  # noise of another scale
    with pytest.raises(SpecError, match="never drawn again"):
        released(spec.replace(rho=2.0))


def test_what_was_drawn_goes_when_its_counts_go() -> None:
    first, second = uploaded(), uploaded()
    for spec in (first, second):
        released(spec)
    assert len(list(kept.folder().iterdir())) == 4
    late = UploadRun(first, 0)
    kept.forget(first.data)
    assert {path.name[:32] for path in kept.folder().iterdir()} == {second.data}
    assert late.advance(60)  # what it has read was shown before
    running = UploadRun(second.replace(rho=2.0), 0)
    yesterday = time.time() - kept.HOURS * 3600 - 1
    os.utime(kept.folder() / f"{second.data}.npz", (yesterday, yesterday))
    kept.remove_old()
    assert list(kept.folder().iterdir()) == []
    with pytest.raises(SpecError, match="no longer stored here"):
        running.advance(60)
    assert list(kept.folder().iterdir()) == []
    (kept.folder() / f"{second.data}.{'0' * 32}").write_bytes(b"left by somebody who was killed")
    kept.remove_old()
    assert list(kept.folder().iterdir()) == []


def test_noise_is_drawn_in_slices() -> None:
    spec = uploaded({**PUBLIC, "states": ["a", "b", *map(str, range(20))], "rewards": 0})
    run, shares = UploadRun(spec, 0), [0.0]
    while not run.advance(0):
        shares.append(run.progress)
        assert run.curve().at.size == 0
        assert noisy(spec) == []
    assert run.progress == 1
    assert len(shares) == -(-TRANSITIONS.draws(spec.problem_size) // AT_ONCE) > 10
    assert shares == sorted(set(shares))


def test_a_trace_holds_what_was_released_and_nothing_else() -> None:
    spec = uploaded(rho=1.0)
    record = kept.held(spec.data).record
    trace = dprl.run(spec).seeds[0]
    again = trace_from_bytes(trace.to_bytes())
    assert isinstance(again, UploadTrace)
    assert again.v_star is None
    assert again.guarantee == trace.guarantee
    np.testing.assert_array_equal(again.released, trace.released)
    for name, value in vars(again).items():
        if isinstance(value, np.ndarray) and value.size > 4:
            assert not np.isin(counts.visits(record)[record[..., -2] > 0], value).any(), name
    plain = trace.to_bytes()
    forgotten = trace.spec.replace(rho=2.0)
    kept.forget(spec.data)
    with pytest.raises(SpecError, match="data: this data set is no longer stored here"):
        dprl.run(forgotten)
    assert trace_from_bytes(plain).spec == spec  # what was released can be read for ever


def test_counts_are_kept_for_a_day_and_closed_to_others(home: Path) -> None:
    spec = uploaded()
    (path,) = (home / "uploads").iterdir()
    assert path.name == f"{spec.data}.npz"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == stat.S_IMODE(home.stat().st_mode) == 0o700
    assert b"399,1" not in path.read_bytes()
    yesterday = time.time() - kept.HOURS * 3600 - 1
    os.utime(path, (yesterday, yesterday))
    with pytest.raises(SpecError, match="or after 24 hours"):
        dprl.run(spec)
    other = uploaded()
    assert [found.stem for found in (home / "uploads").iterdir()] == [other.data]
    os.utime(home / "uploads" / f"{other.data}.npz", (yesterday, yesterday))
    kept.remove_old()  # as each command does, and the dashboard when it starts
    assert list((home / "uploads").iterdir()) == []
    other = uploaded()
    (home / "uploads" / f"{other.data}.npz").write_bytes(b"damaged")
    with pytest.raises(SpecError, match="data: "):
        dprl.run(other)


def test_a_malformed_file_leaves_nothing_behind(home: Path) -> None:
    with pytest.raises(SpecError, match=r"^data: row 3, column step"):
        upload(io.BytesIO(CSV.replace("0,1,", "0,2,", 1).encode()), PUBLIC)
    assert not (home / "uploads").exists()
    with pytest.raises(SpecError, match=r"^rho: "):  # before the file is looked at
        upload(io.BytesIO(b""), PUBLIC, rho=-1)


LARGE = {"states": 100, "actions": 10, "horizon": 20, "rewards": 0}


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"data": "../../runs"}, "data"),
        ({"data": ""}, "data"),
        ({"declared": "{}"}, "declared"),
        ({"n": 0}, "n"),
        ({"algorithm": "dp-kl-lcb"}, "spec"),
        ({"privacy": "zcdp"}, "spec"),
        ({"rho": -1}, "rho"),
        ({"algorithm_params": {"C9": 1}}, "spec"),
        ({"seeds": 2}, "spec"),
        ({"environment": "clinic"}, "spec"),
        ({"declared": declaration_text(LARGE)}, "declared"),
    ],
)
def test_what_is_refused_names_its_field(changes: dict[str, Any], field: str) -> None:
    with refused(f"{field}: "):
        UploadSpec.from_dict({"data": "0" * 32, "declared": declaration_text(PUBLIC), "n": 5} | changes)


def test_a_spec_belongs_to_its_file() -> None:
    spec = uploaded()
    assert spec_from_json(spec.to_json()) == spec == spec.baseline()
    for other in ({"n": 399}, {"declared": declaration_text(PUBLIC | {"start": "b"})}):
        with pytest.raises(SpecError, match="declared: the data set was read with other settings"):
            dprl.run(spec.replace(**other))


def test_a_link_says_what_is_public_and_asks_for_the_file() -> None:
    spec = uploaded(rho=0.5)
    text = links.encode_spec(spec)
    assert spec.data not in text
    assert "400" not in text
    assert "rho.0.5" in text
    found, problems = links.decode_spec(text, kind="upload")
    assert found is None
    assert problems == ["it was left out; data: a link never contains a private data set; give its file."]
    pairs, _ = links.split(text, kind="upload")
    assert declaration(pairs["decl"]).text == spec.declared
    assert links.split(f"{text}~.{spec.data}", kind="upload")[0] == pairs


def test_no_sweep_goes_over_a_file_of_ones_own() -> None:
    with pytest.raises(SpecError, match="axis: each point of a sweep over your own file"):
        Sweep(uploaded(), {"rho": [1, 10]})


def test_run_takes_no_file_of_ones_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec = uploaded(rho=1.0)
    (tmp_path / "spec.json").write_text(spec.to_json())
    for given in (["--kind", "upload"], ["--spec", str(tmp_path / "spec.json")]):
        with pytest.raises(SystemExit) as stopped:
            main(["run", *given, "--out", str(tmp_path / "no")])
        assert stopped.value.code == 2
        assert capsys.readouterr().err.endswith("use dprl release, which keeps a budget.\n")


def test_in_python_the_owner_is_told_before_a_release() -> None:
    """On the command line: tests/test_release.py."""
    strange = CSV.replace(",x,", ",z,", 3)
    said = r"Only for you.* 3 of 800 rows, column action .*: z \(3\)"
    with pytest.warns(UserWarning, match=said) as warned:
        spec = upload(io.BytesIO(strange.encode()), PUBLIC, rho=1e6)
    assert warned[0].filename == __file__
    assert "z" not in json.dumps(dprl.run(spec).summary()).split('"')
