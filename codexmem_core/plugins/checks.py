"""The checks that plugins register, run: for ``doctor``, and those that tell a plugin's state for ``status``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codexmem_hookspecs.values.records import DoctorCheck, Finding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from codexmem_hookspecs.services import Services

    from codexmem_core.plugins.calls import Collected, Hooks


def plugins_say(
    hooks: Hooks, services_for: Callable[[str], Services], *, fix: bool = False, in_status: bool = False
) -> Iterator[tuple[str, Finding]]:
    """(check, finding) of every registered check, or only of those that belong into ``status``.

    With ``fix`` repairs run in place of their checks and tell what they did.
    """
    collected: Collected[DoctorCheck] = hooks.collect("codexmem_doctor_checks", DoctorCheck)
    for name, registered in collected.records.items():
        check = registered.record
        if in_status and not check.in_status:
            continue
        run = check.fix if fix and check.fix else check.run
        try:
            found = list(run(services_for(registered.plugin)))
        except Exception as error:  # noqa: BLE001 - a broken check is a finding
            found = [Finding(level="fail", message=f"the check itself failed: {error}")]
        yield from ((name, finding) for finding in found)
