"""What a recall from OpenViking costs in front of a prompt, to its own plugin, with the server alive and dead."""

from __future__ import annotations

import json
import subprocess
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

from codexmem_bench.figures import TIMES, Figure, Measurement, Value
from codexmem_bench.hooks import Installed
from codexmem_bench.openviking_plugin import PEER, Plugin
from codexmem_bench.timing import Pairs, in_pairs

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from codexmem_bench.bench import Bench

ALIVE = Figure(
    key="recall-openviking",
    what="recall in front of a prompt, to the OpenViking plugin's from the same server",
    limit=1,
    unit=TIMES,
)
DEAD = Figure(key="recall-openviking-dead", what="the same without the server, again and again", limit=1, unit=TIMES)

EVENT = "UserPromptSubmit"
FOUND = 6
REMEMBERED = "Small commits."
WAIT_S = 60.0


class _Handler(BaseHTTPRequestHandler):
    """As much of OpenViking's server as a recall needs."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_arguments: object) -> None:
        """Nothing."""

    def do_GET(self) -> None:
        """A sign of life, and nothing else."""
        self._answer({"status": "ok", "healthy": True, "version": "0.5.2"})

    def do_POST(self) -> None:
        """The same finds to every question, for those who show the entries and those who show the server's text."""
        self.rfile.read(int(self.headers.get("content-length", 0)))
        uris = [f"viking://~/memories/preferences/{number}.md" for number in range(FOUND)]
        entries = [{"uri": uri, "category": "preferences", "text": REMEMBERED} for uri in uris]
        rendered = "".join(f'<memory uri="{uri}" type="preferences">\n{REMEMBERED}\n</memory>\n' for uri in uris)
        self._answer({"status": "ok", "result": {"entries": entries, "rendered": rendered}})

    def _answer(self, body: object) -> None:
        sent = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)


@contextmanager
def _server() -> Iterator[str]:
    """Its address, as long as it runs."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class Recalling(Installed):
    """The same home with a worker that recalls."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._prompt = folder / "prompt.json"
        fields = json.loads((folder / "Stop.json").read_text())
        fields |= {"hook_event_name": EVENT, "prompt": "How should I write commits?"}
        self._prompt.write_text(json.dumps(fields))

    def sent(self, event: str) -> str:
        """File with what the host sends."""
        return str(self._prompt) if event == EVENT else super().sent(event)

    def begin(self) -> None:
        """Start the worker and wait until its recalls are printed. Raises RuntimeError."""
        ends_at = time.monotonic() + WAIT_S
        while not self._printed():
            if time.monotonic() > ends_at:
                raise RuntimeError("no recall was printed")
            time.sleep(0.2)

    def _printed(self) -> bytes:
        with open(self.sent(EVENT), "rb") as prompt:
            return subprocess.run(
                self.hook(EVENT), env=self.environ, stdin=prompt, capture_output=True, check=True
            ).stdout


def measure(bench: Bench) -> dict[str, Value]:
    """Our worker is warm and ended afterwards; the plugin needs none for it."""
    installed: Recalling = bench.once("recall", Recalling)
    plugin = Plugin(bench)
    sent = installed.sent(EVENT)

    def to_plugin() -> Pairs:
        return in_pairs(
            lambda: installed.run(EVENT), lambda: plugin.run(EVENT, sent), rounds=bench.sizes.process_rounds
        )

    try:
        with _server() as url:
            installed.environ["OPENVIKING_URL"] = plugin.environ["OPENVIKING_URL"] = url
            installed.begin()
            if REMEMBERED not in plugin.printed(EVENT, sent):
                raise RuntimeError("the plugin printed no recall")
            alive = to_plugin()
        dead = to_plugin()
    finally:
        installed.end_worker()
        plugin.end_workers()
    return {
        ALIVE.key: Value(number=alive.ratio, detail=alive.detail),
        DEAD.key: Value(number=dead.ratio, detail=dead.detail),
    }


MEASUREMENT = Measurement(figures=(ALIVE, DEAD), measure=measure, peer=PEER)
