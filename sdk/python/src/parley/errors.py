"""The errors of this package. Each kind has its own class, and :class:`ParleyError` is the base of all."""

from __future__ import annotations

import functools
from typing import Any, ClassVar, Optional


class ParleyError(Exception):
    """Base class of all errors of this package. No error contains a credential."""

    kind: ClassVar[str] = ""
    """The kind of the error, the same word in the SDKs of all languages, such as ``not_found``."""

    message: str
    """The sentence of the server, at most 500 printable characters, or a description of what went wrong."""
    status: Optional[int]
    """The HTTP status, or None without a response."""
    code: str
    """The code of version 5, such as ``SVC_UNAUTHORIZED``; empty in other versions."""
    request_id: str
    """The ID of the request in the log of the server, which support can use; empty without one."""
    retry_after: Optional[float]
    """How many seconds the server asks to wait, at most 86400, or None if it does not say."""
    attempts: int
    """The number of requests that were sent, 0 if none was."""
    remedy: str
    """What to do about the error; empty if no advice applies."""

    def __init__(
        self,
        message: str,
        *,
        status: Optional[int] = None,
        code: str = "",
        request_id: str = "",
        retry_after: Optional[float] = None,
        attempts: int = 0,
        remedy: str = "",
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.code = code
        self.request_id = request_id
        self.retry_after = retry_after
        self.attempts = attempts
        self.remedy = remedy

    def __str__(self) -> str:
        text = self.message
        if self.status is not None:
            text = f"{self.status} {self.code}".rstrip() + ": " + text
        if self.request_id:
            text += f" (request {self.request_id})"
        if self.remedy:
            text += "\n" + self.remedy
        return text

    def __reduce__(self) -> tuple[Any, ...]:
        # The default passes only the message, so that an error would lose its fields between two processes.
        return functools.partial(
            type(self),
            self.message,
            status=self.status,
            code=self.code,
            request_id=self.request_id,
            retry_after=self.retry_after,
            attempts=self.attempts,
            remedy=self.remedy,
        ), ()


class InvalidRequestError(ParleyError):
    """400, 413, 415 and 422: the message names the field and the bound."""

    kind = "invalid_request"


class UnauthorizedError(ParleyError):
    """401: an unknown project or key, a wrong signature or a wrong time."""

    kind = "unauthorized"


class ForbiddenError(ParleyError):
    """403: the project is inactive or suspended, or a setting of the project does not allow the call."""

    kind = "forbidden"


class NotFoundError(ParleyError):
    """404: no such room or resource, or version 5 is disabled."""

    kind = "not_found"


class ConflictError(ParleyError):
    """409: ``client_room_id`` is taken, an equal request is in progress, or the state of the room forbids the call."""

    kind = "conflict"


class GoneError(ParleyError):
    """410: the operator has ended this version of the API."""

    kind = "gone"


class RateLimitedError(ParleyError):
    """429: too many calls, or a quota is used up. ``retry_after`` is the time to wait."""

    kind = "rate_limited"


class UnavailableError(ParleyError):
    """502, 503 and 504: try again later."""

    kind = "unavailable"


class ServerError(ParleyError):
    """500 and each status without a class of its own, also a redirect, because redirects are not followed."""

    kind = "server_error"


class UnexpectedResponseError(ParleyError):
    """A response that the API does not document, or one of more than 4 MiB.

    The limit of ``active_rooms`` is 64 MiB. A call that writes may have succeeded.
    """

    kind = "unexpected_response"


class MissingCredentialError(ParleyError):
    """The client does not have the credential that the call needs. Nothing was sent."""

    kind = "missing_credential"


class ConnectionFailedError(ParleyError):
    """No response arrived, or only a part of one. A call that writes may have succeeded."""

    kind = "connection"


class InvalidArgumentError(ParleyError, ValueError):
    """An argument of the constructor or of a call is invalid. Nothing was sent."""

    kind = "invalid_argument"


class InvalidSignatureError(ParleyError):
    """A webhook without a valid signature, or one that is too old or too new."""

    kind = "invalid_signature"


_BY_STATUS: dict[int, type[ParleyError]] = {
    400: InvalidRequestError,
    401: UnauthorizedError,
    403: ForbiddenError,
    404: NotFoundError,
    409: ConflictError,
    410: GoneError,
    413: InvalidRequestError,
    415: InvalidRequestError,
    422: InvalidRequestError,
    429: RateLimitedError,
    502: UnavailableError,
    503: UnavailableError,
    504: UnavailableError,
}


def class_for_status(status: int) -> type[ParleyError]:
    """Return the class of the errors with an HTTP status."""
    return _BY_STATUS.get(status, ServerError)
