"""What a model's answer to an extraction means when parts of it are blank."""

from __future__ import annotations

import pytest
from codexmem_hookspecs.values.extract import NOTHING, ExtractionRequest, Reply
from codexmem_memory_v1 import plugin


def understood(**data):
    request = ExtractionRequest(instructions="", input="", schema={})
    return plugin.codexmem_extract_result(request=request, reply=Reply(data=data))


@pytest.mark.parametrize("blank", ["", " ", "\n\t "])
def test_an_answer_of_blanks_says_that_nothing_is_worth_keeping(blank):
    assert understood(rollout_summary=blank, raw_memory=blank, rollout_slug=blank) == NOTHING


@pytest.mark.parametrize(("summary", "raw"), [("", "x"), ("x", ""), (" \n", "x"), ("x", "\t")])
def test_an_answer_of_which_either_half_is_blank_says_so_too(summary, raw):
    assert understood(rollout_summary=summary, raw_memory=raw, rollout_slug="x") == NOTHING


@pytest.mark.parametrize("slug", ["", "  ", None])
def test_a_blank_name_is_no_name(slug):
    note = understood(rollout_summary=" a ", raw_memory="b\n", rollout_slug=slug)
    assert (note.summary, note.raw, note.slug) == ("a", "b", "")


@pytest.mark.parametrize("missing", ["rollout_summary", "raw_memory", "rollout_slug"])
@pytest.mark.parametrize("wrong", ["absent", 3, ["x"], {}])
def test_a_field_that_is_missing_or_no_string_is_an_error(missing, wrong):
    data = {"rollout_summary": "a", "raw_memory": "b", "rollout_slug": "c", missing: wrong}
    if wrong == "absent":
        del data[missing]
    with pytest.raises(ValueError, match=missing):
        understood(**data)
