"""The printed sheet of a policy: what stands on it, from its file alone, and nothing of a label is markup."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace
from html import unescape
from typing import Any

import numpy as np
import pytest

import dprl
from dprl import Policy
from dprl.environments import ENVIRONMENTS
from dprl.research.sheet import sheet
from dprl.sentences import sheet as said
from dprl.sentences import uploads, verdict
from tests.people import declared, treated, written_down

pytestmark = pytest.mark.usefixtures("home")
WARD = ENVIRONMENTS["random"].make(S=4, A=2, H=5, seed=3, concentration=5.0)
STATES = ["well", "<b>mild</b>", "se{parts}vere", "other"]
ACTIONS = ["watch & wait", "treat"]


def learned(**changes: Any) -> Policy:
    fields = {name: changes.pop(name) for name in ("held_out", "algorithm") if name in changes}
    public = json.loads(declared(WARD, known=True)) | {"states": STATES, "actions": ACTIONS} | changes
    heading, *rows = written_down(treated(WARD, "uniform", 4000, np.random.default_rng(1))).splitlines()
    table = [row.split(",") for row in rows]
    named = [f"{w},{h},{STATES[int(s)]},{ACTIONS[int(a)]},{r},{STATES[int(x)]}" for w, h, s, a, r, x in table]
    text = "\n".join([heading, *named]).encode()
    policy: Policy = dprl.run(dprl.upload(io.BytesIO(text), public, rho=1.0, **fields)).seeds[0].portable
    return policy


def words(page: str) -> str:
    return " ".join(unescape(re.sub("<[^>]+>", " ", page)).split())


def test_it_says_all_of_it_and_asks_for_nothing_from_elsewhere() -> None:
    policy = learned()
    page = sheet(Policy.load(policy.to_json()))  # of the file alone
    text, held = words(page), policy.about["held out"]
    assert held["verdict"] == "better"
    for part in (
        "Better than today, if nothing hidden drove the choices. Under the learned policy",
        "The proved bound for the cautious policy holds except with a probability of 0.1. If you choose the best of k",
    ):
        assert part in text
    assert f"Protected: {policy.about['privacy']['unit']}." in text
    assert "May the policy be used? No number here decides that." in text
    assert uploads.PAGE["first_step"].format(first=0) in text
    below = policy.about["bound"]["worth at least"] < held["behaviour"][1]
    assert ("The bound is below the users' own average" in text) == below
    assert "Proved: ρ = 1, or (7.29, 10⁻⁶) as (ε, δ)" in text
    for sentence in (
        *verdict.SAID["blind"],
        *policy.about["privacy"]["assumes"],
        said.footer(policy.about["versions"], policy.digest),
    ):
        assert sentence.replace("**", "").replace("  ", " ") in text
    assert policy.digest == json.loads(policy.to_json())["digest"]
    assert not re.search("https?:|src=|href=|<script", page)
    for state in STATES:
        assert state in text
    assert "<b>" not in page
    assert not re.search(r"\{(title|about|footer)\}", page)
    assert page.count("<h1>") == 1


def test_the_bound_is_of_what_the_sheet_says_to_do() -> None:
    """It says for what it holds: whoever decides. The chance of a paper's bound has a constant."""
    policy = learned()
    assert said.SAID["whoever"] not in words(sheet(policy))  # nobody else decides
    lacking = replace(policy, enough=((False,) * len(STATES), *policy.enough[1:]))
    assert said.SAID["whoever"] in words(sheet(lacking))


def test_every_cell_says_what_the_file_says() -> None:
    policy = learned()
    page = sheet(policy)
    table = page.split("<h2>What to do</h2>")[1].split("</table>")[0]
    head, *rows = [
        [unescape(cell) for cell in re.findall("<t[hd]>(.*?)</t[hd]>", row)]
        for row in table.split("<tr>")[1:]
    ]
    assert [row[0] for row in rows] == STATES
    covered = []
    for column, name in enumerate(head[1:], 1):
        first, *last = map(int, re.findall(r"\d+", name))
        for step in range(first, (last or [first])[0] + 1):
            covered.append(step)
            for row in rows:
                assert row[column] == (policy.act(row[0], step) or "somebody decides")
    assert covered == list(range(WARD.H))


def test_without_anybody_held_out_it_says_so() -> None:
    text = words(sheet(learned(held_out=0.0)))
    assert "No verdict. " + uploads.PAGE["nobody"] in text
    assert "Cautious policy, proved bound" in text
