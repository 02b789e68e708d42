"""What the three hosts have in common: a program, a scripted model, and conversations between them."""

from __future__ import annotations

from abc import ABC, abstractmethod

from realhosts.conversation import Running


class HostProgram(ABC):
    """A host on a machine, with a model server of its own. A context manager."""

    name: str
    server_type: type

    def __init__(self, machine, program):
        self.machine = machine
        self.program = program
        self.server = self.server_type()

    def __enter__(self):
        self.server.__enter__()
        self.configure()
        return self

    def __exit__(self, *exception):
        self.server.__exit__(*exception)

    @abstractmethod
    def configure(self):
        """Write the settings that lead the program to the scripted model."""

    @abstractmethod
    def command(self, prompt, *, resume):
        """The command line of one turn: in a new session, or in the last one."""

    @abstractmethod
    def stay_open(self):
        """The program with several turns ahead of it; a LongSession."""

    @abstractmethod
    def shell(self, command):
        """A step in which the model runs a command."""

    @abstractmethod
    def memory_tool(self, name, **arguments):
        """A step in which the model calls one of our tools."""

    @property
    def environ(self):
        """What the program is started with."""
        return self.machine.environ

    def script(self, steps):
        """What the model answers from now on; ``ok`` after that."""
        self.server.script = list(steps)

    def belongs(self, asked):
        """Whether a request is the conversation's own, and no title's."""
        return True

    def asked_from_now(self):
        """A function that gives what the model is asked from now on."""
        before = len(self.server.requests)
        return lambda: [asked.body for asked in self.server.requests[before:] if self.belongs(asked)]

    def begin(self, prompt, *steps, resume=False, cwd=None, environ=None):
        """Start a turn; the model answers by the steps."""
        self.script(steps)
        return self.started(self.command(prompt, resume=resume), cwd=cwd, environ=environ)

    def started(self, command, *, cwd=None, environ=None):
        """Start the program with a command line of its own."""
        environ = self.environ | (environ or {})
        return Running(command, environ, cwd or self.machine.project, self.asked_from_now())

    def say(self, prompt, *steps, resume=False, cwd=None, environ=None):
        """One whole turn, to the program's end."""
        return self.begin(prompt, *steps, resume=resume, cwd=cwd, environ=environ).finish()
