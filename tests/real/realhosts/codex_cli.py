"""Codex CLI."""

from __future__ import annotations

from fake_openai import FakeOpenAI

from realhosts.app_server import AppServer
from realhosts.host_program import HostProgram
from realhosts.terminal import Terminal

CONFIG = """\
model = "fake-model"
model_provider = "scripted"
approval_policy = "never"
check_for_update_on_startup = false

[model_providers.scripted]
name = "scripted"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"

[analytics]
enabled = false
"""


class CodexCli(HostProgram):
    """``codex exec``."""

    name = "codex"
    server_type = FakeOpenAI

    @property
    def folder(self):
        return self.machine.home / ".codex"

    @property
    def environ(self):
        return self.machine.environ | {"SCRIPTED_KEY": "key"}

    def configure(self):
        self.folder.mkdir()
        (self.folder / "config.toml").write_text(CONFIG.format(url=self.server.url))

    def command(self, prompt, *, resume):
        flags = ("--skip-git-repo-check",)
        if resume:
            return [self.program, "exec", *flags, "resume", "--last", prompt]
        return [self.program, "exec", *flags, "-s", "danger-full-access", prompt]

    def stay_open(self):
        return AppServer(self, [self.program, "app-server"])

    def terminal(self):
        """The program as a person starts it, in a project that is trusted."""
        with (self.folder / "config.toml").open("a") as config:
            config.write(f'[projects."{self.machine.project}"]\ntrust_level = "trusted"\n')
        return Terminal([self.program], self.environ, self.machine.project)

    def shell(self, command):
        return {"tool": {"name": "exec_command", "args": {"cmd": command}}}

    def memory_tool(self, name, **arguments):
        return {"tool": {"name": name, "namespace": "mcp__codexmem", "args": arguments}}
