"""OpenCode 2 as the plugin file sees it: folders in one process, hooks and events."""

import json

from .plugin_file import PluginFile, run


class PluginFile2(PluginFile):
    """The plugin file in processes of OpenCode 2. ``folder`` is where a process works unless it is said."""

    def __init__(self, folder):
        super().__init__(folder)
        self.folder = str(self.project)
        self.other = folder / "other"
        self.other.mkdir()
        self.put("ses_1", self.folder)

    def put(self, session_id, directory, **info):
        """What OpenCode knows of a session."""
        self.sessions[session_id] = {
            "id": session_id,
            "title": "A session",
            "location": {"directory": directory},
            **info,
        }

    def plays(self, *steps, begun=True, **host):
        """Results of the steps in one process; it begins with ``folder``."""
        first = [{"begin": self.folder}] if begun else []
        told = {"sessions": self.sessions, "messages": {}, "servers": [], "deaf": 0, "seen": str(self.seen), **host}
        scenario = {"file": str(self.file), "host": told, "steps": [*first, *steps]}
        results = run(2, scenario, self.scenario, self.environ)
        return results[len(first) :]

    @property
    def seen(self):
        return self.home / "plugins" / "host-opencode" / "seen"

    @property
    def words(self):
        """What was left about where OpenCode works, by folder."""
        found = [json.loads(path.read_text()) for path in self.seen.iterdir()]
        return {word["directory"]: word for word in found}


# What happens in it, as steps to play


def prompts(words="hello", id_="ses_1", at=""):
    event = {"sessionID": id_, "messageID": "msg_1", "prompt": {"text": words}}
    return {"hook": {"name": "prompt", "at": at, "event": event}}


def asks(*messages, id_="ses_1", at="", kind="context"):
    """A request to the model."""
    system = [{"type": "text", "text": "You are OpenCode."}]
    event = {
        "sessionID": id_,
        "kind": "primary" if kind == "context" else kind,
        "system": system,
        "messages": list(messages),
    }
    return {"hook": {"name": kind, "at": at, "event": event}}


def assistant(*texts, **more):
    return {"role": "assistant", "content": [{"type": "text", "text": text} for text in texts], **more}


def happens(type_, id_="ses_1", event_id="", **data):
    return {"event": {"type": type_, "data": {"sessionID": id_, **data}, **({"id": event_id} if event_id else {})}}


def calls(tool, id_="ses_1"):
    event = {"tool": tool, "sessionID": id_, "messageID": "msg_2", "id": f"call_{tool}", "input": {}}
    return {"hook": {"name": "tool.execute.before", "event": event}}


def systems(results):
    """Texts of the system in each request among results, beside OpenCode's own."""
    return [[part["text"] for part in one["system"][1:]] for one in results if one and "system" in one]
