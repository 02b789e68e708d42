"""A broken plugin is refused alone, with its reason; the others work."""

from __future__ import annotations

import pytest
from codexmem_hookspecs import hookimpl
from codexmem_hookspecs.values.records import Setting


class Good:
    @hookimpl
    def codexmem_settings(self):
        return [Setting(key="a", default=1, help="")]


def states(plugins):
    return {info.name: (info.state, info.reason) for info in plugins.infos}


def refused(load, plugin, *api):
    plugins = load(("bad", plugin, *api), ("good", Good()))
    assert states(plugins)["good"] == ("active", "")
    state, reason = states(plugins)["bad"]
    assert state == "refused"
    assert plugins.hooks.with_hook("codexmem_settings") == ("good",)
    return reason


def test_a_plugin_that_cannot_be_imported_is_refused_with_the_error(load):
    assert refused(load, ImportError("no module called nothing")) == "ImportError: no module called nothing"


def test_a_plugin_whose_import_ends_the_program_is_refused_too(load):
    assert "SystemExit" in refused(load, SystemExit(3))


def test_another_version_of_the_contract_is_refused_naming_both(load):
    assert refused(load, Good(), 2) == "speaks HOOK_API 2, this engine speaks 1"
    assert refused(load, Good(), None) == "speaks HOOK_API None, this engine speaks 1"


def test_an_unknown_hook_is_named(load):
    class Unknown:
        @hookimpl
        def codexmem_capture_everything(self):
            return []

    assert "codexmem_capture_everything" in refused(load, Unknown())


def test_an_unknown_argument_is_named(load):
    class WrongArgument:
        @hookimpl
        def codexmem_consolidate_files(self, stored, surprise):
            return {}

    assert "surprise" in refused(load, WrongArgument())


def test_a_coroutine_hook_is_refused(load):
    class Asynchronous:
        @hookimpl
        async def codexmem_settings(self):
            return []

    assert "codexmem_settings is a coroutine" in refused(load, Asynchronous())


def test_a_wrapper_is_refused_because_plugins_run_on_their_own(load):
    class Wrapper:
        @hookimpl(wrapper=True)
        def codexmem_settings(self):
            return (yield)

    assert "wrapper" in refused(load, Wrapper())


def test_an_object_without_hooks_is_refused(load):
    assert "implements no hook" in refused(load, object())


def test_a_memory_that_lacks_required_hooks_is_refused_with_their_names(load, small_memory):
    class Half:
        @hookimpl
        def codexmem_memory(self):
            return small_memory().codexmem_memory()

    reason = refused(load, Half())
    assert "codexmem_extract_request" in reason
    assert "codexmem_read_summary" in reason


def test_a_host_that_lacks_required_hooks_is_refused_with_their_names(load):
    class Half:
        @hookimpl
        def codexmem_capture_host(self):
            return []

    assert "codexmem_capture_sessions" in refused(load, Half())


def test_two_memories_of_one_name_are_both_refused_naming_both_distributions(load, small_memory):
    plugins = load(("one", small_memory("same")), ("two", small_memory("same")), ("three", small_memory("other")))
    for name in ("one", "two"):
        state, reason = states(plugins)[name]
        assert state == "refused"
        assert "dist-one" in reason
        assert "dist-two" in reason
    assert list(plugins.memories) == ["three"]


def test_two_distributions_that_announce_one_plugin_are_both_refused(load):
    plugins = load(("same", Good()), ("same", Good()))
    assert states(plugins)["same"][0] == "refused"
    assert plugins.hooks.with_hook("codexmem_settings") == ()


def test_a_memory_that_raises_when_asked_for_itself_is_refused(load, small_memory):
    class Broken(small_memory):
        @hookimpl
        def codexmem_memory(self):
            raise RuntimeError("no idea who I am")

    plugins = load(("broken", Broken()), ("good", small_memory()))
    assert states(plugins)["broken"][0] == "refused"
    assert "no idea who I am" in states(plugins)["broken"][1]
    assert list(plugins.memories) == ["good"]


@pytest.mark.parametrize("count", [0, 2])
def test_an_entry_point_gives_exactly_one_memory(load, small_memory, count):
    class Many(small_memory):
        @hookimpl
        def codexmem_memory(self):
            return [record for n in range(count) for record in small_memory(f"m{n}").codexmem_memory()]

    assert states(load(("many", Many())))["many"][0] == "refused"


def test_a_disabled_plugin_is_not_loaded(load):
    plugins = load(("off", RuntimeError("must not be imported")), ("good", Good()), disabled=["off"])
    assert states(plugins)["off"] == ("disabled", "disabled by name")


def test_plugins_are_listed_with_their_hooks_sorted_by_name(load, small_memory):
    plugins = load(("b", Good()), ("a", small_memory()))
    assert [info.name for info in plugins.infos] == ["a", "b"]
    assert plugins.infos[1].hooks == ("codexmem_settings",)
    assert "codexmem_memory" in plugins.infos[0].hooks
