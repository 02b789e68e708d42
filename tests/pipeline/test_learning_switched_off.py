"""With ``generate_memories = false`` nothing is learned, and nothing is paid for."""

from __future__ import annotations

import pytest
from codexmem_hookspecs import hookimpl
from codexmem_hookspecs.errors import ModelRefused
from codexmem_hookspecs.values.records import ModelBackend

from codexmem_core.pipeline import run
from codexmem_core.request import RunRequest
from codexmem_core.switches import Learning

TURNS = (("user", "Always run make lint before a commit in this repository."), ("assistant", "I will."))


class PaidModel:
    """Refuses, and counts how often it was asked."""

    name = "paid"

    def __init__(self):
        self.asked = 0

    @hookimpl
    def codexmem_models(self):
        def refuse(*_arguments):
            self.asked += 1
            raise ModelRefused("not today", "transport")

        return [ModelBackend(name="meter", summary="counts", costs=True, ask=refuse, turn=refuse)]


@pytest.fixture
def paid():
    return PaidModel()


def test_a_model_that_costs_is_not_asked_for_either_half(codex_home, engine_of, paid):
    codex_home(*TURNS)
    engine = engine_of(paid, config='[models]\nbackend = "meter"\n[memories]\ngenerate_memories = false\n')
    report = run(engine, RunRequest(idle_hours=0, now=True))
    assert paid.asked == 0
    assert report.memories["v1"].status == "skipped_generation_disabled"


def test_with_learning_on_the_same_model_is_asked(codex_home, engine_of, paid):
    codex_home(*TURNS)
    engine = engine_of(paid, config='[models]\nbackend = "meter"\n')
    run(engine, RunRequest(idle_hours=0, now=True))
    assert paid.asked > 0


def test_the_built_in_model_still_brings_forgetting_into_the_files(codex_home, run_with, engine_of, tmp_path):
    session = codex_home(*TURNS)
    codex_home(("user", "Never push to main in this repository."), ("assistant", "Understood."))
    run_with()
    handbook = tmp_path / "home" / "memories" / "MEMORY.md"
    assert "make lint" in handbook.read_text()
    engine = engine_of(config="[memories]\ngenerate_memories = false\n")
    engine.catalogue.set_mode("codex", session, "disabled")
    report = run(engine, RunRequest(idle_hours=0))
    assert report.memories["v1"].extracted == 0
    assert "make lint" not in handbook.read_text()
    assert "push to main" in handbook.read_text()


def test_what_was_switched_off_between_the_reading_of_the_settings_and_the_first_job_counts(engine_of, tmp_path):
    engine = engine_of(config="[memories]\ngenerate_memories = true\n")
    assert engine.config.flag("memories", "generate_memories")
    (tmp_path / "config.toml").write_text("[memories]\ngenerate_memories = false\n")
    learning = Learning(engine.config, engine.environ)
    assert not learning()
    (tmp_path / "config.toml").unlink()
    assert learning()
