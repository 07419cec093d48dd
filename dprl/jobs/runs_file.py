"""The tables of the file of runs."""

from __future__ import annotations

from dprl.jobs.file import StoreFile

BACKLOG = """
INSERT OR IGNORE INTO backlog SELECT run, count(*), sum(seconds) FROM unit JOIN run_unit ON run_unit.unit = unit.id
WHERE state = 'queued' GROUP BY run
"""
TABLES = """
CREATE TABLE notice (text TEXT NOT NULL, at REAL NOT NULL);
-- What visitors ask for: a spec with all its seeds. `rev` counts changes, here and in unit.
CREATE TABLE run (
    id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE, spec TEXT NOT NULL,
    seeds INTEGER NOT NULL, rev INTEGER NOT NULL DEFAULT 0);
CREATE TABLE request (
    run INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE, visitor TEXT NOT NULL,
    waiting INTEGER NOT NULL, asked_at REAL NOT NULL, PRIMARY KEY (run, visitor)) WITHOUT ROWID;
CREATE INDEX request_visitor ON request(visitor);
-- What workers do: one seed. `worker` is set while one is at it; `bytes` is the size of its trace.
CREATE TABLE unit (
    id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE, seed INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('queued', 'running', 'done', 'failed', 'cancelled', 'gone')),
    progress REAL NOT NULL DEFAULT 0, message TEXT NOT NULL DEFAULT '', rev INTEGER NOT NULL DEFAULT 0,
    worker TEXT, deaths INTEGER NOT NULL DEFAULT 0,
    seconds REAL NOT NULL, started_at REAL NOT NULL DEFAULT 0, used_at REAL NOT NULL,
    bytes INTEGER NOT NULL DEFAULT 0);
CREATE INDEX unit_state ON unit(state);
CREATE INDEX unit_worker ON unit(worker) WHERE worker IS NOT NULL;
CREATE TABLE run_unit (
    run INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE, seed INTEGER NOT NULL,
    unit INTEGER NOT NULL REFERENCES unit(id), PRIMARY KEY (run, seed)) WITHOUT ROWID;
CREATE INDEX run_unit_unit ON run_unit(unit);
CREATE TABLE live (unit INTEGER PRIMARY KEY REFERENCES unit(id) ON DELETE CASCADE, points BLOB NOT NULL);
CREATE TABLE trace (unit INTEGER PRIMARY KEY REFERENCES unit(id) ON DELETE CASCADE, data BLOB NOT NULL);
CREATE TABLE visitor (name TEXT PRIMARY KEY, served_at REAL NOT NULL) WITHOUT ROWID;
CREATE TABLE worker (id TEXT PRIMARY KEY, pid INTEGER NOT NULL, warm INTEGER NOT NULL) WITHOUT ROWID;
-- What pages ask of a spec without running it.
CREATE TABLE question (
    key TEXT PRIMARY KEY, question TEXT NOT NULL, spec TEXT NOT NULL, asked_at REAL NOT NULL,
    taken_at REAL NOT NULL DEFAULT 0, attempts INTEGER NOT NULL DEFAULT 0, answer TEXT) WITHOUT ROWID;
CREATE INDEX question_asked ON question(asked_at);
CREATE INDEX question_open ON question(asked_at) WHERE answer IS NULL;
-- Browser tabs that asked for work which ends with them; `here`: connected when it was last seen. A lease is a request
-- that lasts as long as its tab.
CREATE TABLE tab (
    name TEXT PRIMARY KEY, address TEXT NOT NULL, here INTEGER NOT NULL, seen_at REAL NOT NULL) WITHOUT ROWID;
CREATE TABLE lease (
    run INTEGER NOT NULL, visitor TEXT NOT NULL, tab TEXT NOT NULL, PRIMARY KEY (run, visitor),
    FOREIGN KEY (run, visitor) REFERENCES request(run, visitor) ON DELETE CASCADE) WITHOUT ROWID;
CREATE INDEX unit_used ON unit(used_at, id) WHERE bytes > 0;
CREATE INDEX lease_tab ON lease(tab);
-- Running seeds whose worker is at another one just now.
CREATE TABLE preempted (unit INTEGER PRIMARY KEY REFERENCES unit(id) ON DELETE CASCADE);
-- Of each run that has queued seeds, how many and for how long: kept up by triggers, so that nobody has to count them.
CREATE TABLE backlog (
    run INTEGER PRIMARY KEY REFERENCES run(id) ON DELETE CASCADE, seeds INTEGER NOT NULL, seconds REAL NOT NULL);
CREATE TRIGGER backlog_grows AFTER INSERT ON run_unit
WHEN (SELECT state FROM unit WHERE id = new.unit) = 'queued' BEGIN
    INSERT OR IGNORE INTO backlog VALUES (new.run, 0, 0);
    UPDATE backlog SET seeds = seeds + 1, seconds = seconds + (SELECT seconds FROM unit WHERE id = new.unit)
        WHERE run = new.run;
END;
CREATE TRIGGER backlog_changes AFTER UPDATE OF state, seconds ON unit
WHEN old.state = 'queued' OR new.state = 'queued' BEGIN
    INSERT OR IGNORE INTO backlog SELECT run, 0, 0 FROM run_unit WHERE unit = new.id;
    UPDATE backlog SET seeds = seeds + (new.state = 'queued') - (old.state = 'queued'),
        seconds = max(0, seconds + new.seconds * (new.state = 'queued') - old.seconds * (old.state = 'queued'))
        WHERE run IN (SELECT run FROM run_unit WHERE unit = new.id);
    DELETE FROM backlog WHERE seeds <= 0 AND run IN (SELECT run FROM run_unit WHERE unit = new.id);
END;
"""


class RunsFile(StoreFile):
    """What was asked for, by whom, how far it is, and what came out."""

    name = "store of runs"
    begin_with = TABLES
