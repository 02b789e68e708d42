"""The backend ``command``: a program that is given the prompt on standard input and prints the answer.

It runs in an empty folder below the home, which is never captured, marked as a child of ours.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from typing import TYPE_CHECKING, Protocol

from codexmem_hookspecs.errors import ModelRefused
from codexmem_hookspecs.models import actions
from codexmem_hookspecs.models.effort import nearest
from codexmem_hookspecs.models.refusal_kinds import kind_of, told_kind
from codexmem_hookspecs.models.structured import object_in, problems, schema_in_words
from codexmem_hookspecs.values.extract import Reply
from codexmem_hookspecs.values.models import Usage
from codexmem_hookspecs.values.records import ModelBackend

from codexmem_core.models.exchange import estimated_tokens
from codexmem_core.models.reached import Reached
from codexmem_core.models.recipes import RECIPES, Recipe, own_program
from codexmem_core.safety.redaction import redact

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from codexmem_hookspecs.services import Deadline, Services, Transcript
    from codexmem_hookspecs.values.extract import Effort, ExtractionRequest
    from codexmem_hookspecs.values.models import Turn, TurnRequest

    from codexmem_core.models.selection import ModelSettings, Stage

NAME = "command"
NO_DEFAULTS: Mapping[Stage, str] = {"extraction": "", "consolidation": ""}
_ERROR_LINES = 4
"""Of a failed program only its last lines tell why, best one that begins with "error": before them it may have printed
the prompt."""
_ERROR_CHARS = 500


class Programs(Protocol):
    """Runs a program in a folder."""

    def run(
        self, argv: Sequence[str], *, stdin: bytes = b"", timeout_s: float, folder: str = ""
    ) -> tuple[int, bytes, bytes]:
        """Exit status, output, errors. Raises FileNotFoundError and TimeoutError."""
        ...


def command(
    settings: ModelSettings, environ: Mapping[str, str], programs: Callable[[Deadline], Programs], folder: str
) -> Reached:
    """``folder``: where empty folders are made; it must be inside the home."""
    recipe = RECIPES.get(settings.recipe) or own_program(settings.command)
    program = CommandProgram(recipe, settings, programs, folder)
    name = settings.recipe or os.path.basename((*settings.command, "")[0])
    backend = ModelBackend(
        name=NAME,
        summary="a program of yours, codex exec or claude -p: prompt on standard input, answer on standard output",
        costs=settings.costs,
        ask=program.ask,
        turn=program.turn,
        budget_bytes=settings.budget_bytes,
    )
    return Reached(
        backend=backend,
        provider=f"{NAME} {name}",
        credentials=lambda: recipe.credentials(environ),
        defaults=NO_DEFAULTS,
        attempts=1,  # programs try again by themselves
        picks_model=True,
        lacks=lambda: program.lacks(environ),
    )


class CommandProgram:
    """``ask`` and ``turn`` of the backend."""

    def __init__(
        self, recipe: Recipe, settings: ModelSettings, programs: Callable[[Deadline], Programs], folder: str
    ) -> None:
        self._recipe = recipe
        self._settings = settings
        self._programs = programs
        self._folder = folder

    def lacks(self, environ: Mapping[str, str]) -> str:
        """Whether there is such a program."""
        name = self._recipe.arguments("", "")[0]
        return "" if shutil.which(name, path=environ.get("PATH")) else f"{NAME}: there is no program {name}"

    def ask(self, request: ExtractionRequest, _transcript: Transcript, services: Services) -> Reply:
        """One question with a JSON answer. Raises ModelRefused."""
        prompt = "\n\n".join([request.instructions, schema_in_words(request.schema), request.input])
        text, usage = self._answered("extraction", request.effort, prompt, services)
        try:
            data = object_in(text)
            wrong = problems(data, request.schema)
            if wrong:
                raise ValueError("; ".join(wrong))
        except ValueError as error:
            raise ModelRefused(f"{NAME}: {error}", "invalid", usage=usage) from None
        return Reply(data=data, tokens_in=usage.tokens_in, tokens_out=usage.tokens_out)

    def turn(self, request: TurnRequest, services: Services) -> Turn:
        """The next turn, as one action. Raises ModelRefused."""
        prompt = f"{actions.instructions(request)}\n\n{actions.conversation(request.messages)}"
        text, usage = self._answered("consolidation", request.effort, prompt, services)
        return actions.turn(text, request.messages, usage)

    def _answered(self, stage: Stage, effort: Effort, prompt: str, services: Services) -> tuple[str, Usage]:
        level = nearest(effort, self._settings.efforts)
        argv = self._recipe.arguments(self._settings.model(stage, NO_DEFAULTS), level)
        status, output, errors = self._run(argv, prompt, services)
        printed = self._recipe.read(output)
        sent = Usage(tokens_in=estimated_tokens(prompt), tokens_out=estimated_tokens(printed.text))
        usage = printed.usage or sent
        if status or printed.failed:
            raise _refusal(argv[0], status, printed.status, printed.text if printed.failed else errors or output, usage)
        return printed.text, usage

    def _run(self, argv: Sequence[str], prompt: str, services: Services) -> tuple[int, str, str]:
        timeout_s = min(self._settings.timeout_s, services.deadline.left_s)
        os.makedirs(self._folder, mode=0o700, exist_ok=True)
        try:
            with tempfile.TemporaryDirectory(dir=self._folder, ignore_cleanup_errors=True) as empty:
                status, output, errors = self._programs(services.deadline).run(
                    argv, stdin=prompt.encode("utf-8", "replace"), timeout_s=timeout_s, folder=empty
                )
        except (OSError, ValueError) as error:  # TimeoutError and FileNotFoundError are OSErrors
            raise ModelRefused(f"{NAME}: {redact(str(error))}", "transport") from None
        return status, output.decode("utf-8", "replace"), errors.decode("utf-8", "replace")


def _refusal(program: str, exit_status: int, http_status: int, said: str, usage: Usage) -> ModelRefused:
    lines = [line.strip() for line in said.splitlines() if line.strip()][-_ERROR_LINES:]
    named = [line for line in lines if line.lower().startswith("error")]
    last = " ".join(named[-1:] or lines[-1:])[-_ERROR_CHARS:] or "it said nothing"
    kind = kind_of(http_status, last, waits=False) if http_status else told_kind(last) or "transport"
    return ModelRefused(f"{NAME} {program}: exit status {exit_status}: {redact(last)}", kind, usage=usage)
