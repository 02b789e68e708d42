"""OpenCode."""

from __future__ import annotations

import json

from fake_openai import FakeOpenAI

from realhosts.host_program import HostProgram
from realhosts.serve import Serve

SMALL = "fake-small"
TITLE = {"match": f'"{SMALL}"', "text": "A title", "repeat": True}
INSTALLED = {"packages": {"": {"dependencies": {"@opencode-ai/plugin": "*"}}}}
"""As after its first start with a network. Otherwise each start tries to install this in the background, and one that
ends meanwhile leaves a lock for which the next one waits a minute (1.18)."""


class OpenCode(HostProgram):
    """``opencode run``."""

    name = "opencode"
    server_type = FakeOpenAI

    @property
    def folder(self):
        return self.machine.home / ".config" / "opencode"

    @property
    def environ(self):
        return self.machine.environ | {
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
            "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
            "npm_config_offline": "true",  # or what it installs all the same waits a minute and a half for the registry
        }

    def configure(self):
        limit = {"context": 128_000, "output": 8192}
        models = {name: {"name": name, "tool_call": True, "limit": limit} for name in ("fake-model", SMALL)}
        provider = {
            "npm": "@ai-sdk/openai-compatible",
            "name": "scripted",
            "options": {"baseURL": f"{self.server.url}/v1", "apiKey": "key"},
            "models": models,
        }
        settings = {
            "$schema": "https://opencode.ai/config.json",
            "model": "scripted/fake-model",
            "small_model": f"scripted/{SMALL}",
            "autoupdate": False,
            "share": "disabled",
            "provider": {"scripted": provider},
        }
        (self.folder / "node_modules").mkdir(parents=True)
        (self.folder / "package-lock.json").write_text(json.dumps(INSTALLED))
        (self.folder / "opencode.json").write_text(json.dumps(settings, indent=2) + "\n")

    def script(self, steps):
        self.server.script = [TITLE, *steps]

    def belongs(self, asked):
        return asked.body["model"] != SMALL

    def command(self, prompt, *, resume):
        return [self.program, "run", *(["--continue"] if resume else []), prompt]

    def stay_open(self):
        return Serve(self, [self.program, "serve", "--port", "0", "--hostname", "127.0.0.1"])

    def shell(self, command):
        return {"tool": {"name": "bash", "args": {"command": command, "description": "Run it"}}}

    def memory_tool(self, name, **arguments):
        return {"tool": {"name": f"codexmem_{name}", "args": arguments}}
