"""Claude Code."""

from __future__ import annotations

from fake_anthropic import FakeAnthropic

from realhosts.host_program import HostProgram
from realhosts.stream import Stream

PERMISSIONS = ("--permission-mode", "acceptEdits", "--allowedTools", "Bash,mcp__codexmem")


class ClaudeCode(HostProgram):
    """``claude -p``."""

    name = "claude"
    server_type = FakeAnthropic

    @property
    def environ(self):
        return self.machine.environ | {
            "ANTHROPIC_BASE_URL": self.server.url,
            "ANTHROPIC_API_KEY": "key",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        }

    def configure(self):
        (self.machine.home / ".claude").mkdir()

    def command(self, prompt, *, resume):
        return [self.program, "-p", *(["--continue"] if resume else []), prompt, *PERMISSIONS]

    def stay_open(self):
        streams = ("--input-format", "stream-json", "--output-format", "stream-json", "--verbose")
        return Stream(self, [self.program, "-p", *streams, *PERMISSIONS])

    def shell(self, command):
        return {"tool": {"name": "Bash", "args": {"command": command, "description": "Run it"}}}

    def memory_tool(self, name, **arguments):
        return {"tool": {"name": f"mcp__codexmem__{name}", "args": arguments}}
