"""The sample sessions are what their README says."""

import json
import re

import pytest


@pytest.fixture(scope="module")
def sessions(root):
    """By path below samples/, the records of every session."""
    samples = root / "contrib" / "samples"
    return {
        str(path.relative_to(samples)): [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        for path in sorted(samples.rglob("*.jsonl"))
    }


def main_sessions(sessions):
    """Those that a user began, as the two hosts mark them."""
    for path, records in sessions.items():
        if path.startswith("codex/") and records[0]["payload"]["thread_source"] == "user":
            yield path, records[0]["payload"]["cwd"]
        elif path.startswith("claude/") and "/subagents/" not in path:
            yield path, next(record["cwd"] for record in records if "cwd" in record)


def test_there_are_at_least_twelve_sessions_of_two_hosts_over_three_projects(sessions):
    found = list(main_sessions(sessions))
    assert len(found) >= 12
    assert {path.split("/")[0] for path, _ in found} == {"codex", "claude"}
    assert len({cwd for _, cwd in found}) == 3


def test_each_host_has_a_subagent_session(sessions):
    left_out = set(sessions) - {path for path, _ in main_sessions(sessions)}
    assert {path.split("/")[0] for path in left_out} == {"codex", "claude"}


def test_codex_records_are_numbered_without_a_gap(sessions):
    for path, records in sessions.items():
        if path.startswith("codex/"):
            assert [record["ordinal"] for record in records] == list(range(len(records))), path


def test_claude_records_form_one_chain(sessions):
    for path, records in sessions.items():
        if path.startswith("claude/"):
            chain = [record for record in records if "uuid" in record]
            assert [record["parentUuid"] for record in chain] == [None, *(record["uuid"] for record in chain[:-1])], (
                path
            )


def test_times_never_run_backwards(sessions):
    for path, records in sessions.items():
        times = [record["timestamp"] for record in records if "timestamp" in record]
        assert times == sorted(times), path


def test_what_the_readme_quotes_is_planted(sessions, root):
    labels = (root / "contrib" / "samples" / "README.md").read_text(encoding="utf-8").partition("## What is planted")[2]
    text = json.dumps(list(sessions.values()), ensure_ascii=False)
    quotes = re.findall(r"`([^`]+)`", labels) + re.findall(r"[\u3040-\u9fff][^(\n]+[\u3040-\u9fff]", labels)
    assert len(quotes) >= 12
    for quote in quotes:
        assert quote in text, quote


def test_nothing_names_a_real_place(sessions):
    text = json.dumps(list(sessions.values()))
    assert set(re.findall(r"/home/(\w+)", text)) == {"dev"}
    assert not re.findall(r"https?://(?!\S*\.(?:invalid|example)\b)\S+", text)
