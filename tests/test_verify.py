"""`dprl verify`: a link's result comes out again with the same bits, and each falsified one is found."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import numpy as np
import pytest

from dprl.__main__ import main
from dprl.fields import SpecError
from dprl.simulation import RunSpec, run
from dprl.verify import VALUES, LinkCheck, check_in, check_of, signed, verified
from pages.shared.visitor.address import query_of
from pages.shared.visitor.links import Curve, View, decode, encode

SMALL: dict[str, Any] = {"environment_params": {"S": 3, "H": 3}, "episodes": 1000, "seeds": 2}
RUNS: dict[str, list[RunSpec]] = {
    "one": [RunSpec(**SMALL)],
    "models": [
        *(RunSpec(**SMALL, privacy=model) for model in ("none", "central", "local")),
        RunSpec(**SMALL, privacy="shuffle", calibration="paper"),  # what bits prove takes seconds to find
    ],
    "others": [
        RunSpec(
            environment="gridworld", environment_params={"H": 3}, algorithm="ubev", episodes=500, seeds=1
        ),
        RunSpec(**SMALL, algorithm="sdp-pe", privacy="shuffle", calibration="paper"),
    ],
}


def link_to(specs: list[RunSpec]) -> str:
    return f"https://example.org/explore?{query_of(encode([Curve(s, 'a & b') for s in specs], View()))}"


@pytest.fixture(scope="module")
def links() -> dict[str, str]:
    return {name: signed(link_to(specs)) for name, specs in RUNS.items()}


@pytest.mark.parametrize("name", RUNS)
def test_a_link_that_carries_its_check_values_comes_out_with_the_same_bits(
    links: dict[str, str], name: str
) -> None:
    good, (said,) = verified(links[name])
    assert good
    assert said.startswith("The same bits as the author's")
    assert len(links[name]) - len(link_to(RUNS[name])) < 150


def changed(link: str, how: Callable[[LinkCheck], LinkCheck]) -> str:
    head, _, text = link.partition("check=")
    return f"{head}check={how(check_in(text))}"


def one_bit(place: int) -> Callable[[LinkCheck], LinkCheck]:
    """The check with the last bit of one value turned."""

    def turned(check: LinkCheck) -> LinkCheck:
        bits = np.array(check.values).view(np.int64)
        bits[place] ^= 1
        return LinkCheck(check.digest, tuple(bits.view(np.float64).tolist()))

    return turned


@pytest.mark.parametrize("place", range(VALUES))
def test_a_falsified_value_is_named(links: dict[str, str], place: int) -> None:
    good, (said,) = verified(changed(links["one"], one_bit(place)))
    assert not good
    assert said.startswith(
        f"Check value {place + 1} of {VALUES} differs: curve 1, seed {0 if place < 5 else 1},"
    )


def test_a_falsified_digest_is_found(links: dict[str, str]) -> None:
    good, (said,) = verified(changed(links["one"], lambda check: LinkCheck("0" * 16, check.values)))
    assert not good
    assert "the digests differ" in said


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("seeds.2", "seeds.3"),
        ("K.1000", "K.1001"),
        ("priv.local", "priv.local~eps.2"),
        ("envp.S.3", "envp.S.4"),
    ],
)
def test_check_values_of_another_run_are_found(links: dict[str, str], old: str, new: str) -> None:
    assert old in links["models"]
    good, said = verified(links["models"].replace(old, new))
    assert not good
    assert said


def test_every_value_counts() -> None:
    """The digest sees a bit of any value, also of one between the check values."""
    trace = run(RUNS["one"][0])
    own = check_of([trace])
    for seed, point in np.random.default_rng(0).integers((2, trace.values.shape[1]), size=(20, 2)):
        bits = trace.values.view(np.int64)
        bits[seed, point] ^= 1
        assert check_of([trace]).digest != own.digest
        bits[seed, point] ^= 1
    assert check_of([trace]) == own


def test_the_dashboard_reads_such_a_link_as_it_did_before(links: dict[str, str]) -> None:
    for name, specs in RUNS.items():
        link = decode(parse_qs(links[name].partition("?")[2]))
        assert [curve.spec for curve in link.curves] == specs
        assert link.problems == ()
        assert link.curves == decode(parse_qs(link_to(specs).partition("?")[2])).curves


@pytest.mark.parametrize(
    ("link", "says"),
    [
        ("explore?v=1&c=envp.S.3", "carries no check values"),
        ("explore?v=1&check=0123456789abcdef.AAAA&c=envp.S.3", "damaged"),
        ("explore?v=1&check=<script>&c=envp.S.3", "damaged"),
        ("https://example.org/offline?v=1&c=n.100", "another page"),
        (f"v=1&check=0123456789abcdef.{'A' * 107}", "names no run"),
        (f"v=1&c=K.many&check=0123456789abcdef.{'A' * 107}", "episodes"),
        ("x=" + "a" * 200_000, "longer than"),
        ("no/such/file", "cannot be read"),
    ],
)
def test_what_cannot_be_verified_is_said_in_one_sentence(
    link: str, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["verify", link])
    said = capsys.readouterr().err
    assert says in said
    assert said.count("\n") == 1


def test_the_command_writes_a_link_and_verifies_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["verify", "--write", link_to(RUNS["one"])]) == 0
    link = capsys.readouterr().out
    (tmp_path / "link.txt").write_text(link, encoding="utf-8")
    assert main(["verify", str(tmp_path / "link.txt")]) == 0
    assert "The same bits" in capsys.readouterr().out
    assert main(["verify", changed(link.strip(), one_bit(0))]) == 1
    assert "Check value 1 of 10 differs" in capsys.readouterr().out


def test_a_damaged_check_never_passes() -> None:
    check = str(LinkCheck("0123456789abcdef", (1.5,) * VALUES))
    assert check_in(check) == LinkCheck("0123456789abcdef", (1.5,) * VALUES)
    for text in ("", check[:-2], check + "A", check.replace(".", ""), check[1:], check.upper()):
        with pytest.raises(SpecError, match="damaged"):
            check_in(text)
