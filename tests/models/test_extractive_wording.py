"""How what the user says is taken: as a request, a preference, a judgement, or none of them."""

import pytest
from codexmem_hookspecs.values.extract import Findings

from codexmem_core.models.extractive import find


def test_a_list_below_a_heading_of_rules_is_taken_item_by_item(talk):
    found = find(
        talk()
        .user(
            "Ground rules for our work:\n\n- show me a plan first\n* write the test before the code\n\nFix the parser."
        )
        .edit("parser.py")
    )
    assert [preference.quote for preference in found.preferences] == [
        "show me a plan first",
        "write the test before the code",
    ]
    assert [task.name for task in found.tasks] == ["Fix the parser"]


def test_a_list_of_jobs_stays_a_list_of_jobs(talk):
    found = find(talk().user("Please do these:\n- write a test for the parser\n- fix the lexer").edit("lexer.py"))
    assert found.preferences == ()
    assert len(found.tasks) == 1


def test_a_clause_that_looks_ahead_covers_its_paragraph_but_no_work(talk):
    found = find(
        talk()
        .user("For next time: no guesses please. Tell me what you ran to verify it. Run the tests.")
        .run("make test")
    )
    assert [preference.quote for preference in found.preferences] == [
        "For next time: no guesses please.",
        "Tell me what you ran to verify it.",
    ]
    assert [task.name for task in found.tasks] == ["Run the tests"]


def test_a_change_of_mind_is_quoted_with_what_it_is_about(talk):
    found = find(
        talk()
        .user("Commit subjects have at most 50 characters, that's how we do it.")
        .user("About commit subjects: I changed my mind. We're moving to Conventional Commits.")
    )
    assert [preference.quote for preference in found.preferences] == [
        "About commit subjects: I changed my mind. We're moving to Conventional Commits.",
    ]


def test_what_a_sentence_takes_back_is_neither_request_nor_preference(talk):
    found = find(talk().user("Always log every click. No wait, don't.").agent("Ok").user("Use tabs... never mind"))
    assert not found.tasks


def test_what_need_not_be_done_is_no_request(talk):
    found = find(talk().user("You may skip the tests in this module.").agent("Ok").user("今回はテストは不要です。"))
    assert found == Findings()


def test_a_short_question_is_named_with_what_stands_in_front_of_it(talk):
    found = find(
        talk().user("I want to get rid of the container. What are the options?").run("docker ps -q | wc -l; make")
    )
    assert [task.name for task in found.tasks] == ["I want to get rid of the container. What are the options?"]


def test_the_request_names_the_task_not_the_remark_before_it(talk):
    found = find(
        talk().user("I'm on a train without internet. If cargo build needs the network, find a way.").run("cargo build")
    )
    assert [task.name for task in found.tasks] == ["If cargo build needs the network, find a way"]


def test_a_question_in_plain_words_counts_only_with_a_tool(talk):
    question = "Is there a way to sort the exports automatically?"
    assert find(talk().user(question).agent("Yes.")).tasks == ()
    assert len(find(talk().user(question).run("make sort").agent("Yes.")).tasks) == 1


def test_a_reproach_that_is_taken_back_spoils_no_task(talk):
    found = find(
        talk()
        .user("Commit the change to the parser")
        .run("git commit -qam x")
        .agent("Done.")
        .user("Why did you not push? Oh right, my mistake. Carry on: add a function reply() to mail.js")
        .edit("mail.js")
    )
    assert [(task.name.split()[0], task.outcome) for task in found.tasks] == [
        ("Commit", "uncertain"),
        ("Carry", "uncertain"),
    ]


def test_a_complaint_that_goes_on_to_something_else_opens_a_task(talk):
    found = find(
        talk()
        .user("Refactor the cache module")
        .edit("cache.py")
        .agent("Done.")
        .user("That's wrong. Now add a test for the parser module")
        .edit("test_parser.py")
    )
    assert [task.outcome for task in found.tasks] == ["fail", "uncertain"]


@pytest.mark.parametrize(
    ("words", "outcome"),
    [
        ("It loads, good catch.", "success"),
        ("Looks fine.", "success"),
        ("行了。", "success"),
        ("hmm, not quite", "fail"),
        ("Oh no. Please don't", "fail"),
        ("不太对", "fail"),
    ],
)
def test_more_words_that_judge(talk, words, outcome):
    found = find(talk().user("Refactor the cache module").edit("cache.py").agent("Done.").user(words))
    assert [task.outcome for task in found.tasks] == [outcome]


def test_an_edit_through_the_shell_is_part_of_the_fix(talk):
    patch = "apply_patch <<'E'\n*** Begin Patch\n*** Update File: Makefile\n@@\n-a\n+b\n*** End Patch\nE"
    found = find(
        talk()
        .user("Make it build")
        .run("make", "make: *** No rule to make target 'all'.  Stop.", ok=False)
        .run(patch, "Success")
        .run("make", "ok")
    )
    assert [failure.fix for failure in found.failures] == ["edit Makefile; make"]
    assert found.files == ("Makefile",)


def test_a_command_that_failed_and_then_worked_proves_the_task(talk):
    found = find(
        talk()
        .user("The docs build fails, please repair it")
        .run("python3 build.py", "build.py: no title", ok=False)
        .edit("pages/intro.md")
        .run("python3 build.py", "intro")
        .agent("Repaired.")
        .user("Then write the page about usage")
        .edit("pages/usage.md")
    )
    assert [task.outcome for task in found.tasks] == ["success", "uncertain"]


def test_a_hesitant_ok_is_no_thanks(talk):
    found = find(
        talk().user("Build the site offline").run("make", "error: x", ok=False).agent("No.").user("hm ok. leave it")
    )
    assert [task.outcome for task in found.tasks] == ["fail"]
