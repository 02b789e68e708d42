"""The recordings are what the labels say, and were made by the real programs."""

import json
import re
from collections import Counter


def test_every_conversation_has_a_recording_and_labels(conversations, recordings, recorded):
    assert set(conversations) == set(recordings) == set(json.loads(recorded.labels.read_text("utf-8")))


def test_at_least_three_of_each_program_and_eight_in_all(conversations, recordings):
    hosts = Counter(conversation["host"] for conversation in conversations.values())
    assert hosts["codex"] >= 3
    assert hosts["claude"] >= 3
    assert sum(hosts.values()) >= 8
    for name, conversation in conversations.items():
        first = next(record for record in recordings[name] if record["type"] in ("session_meta", "user"))
        if conversation["host"] == "codex":
            assert (first["payload"]["originator"], first["payload"]["cli_version"]) == ("codex_exec", "0.171.0")
        else:
            assert (first["entrypoint"], first["version"]) == ("sdk-cli", "2.1.197")


def test_what_was_written_was_said(conversations, recordings):
    for name, conversation in conversations.items():
        said = json.dumps(recordings[name], ensure_ascii=False)
        for turn in conversation["turns"]:
            assert json.dumps(turn["user"].strip(), ensure_ascii=False) in said, name


def test_every_label_quotes_its_recording(quality, recordings, recorded):
    for label in quality("labels").read_labels(recorded.labels):
        if "replaced" in label.kinds:
            continue  # said in an earlier session
        told = quality("lines").plain(json.dumps(recordings[label.session], ensure_ascii=False).replace("\\", ""))
        for quotes in (label.quotes, label.errors, (label.command,), (label.fix,)):
            assert not quotes or any(quality("lines").plain(quote) in told for quote in quotes), (label.session, quotes)


def test_the_kinds_of_talk_are_varied(quality, recorded):
    labels = quality("labels").read_labels(recorded.labels)
    kinds = Counter(kind for label in labels for kind in label.kinds)
    assert all(kinds[kind] >= 5 for kind in ("preference", "decision", "task", "failure"))
    assert kinds["replaced"] >= 1
    assert {label.polarity for label in labels if "preference" in label.kinds} >= {"do", "avoid"}
    assert {"partial", "success", "fail"} <= {outcome for label in labels for outcome in label.outcomes}
    text = " ".join(quote for label in labels for quote in label.quotes)
    assert re.search(r"[\u3040-\u30ff]", text)
    assert re.search(r"[\u4e00-\u9fff]", text)


def test_nothing_names_a_real_place(recordings):
    text = json.dumps(list(recordings.values()))
    assert set(re.findall(r"/home/(\w+)", text)) == {"dev"}
    assert not re.findall(r"/(?:root|var/tmp|Users|opt)/", text)
    own = {"index.crates.io", "docs.rs", "github.com"}
    assert {host for host in re.findall(r"https?://([\w.-]+)", text) if not host.endswith(".invalid")} <= own
