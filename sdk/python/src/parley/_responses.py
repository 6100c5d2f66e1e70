"""Reading responses: results and errors."""

from __future__ import annotations

import http
import json
from dataclasses import dataclass
from email.message import Message
from typing import Any, Callable, Optional, TypeVar

from ._credentials import Credentials
from ._headers import request_id, retry_after
from ._requests import Request, Signature
from ._text import digits, printable
from .errors import ConnectionFailedError, ParleyError, UnexpectedResponseError, class_for_status

_T = TypeVar("_T")

_MAX_MESSAGE = 500
_MAX_NAME = 100  # characters of a code or a request ID


@dataclass(frozen=True)
class Result:
    """A response with the status 200."""

    body: bytes
    headers: Message
    attempts: int
    credentials: Credentials

    @property
    def request_id(self) -> str:
        """The ID of the request, or an empty text."""
        return printable(self.credentials.redact(request_id(self.headers)), _MAX_NAME)

    def names(self, header: str) -> list[str]:
        """Return the names in a header, which are separated by commas."""
        names = ",".join(self.headers.get_all(header, [])).split(",")
        return [name.strip() for name in names if name.strip()]

    @property
    def requests_used(self) -> Optional[int]:
        """The number in the header of version 5, or None while it is unavailable."""
        return digits(self.headers.get("X-Gateway-Requests-Used") or "")

    def document(self) -> str:
        """Return the body as text. Raise UnexpectedResponseError for a page, for instance of a proxy."""
        if self.headers.get_content_type() == "text/html":
            raise self.unexpected("the response is a page instead of the document")
        return self.text()

    def text(self) -> str:
        """Return the body as text. Raise UnexpectedResponseError if it is not UTF-8."""
        try:
            return self.body.decode("utf-8")
        except UnicodeDecodeError:
            pass
        # Outside of the except block, because the cause contains the body.
        raise self.unexpected("the response is not UTF-8")

    def read(self, reader: Callable[[Any], _T]) -> _T:
        """Return what the reader makes of the JSON object of the body.

        Raise UnexpectedResponseError if the body is something else, or if the reader raises ValueError.
        """
        try:
            return reader(self._json())
        except ValueError as cause:
            reason = str(cause)  # names a field
        raise self.unexpected(f"the response is not as documented: {reason}")

    def _json(self) -> dict[str, Any]:
        try:
            value = json.loads(self.text(), parse_constant=_refuse_constant)
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict):
            raise ValueError("expected a JSON object")
        return value

    def unexpected(self, message: str) -> UnexpectedResponseError:
        """Return the error for a body that is not as documented. The message must not repeat values of the body."""
        return UnexpectedResponseError(
            printable(self.credentials.redact(message), _MAX_MESSAGE),
            status=200,
            request_id=self.request_id,
            attempts=self.attempts,
            remedy="" if self.request_id else _FOREIGN,
        )


@dataclass(frozen=True)
class Failure:
    """An attempt without a result."""

    kind: type[ParleyError]
    message: str
    status: Optional[int] = None
    code: str = ""
    request_id: str = ""
    retry_after: Optional[float] = None
    may_succeed_later: bool = False

    def error(self, request: Request, credentials: Credentials, attempts: int) -> ParleyError:
        """Return the error for the caller."""
        return self.kind(
            self.message,
            status=self.status,
            code=self.code,
            request_id=self.request_id,
            retry_after=self.retry_after,
            attempts=attempts,
            remedy=self._remedy(request, credentials, attempts),
        )

    def _remedy(self, request: Request, credentials: Credentials, attempts: int) -> str:
        if self.status is None:
            return ""
        if 300 <= self.status < 400:
            return "Use the address that the server redirects to as the base URL."
        if not self.request_id:
            return _FOREIGN
        if self.status == 401 and request.signature is Signature.BODY and not credentials.project_secret:
            return _API_KEY_401
        if self.status == 401:
            return _REMEDIES_OF_401.get(request.signature, "")
        if self.status == 403 and (
            self.code == "SVC_GATEWAY_PROJECT_SUSPENDED" or self.message.endswith("suspended")
        ):
            return "Ask the operator of the server why the project is suspended."
        if self.status == 403 and self.message == "the project is inactive":
            return "Activate the project with update_project_status."
        if self.status == 404 and self.code == "SVC_GATEWAY_DISABLED":
            return "Ask the operator of the server to enable version 5."
        if self.status == 409 and attempts > 1 and request.has_client_room_id:
            return "An earlier attempt may have created the room. Look for client_room_id in the list of rooms."
        if self.status == 410:
            return "Use version 4 of the API."
        return ""


_FOREIGN = "The response does not come from a Parley server. Check the base URL and the proxy in front of the server."
_BODY_401 = "Check that project_id and project_secret belong together and that the secret has not been replaced."
_API_KEY_401 = (
    "Check that project_id and api_key belong together and that the key has not been replaced. "
    "If the project has the setting require_secret_signatures, pass project_secret to the client."
)
_REMEDIES_OF_401 = {
    Signature.BODY: _BODY_401,
    Signature.JOIN_EVENT: _BODY_401,
    Signature.GATEWAY: "Check that api_key and gateway_secret belong together and that the key has not been replaced. "
    "The request log of the project names the cause.",
}


def no_response(reason: str, may_succeed_later: bool, credentials: Credentials) -> Failure:
    """Return the failure of an attempt to which no complete response arrived."""
    message = printable(credentials.redact(f"no complete response: {reason}"), _MAX_MESSAGE)
    return Failure(ConnectionFailedError, message, may_succeed_later=may_succeed_later)


def refused(status: int, headers: Message, body: bytes, request: Request, credentials: Credentials) -> Failure:
    """Return the failure of an attempt to which the server responded with another status than 200.

    A body in neither of the two documented forms, such as the page of a proxy, is ignored.
    """
    code, message, body_request_id = _error_fields(body)
    kind, text = class_for_status(status), _status_text(status)
    if 200 <= status < 300:
        kind, message, text = UnexpectedResponseError, "", f"the status {status} is not documented"
    wait = retry_after(headers)
    in_progress = status == 409 and bool(request.idempotency_key) and bool(wait)
    return Failure(
        kind=kind,
        message=printable(credentials.redact(message), _MAX_MESSAGE) or text,
        status=status,
        code=printable(credentials.redact(code), _MAX_NAME),
        request_id=printable(credentials.redact(body_request_id or request_id(headers)), _MAX_NAME),
        retry_after=wait,
        may_succeed_later=status in (429, 502, 503, 504) or in_progress,
    )


def _error_fields(body: bytes) -> tuple[str, str, str]:
    """Return code, message and request ID of an error, each empty if it is absent."""
    try:
        document = json.loads(body.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return "", "", ""
    error = document.get("error") if isinstance(document, dict) else None
    if isinstance(error, str):
        return "", error, ""
    if not isinstance(error, dict):
        return "", "", ""
    fields = [error.get(name) for name in ("code", "message", "request_id")]
    code, message, request = [value if isinstance(value, str) else "" for value in fields]
    return code, message, request


def _status_text(status: int) -> str:
    try:
        return http.HTTPStatus(status).phrase
    except ValueError:
        return "unknown status"


def _refuse_constant(name: str) -> Any:
    raise ValueError(name)  # NaN and Infinity are not JSON
