"""Sending calls: signing, repeating and correcting the clock."""

from __future__ import annotations

import concurrent.futures
import contextvars
import math
import random
import ssl
import threading
import time
from typing import Optional, Union

from . import signing
from ._clock import Clock
from ._credentials import Credentials
from ._requests import Request, Signature
from ._responses import Failure, Result, no_response, refused
from ._transport import NoResponse, Transport, max_body
from .errors import UnauthorizedError

_FIRST_WAIT = 0.25
_MAX_WAIT = 30.0
# The resolution of the signed timestamp. A smaller correction of the clock would sign the same timestamp again.
_MIN_CORRECTION = 1.0

abandoned: contextvars.ContextVar[Optional[threading.Event]] = contextvars.ContextVar("abandoned", default=None)
"""Set when nobody waits for the result of the call any more, so that it ends after the attempt in progress."""


class Core:
    """Sends the requests of one client."""

    def __init__(
        self,
        base_url: str,
        credentials: Credentials,
        *,
        timeout: float,
        deadline: Optional[float],
        max_attempts: int,
        user_agent: str,
        ssl_context: Optional[ssl.SSLContext],
    ) -> None:
        self.credentials = credentials
        self.clock = Clock()
        self._transport = Transport(base_url, ssl_context)
        self._timeout = timeout
        self._deadline = deadline
        self._max_attempts = max_attempts
        self._user_agent = user_agent

    def close(self) -> None:
        """Close the idle connections."""
        self._transport.close()

    def send(self, request: Request) -> Result:
        """Send a request until it succeeds or must not be repeated, and raise the last error."""
        self._require_credentials(request.signature)
        began = time.monotonic()
        end = math.inf if self._deadline is None else began + self._deadline
        counted = sent = 0
        corrected = False
        while True:
            counted += 1
            sent += 1
            offset = self.clock.offset
            outcome = self._attempt(request, offset, end, sent)
            if isinstance(outcome, Result):
                return outcome
            correction = abs(self.clock.offset - offset)
            if (
                outcome.kind is UnauthorizedError
                and request.signature is Signature.GATEWAY
                and not corrected
                and correction >= _MIN_CORRECTION
                and time.monotonic() < end
            ):
                corrected = True
                counted -= 1
                _check_abandoned()
                continue
            if not request.repeatable or not outcome.may_succeed_later or counted >= self._max_attempts:
                raise outcome.error(request, self.credentials, sent)
            wait = _backoff(counted)
            if outcome.retry_after:
                # With jitter, so that clients that were refused together do not return together.
                wait = max(wait, outcome.retry_after + random.uniform(0, _FIRST_WAIT))
            resume = time.monotonic() + wait
            too_late = request.retry_window is not None and resume - began > request.retry_window
            if wait > _MAX_WAIT or resume >= end or too_late:
                raise outcome.error(request, self.credentials, sent)
            _sleep(wait)

    def _require_credentials(self, signature: Signature) -> None:
        if signature is Signature.GATEWAY:
            self.credentials.require_gateway()
        elif signature is Signature.BODY:
            self.credentials.require_body_key()
        elif signature is Signature.JOIN_EVENT:
            self.credentials.require_project_secret()

    def _attempt(self, request: Request, offset: float, end: float, sent: int) -> Union[Result, Failure]:
        """Send a request once."""
        timeout = min(self._timeout, end - time.monotonic())
        try:
            response = self._transport.exchange(
                request.method, request.target, self._headers(request, offset), request.body, timeout
            )
        except NoResponse as failure:
            return no_response(failure.reason, failure.may_succeed_later, self.credentials)
        self.clock.observe(response.sent, response.received, response.headers)
        if response.status != 200:
            return refused(response.status, response.headers, response.body, request, self.credentials)
        result = Result(response.body, response.headers, sent, self.credentials)
        if not response.complete:
            raise result.unexpected(f"the response is larger than {max_body(request.target)} bytes")
        return result

    def _headers(self, request: Request, offset: float) -> dict[str, str]:
        headers = {"User-Agent": self._user_agent, "Accept": "application/json"}
        if request.body:
            headers["Content-Type"] = "application/json"
        if request.idempotency_key:
            headers["Idempotency-Key"] = request.idempotency_key
        if request.signature is Signature.BODY:
            headers["hash-signature"] = signing.sign_body(self.credentials.body_key(), request.body)
        elif request.signature is Signature.JOIN_EVENT:
            headers["hash-signature"] = signing.sign_body(self.credentials.project_secret, request.body)
        elif request.signature is Signature.GATEWAY:
            timestamp = str(math.floor(time.time() + offset))
            headers["api-key"] = self.credentials.api_key
            headers["timestamp"] = timestamp
            headers["hash-signature"] = signing.sign_v5(
                self.credentials.gateway_secret,
                request.method,
                request.target,
                timestamp,
                request.idempotency_key,
                request.body,
            )
        return headers


def _backoff(attempt: int) -> float:
    """Return the wait after an attempt: 50 to 100 % of a duration that doubles with each attempt."""
    return random.uniform(0.5, 1.0) * min(_FIRST_WAIT * 2.0 ** min(attempt - 1, 16), _MAX_WAIT)


def _sleep(seconds: float) -> None:
    event = abandoned.get()
    if event is None:
        time.sleep(seconds)
    else:
        event.wait(seconds)
        _check_abandoned()


def _check_abandoned() -> None:
    event = abandoned.get()
    if event is not None and event.is_set():
        raise concurrent.futures.CancelledError()
