"""A secret that is said in a session is nowhere afterwards: not in a database, a file, a git object or a log."""

from __future__ import annotations

import pytest
from codexmem_hookspecs import hookimpl
from codexmem_hookspecs.values.extract import Extraction

from codexmem_core.pipeline import run
from codexmem_core.request import RunRequest

SECRETS = {
    "password": "hunter2-horse-staple",
    "github": "ghp_" + "a1B2" * 9,
    "aws": "AKIA" + "QWERTYUIOPASDFGH",
    "url": "postgres-pass-9871",
    "bearer": "abcdEFGH12345678ijklMNOP",
}
TURNS = (
    (
        "user",
        f"Always deploy with the token {SECRETS['github']} and password: {SECRETS['password']} in this repository.",
    ),
    ("assistant", f"I will call curl -H 'Authorization: Bearer {SECRETS['bearer']}' first."),
    ("user", f"From now on use postgres://app:{SECRETS['url']}@db/harbor and {SECRETS['aws']} everywhere."),
    ("assistant", "Done."),
)


def test_no_planted_secret_is_anywhere_in_the_home(codex_home, engine_of, everything_in):
    codex_home(*TURNS)
    engine = engine_of()
    report = run(engine, RunRequest(idle_hours=0))
    assert report.memories["v1"].extracted == 1
    engine.close()
    content = everything_in(engine.home.root)
    assert b"deploy" in content
    for kind, secret in SECRETS.items():
        assert secret.encode() not in content, kind


@pytest.mark.parametrize("where", ["summary", "raw", "file"])
def test_what_a_model_copies_into_a_note_is_redacted_again(codex_home, engine_of, other_memory, where, everything_in):
    class Careless(other_memory):
        @hookimpl
        def codexmem_extract_result(self, request, reply):
            kept = super().codexmem_extract_result(request, reply)
            leak = f"the key is {SECRETS['aws']}"
            summary = f"{kept.summary}\n{leak}" if where == "summary" else kept.summary
            return Extraction(
                summary=summary, raw=f"{kept.raw}\n{leak}" if where == "raw" else kept.raw, slug=kept.slug
            )

        @hookimpl
        def codexmem_consolidate_files(self, stored):
            files = dict(super().codexmem_consolidate_files(stored))
            if where == "file":
                files["raw_memories.md"] += f"password: {SECRETS['password']}\n"
            return files

    codex_home(("user", "Always use tabs in this repository."), ("assistant", "Yes."))
    engine = engine_of(Careless())
    report = run(engine, RunRequest(idle_hours=0))
    assert report.memories["other"].status == "succeeded", report
    engine.close()
    content = everything_in(engine.home.root)
    assert SECRETS["aws"].encode() not in content
    assert SECRETS["password"].encode() not in content
