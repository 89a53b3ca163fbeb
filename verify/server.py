"""A server for the browser checks, as a real host: gzip, and the headers that the site asks for in `_headers`."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

from macros.policy import HEADERS

TYPES = {
    ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css", ".json": "application/json", ".svg": "image/svg+xml",
    ".csv": "text/csv", ".png": "image/png", ".xml": "application/xml", ".map": "application/json",
}  # fmt: skip


@contextmanager
def serve(site: Path) -> Iterator[str]:
    """Serve a built site on a free port of 127.0.0.1; yields its address."""

    rules = (site / HEADERS).read_text(encoding="utf-8")

    @lru_cache(maxsize=256)
    def body(path: str) -> bytes | None:
        file = (site / path.lstrip("/")).resolve()
        if file.is_dir():
            file = file / "index.html"
        if not file.is_file() or not file.is_relative_to(site.resolve()):
            return None
        return gzip.compress(file.read_bytes(), 6, mtime=0)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            path = unquote(urlsplit(self.path).path)
            packed = body(path)
            if packed is None:
                self.send_error(404)
                return
            suffix = Path(path).suffix or ".html"
            self.send_response(200)
            self.send_header("Content-Type", TYPES.get(suffix, "application/octet-stream"))
            self.send_header("Content-Encoding", "gzip")
            self.send_header("Content-Length", str(len(packed)))
            for name, value in {"Cache-Control": "max-age=600", **headers_of(path, rules)}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(packed)

        def log_message(self, format: str, *args: object) -> None:
            """Silence: the checks say what went wrong."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


def headers_of(path: str, text: str) -> dict[str, str]:
    """The headers that a text of `_headers` sets for a path of the site, as a host reads it.

    >>> headers_of("/a/b.html", "/*\\n  X-One: 1\\n# a word\\n/b/*\\n  X-Two: 2\\n/a/b.html\\n  X-Three: 3\\n")
    {'X-One': '1', 'X-Three': '3'}
    """
    found: dict[str, str] = {}
    applies = False
    for line in text.splitlines():
        if line.startswith("/"):
            applies = path.startswith(line[:-1]) if line.endswith("*") else path == line
        elif applies and line.startswith(" "):
            name, _, value = line.strip().partition(": ")
            found[name] = f"{found[name]}, {value}" if name in found else value
    return found
