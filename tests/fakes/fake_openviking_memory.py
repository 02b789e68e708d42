"""The other half of the server on loopback: what it keeps about the user, and how that is read and searched.

Shapes are those of a real server 0.5.2. What a search finds is scripted: ``found`` by ``target_uri``, ``context`` for
the mode that assembles a context.
"""

from __future__ import annotations

from dataclasses import dataclass, field

STRICT = {
    "query", "mode", "purpose", "score_threshold", "session_id", "dedup_turns", "quotas", "max_tokens", "peer_scope",
    "query_expansion", "target_uri", "limit",
}  # fmt: skip
"""Fields of a search; any other is refused (OpenViking issue 2757)."""


@dataclass
class FakeMemory:
    """Files by address, each with its text and abstract."""

    user: str = "default"
    files: dict = field(default_factory=dict)
    found: dict = field(default_factory=dict)
    context: list = field(default_factory=list)
    knows_context: bool = True
    knows_recall: bool = True

    def keep(self, path, text="", abstract=""):
        """A file below the user's memories."""
        self.files[f"viking://user/{self.user}/memories/{path}"] = (text, abstract)

    def answer(self, asked):
        """Status and body; None for what is no route of this half."""
        routes = {
            "GET /api/v1/system/status": lambda: _ok({"initialized": True, "user": self.user}),
            "GET /api/v1/fs/ls": lambda: self._list(asked.query["uri"], "recursive" in asked.query),
            "GET /api/v1/content/read": lambda: self._read(asked.query["uri"]),
            "POST /api/v1/search/search": lambda: self._search(asked.body),
            "POST /api/v1/search/recall": lambda: self._recall(asked.body),
        }
        return routes[asked.line]() if asked.line in routes else None

    def _read(self, uri):
        if uri not in self.files:
            return _missing(uri)
        return _ok(self.files[uri][0])

    def _list(self, uri, recursive):
        root = uri if uri.endswith("/") else f"{uri}/"
        below = {name: kept for name, kept in self.files.items() if name.startswith(root)}
        if not below:
            return _missing(uri)
        listed = []
        for name, (text, abstract) in below.items():
            relative = name.removeprefix(root)
            if recursive:
                one = {"uri": name, "size": len(text), "isDir": False, "rel_path": relative, "abstract": abstract}
            else:
                first, _, more = relative.partition("/")
                one = {"name": first, "isDir": bool(more), "uri": f"{root}{first}"}
            if one not in listed:
                listed.append(one)
        return _ok(listed)

    def _search(self, body):
        if unknown := body.keys() - STRICT:
            return _refused(f"Extra inputs are not permitted: {', '.join(sorted(unknown))}")
        if body.get("mode") == "context":
            if not self.knows_context:
                return _refused("Invalid request parameters: body.mode: Extra inputs are not permitted")
            return _ok({"entries": self.context, "rendered": "", "digest": "", "stats": {}})
        kind = "skills" if body.get("target_uri", "").endswith("/skills") else "memories"
        nothing = {"memories": [], "resources": [], "skills": []}
        return _ok({**nothing, kind: self.found.get(body.get("target_uri", ""), []), "total": 0})

    def _recall(self, _body):
        if not self.knows_recall:
            return _missing("recall")
        return _ok({"entries": self.context, "rendered": "", "digest": "", "stats": {}})


def _ok(result):
    return 200, {"status": "ok", "result": result, "error": None}


def _missing(name):
    return 404, {"status": "error", "result": None, "error": {"code": "NOT_FOUND", "message": f"not found: {name}"}}


def _refused(message):
    return 400, {"status": "error", "error": {"code": "INVALID_ARGUMENT", "message": message}}
