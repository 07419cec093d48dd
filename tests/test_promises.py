"""What version 1.0 promised: its links, specs, policies and stores keep their meaning (docs/development/releases.md).

promises.json was written by version 1.0.0. Entries may be added to it, but none may change.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import dprl
from dprl.links import decode_spec, encode_spec
from dprl.runs.store import Store
from dprl.simulation import spec_from_dict

PROMISED: dict[str, Any] = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))


@pytest.mark.parametrize(("kind", "link", "spec"), PROMISED["links"])
def test_a_link_of_version_1_opens_the_same_spec(kind: str, link: str, spec: dict[str, Any]) -> None:
    found, problems = decode_spec(link, kind=kind)
    assert (problems, json.loads(found.to_json())) == ([], spec)
    assert spec_from_dict(spec) == found
    assert encode_spec(found) == link


def test_a_policy_of_version_1_is_read() -> None:
    policy = dprl.Policy.load(json.dumps(PROMISED["policy"]))
    assert (policy.act("mild", step=1), policy.act("severe", step=1)) == ("wait", None)
    assert json.loads(policy.to_json()) == PROMISED["policy"]


def test_stores_keep_their_tables(tmp_path: Path) -> None:
    Store(tmp_path / "runs.db").close()
    for name, (version, *tables) in PROMISED["stores"].items():
        with closing(sqlite3.connect(tmp_path / name)) as db:
            rows = db.execute("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name").fetchall()
            assert [" ".join(sql.split()) for (sql,) in rows] == tables, name
            assert db.execute("PRAGMA user_version").fetchone() == (version,), name
