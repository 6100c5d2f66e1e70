"""Headers of responses."""

from __future__ import annotations

import time
from email.message import Message
from email.utils import mktime_tz, parsedate_tz
from typing import Optional

_MAX_RETRY_AFTER = 86400.0  # seconds


def parse_date(text: Optional[str]) -> Optional[float]:
    """Return the Unix time of an HTTP date in one of its three forms, or None."""
    try:
        parts = parsedate_tz(text or "")
        return None if parts is None else float(mktime_tz(parts))
    except (ValueError, IndexError, OverflowError):
        return None


def retry_after(headers: Message) -> Optional[float]:
    """Return the seconds of Retry-After, from 0 to a day, or None without a valid one.

    The header contains seconds or a date. A date is compared with the clock of the server.
    """
    text = (headers.get("Retry-After") or "").strip()
    digits = text[1:] if text[:1] in ("+", "-") else text
    if digits.isascii() and digits.isdigit():
        if text[0] == "-":
            return 0.0
        return _MAX_RETRY_AFTER if len(digits.lstrip("0")) > 5 else min(float(digits), _MAX_RETRY_AFTER)
    until = parse_date(text)
    if until is None:
        return None
    now = parse_date(headers.get("Date"))
    return min(max(until - (time.time() if now is None else now), 0.0), _MAX_RETRY_AFTER)


def request_id(headers: Message) -> str:
    """Return the ID that the server gave to a request, or an empty text."""
    return headers.get("X-Gateway-Request-ID") or headers.get("X-Request-ID") or ""
