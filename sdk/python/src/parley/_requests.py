"""Requests of the API before they are signed."""

from __future__ import annotations

import enum
import json
from dataclasses import dataclass
from typing import Any, Mapping, Optional, Sequence
from urllib.parse import quote, urlencode

from .errors import InvalidArgumentError


class Signature(enum.Enum):
    """What a request is signed with."""

    NONE = "none"
    BODY = "body"
    """The body, with the project secret, or with the API key if there is no project secret."""
    JOIN_EVENT = "join event"
    """The body, with the project secret."""
    GATEWAY = "gateway"
    """The profile SVC-HMAC-V5-1, with the Gateway secret."""


@dataclass(frozen=True)
class Request:
    """One call, which may be sent several times. It contains no credential."""

    method: str
    target: str
    signature: Signature
    body: bytes = b""
    idempotency_key: str = ""
    has_client_room_id: bool = False
    repeatable: bool = False
    retry_window: Optional[float] = None
    """The seconds after the first attempt in which the request may be repeated, or None for no limit."""


def encode(fields: Mapping[str, Any]) -> bytes:
    """Return the JSON of the fields that are not None, in UTF-8 and without spaces."""
    present = {name: value for name, value in fields.items() if value is not None}
    try:
        text = json.dumps(present, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return text.encode("utf-8")
    except TypeError as cause:
        reason = str(cause)  # names the type
    except (ValueError, RecursionError):
        reason = "it contains itself, half of a surrogate pair, or a number that is not finite"
    # Outside of the except blocks, because a cause can contain the value.
    raise InvalidArgumentError(f"an argument cannot be written as JSON: {reason}")


def path_segment(name: str, value: Any) -> str:
    """Return an argument that becomes a part of the path, escaped, or raise InvalidArgumentError."""
    text = required_text(name, value)
    if text in (".", ".."):
        raise InvalidArgumentError(f"{name} must not be {text}")
    return quote(text, safe="")


def query(parameters: Mapping[str, Any]) -> str:
    """Return the query of the parameters that are not None, with its question mark, or an empty text."""
    present = {name: value for name, value in parameters.items() if value is not None}
    return "?" + urlencode(present, errors="replace") if present else ""


def required_text(name: str, value: Any) -> str:
    """Return an argument that must be a well-formed text with at least one character, or raise InvalidArgumentError."""
    if not isinstance(value, str) or not value:
        raise InvalidArgumentError(f"{name} must be a string that is not empty")
    if any("\ud800" <= character <= "\udfff" for character in value):
        raise InvalidArgumentError(f"{name} must be well-formed Unicode")
    return value


def whole_number(name: str, value: Any, least: int) -> int:
    """Return an argument that must be an integer of at least ``least``, or raise InvalidArgumentError."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InvalidArgumentError(f"{name} must be an integer of at least {least}")
    return value


def number_between(name: str, value: Any, least: int, most: int) -> int:
    """Return an argument that must be an integer within bounds, or raise InvalidArgumentError."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise InvalidArgumentError(f"{name} must be an integer between {least} and {most}")
    return value


def list_or_none(name: str, value: Optional[Sequence[Any]]) -> Optional[list[Any]]:
    """Return an argument that must be a sequence as a list, or raise InvalidArgumentError. None stays None."""
    if value is None:
        return None
    # A string is a sequence, too, but of characters.
    if isinstance(value, (str, bytes)) or not isinstance(value, Sequence):
        raise InvalidArgumentError(f"{name} must be a list")
    return list(value)
