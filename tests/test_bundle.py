"""Replication bundles: the same runs give the same bytes, `dprl verify` finds each file that was changed, and a hostile
bundle gets one sentence."""

from __future__ import annotations

import hashlib
import io
import json
import runpy
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dprl
import dprl.__main__ as cli
from dprl import bundle
from dprl.__main__ import main
from dprl.bundle import compare, figures
from dprl.bundle.files import MOST_BYTES
from dprl.curves import RunCurves
from dprl.fields import SpecError
from dprl.simulation.uploads import kept

SMALL: dict[str, Any] = {"environment_params": {"S": 3, "H": 3}, "episodes": 1000, "seeds": 2}
SPEC = dprl.RunSpec(**SMALL)
Files = dict[str, bytes]


@pytest.fixture(scope="module")
def runs() -> dprl.Comparison:
    """Of two kinds."""
    data = dprl.OfflineSpec(environment_params={"S": 3, "H": 3}, n=1000, seeds=2)
    return dprl.compare({"ours | β": dprl.run(SPEC), "a data set": dprl.run(data)})


@pytest.fixture(scope="module")
def made(runs: dprl.Comparison, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return runs.bundle(tmp_path_factory.mktemp("bundle") / "paper.zip")


@pytest.fixture
def drawn(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures are not drawn anew, which takes most of the time: they are those of what was made."""
    figure = {name: content for name, content in bundle.files_in(made).items() if name.startswith("figures/")}
    monkeypatch.setattr(figures, "figures_of", lambda *_: figure)


def packed(files: Files, path: Path, **how: Any) -> Path:
    with zipfile.ZipFile(path, "w", **how) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


@pytest.mark.thorough
def test_what_is_made_comes_out_again_and_has_the_same_bytes_whenever_it_is_made(
    runs: dprl.Comparison, made: Path, tmp_path: Path
) -> None:
    good, (said,) = bundle.verified(made)
    assert good
    assert said == "The same bytes as the author's: 12 files, 2 runs."
    assert runs.bundle(tmp_path / "again.zip").read_bytes() == made.read_bytes()
    runs.traces["ours | β"].bundle(tmp_path / "one.zip")  # type: ignore[attr-defined]
    more = set(bundle.files_in(made)) - set(bundle.files_in(tmp_path / "one.zip"))
    assert more == {"curves/2.csv", "figures/2.pdf", "figures/2.svg"}


def test_a_bundle_holds_what_its_readme_says(runs: dprl.Comparison, made: Path) -> None:
    files = bundle.files_in(made)
    said = files["README.md"].decode()
    for name in files:
        assert name in said or name in ("README.md",), name
    assert "- curves/1.csv: ours | β (2 seeds)" in said
    for trace, name in zip(runs.traces.values(), ("curves/1.csv", "curves/2.csv"), strict=True):
        table = pd.read_csv(io.BytesIO(files[name]))
        pd.testing.assert_frame_equal(table, trace.frame(), check_exact=True)
    assert files["cite.bib"].decode() == dprl.cite(*runs.traces.values())
    read = {
        name: dprl.spec_from_json(json.dumps(one)) for name, one in json.loads(files["specs.json"]).items()
    }
    assert read == {name: trace.spec for name, trace in runs.traces.items()}
    assert json.loads(files["versions.json"]) == bundle.versions()
    for line in files["SHA256SUMS"].decode().splitlines():
        digest, name = line.split("  ")
        assert hashlib.sha256(files[name]).hexdigest() == digest
    assert files["SHA256SUMS"].count(b"\n") == len(files) - 1


def test_figures_show_the_runs_of_a_kind_eight_in_each(runs: dprl.Comparison, made: Path) -> None:
    files = bundle.files_in(made)
    names = ["ours | β", "a data set"]
    for number, name in enumerate(names, 1):
        assert files[f"figures/{number}.pdf"].startswith(b"%PDF")
        drawn = files[f"figures/{number}.svg"].decode()
        assert [one for one in names if f"<!-- {one} -->" in drawn] == [name]
        said = f"- figures/{number}.pdf, figures/{number}.svg: curves/{number}.csv\n"
        assert said in files["README.md"].decode()
    data = runs.traces["a data set"]
    assert f"v* = {data.seeds[0].v_star:#.3g}, all an episode can lose" in drawn
    assert data.plot().see.split()[0] in drawn  # type: ignore[attr-defined]
    many = {str(i): SPEC if i % 2 else data.spec for i in range(100)}
    drawn_runs = list(figures.names_of(many).values())
    assert [len(one) for one in drawn_runs] == [8, 8, 8, 8, 8, 8, 2, 8]
    assert all(len({many[name].kind for name in one}) == 1 for one in drawn_runs)


def test_figures_of_another_matplotlib_are_not_drawn_again_but_still_count(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = bundle.files_in(made)
    monkeypatch.setattr(figures, "drawn_by", lambda: None)
    good, said = bundle.verified(made)
    assert good
    assert said[-1] == compare.OTHER_FIGURES
    changed = {**whole, "figures/1.svg": whole["figures/1.svg"] + b" "}
    good, said = bundle.verified(packed(changed, tmp_path / "x.zip"))
    assert not good
    assert "figures/1.svg is not the file whose digest stands in SHA256SUMS." in said
    without = {name: content for name, content in whole.items() if name != "figures/1.pdf"}
    assert not bundle.verified(packed(without, tmp_path / "x.zip"))[0]


def test_without_matplotlib_a_bundle_has_no_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trace = dprl.run(SPEC)
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(figures, "drawn_by", lambda: None)
        files = bundle.files_in(trace.bundle(tmp_path / "x.zip"))
    assert not any("figure" in name for name in files)
    assert "figures/" not in files["README.md"].decode()
    assert bundle.verified(tmp_path / "x.zip")[0]  # as a bundle of before there were figures


def test_its_script_writes_the_same_numbers_and_a_figure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with zipfile.ZipFile(dprl.run(SPEC).bundle(tmp_path / "one.zip")) as archive:
        archive.extractall(tmp_path)
    monkeypatch.chdir(tmp_path)
    runpy.run_path("again.py")
    assert (tmp_path / "again/1.csv").read_bytes() == (tmp_path / "curves/1.csv").read_bytes()
    assert (tmp_path / "again/online.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.usefixtures("drawn")
def test_every_file_counts(made: Path, tmp_path: Path) -> None:
    """Each with one byte changed; settings stay ones that can be read, or a sentence says that they cannot."""
    whole = bundle.files_in(made)
    changes: dict[str, Callable[[bytes], bytes]] = {
        "specs.json": lambda text: text.replace(b'"episodes": 1000', b'"episodes": 1001'),
        "versions.json": lambda text: text + b" ",
    }
    for name in whole:
        change = changes.get(name, lambda text: text[:-2] + bytes([text[-2] ^ 1]) + text[-1:])
        good, said = bundle.verified(packed({**whole, name: change(whole[name])}, tmp_path / "x.zip"))
        assert not good
        assert any(sentence.startswith(f"{name} ") for sentence in said), name
    good, said = bundle.verified(packed({**whole, "more.txt": b""}, tmp_path / "x.zip"))
    assert not good
    assert "more.txt is in the bundle and is no file of one." in said


@pytest.mark.usefixtures("drawn")
@pytest.mark.parametrize("place", [0, 7, -1])
def test_a_changed_number_is_named_with_both_values(made: Path, tmp_path: Path, place: int) -> None:
    whole = bundle.files_in(made)
    head, *rows = whole["curves/1.csv"].decode().splitlines()
    seed, at, value = rows[place].split(",")
    other = repr(float(np.nextafter(float(value), np.inf)))
    rows[place] = f"{seed},{at},{other}"
    files = {**whole, "curves/1.csv": "\n".join([head, *rows, ""]).encode()}
    good, (said,) = bundle.verified(packed(files, tmp_path / "x.zip"))
    assert not good
    assert said.startswith(
        f"curves/1.csv differs in 1 of {len(rows)} values. First at seed {seed}, episode {at}:"
    )
    assert f"regret is {value} here and {other} in the bundle" in said


def test_how_far_off_a_number_is_is_a_share_of_the_one_computed_here() -> None:
    assert compare.how_far(4.0, "5.0") == ("value_more", {"share": "25%"})
    assert compare.how_far("5.0", 4.0) == ("value_less", {"share": "20%"})
    assert compare.how_far(-4.0, -5.0) == ("value_less", {"share": "25%"})
    assert all(compare.how_far(*pair) == ("value", {}) for pair in ((0.0, 1.0), (1.0, "nan"), (1.0, "lots")))


@pytest.mark.usefixtures("drawn")
@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([], "other rows or columns"),
        (["seed,episode,loss"], "other rows or columns"),
        (["same", "0,9,1"], "other seeds or checkpoints"),
        (["same", "x"], "other seeds or checkpoints"),
        (["same", "0,1,lots"], "and lots in the bundle."),
        (["same", "0,1,nan"], "and nan in the bundle."),
    ],
)
def test_a_table_that_is_none_of_ours_is_said(made: Path, tmp_path: Path, rows: list[str], said: str) -> None:
    whole = bundle.files_in(made)
    own = whole["curves/1.csv"].decode().splitlines()
    table = "\n".join(
        [*[own[0] if row == "same" else row for row in rows], *own[len(rows) :]] if rows else []
    )
    good, found = bundle.verified(packed({**whole, "curves/1.csv": table.encode()}, tmp_path / "x.zip"))
    assert not good
    assert said in found[0]


@pytest.mark.usefixtures("drawn")
def test_other_versions_are_named_whether_or_not_a_byte_differs(made: Path, tmp_path: Path) -> None:
    whole = bundle.files_in(made)
    said = json.loads(whole["versions.json"])
    other = dict(bundle.versions() | {"numpy": "9.9.9", "dprl": said["dprl"]})
    specs, _ = compare.runs_in(whole)
    curves = dict(compare._computed(specs, None))
    good, found = bundle.verified(packed(bundle.files_of(specs, curves, other), tmp_path / "x.zip"))
    assert good
    assert found[1:] == [f"Note: numpy is 9.9.9 in the bundle; here: {said['numpy']}."]


BAD_SPEC = b'{"a": {"algorithm": "of tomorrow"}}'
HOSTILE: dict[str, tuple[Files, str]] = {
    "no specs": ({"versions.json": b'{"dprl": "1"}'}, "has no specs.json"),
    "no versions": ({"specs.json": b"{}"}, "has no versions.json"),
    "corrupt": ({"versions.json": b"{", "specs.json": b"{}"}, "versions.json: this is not JSON"),
    "no text": ({"versions.json": b"\xff"}, "versions.json: this is not text in UTF-8"),
    "a list": ({"versions.json": b"[1]"}, "no JSON object"),
    "deep": ({"versions.json": b"[" * 100_000}, "not JSON"),
    "numbers": ({"versions.json": b'{"dprl": 3}', "specs.json": b"{}"}, "does not name versions"),
    "no runs": ({"versions.json": b'{"dprl": "1"}', "specs.json": b"{}"}, "it has 0 runs"),
    "another version": (
        {"versions.json": b'{"dprl": "9.0"}', "specs.json": BAD_SPEC},
        f"dprl 9.0 wrote it; here is {dprl.__version__}.",
    ),
    "this version": (
        {"versions.json": json.dumps({"dprl": dprl.__version__}).encode(), "specs.json": BAD_SPEC},
        "a cannot be run here: algorithm",
    ),
}


def refused(path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit):
        main(["verify", str(path)])
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert len(said) < 400
    return said


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_bundle_gets_one_sentence(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files, said = HOSTILE[name]
    assert said in refused(packed(files, tmp_path / "x.zip"), capsys)


def test_a_hostile_zip_gets_one_sentence(
    made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole, path = bundle.files_in(made), tmp_path / "x.zip"
    bomb = packed({"specs.json": bytes(MOST_BYTES + 1)}, path, compression=zipfile.ZIP_DEFLATED)
    assert bomb.stat().st_size < 200_000
    assert "more than 100,000,000 bytes" in refused(bomb, capsys)
    assert "too many files" in refused(packed({f"{i}": b"" for i in range(2000)}, path), capsys)
    assert "way that no bundle is" in refused(packed(whole, path, compression=zipfile.ZIP_LZMA), capsys)
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(packed(whole, path), "a") as archive:
        archive.writestr("specs.json", b"{}")
    assert "two files of one name" in refused(path, capsys)
    content = made.read_bytes()
    for damaged in (b"", content[:100], b"PK" + bytes(100), content[: len(content) // 2]):
        path.write_bytes(damaged)
        assert "is no zip file, or damaged" in refused(path, capsys)
    (tmp_path / "folder.zip").mkdir()
    for absent in (tmp_path / "none.zip", tmp_path / "folder.zip"):
        assert "cannot be read" in refused(absent, capsys)


def test_no_damaged_byte_makes_anything_but_a_sentence(made: Path, tmp_path: Path) -> None:
    content, path = made.read_bytes(), tmp_path / "x.zip"
    rng = np.random.default_rng(0)
    for _ in range(300):
        damaged = bytearray(content)
        for at in rng.integers(len(content), size=rng.integers(1, 5)):
            damaged[at] ^= int(rng.integers(1, 256))
        path.write_bytes(damaged)
        try:
            files = bundle.files_in(path)
            compare.runs_in(files)
        except SpecError:
            continue
        list(compare.differences(bundle.files_in(made), files))


@pytest.mark.usefixtures("drawn")
def test_nothing_is_written_where_a_name_leads_out_of_the_folder(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "inside").mkdir()
    monkeypatch.chdir(tmp_path / "inside")
    files = {**bundle.files_in(made), "../evil.txt": b"x", "/evil.txt": b"x"}
    good, said = bundle.verified(packed(files, tmp_path / "inside/x.zip"))
    assert not good
    assert "../evil.txt is in the bundle and is no file of one." in said
    assert not (tmp_path / "evil.txt").exists()
    assert [file.name for file in (tmp_path / "inside").iterdir()] == ["x.zip"]


def test_what_no_bundle_can_hold_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    curves = RunCurves(np.array([1, 1000]), np.array([[1.0, 2.0], [1.0, np.nan]]))
    with pytest.raises(SpecError, match="has not ended yet"):
        bundle.files_of({"a": SPEC}, {"a": curves}, bundle.versions())
    with pytest.raises(SpecError, match="ends in"):
        bundle.write_bundle("paper.tar", {"a": SPEC}, {"a": curves})
    monkeypatch.setattr(kept, "home", lambda: tmp_path)
    public = {"states": ["a"], "actions": ["x"], "horizon": 1, "rewards": [[0]], "start": "a"}
    rows = "episode,step,state,action,reward,next_state\n" + "".join(f"{i},0,a,x,0,a\n" for i in range(50))
    own = dprl.upload(io.BytesIO(rows.encode()), public, algorithm="dp-apvi", held_out=0.0)
    with pytest.raises(SpecError, match="learned from a file of your own"):
        bundle.check_specs({"a": SPEC, "b": own})


def test_the_command_writes_the_bundle_of_specs_and_sweeps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def computed(specs: Iterable[Any], engine: str | None = None) -> dict[Any, RunCurves]:
        return {spec: bundle.curves_of(dprl.run(spec)) for spec in specs}

    monkeypatch.setattr(cli, "curves_of_runs", computed)  # tests of sweeps and of pages have the store
    monkeypatch.setattr(
        figures, "figures_of", lambda specs, _: dict.fromkeys(figures.files_named(specs), b"drawn")
    )
    spec: dict[str, Any] = {**SMALL, "seeds": 1}
    (tmp_path / "specs.json").write_text(json.dumps({"mine": spec, "yours": spec | {"epsilon": 2}}), "utf-8")
    (tmp_path / "sweep.json").write_text(json.dumps({"base": spec, "axes": {"epsilon": [3, 4]}}), "utf-8")
    out = tmp_path / "all.zip"
    given = [str(tmp_path / f"{name}.json") for name in ("specs", "sweep")]
    assert main(["bundle", *given, "--out", str(out)]) == 0
    sweep = dprl.Sweep(dprl.RunSpec(**spec), {"epsilon": [3, 4]})
    swept = dprl.SweepResult(sweep, computed(sweep.specs))
    assert "5 runs" in capsys.readouterr().out
    assert main(["verify", str(out)]) == 0
    assert capsys.readouterr().out.startswith("The same bytes as the author's: 13 files, 5 runs.")
    specs, _ = compare.runs_in(bundle.files_in(out))
    assert list(specs)[:2] == ["mine", "yours"]
    assert [one.epsilon for one in specs.values() if one.epsilon] == [1.0, 2.0, 3.0, 4.0]  # type: ignore[attr-defined]
    assert (
        list(compare.runs_in(bundle.files_in(swept.bundle(tmp_path / "s.zip")))[0].values())
        == list(specs.values())[2:]
    )
