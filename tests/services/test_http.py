"""The HTTP client answers always; what went wrong is in the answer."""

from __future__ import annotations

import json
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from codexmem_core.services.deadline import WorkDeadline
from codexmem_core.services.http import HttpClient


@pytest.fixture
def server():
    """A loopback server that answers what its path says."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            status = int(self.path.strip("/").split("/")[0])
            content = b"<html>" if self.path.endswith("html") else json.dumps({"got": json.loads(body)}).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *args):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        thread = threading.Thread(target=running.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()
        thread.join()


def client(seconds=20):
    return HttpClient(WorkDeadline(seconds))


def test_json_comes_back_decoded_with_its_status(server):
    answer = client().request("POST", f"{server}/200", json={"a": 1})
    assert (answer.status, answer.body, answer.error) == (200, {"got": {"a": 1}}, "")


def test_what_is_not_json_is_text_and_any_status_is_an_answer(server):
    answer = client().request("POST", f"{server}/503/html", json={})
    assert (answer.status, answer.body) == (503, "<html>")


def test_loopback_never_goes_through_a_proxy(server, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    assert client().request("POST", f"{server}/200", json={}).status == 200


def test_a_dead_server_is_an_error_in_the_answer():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    answer = client().request("GET", f"http://127.0.0.1:{port}/")
    assert answer.status == 0
    assert "ConnectError" in answer.error


def test_a_silent_server_is_left_after_the_calls_own_deadline():
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        answer = client(0.5).request("GET", url, timeout_s=30)
    assert answer.error == f"GET {url}: timed out after 0.5 s"


@pytest.mark.parametrize("url", ["nonsense", "http://", "ftp://127.0.0.1/x", "http://[::1"])
def test_a_wrong_address_is_an_error_in_the_answer(url):
    assert client().request("GET", url).error
