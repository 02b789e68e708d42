"""Messages of OpenCode 2 as its service gives them."""

from codexmem_hookspecs.values.capture import Session

CREATED = 1_789_000_000_000


def session(session_id="ses_1"):
    return Session(host="opencode", id=session_id, locator=f"opencode:/{session_id}", cwd="/home/user/proj")


def user(text, at=1, **more):
    return {"type": "user", "id": f"msg_{at}", "time": {"created": CREATED + at}, "text": text, **more}


def assistant(*content, at=2, **more):
    times = {"created": CREATED + at, "completed": CREATED + at}
    return {"type": "assistant", "id": f"msg_{at}", "time": times, "content": list(content), "finish": "stop", **more}


def text(words):
    return {"type": "text", "text": words}


def tool(name, status="completed", **state):
    return {"type": "tool", "id": "call_1", "name": name, "state": {"status": status, **state}}
