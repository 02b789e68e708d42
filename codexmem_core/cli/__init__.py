"""The command line: one module a command, loaded when it is run; no logic.

Human text goes to stdout, ``--json`` (before or after the command) prints one JSON object there instead, progress goes
to stderr when it is a terminal. Exit status: 0 done, 1 failed, 2 wrong use.
"""

from __future__ import annotations

import importlib
import io
import json
import keyword
import os
import signal
import sys
from typing import Any, NoReturn

import click

from codexmem_core import __version__
from codexmem_core.cli.state import State

COMMANDS = {
    "setup": "Let an agent remember: put hooks and tools into its settings.",
    "unsetup": "Take codexmem out of an agent's settings.",
    "run": "Read finished sessions and bring the memories up to date.",
    "extract": "Take notes of finished sessions; the first half of run.",
    "consolidate": "Bring the memory files up to date with the notes; the second half of run.",
    "context": "Print exactly what a new session would be given.",
    "search": "Search the memory's files.",
    "read": "Show a file of the memory, or lines of it.",
    "list": "List one folder of the memory.",
    "note": "Write down something to remember.",
    "status": "Show what waits, what failed and why, per memory.",
    "memories": "Show the memories side by side, or switch what new sessions read.",
    "inspect": "Show files, jobs, errors and settings of the memories, in detail.",
    "mode": "Show or set whether a session may be remembered.",
    "forget": "Take a session, a file or a text out of every store, for good.",
    "history": "List the consolidations whose state is kept.",
    "diff": "Show what a consolidation changed, or what changed since.",
    "reset": "Delete everything that was remembered.",
    "import": "Take over another tool's memory.",
    "doctor": "Check the installation; every problem comes with its fix.",
    "plugins": "List plugins, what they implement, and why any was refused.",
    "config": "Show effective settings and where each came from, or set one.",
    "worker": "Be the background process that hooks start, or end it.",
    "hook": "Do what a host's hook does.",
}
"""Name and first line of the help of each command; its module has the same name, with ``_`` where Python has it."""


class LazyGroup(click.Group):
    """Imports a command's module when it is run; help needs none of them."""

    def invoke(self, ctx: click.Context) -> Any:
        """Take over the options before a command is looked up: which plugins there are depends on them."""
        ctx.ensure_object(State).take_over(ctx.params)
        return super().invoke(ctx)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Ours and the plugins'."""
        return [*COMMANDS, *ctx.ensure_object(State).plugin_commands()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load it."""
        if cmd_name in COMMANDS:
            name = f"{cmd_name}_" if keyword.iskeyword(cmd_name) else cmd_name
            module = importlib.import_module(f"codexmem_core.cli.{name}")
            command: click.Command = module.command
            return command
        return ctx.ensure_object(State).plugin_command(cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """A word that is no command is told with the one that was meant."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            import difflib  # no command that is there pays for it

            close = difflib.get_close_matches(args[0], self.list_commands(ctx), 1)
            if close and "did you mean" not in error.format_message().lower():
                raise click.UsageError(f"{error.message} Did you mean {close[0]}?", ctx) from error
            raise

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """From the table above, without importing anything."""
        with formatter.section("Commands"):
            formatter.write_dl([*COMMANDS.items(), *ctx.ensure_object(State).plugin_commands().items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--home", default="", metavar="DIR", help="Folder of everything codexmem knows.")
@click.option("--config", default="", metavar="FILE", help="Settings file.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("-v", "--verbose", count=True, help="Say more.")
@click.option("--debug", is_flag=True, help="Show tracebacks.")
@click.version_option(__version__, prog_name="codexmem")
def codexmem(**_options: object) -> None:
    """One long-term memory for every coding agent on this machine."""


class Terminated(BaseException):
    """SIGTERM: what is held is given back first, as after Ctrl-C."""


def _terminated(_signal: int, _frame: object) -> NoReturn:
    raise Terminated


def main() -> NoReturn:
    """Entry point. Leaves without waiting for threads that hang."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # Whatever the locale says: a memory holds every language, and a hook's reader expects UTF-8.
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    signal.signal(signal.SIGTERM, _terminated)
    state = State()
    code = 1
    try:
        code = codexmem.main(obj=state, standalone_mode=False) or 0
    except click.exceptions.Exit as error:
        code = error.exit_code
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except (click.Abort, KeyboardInterrupt, Terminated) as error:
        click.echo("stopped", err=True)
        code = 143 if isinstance(error, Terminated) else 130
    except BrokenPipeError:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - the reader of our output is gone
        code = 0
    except Exception as error:
        if state.debug:
            raise
        said = state.explain(error)
        click.echo(f"codexmem: {said}", err=True)
        if state.as_json:
            click.echo(json.dumps({"error": said}, ensure_ascii=False))
    finally:
        state.close()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
