"""What the engine holds: asked for one by one or a folder at once, the answer and the count are the same."""

import pytest
from codexmem_hookspecs.known import Known
from hypothesis import given
from hypothesis import strategies as st

NAMES = st.text(st.sampled_from("ab./:é\n"), min_size=1, max_size=6)
STAMPS = st.text(st.sampled_from("12:/"), max_size=4)


@given(st.dictionaries(NAMES, STAMPS, max_size=8), st.dictionaries(NAMES, STAMPS, max_size=8))
def test_a_state_is_held_when_place_and_stamp_are_the_same(held, asked):
    known = Known.of(held.items())
    answers = {locator for locator, stamp in asked.items() if known.holds(locator, stamp)}
    assert answers == {locator for locator, stamp in asked.items() if held.get(locator) == stamp}
    assert known.count == len(answers)


def test_a_folder_is_held_when_nothing_in_it_is_new_changed_or_gone():
    known = Known.of([("/a/two", "2"), ("/a/one", "1"), ("/a/b/three", "3"), ("/c", "4")])
    for states in (["one/1"], ["one/1", "three/3", "two/2"], ["one/1", "two/9"], ["two/2", "one/1"], []):
        assert not known.holds_all("/a/", states)
    assert not known.holds_all("/a", ["one/1", "two/2"])
    assert known.count == 0
    assert known.holds_all("/a/", ["one/1", "two/2"])
    assert known.holds_all("/", ["c/4"])
    assert known.count == 3


@pytest.mark.parametrize("locator", ["plain", "https://example.org/session/7", "/", "folder/"])
def test_any_locator_has_its_place(locator):
    known = Known.of([(locator, "s")])
    assert known.holds(locator, "s")
    assert not known.holds(locator, "t")


def test_nothing_is_held_at_first():
    known = Known()
    assert not known.holds("/a", "1")
    assert not known.holds_all("/", [])
    assert known.count == 0
