"""Events reach each plugin at least once, in order within a session."""


def due(deliveries, plugin=""):
    return [(one.event_id, one.plugin) for one in deliveries.due(plugin)]


def test_an_event_is_due_to_each_plugin_on_its_own(deliveries, event):
    assert deliveries.record(event("e1"), "{}", ["ov", "other"]) == 2
    assert due(deliveries) == [("e1", "other"), ("e1", "ov")]
    deliveries.done(deliveries.due("ov")[0])
    assert due(deliveries) == [("e1", "other")]
    assert due(deliveries, "ov") == []


def test_recording_an_event_again_changes_nothing_for_those_who_had_it(deliveries, event):
    deliveries.record(event("e1"), "{}", ["ov"])
    deliveries.done(deliveries.due()[0])
    assert deliveries.record(event("e1"), "{}", ["ov", "late"]) == 1
    assert due(deliveries) == [("e1", "late")]


def test_a_later_event_of_a_session_waits_for_the_earlier_one(deliveries, event, clock):
    for name, of in (("e1", "s1"), ("e2", "s1"), ("e3", "s2")):
        deliveries.record(event(name, of=of), "{}", ["ov"])
    assert due(deliveries) == [("e1", "ov"), ("e3", "ov")]
    first = deliveries.due()[0]
    deliveries.failed(first, OSError("server down"), after_s=60)
    assert due(deliveries) == [("e3", "ov")], "an event overtook an earlier one of its session"
    assert deliveries.next_retry_ms() == clock.ms + 60_000
    clock.forward(60)
    assert due(deliveries) == [("e1", "ov"), ("e3", "ov")]
    assert deliveries.due()[0].attempts == 1
    deliveries.done(first)
    assert due(deliveries) == [("e2", "ov"), ("e3", "ov")]


def test_a_failure_at_one_plugin_holds_nobody_else_up(deliveries, event):
    deliveries.record(event("e1"), "{}", ["ov", "other"])
    deliveries.failed(deliveries.due("ov")[0], "down", after_s=60)
    assert due(deliveries) == [("e1", "other")]


def test_an_event_knows_which_kinds_came_later_also_those_nobody_reacts_to(deliveries, event):
    deliveries.record(event("e1", "end"), '{"id": "e1"}', ["ov"])
    deliveries.record(event("e2", "start"), "{}", [])
    deliveries.record(event("e3", "stop", of="s2"), "{}", [])
    found = deliveries.due()[0]
    assert (found.kind, found.payload, found.newer) == ("end", '{"id": "e1"}', ("start",))
    deliveries.record(event("e4", "prompt"), "{}", [])
    assert deliveries.newer("codex", "s1", "e1") == ("prompt", "start")
    assert deliveries.newer("codex", "s1", "e4") == ()


def test_events_recorded_out_of_order_are_delivered_in_order_of_their_ids(deliveries, event):
    deliveries.record(event("e2"), "{}", ["ov"])
    deliveries.record(event("e1"), "{}", ["ov"])
    assert due(deliveries) == [("e1", "ov")]


def test_giving_up_lets_the_session_go_on_and_is_shown(deliveries, event):
    deliveries.record(event("e1"), "{}", ["ov"])
    deliveries.record(event("e2"), "{}", ["ov"])
    deliveries.give_up(deliveries.due()[0], "poison")
    assert due(deliveries) == [("e2", "ov")]
    assert [(c.plugin, c.state, c.count, c.error) for c in deliveries.counts()] == [
        ("ov", "failed", 1, "poison"),
        ("ov", "pending", 1, ""),
    ]


def test_a_done_delivery_stays_done(deliveries, event):
    deliveries.record(event("e1"), "{}", ["ov"])
    delivery = deliveries.due()[0]
    deliveries.done(delivery)
    deliveries.failed(delivery, "late", after_s=0)
    deliveries.give_up(delivery, "late")
    assert [(c.state, c.error) for c in deliveries.counts()] == [("done", "")]
    assert deliveries.next_retry_ms() == 0


def test_old_deliveries_go_but_never_one_that_waits(deliveries, event, clock):
    deliveries.record(event("e1"), "{}", ["ov"])
    deliveries.done(deliveries.due()[0])
    deliveries.record(event("e2", of="s2"), "{}", ["ov"])
    clock.forward(10)
    assert deliveries.prune(clock.ms) == 1
    assert due(deliveries) == [("e2", "ov")]
    assert [(c.state, c.count) for c in deliveries.counts()] == [("pending", 1)]
