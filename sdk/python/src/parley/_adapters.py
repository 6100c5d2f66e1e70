"""Receivers of webhooks for web frameworks. A framework is imported only when its receiver is made."""

from __future__ import annotations

import asyncio
import importlib
import inspect
import logging
from typing import Any, Awaitable, Callable, Optional, Sequence, Tuple, Union

from . import signing
from ._generated import Event
from ._verify import DEFAULT_TOLERANCE, Headers, check_tolerance, verify_webhook
from .errors import InvalidArgumentError, InvalidSignatureError, UnexpectedResponseError

_log = logging.getLogger("parley.webhooks")

Secrets = Union[str, Sequence[str]]
Handler = Callable[[Event], Any]

_MAX_BODY = 1024 * 1024  # Parley sends less

_DELIVERED = (204, "")
_TOO_LARGE = (413, "the body must not be larger than 1 MiB")
# Parley sends the webhook again after each status that is not 2xx, except 410.
_FAILED = (500, "the event was not handled")


def flask_view(secrets: Secrets, handler: Handler, *, tolerance: float = DEFAULT_TOLERANCE) -> Callable[[], Any]:
    """Return a view function for Flask that verifies webhooks and calls ``handler`` with each event.

    The response is 204 if the handler returns, 500 if it raises an exception, which is logged, 401 if the webhook has
    no valid signature, and 413 if its body is larger than 1 MiB. Raise :class:`~parley.InvalidArgumentError` for a
    malformed secret, an async handler or a negative tolerance.
    """
    _check_sync(secrets, handler, tolerance)
    flask = importlib.import_module("flask")

    def parley_webhook() -> Any:
        request = flask.request
        if request.content_length is not None and request.content_length <= _MAX_BODY:
            body = request.get_data()
        else:
            body = request.stream.read(_MAX_BODY + 1)
        status, text = _process(secrets, handler, request.headers, body, tolerance)
        return flask.Response(text, status, content_type="text/plain; charset=utf-8")

    return parley_webhook


def django_view(secrets: Secrets, handler: Handler, *, tolerance: float = DEFAULT_TOLERANCE) -> Callable[..., Any]:
    """Return a view for Django, which is exempt from the CSRF check, because the signature protects it.

    The responses are those of :func:`flask_view`. Django itself refuses bodies over DATA_UPLOAD_MAX_MEMORY_SIZE.
    """
    _check_sync(secrets, handler, tolerance)
    http = importlib.import_module("django.http")
    csrf = importlib.import_module("django.views.decorators.csrf")
    methods = importlib.import_module("django.views.decorators.http")

    def parley_webhook(request: Any) -> Any:
        status, text = _process(secrets, handler, request.headers, request.body, tolerance)
        return http.HttpResponse(text, status=status, content_type="text/plain; charset=utf-8")

    view: Callable[..., Any] = csrf.csrf_exempt(methods.require_POST(parley_webhook))
    return view


def starlette_endpoint(
    secrets: Secrets, handler: Handler, *, tolerance: float = DEFAULT_TOLERANCE
) -> Callable[[Any], Awaitable[Any]]:
    """Return an async endpoint for FastAPI and Starlette. The responses are those of :func:`flask_view`.

    ``handler`` is an async function, or another function, which then runs in a thread.
    """
    _check(secrets, tolerance)
    requests = importlib.import_module("starlette.requests")
    responses = importlib.import_module("starlette.responses")

    async def parley_webhook(request: Any) -> Any:
        event, (status, text) = _verify(secrets, request.headers, await _read(request), tolerance)
        if event is not None:
            try:
                await _call(handler, event)
            except Exception:
                status, text = _failed(event)
        return responses.Response(text, status_code=status, media_type="text/plain")

    # FastAPI passes the request to the parameter that is annotated with its class.
    parley_webhook.__annotations__.update({"request": requests.Request, "return": responses.Response})
    return parley_webhook


async def _read(request: Any) -> bytes:
    """Read the body of a request of Starlette, and not much more than the largest one."""
    body = bytearray()
    async for block in request.stream():
        body += block
        if len(body) > _MAX_BODY:
            break
    return bytes(body)


def _check(secrets: Secrets, tolerance: float) -> None:
    signing.webhook_keys(secrets)
    check_tolerance(tolerance)


def _check_sync(secrets: Secrets, handler: Handler, tolerance: float) -> None:
    _check(secrets, tolerance)
    if inspect.iscoroutinefunction(handler):
        raise InvalidArgumentError("handler must not be an async function, because this view is not async")


def _process(secrets: Secrets, handler: Handler, headers: Headers, body: bytes, tolerance: float) -> Tuple[int, str]:
    event, response = _verify(secrets, headers, body, tolerance)
    if event is not None:
        try:
            handler(event)
        except Exception:
            return _failed(event)
    return response


def _verify(
    secrets: Secrets, headers: Headers, body: bytes, tolerance: float
) -> Tuple[Optional[Event], Tuple[int, str]]:
    """Return the event and the response if the handler succeeds, or None and the response."""
    if len(body) > _MAX_BODY:
        return None, _TOO_LARGE
    try:
        return verify_webhook(secrets, headers, body, tolerance=tolerance), _DELIVERED
    except InvalidSignatureError as error:
        return None, (401, error.message)
    except UnexpectedResponseError as error:
        _log.error("webhook is not an event: %s", error.message)
        return None, _FAILED


async def _call(handler: Handler, event: Event) -> None:
    if inspect.iscoroutinefunction(handler):
        await handler(event)
        return
    result = await asyncio.to_thread(handler, event)
    if inspect.isawaitable(result):  # the handler wraps an async function
        await result


def _failed(event: Event) -> Tuple[int, str]:
    _log.exception("webhook handler failed: event %s, type %s", event.id, event.type)
    return _FAILED
