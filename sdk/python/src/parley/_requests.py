"""Requests of the API before they are signed."""

from __future__ import annotations

import enum
import json
import math
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
    """Return the JSON of the fields that are not None, in UTF-8 and without spaces.

    Raise InvalidArgumentError, which names the field, for a value that JSON does not have.
    """
    present = {name: value for name, value in fields.items() if value is not None}
    try:
        text = json.dumps(present, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return text.encode("utf-8")
    except (TypeError, ValueError, RecursionError):
        pass
    # Outside of the except block, because a cause can contain the value.
    raise InvalidArgumentError(_first_problem(present))


def _first_problem(fields: Mapping[str, Any]) -> str:
    """Return a sentence about the first field that cannot be written as JSON."""
    for name, value in fields.items():
        try:
            problem = _problem(name, value, ())
        except RecursionError:
            problem = f"{name} has too many levels"
        if problem:
            return problem
    return "an argument cannot be written as JSON"


def _problem(name: str, value: Any, outer: tuple[int, ...]) -> Optional[str]:
    """Return why a value cannot be written as JSON, with the name of the innermost one, or None if it can.

    ``outer`` are the values that contain it.
    """
    if isinstance(value, str):
        return None if _is_well_formed(value) else f"{name} must be well-formed Unicode"
    if isinstance(value, float):
        return None if math.isfinite(value) else f"{name} must be a finite number"
    if value is None or isinstance(value, int):
        return None
    if not isinstance(value, (dict, list, tuple)):
        return f"{name} must be a string, number, bool, list or dict, not {type(value).__name__}"
    if id(value) in outer:
        return f"{name} must not contain itself"
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, str) or not _is_well_formed(key):
                return f"the keys of {name} must be strings of well-formed Unicode"
        members = [(f"{name}.{key}", member) for key, member in value.items()]
    else:
        members = [(f"{name}[{position}]", member) for position, member in enumerate(value)]
    problems = (_problem(path, member, (*outer, id(value))) for path, member in members)
    return next((problem for problem in problems if problem), None)


def _is_well_formed(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


def path_segment(name: str, value: Any) -> str:
    """Return an argument that becomes a part of the path, escaped, or raise InvalidArgumentError."""
    text = required_text(name, value)
    if text in (".", ".."):
        raise InvalidArgumentError(f"{name} must not be {text}")
    return quote(text, safe="")


def query(parameters: Mapping[str, Any]) -> str:
    """Return the query of the parameters that are not None, with its question mark, or an empty text."""
    present = {name: value for name, value in parameters.items() if value is not None}
    return "?" + urlencode(present, errors="replace") if present else ""  # a cursor of the server can be malformed


def required_text(name: str, value: Any) -> str:
    """Return an argument that must be a well-formed text with at least one character, or raise InvalidArgumentError."""
    if not isinstance(value, str) or not value:
        raise InvalidArgumentError(f"{name} must be a string that is not empty")
    if not _is_well_formed(value):
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
