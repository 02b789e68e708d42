"""Ranking, quotas and digests, on values that the original gave, and on any others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from codexmem_ov_commit import utf16
from codexmem_ov_commit.digest import COMPRESSED_UNITS, HEADER, MORE, compressed_digest, distance, plain_digest
from codexmem_ov_commit.queries import CODING, OLDER, Query, shared
from codexmem_ov_commit.ranking import Found, category_of, entries_in, found_in, ranked
from hypothesis import given
from hypothesis import strategies as st

GOLDEN = json.loads((Path(__file__).parent / "golden_recall.json").read_text())
"""What the functions of the original plugin 0.7.5 gave."""
KEYS = {
    "recallLimit": "limit",
    "scoreThreshold": "threshold",
    "recallPeerScope": "peer_scope",
    "recallDedupTurns": "dedup_turns",
    "recallMaxTokens": "max_tokens",
    "recallQueryExpansion": "expansion",
    "recallLimitConfigured": "limit_is_set",
}


def query(vector):
    given = {KEYS[key]: value for key, value in vector["cfg"].items() if key in KEYS}
    return Query(**{"text": "", "session": vector.get("opt", {}).get("sessionId", ""), **given})


@pytest.mark.parametrize("vector", GOLDEN["tokens"], ids=lambda vector: repr(vector["text"][:6]))
def test_tokens_are_estimated_as_by_the_original(vector):
    assert utf16.tokens(vector["text"]) == vector["tokens"]


@pytest.mark.parametrize("vector", GOLDEN["contextBody"], ids=lambda vector: json.dumps(vector["cfg"])[:40])
def test_a_context_is_asked_for_as_by_the_original(vector):
    """Without ``rewrite``: shortening is a model's work, and here a model is the user's choice."""
    assert query(vector).context() == {key: value for key, value in vector["body"].items() if key != "rewrite"}


@pytest.mark.parametrize("vector", GOLDEN["recallBody"], ids=lambda vector: json.dumps(vector["cfg"])[:40])
def test_a_recall_is_asked_for_as_by_the_original(vector):
    """But for its length: ours follows the tokens that a recall may have (1,600), not an entry's characters."""
    assert query(vector).recall() == {**vector["body"], "max_chars": 6_400}


@pytest.mark.parametrize("vector", GOLDEN["digest"], ids=lambda vector: vector["t"][:10])
def test_a_compressors_answer_is_read_as_by_the_original(vector):
    served = ["viking://x", "viking://y"]
    # An empty answer and one without bullets are none, and are replaced by the plain digest.
    assert compressed_digest(vector["t"], served, 6) == vector["out"]


@pytest.mark.parametrize("vector", GOLDEN["repair"], ids=lambda vector: vector["d"][-12:])
def test_addresses_are_mended_as_by_the_original(vector):
    assert compressed_digest(vector["d"], vector["u"], 6) == vector["out"]


@given(st.integers(1, 50), st.sampled_from([CODING, OLDER]))
def test_quotas_give_each_kind_something_and_waste_nothing(limit, shares):
    quotas = shared(shares, limit)
    assert quotas.keys() == shares.keys()
    assert all(quotas.values())
    assert sum(quotas.values()) == limit or set(quotas.values()) == {1} or sum(quotas.values()) - limit < len(shares)
    assert sum(quotas.values()) >= limit


def file(name, score, text, **more):
    return Found(**{"uri": f"viking://~/memories/{name}", "category": category_of(f"viking://~/memories/{name}"),
                    "score": score, "text": text, **more})  # fmt: skip


def best(question, *found, **more):
    return [one.text for one in ranked(question, found, **{"threshold": 0.35, "limit": 10, **more})]


def test_a_question_about_time_prefers_events_and_one_about_taste_preferences():
    event, taste = file("events/a.md", 0.60, "one"), file("preferences/b.md", 0.61, "other")
    assert best("which is it", event, taste) == ["other", "one"]
    assert best("when was it", event, taste) == ["one", "other"]
    taste = file("preferences/b.md", 0.55, "other")
    assert best("which is it", event, taste) == ["one", "other"]
    assert best("what do I prefer", event, taste) == ["other", "one"]
    assert best("我喜欢什么", event, taste) == ["other", "one"]


def test_words_of_the_question_count_and_common_ones_do_not():
    about = file("entities/a.md", 0.5, "the shop's checkout page")
    other = file("entities/b.md", 0.6, "what the where how")
    assert best("how does the checkout page work", other, about)[0] == about.text
    assert best("how what where", about, other)[0] == other.text


def test_only_files_above_the_threshold_each_once_and_no_more_than_wanted():
    found = [file(f"events/{number}.md", 0.9 - number / 100, f"text {number}") for number in range(20)]
    twice = file("events/x.md", 0.95, "Text  0")
    overview = file("events/.overview.md", 0.99, "overview", level=1)
    poor = file("events/y.md", 0.34, "poor")
    said = best("which", *found, twice, overview, poor, limit=50)
    assert sorted(said) == sorted(one.text for one in found)
    assert len(best("which", *found, limit=3)) == 3


FOUND = st.builds(
    Found,
    uri=st.text(max_size=20),
    category=st.text(max_size=5),
    text=st.text(max_size=400),
    score=st.floats(0, 1),
    level=st.integers(0, 3),
)


@given(st.lists(FOUND), st.text(max_size=60), st.integers(1, 9))
def test_ranking_and_digest_are_the_same_each_time_and_within_their_limits(found, question, limit):
    chosen = ranked(question, found, threshold=0.3, limit=limit)
    assert list(chosen) == list(ranked(question, found, threshold=0.3, limit=limit))
    assert len(chosen) <= limit
    digest = plain_digest(chosen, limit)
    assert digest == plain_digest(chosen, limit)
    bullets = [line for line in digest.split("\n")[1:] if line != MORE] if digest else []
    assert len(bullets) <= limit


def test_a_bullet_is_one_line_of_at_most_260_units():
    digest = plain_digest([file("events/a.md", 0.5, "long\n" * 200 + "😀" * 300)], 6)
    header, bullet, more = digest.split("\n")
    assert (header, more) == (HEADER, MORE)
    text = bullet.removeprefix("- [events] ").removesuffix(" (viking://~/memories/events/a.md)")
    assert utf16.length(text) <= 260


def test_at_most_six_bullets_and_none_without_words():
    found = [file(f"events/{number}.md", 0.5, "" if number == 0 else f"text {number}") for number in range(20)]
    assert len(plain_digest(found, 6).split("\n")) == 8
    assert plain_digest([], 6) == plain_digest(found[:1], 6) == ""


@given(st.text(alphabet="-* ab\nviking://x\u3000記", max_size=600), st.integers(1, 6))
def test_of_a_compressor_only_bullets_with_served_addresses_stay(said, bullets):
    digest = compressed_digest(said, ["viking://x"], bullets)
    if digest:
        header, *lines = digest.split("\n")
        assert header == HEADER
        assert len(lines) <= bullets
        assert all(line.startswith("- ") and "viking://x" in line for line in lines)


def test_a_compressors_digest_is_at_most_4000_units_of_whole_bullets():
    said = "\n".join(f"- {number} {'w' * 900} viking://x" for number in range(9))
    digest = compressed_digest(said, ["viking://x"], 50)
    assert digest is not None
    assert len(digest) <= COMPRESSED_UNITS
    assert digest.count("\n- ") == 4


@pytest.mark.parametrize(
    ("uri", "category"),
    [
        ("viking://user/me/memories/preferences/deep/x.md", "preferences"),
        ("viking://~/memories/profile.md", "memories"),
        ("viking://user/me/skills/git/SKILL.md", "skills"),
        ("viking://resources/manual.md", "resources"),
        ("viking://", "memories"),
        ("no address", "memories"),
    ],
)
def test_what_an_address_is_about(uri, category):
    assert category_of(uri) == category


NAMES = st.sampled_from(["entries", "memories", "uri", "score", "text", "abstract", "level", "category"])
ANSWERS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner),
)


@given(ANSWERS)
def test_no_answer_of_a_server_breaks_reading_it(result):
    for one in (*entries_in(result), *found_in(result, "memories")):
        assert isinstance(one.uri, str)
        assert 0 <= abs(one.score) < float("inf")


@given(st.text(alphabet="abc", max_size=9), st.text(alphabet="abc", max_size=9), st.integers(0, 9))
def test_a_distance_is_right_up_to_where_it_matters(one, other, most):
    whole = distance(one, other, 99)
    assert whole == distance(other, one, 99)
    assert (distance(one, other, most) == whole) if whole <= most else (distance(one, other, most) > most)
