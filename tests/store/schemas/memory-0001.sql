BEGIN TRANSACTION;
CREATE TABLE consolidation_progress (
        singleton INTEGER PRIMARY KEY CHECK (singleton = 1),
        max_thread_count INTEGER NOT NULL DEFAULT 0
    );
INSERT INTO "consolidation_progress" VALUES(1,1);
CREATE TABLE memory_citation_usage (
        host TEXT NOT NULL,
        session_id TEXT NOT NULL,
        assistant_message_id TEXT NOT NULL,
        cited_host TEXT NOT NULL,
        cited_session_id TEXT NOT NULL,
        recorded_at INTEGER NOT NULL,
        PRIMARY KEY (host, session_id, assistant_message_id, cited_host, cited_session_id)
    );
INSERT INTO "memory_citation_usage" VALUES('claude','r','m','codex','s1',1767225600000);
CREATE TABLE memory_findings (
        host TEXT NOT NULL,
        session_id TEXT NOT NULL,
        source_updated_at INTEGER NOT NULL,
        findings BLOB NOT NULL,
        PRIMARY KEY (host, session_id)
    );
INSERT INTO "memory_findings" VALUES('codex','s1',1767225500000,X'7B7D');
CREATE TABLE memory_jobs (
        kind TEXT NOT NULL,
        job_key TEXT NOT NULL,
        status TEXT NOT NULL,
        worker_id TEXT,
        ownership_token TEXT,
        started_at INTEGER,
        finished_at INTEGER,
        succeeded_at INTEGER,
        lease_until INTEGER,
        retry_at INTEGER,
        retry_remaining INTEGER NOT NULL,
        last_error TEXT,
        failure TEXT,
        input_watermark INTEGER,
        last_success_watermark INTEGER,
        PRIMARY KEY (kind, job_key)
    );
INSERT INTO "memory_jobs" VALUES('memory_stage1','codex:s1','done','w',NULL,1767225600,1767225600,1767225600,NULL,NULL,3,NULL,NULL,1767225500000,1767225500000);
INSERT INTO "memory_jobs" VALUES('memory_consolidate_global','global','done','w',NULL,1767225600,1767225600,1767225600,NULL,NULL,3,NULL,NULL,1767225500000,1767225500000);
INSERT INTO "memory_jobs" VALUES('memory_stage1','codex:s2','pending','w',NULL,1767225600,1767225600,NULL,NULL,1767229200,2,'bad reply','error',1767225500000,NULL);
INSERT INTO "memory_jobs" VALUES('memory_stage1','codex:s3','running','w','token',1767225600,NULL,NULL,1767229200,NULL,3,NULL,NULL,1767225500000,NULL);
CREATE TABLE memory_stage1_outputs (
        host TEXT NOT NULL,
        session_id TEXT NOT NULL,
        locator TEXT NOT NULL DEFAULT '',
        source_updated_at INTEGER NOT NULL,
        raw_memory TEXT NOT NULL,
        rollout_summary TEXT NOT NULL,
        rollout_slug TEXT,
        cwd TEXT,
        extra TEXT NOT NULL DEFAULT '{}',
        generated_at INTEGER NOT NULL,
        retained_from INTEGER NOT NULL DEFAULT 0,
        usage_count INTEGER NOT NULL DEFAULT 0,
        last_usage INTEGER,
        selected_for_phase2 INTEGER NOT NULL DEFAULT 0,
        selected_for_phase2_source_updated_at INTEGER,
        PRIMARY KEY (host, session_id)
    );
INSERT INTO "memory_stage1_outputs" VALUES('codex','s1','',1767225500000,'raw','kept','','/w','{}',1767225600000,0,1,1767225600000,1,1767225500000);
CREATE TABLE "schema_migration" ("id" INTEGER NOT NULL PRIMARY KEY, "name" VARCHAR(255) NOT NULL, "applied" DATETIME NOT NULL);
INSERT INTO "schema_migration" VALUES(1,'0001_initial','2026-01-01 00:00:00');
CREATE UNIQUE INDEX "schema_migration_name" ON "schema_migration" ("name");
CREATE INDEX memory_stage1_outputs_recency ON memory_stage1_outputs (source_updated_at DESC, session_id DESC);
CREATE INDEX memory_jobs_state ON memory_jobs (kind, status, retry_at, lease_until);
COMMIT;
