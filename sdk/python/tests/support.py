"""A scripted server on 127.0.0.1."""

from __future__ import annotations

import email.message
import http.server
import json
import socket
import ssl
import threading
import time
from typing import Any, Callable, Dict, List, NamedTuple, Optional

PROJECT_ID = "0197c9b4-5a3e-7c11-b1a4-6c0b5d7f2e10"
PROJECT_SECRET = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
API_KEY = "pk_0000TestKeyDoNotUse00000000000"
GATEWAY_SECRET = "gs_0000TestSecretDoNotUse0000000000000000000000"
ROOM_ID = "0197c9b4-6d1f-7a22-9c55-0d6a4b8e3f71"
LINK = f"https://meet.example.org/r/{ROOM_ID}#t=2"

CREDENTIALS: Dict[str, Any] = {
    "project_id": PROJECT_ID,
    "project_secret": PROJECT_SECRET,
    "api_key": API_KEY,
    "gateway_secret": GATEWAY_SECRET,
}
SECRETS = [PROJECT_SECRET, API_KEY, GATEWAY_SECRET]

QUICK_ROOM: Dict[str, Any] = {
    "name": "Amina",
    "max_participants": 10,
    "empty_timeout": 300,
    "metadata": {"room_title": "Standup", "welcome_message": ""},
}
STATUS = {"status": True, "message": "the room is open"}
CREATED = {"status": True, "final_link": LINK, "room_id": ROOM_ID}


class Seen(NamedTuple):
    """A request that the server received."""

    method: str
    target: str
    headers: email.message.Message
    body: bytes
    port: int
    at: float


class Reply(NamedTuple):
    """What the server does with one request."""

    status: int = 200
    json: Any = STATUS
    headers: Dict[str, str] = {}
    text: Optional[str] = None
    act: Optional[Callable[["Handler"], None]] = None
    """Responds in another way."""


class Handler(http.server.BaseHTTPRequestHandler):
    """Records requests and plays the script."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: "_HTTPServer"

    def log_message(self, *arguments: Any) -> None:
        pass

    def respond(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        with self.server.lock:
            number = len(self.server.seen) + 1
            port = self.client_address[1]
            self.server.seen.append(Seen(self.command, self.path, self.headers, body, port, time.monotonic()))
            reply = self.server.script.pop(0) if self.server.script else self.server.default
        if reply.act is not None:
            reply.act(self)
            return
        content = (json.dumps(reply.json) if reply.text is None else reply.text).encode()
        self.send_response(reply.status)
        self.send_header("X-Request-ID", f"req_{number}")
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = do_PUT = respond


class _HTTPServer(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64
    lock: threading.Lock
    seen: List[Seen]
    script: List[Reply]
    default: Reply
    connections: List[socket.socket]

    def get_request(self) -> Any:
        connection, address = super().get_request()
        self.connections.append(connection)
        return connection, address

    def handle_error(self, *arguments: Any) -> None:
        pass  # a client that closes its connection


class Server:
    """A server that responds with the script and then with the default reply."""

    def __init__(self, *script: Reply, default: Reply = Reply(), context: Optional[ssl.SSLContext] = None) -> None:
        self._http = _HTTPServer(("127.0.0.1", 0), Handler)
        self._http.lock = threading.Lock()
        self._http.seen = []
        self._http.script = list(script)
        self._http.default = default
        self._http.connections = []
        self._scheme = "http"
        if context is not None:
            self._http.socket = context.wrap_socket(self._http.socket, server_side=True)
            self._scheme = "https"
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"{self._scheme}://127.0.0.1:{self._http.server_port}"

    @property
    def seen(self) -> List[Seen]:
        with self._http.lock:
            return list(self._http.seen)

    def close_connections(self) -> None:
        """Close the connections, as a server does with idle ones, and wait until the client can notice it."""
        for connection in self._http.connections:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        self._http.connections.clear()
        time.sleep(0.05)

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()
        self.close_connections()

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()


def drop(handler: Handler) -> None:
    """Close the connection instead of responding."""
    handler.close_connection = True
    handler.connection.shutdown(socket.SHUT_RDWR)


def unavailable(**headers: str) -> Reply:
    """Return a reply of 503, with headers such as Retry_After."""
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(503, {"error": "the database does not answer, try again in a moment"}, names)
