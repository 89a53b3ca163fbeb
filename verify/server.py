"""A server for the browser checks: gzip as a real host would, and the strictest policy that Material's own inline scripts allow."""

from __future__ import annotations

import base64
import gzip
import hashlib
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

TYPES = {
    ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css", ".json": "application/json", ".svg": "image/svg+xml",
    ".csv": "text/csv", ".png": "image/png", ".xml": "application/xml", ".map": "application/json",
}  # fmt: skip
# Plotly makes one style element and leaves it empty; this is the hash of nothing.
EMPTY_STYLE = "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"


def policy(html: bytes) -> str:
    """A Content-Security-Policy that lets a page run its own files and the inline scripts it has, and nothing else."""
    inline = re.findall(rb"<script(?![^>]*\ssrc=)[^>]*>(.*?)</script>", html, re.DOTALL)
    hashes = sorted({f"'sha256-{base64.b64encode(hashlib.sha256(script).digest()).decode()}'" for script in inline})
    scripts = " ".join(["'self'", *hashes])
    return f"default-src 'none'; script-src {scripts}; style-src 'self' {EMPTY_STYLE}; img-src 'self' data:; connect-src 'self'; worker-src 'self'; base-uri 'self'"


@contextmanager
def serve(site: Path) -> Iterator[str]:
    """Serve a built site on a free port of 127.0.0.1; yields its address."""

    @lru_cache(maxsize=256)
    def body(path: str) -> tuple[bytes, bytes] | None:
        file = (site / path.lstrip("/")).resolve()
        if file.is_dir():
            file = file / "index.html"
        if not file.is_file() or not file.is_relative_to(site.resolve()):
            return None
        data = file.read_bytes()
        return data, gzip.compress(data, 6, mtime=0)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            path = unquote(urlsplit(self.path).path)
            found = body(path)
            if found is None:
                self.send_error(404)
                return
            data, packed = found
            suffix = Path(path).suffix or ".html"
            self.send_response(200)
            self.send_header("Content-Type", TYPES.get(suffix, "application/octet-stream"))
            self.send_header("Content-Encoding", "gzip")
            self.send_header("Content-Length", str(len(packed)))
            self.send_header("Cache-Control", "max-age=600")
            if suffix == ".html":
                self.send_header("Content-Security-Policy", policy(data))
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
