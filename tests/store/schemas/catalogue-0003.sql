BEGIN TRANSACTION;
CREATE TABLE breaker (
        scope TEXT PRIMARY KEY,
        until_ms INTEGER NOT NULL,
        reason TEXT NOT NULL,
        fingerprint TEXT NOT NULL DEFAULT ''
    );
INSERT INTO "breaker" VALUES('model:m',1767225700000,'429','');
CREATE TABLE deliveries (
        event_id TEXT NOT NULL,
        plugin TEXT NOT NULL,
        host TEXT NOT NULL,
        session_id TEXT NOT NULL,
        kind TEXT NOT NULL,
        payload TEXT NOT NULL,
        state TEXT NOT NULL DEFAULT 'pending',
        attempts INTEGER NOT NULL DEFAULT 0,
        retry_at_ms INTEGER NOT NULL DEFAULT 0,
        error TEXT NOT NULL DEFAULT '',
        updated_at_ms INTEGER NOT NULL,
        PRIMARY KEY (event_id, plugin)
    );
INSERT INTO "deliveries" VALUES('e1','ov','codex','s1','end','{}','pending',0,0,'',1767225600000);
CREATE TABLE events (
        id TEXT PRIMARY KEY,
        host TEXT NOT NULL,
        session_id TEXT NOT NULL,
        kind TEXT NOT NULL,
        at_ms INTEGER NOT NULL
    );
INSERT INTO "events" VALUES('e1','codex','s1','end',1767225500000);
CREATE TABLE events_seen (
        host TEXT NOT NULL,
        event TEXT NOT NULL,
        fired_at_ms INTEGER NOT NULL,
        PRIMARY KEY (host, event)
    );
INSERT INTO "events_seen" VALUES('codex','end',1);
CREATE TABLE forget_pending (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        plugin TEXT NOT NULL,
        selector TEXT NOT NULL,
        attempts INTEGER NOT NULL DEFAULT 0,
        error TEXT NOT NULL DEFAULT '',
        asked_at_ms INTEGER NOT NULL,
        UNIQUE (plugin, selector)
    );
INSERT INTO "forget_pending" VALUES(1,'ov','{}',1,'down',1767225600000);
CREATE TABLE marks (
        key TEXT PRIMARY KEY,
        value TEXT NOT NULL
    );
INSERT INTO "marks" VALUES('k','v');
CREATE TABLE memory_session_meta (
        host TEXT NOT NULL,
        session_id TEXT NOT NULL,
        memory_mode TEXT NOT NULL DEFAULT 'enabled',
        polluted INTEGER NOT NULL DEFAULT 0,
        updated_at INTEGER NOT NULL,
        PRIMARY KEY (host, session_id)
    );
INSERT INTO "memory_session_meta" VALUES('codex','s1','disabled',0,1767225600000);
CREATE TABLE memory_session_versions (
        host TEXT NOT NULL,
        session_id TEXT NOT NULL,
        version TEXT NOT NULL,
        frozen_at_ms INTEGER NOT NULL,
        PRIMARY KEY (host, session_id)
    );
INSERT INTO "memory_session_versions" VALUES('codex','s1','v1',1767225600000);
CREATE TABLE notices (
        source TEXT NOT NULL,
        text TEXT NOT NULL,
        first_at_ms INTEGER NOT NULL,
        last_at_ms INTEGER NOT NULL,
        times INTEGER NOT NULL DEFAULT 1,
        PRIMARY KEY (source, text)
    );
INSERT INTO "notices" VALUES('v1','text',1767225600000,1767225600000,1);
CREATE TABLE forgotten_sessions (
        host TEXT NOT NULL,
        session_id TEXT NOT NULL,
        forgotten_at_ms INTEGER NOT NULL,
        PRIMARY KEY (host, session_id)
    );
INSERT INTO "forgotten_sessions" VALUES('codex','gone',1767225600000);
CREATE TABLE forgotten_texts (
        window TEXT PRIMARY KEY,
        first TEXT NOT NULL,
        words INTEGER NOT NULL,
        forgotten_at_ms INTEGER NOT NULL
    );
INSERT INTO "forgotten_texts" VALUES('00112233445566778899aabbccddeeff','ffeeddccbbaa99887766554433221100',3,1767225600000);
CREATE TABLE own_sessions (
        host TEXT NOT NULL,
        session_id TEXT NOT NULL,
        registered_at_ms INTEGER NOT NULL,
        PRIMARY KEY (host, session_id)
    );
INSERT INTO "own_sessions" VALUES('codex','own',1767225600000);
CREATE TABLE "schema_migration" ("id" INTEGER NOT NULL PRIMARY KEY, "name" VARCHAR(255) NOT NULL, "applied" DATETIME NOT NULL);
INSERT INTO "schema_migration" VALUES(1,'0001_initial','2026-01-01 00:00:00');
INSERT INTO "schema_migration" VALUES(2,'0002_tombstones','2026-01-01 00:00:00');
INSERT INTO "schema_migration" VALUES(3,'0003_hooks','2026-01-01 00:00:00');
CREATE TABLE session_contexts (
        host TEXT NOT NULL,
        session_id TEXT NOT NULL,
        generation TEXT NOT NULL,
        given_at_ms INTEGER NOT NULL,
        PRIMARY KEY (host, session_id)
    );
INSERT INTO "session_contexts" VALUES('codex','s1','0011223344556677',1767225600000);
CREATE TABLE session_ends (
        host TEXT NOT NULL,
        session_id TEXT NOT NULL,
        ended_at_ms INTEGER NOT NULL,
        PRIMARY KEY (host, session_id)
    );
INSERT INTO "session_ends" VALUES('codex','s1',1767225500000);
CREATE TABLE session_locators (
        host TEXT NOT NULL,
        locator TEXT NOT NULL,
        session_id TEXT NOT NULL,
        stamp TEXT NOT NULL,
        PRIMARY KEY (host, locator)
    );
INSERT INTO "session_locators" VALUES('codex','/sessions/s1.jsonl','s1','1:2:3');
CREATE TABLE session_processes (
        host TEXT NOT NULL,
        session_id TEXT NOT NULL,
        pid INTEGER NOT NULL,
        started TEXT NOT NULL,
        seen_at_ms INTEGER NOT NULL,
        PRIMARY KEY (host, session_id)
    );
INSERT INTO "session_processes" VALUES('codex','s1',4242,'1234.4026531836',1767225600000);
CREATE TABLE sessions (
        host TEXT NOT NULL,
        id TEXT NOT NULL,
        locator TEXT NOT NULL,
        cwd TEXT NOT NULL DEFAULT '',
        updated_at_ms INTEGER NOT NULL,
        touched_at_ms INTEGER NOT NULL,
        stamp TEXT NOT NULL DEFAULT '',
        revision TEXT NOT NULL DEFAULT '',
        kind TEXT NOT NULL DEFAULT 'main',
        source TEXT NOT NULL DEFAULT '',
        memory_mode TEXT NOT NULL DEFAULT 'enabled',
        forked_from TEXT NOT NULL DEFAULT '',
        size_bytes INTEGER NOT NULL DEFAULT 0,
        first_seen_ms INTEGER NOT NULL,
        present TEXT NOT NULL DEFAULT 'present',
        PRIMARY KEY (host, id)
    );
INSERT INTO "sessions" VALUES('codex','s1','/sessions/s1.jsonl','',1767225500000,1767225500000,'1:2:3','r','main','','enabled','',0,1767225600000,'present');
CREATE TABLE usage_ledger (
        day TEXT NOT NULL,
        stage TEXT NOT NULL,
        memory TEXT NOT NULL,
        model TEXT NOT NULL,
        calls INTEGER NOT NULL DEFAULT 0,
        tokens_in INTEGER NOT NULL DEFAULT 0,
        tokens_out INTEGER NOT NULL DEFAULT 0,
        PRIMARY KEY (day, stage, memory, model)
    );
INSERT INTO "usage_ledger" VALUES('2026-01-01','extract','v1','m',1,5,2);
CREATE UNIQUE INDEX "schema_migration_name" ON "schema_migration" ("name");
CREATE INDEX sessions_excluded ON sessions (host, id) WHERE memory_mode <> 'enabled';
CREATE INDEX sessions_recency ON sessions (updated_at_ms DESC);
CREATE INDEX session_locators_session ON session_locators (host, session_id);
CREATE INDEX events_session ON events (host, session_id, id);
CREATE INDEX deliveries_order ON deliveries (state, plugin, host, session_id, event_id);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('forget_pending',1);
COMMIT;
