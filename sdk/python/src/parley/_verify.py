"""Checking the signature of a webhook."""

from __future__ import annotations

import json
import math
import time
from typing import Iterable, Optional, Protocol, Sequence, Tuple, Union

from . import signing
from ._generated import Event, parse_event
from ._text import printable
from .errors import InvalidArgumentError, InvalidSignatureError, UnexpectedResponseError

DEFAULT_TOLERANCE = 300.0
"""How many seconds the timestamp of a webhook may differ from our clock."""


class Headers(Protocol):
    """The headers of a request: a dict, or the headers of a framework. The case of the names does not matter."""

    def items(self) -> Iterable[Tuple[str, str]]:
        """Return names and values."""


def verify_webhook(
    secrets: Union[str, Sequence[str]],
    headers: Headers,
    body: bytes,
    *,
    tolerance: float = DEFAULT_TOLERANCE,
    now: Optional[float] = None,
) -> Event:
    """Return the event of a webhook whose signature is valid and recent.

    ``secrets`` is the project secret, or several of them during a rotation. ``body`` are the bytes as they were
    received. ``tolerance`` is in seconds, and ``now`` is a Unix time, by default the current one.

    The same event can arrive twice. It then has the same ``id``. An event of a type that this package does not know
    is an :class:`~parley.UnknownEvent`.

    Raise :class:`~parley.InvalidSignatureError` for a webhook that must not be trusted,
    :class:`~parley.UnexpectedResponseError` if the body is not an event although the signature is valid, and
    :class:`~parley.InvalidArgumentError` for a malformed secret or another bad argument.
    """
    if not isinstance(body, (bytes, bytearray, memoryview)):
        raise InvalidArgumentError("body must be the bytes that were received")
    check_tolerance(tolerance)
    raw = bytes(body)
    webhook_id = _header(headers, "webhook-id")
    timestamp = _header(headers, "webhook-timestamp")
    signature = _header(headers, "webhook-signature")
    if not signing.verify_webhook_signature(signature, secrets, webhook_id, timestamp, raw):
        raise InvalidSignatureError("no signature matches")
    skew = int(timestamp) - math.floor(time.time() if now is None else now)
    if skew < -tolerance:
        raise InvalidSignatureError("the timestamp is too old")
    if skew > tolerance:
        raise InvalidSignatureError("the timestamp is too new")
    return _event(raw)


def check_tolerance(tolerance: float) -> None:
    """Raise InvalidArgumentError for a negative tolerance."""
    if not tolerance >= 0:
        raise InvalidArgumentError("tolerance must be a number of seconds of at least 0")


def _header(headers: Headers, name: str) -> str:
    for key, value in headers.items():
        if key.lower() == name and value:
            return value
    raise InvalidSignatureError(f"missing header {name}")


def _event(body: bytes) -> Event:
    try:
        document = json.loads(body.decode("utf-8"))
    except (ValueError, RecursionError):
        document = None
    try:
        return parse_event(document)
    except ValueError as cause:
        reason = printable(str(cause), 100)  # names a field
    raise UnexpectedResponseError(f"the webhook is not as documented: {reason}")
