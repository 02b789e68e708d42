"""Rollouts that Codex compressed, behind the engine's own guard and line reader."""

import os
import sys

import pytest
from codexmem_hookspecs.known import Known
from codexmem_hookspecs.values.capture import Presence

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

NAME = "rollout-2027-01-15T08-00-00-0198a000-0000-7000-8000-000000000001.jsonl"


@pytest.fixture
def lines(codex):
    return [codex.meta(), codex.user("one"), codex.agent("two"), codex.user("three"), codex.agent("four")]


def test_a_compressed_rollout_is_read_like_the_plain_one(guarded, lines):
    plain = guarded.write(*lines)
    session, entries = guarded.session(), guarded.entries()
    os.unlink(plain)
    guarded.write(*lines, name=NAME + ".zst", compress=zstd.compress)
    compressed = guarded.session()
    assert (compressed.id, compressed.revision) == (session.id, session.revision)
    assert compressed.size_bytes == session.size_bytes
    assert guarded.entries(compressed) == entries
    assert guarded.entries(session) == entries  # known by its old name, read in its new form


def test_both_forms_at_once_are_one_session_and_the_plain_one_wins(guarded, lines):
    guarded.write(*lines, name=NAME + ".zst", compress=zstd.compress)
    plain = guarded.write(*lines, guarded.user("five"))
    assert guarded.session().locator == plain
    known = {(plain, guarded.session().stamp)}
    assert guarded.sessions(known=Known.of(known)) == []


def test_a_truncated_compressed_file_is_reported_and_stops_no_other(guarded, lines):
    def half(content):
        whole = zstd.compress(content + os.urandom(100_000).hex().encode() + b"\n")
        return whole[: len(whole) // 2]

    bad = guarded.write(*lines, name=NAME + ".zst", compress=half)
    other = "0198a000-0000-7000-8000-000000000002"
    guarded.write(guarded.meta(other), guarded.user("fine"), name=f"rollout-2027-01-15T09-00-00-{other}.jsonl")
    assert [session.id for session in guarded.sessions()] == [other]
    assert [fields["path"] for _, fields in guarded.services.log.warnings] == [bad]


def test_presence_does_not_depend_on_the_form(guarded, lines):
    from codexmem_host_codex import plugin

    plain = guarded.write(*lines)
    session = guarded.session()
    os.unlink(plain)
    guarded.write(*lines, name=NAME + ".zst", compress=zstd.compress)
    found = plugin.codexmem_capture_presence(sessions=[session], services=guarded.services)
    assert found == {session.id: Presence.present}
