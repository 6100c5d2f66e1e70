"""The signatures of Parley: of requests, webhooks and join links.

Each signature is an HMAC-SHA256. For requests and links, the key is the text of the credential as it is shown, with
its prefix. For webhooks, the key is the decoded Base64 after ``whsec_``. All comparisons take constant time. The verify
functions do not check whether a timestamp is recent.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
from typing import Any, Literal, Optional, Sequence

from ._requests import encode, number_between, required_text, whole_number
from .errors import InvalidArgumentError

__all__ = [
    "MAX_JOIN_LINK_AGE",
    "PROFILE",
    "WEBHOOK_SECRET_PREFIX",
    "sign_body",
    "sign_join_link",
    "sign_v5",
    "sign_webhook",
    "v5_text",
    "verify_body",
    "verify_v5",
    "verify_webhook_signature",
]

PROFILE = "SVC-HMAC-V5-1"
"""The name of the signing profile of version 5, which is the first line of each signed text."""

WEBHOOK_SECRET_PREFIX = "whsec_"
"""The prefix of each project secret."""

MAX_JOIN_LINK_AGE = 86400
"""The longest time between the issue and the expiry of a signed join link, in seconds."""

_MIN_WEBHOOK_KEY = 24
_MAX_WEBHOOK_KEY = 64
_TIMESTAMP = re.compile(r"[0-9]{1,18}")
# The server accepts no other algorithm.
_JOIN_LINK_HEADER = b'{"alg":"HS256","typ":"JWT"}'
_JOIN_LINK_ROLES = ("host", "cohost", "guest")
_JOIN_LINK_TEXT = re.compile(r"[^\ud800-\udfff]{0,255}")


def v5_text(method: str, target: str, timestamp: str, idempotency_key: str = "", body: bytes = b"") -> bytes:
    """Return the text that a signature of the profile SVC-HMAC-V5-1 covers.

    ``target`` is the path with the query, exactly as it is sent. ``timestamp`` is Unix time in seconds, in digits.
    ``idempotency_key`` is empty for GET.
    """
    head = [PROFILE.encode(), _bytes(method).upper(), _bytes(target), _bytes(timestamp), _bytes(idempotency_key)]
    return b"\n".join([*head, body])


def sign_v5(
    gateway_secret: str, method: str, target: str, timestamp: str, idempotency_key: str = "", body: bytes = b""
) -> str:
    """Return the signature over :func:`v5_text`: 64 hexadecimal digits in lower case."""
    return _hmac(_bytes(gateway_secret), v5_text(method, target, timestamp, idempotency_key, body)).hex()


def verify_v5(
    signature: str,
    gateway_secret: str,
    method: str,
    target: str,
    timestamp: str,
    idempotency_key: str = "",
    body: bytes = b"",
) -> bool:
    """Return whether ``signature`` is the one of :func:`sign_v5`, in hexadecimal digits of either case.

    The result is False for an empty secret, and if a part other than the body contains a line feed, because the
    signed text would be ambiguous.
    """
    try:
        given = binascii.unhexlify(_bytes(signature))
    except binascii.Error:
        given = b""
    expected = _hmac(_bytes(gateway_secret), v5_text(method, target, timestamp, idempotency_key, body))
    equal = hmac.compare_digest(given, expected)
    ambiguous = any("\n" in part for part in (method, target, timestamp, idempotency_key))
    return equal and gateway_secret != "" and not ambiguous


def sign_body(key: str, body: bytes) -> str:
    """Return the body signature of versions 3 and 4: 44 characters of standard Base64.

    ``key`` is the project secret or an API key. The signature contains no time.
    """
    return base64.b64encode(_hmac(_bytes(key), body)).decode()


def verify_body(signature: str, key: str, body: bytes) -> bool:
    """Return whether ``signature`` is the one of :func:`sign_body`. The result is False for an empty key."""
    return hmac.compare_digest(_bytes(signature), _bytes(sign_body(key, body))) and key != ""


def sign_webhook(secrets: Sequence[str], webhook_id: str, timestamp: str, body: bytes) -> str:
    """Return the header ``webhook-signature`` of a webhook, with one signature for each secret.

    Raise :class:`~parley.InvalidArgumentError` for a malformed secret, ID or timestamp.
    """
    if not _is_webhook_id(webhook_id):
        raise InvalidArgumentError("webhook_id must not be empty and must not contain a full stop or a space")
    if not _TIMESTAMP.fullmatch(timestamp):
        raise InvalidArgumentError("timestamp must be Unix seconds in 1 to 18 digits")
    text = _webhook_text(webhook_id, timestamp, body)
    return " ".join("v1," + _base64_hmac(key, text) for key in webhook_keys(secrets))


def verify_webhook_signature(
    signature: str, secrets: Sequence[str], webhook_id: str, timestamp: str, body: bytes
) -> bool:
    """Return whether one of the signatures in the header ``webhook-signature`` matches one of the secrets.

    Raise :class:`~parley.InvalidArgumentError` for a malformed secret. A malformed ID or timestamp is False.
    """
    keys = webhook_keys(secrets)
    if not _is_webhook_id(webhook_id) or not _TIMESTAMP.fullmatch(timestamp):
        return False
    text = _webhook_text(webhook_id, timestamp, body)
    found = False
    for key in keys:
        expected = _bytes("v1," + _base64_hmac(key, text))
        for given in signature.split(" "):
            found = hmac.compare_digest(_bytes(given), expected) or found
    return found


def sign_join_link(
    project_secret: str,
    *,
    room_id: str,
    role: Literal["host", "cohost", "guest"],
    iat: int,
    exp: int,
    jti: Optional[str] = None,
    name: Optional[str] = None,
    user_id: Optional[str] = None,
    single_use: bool = False,
) -> str:
    """Return a signed join link as a JSON Web Token. It goes behind ``/r/ROOM_ID#j=`` in the address.

    ``iat`` and ``exp`` are the times of the issue and of the expiry in Unix seconds, at most 86400 apart. ``jti``
    distinguishes links that are equal otherwise. Links with ``single_use`` need it, and so do links for hosts and
    co-hosts, which are always single-use. ``name`` and ``user_id`` have at most 255 characters. Raise
    :class:`~parley.InvalidArgumentError` for a claim that cannot be used.
    """
    if role not in _JOIN_LINK_ROLES:
        raise InvalidArgumentError('role must be "host", "cohost" or "guest"')
    if not isinstance(single_use, bool):
        raise InvalidArgumentError("single_use must be a boolean")
    if (single_use or role != "guest") and not jti:
        raise InvalidArgumentError("jti must not be empty for a host, a co-host or a single-use link")
    claims = {
        "room_id": required_text("room_id", room_id),
        "role": role,
        "name": _join_link_text("name", name),
        "user_id": _join_link_text("user_id", user_id),
        "single_use": single_use or None,
        "jti": _join_link_text("jti", jti),
        "iat": whole_number("iat", iat, 0),
        "exp": number_between("exp", exp, iat + 1, iat + MAX_JOIN_LINK_AGE),
    }
    signed = _base64_url(_JOIN_LINK_HEADER) + b"." + _base64_url(encode(claims))
    return (signed + b"." + _base64_url(_hmac(_bytes(project_secret), signed))).decode()


def webhook_keys(secrets: Sequence[str]) -> list[bytes]:
    """Return the decoded keys of one or more project secrets.

    Raise :class:`~parley.InvalidArgumentError`, which names the position of the malformed secret and not its value.
    """
    if isinstance(secrets, str):
        secrets = [secrets]
    if not secrets:
        raise InvalidArgumentError("secrets must contain at least one project secret")
    return [_webhook_key(secret, position) for position, secret in enumerate(secrets, start=1)]


def _webhook_key(secret: str, position: int) -> bytes:
    key = b""
    if isinstance(secret, str) and secret.startswith(WEBHOOK_SECRET_PREFIX):
        encoded = _bytes(secret[len(WEBHOOK_SECRET_PREFIX) :])
        try:
            key = base64.b64decode(encoded, validate=True)
        except binascii.Error:
            pass
        if base64.b64encode(key) != encoded:  # stray bits at the end
            key = b""
    if not _MIN_WEBHOOK_KEY <= len(key) <= _MAX_WEBHOOK_KEY:
        raise InvalidArgumentError(
            f"secret {position} must be whsec_ and the standard Base64 of "
            f"{_MIN_WEBHOOK_KEY} to {_MAX_WEBHOOK_KEY} bytes"
        )
    return key


def _is_webhook_id(webhook_id: str) -> bool:
    return webhook_id != "" and not any(character in ". \r\n" for character in webhook_id)


def _webhook_text(webhook_id: str, timestamp: str, body: bytes) -> bytes:
    return b".".join([_bytes(webhook_id), _bytes(timestamp), body])


def _join_link_text(name: str, value: Any) -> Optional[str]:
    """Return an optional text of at most 255 characters, None if it is empty, or raise InvalidArgumentError."""
    if value is not None and (not isinstance(value, str) or not _JOIN_LINK_TEXT.fullmatch(value)):
        raise InvalidArgumentError(f"{name} must be a string of at most 255 Unicode characters")
    return value or None


def _base64_url(text: bytes) -> bytes:
    return base64.urlsafe_b64encode(text).rstrip(b"=")


def _base64_hmac(key: bytes, text: bytes) -> str:
    return base64.b64encode(_hmac(key, text)).decode()


def _hmac(key: bytes, text: bytes) -> bytes:
    return hmac.new(key, text, hashlib.sha256).digest()


def _bytes(text: str) -> bytes:
    # Signatures of others can contain unpaired surrogates, which have no form in UTF-8.
    return text.encode("utf-8", "replace")
