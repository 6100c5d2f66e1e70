"""Sending one HTTP request, over connections that are kept alive."""

from __future__ import annotations

import collections
import http.client
import io
import os
import select
import socket
import ssl
import time
import weakref
from email.message import Message
from typing import Any, Mapping, NamedTuple, Optional
from urllib.parse import urlsplit

_MAX_IDLE_CONNECTIONS = 16
# Shorter than the limits of usual servers and proxies, so that a request rarely uses a connection that is being
# closed.
_MAX_IDLE_SECONDS = 20.0
_MAX_BODY = 4 * 1024 * 1024
_MAX_ACTIVE_ROOMS = 64 * 1024 * 1024
ACTIVE_ROOMS_PATH = "/rooms/get_active_rooms_info"
"""The path of the list of active rooms, which has no pages."""
_MAX_ERROR_BODY = 64 * 1024
_BLOCK = 64 * 1024


def max_body(target: str) -> int:
    """Return the size of the largest body of a success, in bytes."""
    return _MAX_ACTIVE_ROOMS if target.endswith(ACTIVE_ROOMS_PATH) else _MAX_BODY


class Response(NamedTuple):
    """A response whose body was read up to a limit."""

    status: int
    headers: Message
    body: bytes
    complete: bool
    """Whether the body ends within the limit."""
    sent: float
    """The Unix time before the request was sent."""
    received: float
    """The Unix time after the headers of the response arrived."""


class NoResponse(Exception):
    """Nothing or only a part of a response arrived."""

    def __init__(self, reason: str, may_succeed_later: bool) -> None:
        super().__init__(reason)
        self.reason = reason
        self.may_succeed_later = may_succeed_later


class Transport:
    """Sends requests to one server. It is safe for several threads, and for a process that forks."""

    def __init__(self, base_url: str, ssl_context: Optional[ssl.SSLContext]) -> None:
        parts = urlsplit(base_url)
        self._host = parts.hostname or ""
        self._port = parts.port
        self._ssl_context: Optional[ssl.SSLContext] = None
        if parts.scheme == "https":
            self._ssl_context = ssl_context or ssl.create_default_context()
        # Appending to a deque and popping are atomic. A lock could be held by another thread during a fork.
        self._idle: collections.deque[_Idle] = collections.deque()
        weakref.finalize(self, _close_all, self._idle)

    def close(self) -> None:
        """Close the idle connections."""
        _close_all(self._idle)

    def exchange(
        self, method: str, target: str, headers: Mapping[str, str], body: bytes, timeout: float
    ) -> Response:
        """Send a request once and read the response. Redirects are not followed.

        ``timeout`` is for the whole exchange, in seconds. The lookup of the host name is not included, and if the
        host has several addresses, each of them can take so long to connect. Raise NoResponse if the response does
        not arrive completely.
        """
        try:
            return self._exchange(method, target, headers, body, _Deadline(timeout))
        except (OSError, http.client.HTTPException) as failure:
            reason = _describe(failure)
            may_succeed_later = not isinstance(failure, ssl.SSLCertVerificationError)
        # Outside of the except block, because the failure can contain text of the server.
        raise NoResponse(reason, may_succeed_later)

    def _exchange(
        self, method: str, target: str, headers: Mapping[str, str], body: bytes, deadline: _Deadline
    ) -> Response:
        connection = self._idle_connection() or self._connect(deadline)
        reusable = False
        try:
            connection.response_class = deadline.response_class  # type: ignore[assignment]
            connection.sock.settimeout(deadline.remaining())
            sent = time.time()
            broken = False
            try:
                connection.request(method, target, body or None, dict(headers))
            except BrokenPipeError:
                broken = True  # the server can have responded before it has read the whole body
            response = connection.getresponse()
            received = time.time()
            content, complete = _read(response, max_body(target))
            reusable = complete and not broken and not response.will_close
        finally:
            if reusable:
                self._keep(connection)
            else:
                connection.close()
        return Response(response.status, response.headers, content, complete, sent, received)

    def _connect(self, deadline: _Deadline) -> http.client.HTTPConnection:
        connection: http.client.HTTPConnection
        if self._ssl_context is None:
            connection = http.client.HTTPConnection(self._host, self._port, timeout=deadline.remaining())
        else:
            connection = http.client.HTTPSConnection(
                self._host, self._port, timeout=deadline.remaining(), context=self._ssl_context
            )
        connection.connect()
        return connection

    def _idle_connection(self) -> Optional[http.client.HTTPConnection]:
        """Return the connection that was used last, if it is still open."""
        while self._idle:
            try:
                idle = self._idle.pop()
            except IndexError:  # another thread was faster
                return None
            if idle.is_usable():
                return idle.connection
            idle.connection.close()
        return None

    def _keep(self, connection: http.client.HTTPConnection) -> None:
        self._idle.append(_Idle(connection, time.monotonic(), os.getpid()))
        if len(self._idle) > _MAX_IDLE_CONNECTIONS:
            try:
                self._idle.popleft().connection.close()
            except IndexError:  # other threads use all of them
                pass


class _Idle(NamedTuple):
    connection: http.client.HTTPConnection
    since: float
    process: int

    def is_usable(self) -> bool:
        """Return whether the connection belongs to this process and the server has not closed it."""
        if self.process != os.getpid() or time.monotonic() - self.since > _MAX_IDLE_SECONDS:
            return False
        # A server that sends nothing and closes nothing leaves the socket unreadable.
        return not _is_readable(self.connection.sock)


def _close_all(idle: collections.deque[_Idle]) -> None:
    while idle:
        try:
            idle.pop().connection.close()
        except IndexError:  # another thread was faster
            return


def _is_readable(sock: socket.socket) -> bool:
    if hasattr(select, "poll"):  # unlike select, without a limit on the number of the descriptor
        poll = select.poll()
        poll.register(sock, select.POLLIN)
        return bool(poll.poll(0))
    return bool(select.select([sock], [], [], 0)[0])


class _Deadline:
    """The end of an attempt. A timeout of a socket alone would begin anew with every byte of a slow server."""

    def __init__(self, timeout: float) -> None:
        self._end = time.monotonic() + timeout

    def remaining(self) -> float:
        """Return the seconds until the deadline, or raise TimeoutError after it."""
        seconds = self._end - time.monotonic()
        if seconds <= 0:
            raise TimeoutError("timed out")
        return seconds

    def response_class(self, sock: socket.socket, *arguments: Any, **options: Any) -> http.client.HTTPResponse:
        """Return a response that is read until the deadline."""
        return http.client.HTTPResponse(_TimedSocket(sock, self), *arguments, **options)  # type: ignore[arg-type]


class _TimedSocket:
    """The part of a socket that HTTPResponse uses."""

    def __init__(self, sock: socket.socket, deadline: _Deadline) -> None:
        self._sock = sock
        self._deadline = deadline

    def makefile(self, mode: str) -> io.BufferedReader:
        return io.BufferedReader(_TimedReader(self._sock, self._deadline))


class _TimedReader(io.RawIOBase):
    def __init__(self, sock: socket.socket, deadline: _Deadline) -> None:
        self._sock = sock
        self._deadline = deadline
        # The socket stays open until this file is closed, too.
        self._file = sock.makefile("rb", buffering=0)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> Optional[int]:
        self._sock.settimeout(self._deadline.remaining())
        return self._file.readinto(buffer)

    def close(self) -> None:
        self._file.close()
        super().close()


def _read(response: http.client.HTTPResponse, limit: int) -> tuple[bytes, bool]:
    """Read a body up to its limit, which is for a success. Return it and whether it ends there."""
    if response.status == 200:
        return _read_up_to(response, limit)
    try:
        return _read_up_to(response, _MAX_ERROR_BODY)
    except (OSError, http.client.HTTPException):
        return b"", False  # the status alone identifies an error


def _read_up_to(response: http.client.HTTPResponse, limit: int) -> tuple[bytes, bool]:
    expected = response.length  # None if the length is not announced
    body = bytearray()
    while len(body) <= limit:
        block = response.read(_BLOCK)
        if not block:
            if expected is not None and len(body) < expected:
                raise http.client.IncompleteRead(bytes(body), expected - len(body))
            return bytes(body), True
        body += block
    return bytes(body[:limit]), False


def _describe(failure: Exception) -> str:
    if isinstance(failure, ssl.SSLCertVerificationError):
        return "certificate verification failed: " + failure.verify_message
    if isinstance(failure, (TimeoutError, socket.timeout)):
        return "timed out"
    if isinstance(failure, http.client.RemoteDisconnected):
        return "the server closed the connection without a response"
    if isinstance(failure, http.client.IncompleteRead):
        return "the response was cut off"
    if isinstance(failure, OSError) and failure.strerror:
        return failure.strerror
    return str(failure).strip() or type(failure).__name__
