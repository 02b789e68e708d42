"""What hooks told of sessions: the newest counts, and it is let go of in the end."""

DAY_MS = 86_400_000


def processes(catalogue):
    return {(told.key.id, told.pid) for told in catalogue.session_processes()}


def test_the_newest_process_and_context_of_a_session_count(catalogue):
    catalogue.seen_in("codex", "s1", 20, "2.1", 2_000)
    catalogue.seen_in("codex", "s1", 10, "1.1", 1_000)
    catalogue.context_given("codex", "s1", "new", 2_000)
    catalogue.context_given("codex", "s1", "old", 1_000)
    assert processes(catalogue) == {("s1", 20)}
    assert catalogue.generation_given("codex", "s1") == "new"


def test_what_was_told_long_ago_is_let_go_of_and_the_rest_is_kept(catalogue, clock):
    for name, days in (("old", 40), ("new", 1)):
        at_ms = clock.ms - days * DAY_MS
        catalogue.seen_in("codex", name, 10, "1.1", at_ms)
        catalogue.context_given("codex", name, "g", at_ms)
    catalogue.prune_hooked(clock.ms - 30 * DAY_MS)
    assert processes(catalogue) == {("new", 10)}
    assert [catalogue.generation_given("codex", name) for name in ("old", "new")] == ["", "g"]
