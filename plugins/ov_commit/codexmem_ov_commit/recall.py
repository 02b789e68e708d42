"""Recall in front of a prompt: what the server remembers about it, in the order of the server's abilities.

A server that assembles a context is asked for one; an older one for a recall; the oldest is searched and what it finds
is ranked here (OpenViking Codex plugin: auto-recall). No state of ours is read for it, so that none can break it.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from codexmem_ov_commit.faces import REFUSALS, Faces
from codexmem_ov_commit.profile import read_path
from codexmem_ov_commit.ranking import Found, entries_in, found_in, ranked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codexmem_hookspecs.services import Services

    from codexmem_ov_commit.queries import Query
    from codexmem_ov_commit.server import Answer, Server

EXPANSION_S: Final = 15.0
"""For a search that looks into the session: the server may ask a model what was meant."""
KINDS: Final = ("memories", "skills")
AT_ONCE: Final = 4
_HOPELESS: Final = frozenset({0, 401, 403, 429})
"""No answer, no right, too busy: another kind of question would fare no better."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """What came of it."""

    found: Sequence[Found] = ()
    failure: str = ""
    """Why nothing could be learned; empty when there only was nothing."""


def recall(server: Server, services: Services, url: str, query: Query) -> Recalled:
    """What is worth telling, best first."""
    faces = Faces(services, url)
    if not faces.is_old():
        timeout_s = EXPANSION_S if query.session and query.expansion != "off" else 0.0
        answer = server.post("/api/v1/search/search", query.context(), timeout_s=timeout_s)
        if answer.ok:
            return Recalled(found=entries_in(answer.result))
        faces.learn(answer)
        if answer.status in _HOPELESS:
            return _failed(services, answer)
    answer = server.post("/api/v1/search/recall", query.recall())
    if not answer.ok and "peer_scope" in query.recall() and answer.status in REFUSALS:
        answer = server.post("/api/v1/search/recall", replace(query, peer_scope="all").recall())
    if answer.ok:
        return Recalled(found=entries_in(answer.result))
    if answer.status in _HOPELESS:
        return _failed(services, answer)
    return _searched(server, services, query)


def _searched(server: Server, services: Services, query: Query) -> Recalled:
    user = server.get("/api/v1/system/status").text("user")
    spaces = [f"viking://user/{user}", "viking://~"] if user else ["viking://~"]
    found: list[Found] = []
    failure: Answer | None = None
    for in_session in (True, False) if query.session else (False,):
        for kind in KINDS:
            for space in spaces:
                answer = server.post("/api/v1/search/search", query.search(f"{space}/{kind}", in_session=in_session))
                failure = failure if answer.ok else answer
                if listed := found_in(answer.result, kind) if answer.ok else ():
                    found += listed
                    break
        if found:
            break
    if not found and failure is not None:
        return _failed(services, failure)
    best = ranked(query.text, found, threshold=query.threshold, limit=query.limit)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return Recalled(found=list(pool.map(lambda one: _whole(server, one), best)))


def _whole(server: Server, one: Found) -> Found:
    """With its full text, where it can be read."""
    answer = server.get(read_path(one.uri)) if one.leaf else None
    text = answer.result if answer is not None and answer.ok else None
    return replace(one, text=text) if isinstance(text, str) and text.strip() else one


def _failed(services: Services, answer: Answer) -> Recalled:
    """A refused search is a fault of ours or of the key's and must be seen; an absent server is not one."""
    if answer.status:
        services.log.warning("recall was refused", status=answer.status, reason=answer.error)
    return Recalled(failure=answer.error)
