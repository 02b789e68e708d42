"""``codexmem doctor``."""

from __future__ import annotations

import sys
from dataclasses import asdict

import click

from codexmem_core.cli.state import State, json_option


@click.command("doctor")
@click.option("--fix", is_flag=True, help="Repair what can be repaired; of agents' files only what you agree to.")
@json_option
@click.pass_obj
def command(state: State, fix: bool) -> None:  # noqa: FBT001 - a command's flag
    """Check the installation; every problem comes with its fix."""
    from codexmem_core.doctor import examine

    if fix and sys.stdin.isatty() and not state.as_json:
        from codexmem_core.cli.host_files import HostFiles
        from codexmem_core.setup.changes import set_up_hosts

        HostFiles(engine=state.engine, hosts=set_up_hosts(state.engine)).change()
    found = list(examine(state.engine, fix=fix))
    failed = any(finding.level == "fail" for _, finding in found)
    value = {"ok": not failed, "findings": [{"check": check, **asdict(finding)} for check, finding in found]}
    state.show(value, lambda: "\n".join(finding.shown(check) for check, finding in found))
    if failed:
        raise click.exceptions.Exit(1)
