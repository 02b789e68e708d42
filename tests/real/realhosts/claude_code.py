"""Claude Code."""

from __future__ import annotations

from fake_anthropic import FakeAnthropic

from realhosts.host_program import HostProgram


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
        flags = ("--permission-mode", "acceptEdits", "--allowedTools", "Bash,mcp__codexmem")
        return [self.program, "-p", *(["--continue"] if resume else []), prompt, *flags]

    def shell(self, command):
        """A step in which the model runs a command."""
        return {"tool": {"name": "Bash", "args": {"command": command, "description": "Run it"}}}
