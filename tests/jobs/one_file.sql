-- A store of the version that kept rooms and short links beside runs, in one file, as that version wrote it: two finished
-- seeds, two running ones, a room with two devices, two steps and three answers, and a short link.
BEGIN TRANSACTION;
CREATE TABLE backlog (
    run INTEGER PRIMARY KEY REFERENCES run(id) ON DELETE CASCADE, seeds INTEGER NOT NULL, seconds REAL NOT NULL);
CREATE TABLE lease (
    run INTEGER NOT NULL, visitor TEXT NOT NULL, tab TEXT NOT NULL, PRIMARY KEY (run, visitor),
    FOREIGN KEY (run, visitor) REFERENCES request(run, visitor) ON DELETE CASCADE) WITHOUT ROWID;
INSERT INTO "lease" VALUES(2,'ann','tab');
CREATE TABLE live (unit INTEGER PRIMARY KEY REFERENCES unit(id) ON DELETE CASCADE, points BLOB NOT NULL);
INSERT INTO "live" VALUES(1,X'881FA3052FCD8C17C40691D0828FA75E010000000000000005000000000000000A00000000000000000000000000E03F000000000000F83F0000000000000440');
INSERT INTO "live" VALUES(2,X'7F057E2E96CF04DA10426C91DE0921E5010000000000000005000000000000000A00000000000000000000000000E03F000000000000F83F0000000000000440');
INSERT INTO "live" VALUES(3,X'2FE1C848A3B87CEBF0684F6891DC395A010000000000000005000000000000000A00000000000000000000000000E03F000000000000F83F0000000000000440');
CREATE TABLE notice (text TEXT NOT NULL, at REAL NOT NULL);
CREATE TABLE parked (unit INTEGER PRIMARY KEY REFERENCES unit(id) ON DELETE CASCADE);
INSERT INTO "parked" VALUES(3);
CREATE TABLE question (
    key TEXT PRIMARY KEY, question TEXT NOT NULL, spec TEXT NOT NULL, asked_at REAL NOT NULL,
    taken_at REAL NOT NULL DEFAULT 0, attempts INTEGER NOT NULL DEFAULT 0, answer BLOB) WITHOUT ROWID;
INSERT INTO "question" VALUES('size today/done//0','size','{"name": "done", "seeds": 2, "seconds": 0.2, "act": "", "diary": "", "source": "today"}',1.795496125e+09,0.0,0,NULL);
CREATE TABLE request (
    run INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE, visitor TEXT NOT NULL,
    waiting INTEGER NOT NULL, asked_at REAL NOT NULL, PRIMARY KEY (run, visitor)) WITHOUT ROWID;
INSERT INTO "request" VALUES(1,'ann',1,1.795496125e+09);
INSERT INTO "request" VALUES(2,'ann',1,1.795496125e+09);
CREATE TABLE room (
    code TEXT PRIMARY KEY, teacher BLOB NOT NULL, opened_at REAL NOT NULL, closed INTEGER NOT NULL,
    version INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO "room" VALUES('VTMVZM',X'2D3E07C62F8978A7D1A98ECAEF541C10',1.795496125e+09,0,7);
CREATE TABLE room_answer (
    room TEXT NOT NULL, place INTEGER NOT NULL, device BLOB NOT NULL, answer TEXT NOT NULL,
    PRIMARY KEY (room, place, device), FOREIGN KEY (room, place) REFERENCES room_step(room, place) ON DELETE CASCADE,
    FOREIGN KEY (room, device) REFERENCES room_device(room, device) ON DELETE CASCADE) WITHOUT ROWID;
INSERT INTO "room_answer" VALUES('VTMVZM',0,X'1789D624F4CF62068B8E27B4F4E7FA8E','no');
INSERT INTO "room_answer" VALUES('VTMVZM',0,X'C3601C753853AE54FE91C058164575C0','yes');
INSERT INTO "room_answer" VALUES('VTMVZM',1,X'C3601C753853AE54FE91C058164575C0','100');
CREATE TABLE room_device (
    room TEXT NOT NULL REFERENCES room(code) ON DELETE CASCADE, device BLOB NOT NULL,
    PRIMARY KEY (room, device)) WITHOUT ROWID;
INSERT INTO "room_device" VALUES('VTMVZM',X'1789D624F4CF62068B8E27B4F4E7FA8E');
INSERT INTO "room_device" VALUES('VTMVZM',X'C3601C753853AE54FE91C058164575C0');
CREATE TABLE room_step (
    room TEXT NOT NULL REFERENCES room(code) ON DELETE CASCADE, place INTEGER NOT NULL, content TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('open', 'paused', 'revealed')), PRIMARY KEY (room, place)) WITHOUT ROWID;
INSERT INTO "room_step" VALUES('VTMVZM',0,'{"kind": "question", "text": "Did you ever copy an answer?", "epsilon": 5.0}','revealed');
INSERT INTO "room_step" VALUES('VTMVZM',1,'{"kind": "prediction", "lesson": "first", "step": 0}','open');
CREATE TABLE run (
    id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE, spec TEXT NOT NULL,
    seeds INTEGER NOT NULL, rev INTEGER NOT NULL DEFAULT 0);
INSERT INTO "run" VALUES(1,'4afff8e6cbe66036aeef9f00fb2e524b1709a6cb7ccd94b22542dda2864c3c48','{"name": "done", "seeds": 2, "seconds": 0.2, "act": "", "diary": "", "source": "today"}',2,0);
INSERT INTO "run" VALUES(2,'1c35f53ff412230d80919f6256d4ee01ea434d47261f47ffc71899a6f281c54b','{"name": "begun", "seeds": 2, "seconds": 0.2, "act": "", "diary": "", "source": "today"}',2,0);
CREATE TABLE run_unit (
    run INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE, seed INTEGER NOT NULL,
    unit INTEGER NOT NULL REFERENCES unit(id), PRIMARY KEY (run, seed)) WITHOUT ROWID;
INSERT INTO "run_unit" VALUES(1,0,1);
INSERT INTO "run_unit" VALUES(1,1,2);
INSERT INTO "run_unit" VALUES(2,0,3);
INSERT INTO "run_unit" VALUES(2,1,4);
CREATE TABLE short_link (
    code TEXT PRIMARY KEY, digest BLOB NOT NULL UNIQUE, page TEXT NOT NULL, query TEXT NOT NULL) WITHOUT ROWID;
INSERT INTO "short_link" VALUES('YRYBHKDP',X'606E5974761272C6690DEE7C2F7B6FE6','explore','v=1&c=eps.0.3~K.1e7');
CREATE TABLE tab (
    name TEXT PRIMARY KEY, address TEXT NOT NULL, here INTEGER NOT NULL, seen_at REAL NOT NULL) WITHOUT ROWID;
INSERT INTO "tab" VALUES('tab','address',1,1.795496125e+09);
CREATE TABLE trace (
    unit INTEGER PRIMARY KEY REFERENCES unit(id) ON DELETE CASCADE, digest BLOB NOT NULL, data BLOB NOT NULL);
INSERT INTO "trace" VALUES(1,X'26B2CD7EB8A8A0D033E5FB98C7DA44A5',X'7B2273656564223A20302C2022636F6D706C657465223A20747275652C202273697A65223A20307D');
INSERT INTO "trace" VALUES(2,X'61D71668986C5A4945A0FC0B9DB5F9D0',X'7B2273656564223A20312C2022636F6D706C657465223A20747275652C202273697A65223A20307D');
CREATE TABLE unit (
    id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE, seed INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('queued', 'running', 'done', 'failed', 'cancelled', 'gone')),
    progress REAL NOT NULL DEFAULT 0, message TEXT NOT NULL DEFAULT '', rev INTEGER NOT NULL DEFAULT 0,
    worker TEXT, deaths INTEGER NOT NULL DEFAULT 0, damages INTEGER NOT NULL DEFAULT 0,
    seconds REAL NOT NULL, started_at REAL NOT NULL DEFAULT 0, used_at REAL NOT NULL,
    bytes INTEGER NOT NULL DEFAULT 0);
INSERT INTO "unit" VALUES(1,'today/done//0',0,'done',1.0,'',3,NULL,0,0,1.65110999660100787878e-04,1.795496125e+09,1.795496125e+09,40);
INSERT INTO "unit" VALUES(2,'today/done//1',1,'done',1.0,'',3,NULL,0,0,6.52430007903603836894e-05,1.795496125e+09,1.795496125e+09,40);
INSERT INTO "unit" VALUES(3,'today/begun//0',0,'running',0.5,'',2,'w',0,0,0.2,1.795496125e+09,1.795496125e+09,0);
INSERT INTO "unit" VALUES(4,'today/begun//1',1,'running',0.0,'',1,'w',0,0,0.2,1.795496125e+09,1.795496125e+09,0);
CREATE TABLE visitor (name TEXT PRIMARY KEY, served_at REAL NOT NULL) WITHOUT ROWID;
INSERT INTO "visitor" VALUES('ann',1.795496125e+09);
CREATE TABLE worker (id TEXT PRIMARY KEY, pid INTEGER NOT NULL, warm INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX request_visitor ON request(visitor);
CREATE INDEX unit_state ON unit(state);
CREATE INDEX unit_worker ON unit(worker) WHERE worker IS NOT NULL;
CREATE INDEX run_unit_unit ON run_unit(unit);
CREATE INDEX question_asked ON question(asked_at);
CREATE INDEX question_open ON question(asked_at) WHERE answer IS NULL;
CREATE INDEX unit_used ON unit(used_at, id) WHERE bytes > 0;
CREATE INDEX lease_tab ON lease(tab);
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
CREATE INDEX room_answer_device ON room_answer(room, device);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('run',2);
INSERT INTO "sqlite_sequence" VALUES('unit',4);
COMMIT;
