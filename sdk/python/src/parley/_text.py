"""Texts of the server."""

from __future__ import annotations

from typing import Optional


def printable(text: str, limit: int) -> str:
    """Return a text that is safe for a log: on one line, printable, and of at most ``limit`` characters."""
    text = "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text)
    return text if len(text) <= limit else text[: limit - 1] + "\N{HORIZONTAL ELLIPSIS}"


def digits(text: str) -> Optional[int]:
    """Return the number in a text of 1 to 18 ASCII digits, or None."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 18 else None
