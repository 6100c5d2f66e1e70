"""The checked arguments of a client."""

from __future__ import annotations

import math
import os
import re
from typing import Any, Dict, Optional
from urllib.parse import urlsplit

from ._version import __version__
from .errors import InvalidArgumentError

DEFAULT_TIMEOUT = 30.0
DEFAULT_MAX_ATTEMPTS = 3
DEFAULT_VERSION = 4
_DEFAULT_USER_AGENT = f"parley-python/{__version__}"

_MAX_SECONDS = 1_000_000.0  # a socket cannot wait for more than about twice as long
_PRINTABLE_ASCII = re.compile(r"[ -~]+")
_MAX_IDEMPOTENCY_KEY = 255


def environment_arguments() -> Dict[str, Any]:
    """Return the arguments of a client that environment variables give, or raise InvalidArgumentError."""
    base_url = os.environ.get("PARLEY_URL")
    if not base_url:
        raise InvalidArgumentError("set PARLEY_URL to the address of the server, such as https://meet.example.org")
    credentials = ("project_id", "project_secret", "api_key", "gateway_secret")
    return {"base_url": base_url, **{name: os.environ.get(f"PARLEY_{name.upper()}") for name in credentials}}


def checked_base_url(text: str) -> str:
    """Return scheme and host of a base URL. The errors do not repeat the URL, because it may contain a password."""
    if not isinstance(text, str):
        raise InvalidArgumentError("base_url must be a string")
    if not _is_url(text):
        raise InvalidArgumentError("base_url is not a valid URL")
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InvalidArgumentError("base_url must be an absolute http or https URL")
    if "@" in parts.netloc:
        raise InvalidArgumentError("base_url must not contain a user or password")
    if parts.path not in ("", "/") or "?" in text or "#" in text:
        raise InvalidArgumentError("base_url must not have a path, query or fragment")
    return f"{parts.scheme}://{parts.netloc}"


def _is_url(text: str) -> bool:
    # urlsplit would silently remove line breaks, and it accepts characters that no host contains.
    if not text.isprintable() or re.search(r'[ "<>\\^`{|}%]', text.split("?")[0].split("#")[0]):
        return False
    try:
        parts = urlsplit(text)
        (parts.hostname or "").encode("idna")
        return parts.port is None or parts.port > 0
    except ValueError:
        return False


def checked_seconds(name: str, value: Any) -> float:
    """Return a number of seconds above 0, or raise InvalidArgumentError."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < math.inf:
        raise InvalidArgumentError(f"{name} must be a number of seconds above 0")
    return float(min(value, _MAX_SECONDS))


def checked_max_attempts(value: Any) -> int:
    """Return the highest number of attempts, or raise InvalidArgumentError."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InvalidArgumentError("max_attempts must be an integer of at least 1")
    return value


def checked_version(value: Any) -> int:
    """Return the version of the routes that versions 3 and 4 share, or raise InvalidArgumentError."""
    if isinstance(value, bool) or value not in (3, 4):
        raise InvalidArgumentError("version must be 3 or 4")
    return int(value)


def checked_user_agent(value: Optional[str]) -> str:
    """Return the header User-Agent, or raise InvalidArgumentError."""
    if value is None:
        return _DEFAULT_USER_AGENT
    if not isinstance(value, str) or not _PRINTABLE_ASCII.fullmatch(value):
        raise InvalidArgumentError("user_agent must be printable ASCII")
    return value


def checked_idempotency_key(value: Optional[str]) -> str:
    """Return the header Idempotency-Key, empty for None, or raise InvalidArgumentError.

    A space at the beginning or the end would be signed, but is not part of the value that a server reads.
    """
    if value is None:
        return ""
    if not isinstance(value, str) or not _PRINTABLE_ASCII.fullmatch(value) or len(value) > _MAX_IDEMPOTENCY_KEY:
        raise InvalidArgumentError(
            f"idempotency_key must have 1 to {_MAX_IDEMPOTENCY_KEY} characters, all of them printable ASCII"
        )
    if value != value.strip():
        raise InvalidArgumentError("idempotency_key must not begin or end with a space")
    return value
