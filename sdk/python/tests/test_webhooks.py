import asyncio
import functools
import importlib.util
import json
import logging
import time
import unittest
from typing import Any, Callable, Dict, List

import parley
from parley import signing, webhooks
from parley.webhooks import verify_webhook

from .support import PROJECT_SECRET

OTHER_SECRET = "whsec_//79/Pv6+fj39vX08/Lx8O/u7ezr6uno5+bl5OPi4eA="
NOW = 1767225600
EVENT = {
    "id": "0197c1a5-7d8e-7c3a-9f00-5b1d2e3f4a5b",
    "type": "room.opened",
    "timestamp": "2027-01-31T09:30:12.345Z",
    "sequence": 1,
    "previous": 0,
    "project_id": "0197c1a4-1111-7222-8333-444455556666",
    "data": {"room_id": "0197c1a5-0a0b-7c0d-8e0f-101112131415", "room_type": "video"},
}
BODY = json.dumps(EVENT).encode()


def headers(body: bytes = BODY, now: float = NOW, secret: str = PROJECT_SECRET) -> Dict[str, str]:
    timestamp = str(int(now))
    return {
        "webhook-id": "msg_1",
        "webhook-timestamp": timestamp,
        "webhook-signature": signing.sign_webhook([secret], "msg_1", timestamp, body),
    }


class VerifyTest(unittest.TestCase):
    def refused(self, message: str, sent: Dict[str, str], **options: Any) -> None:
        with self.assertRaises(parley.InvalidSignatureError) as caught:
            verify_webhook(PROJECT_SECRET, sent, BODY, **{"now": NOW, **options})
        self.assertEqual(str(caught.exception), message)
        self.assertIsNone(caught.exception.status)

    def test_valid(self) -> None:
        for secrets in (PROJECT_SECRET, [OTHER_SECRET, PROJECT_SECRET], (PROJECT_SECRET,)):
            event = verify_webhook(secrets, headers(), BODY, now=NOW)
            assert isinstance(event, parley.RoomOpenedEvent)
            self.assertEqual(event.data.room_id, EVENT["data"]["room_id"])  # type: ignore[index]
        upper = {name.title(): value for name, value in headers().items()}
        verify_webhook(PROJECT_SECRET, upper, bytearray(BODY), now=NOW)
        verify_webhook(PROJECT_SECRET, headers(now=time.time()), BODY)

    def test_missing_headers(self) -> None:
        for name in ("webhook-id", "webhook-timestamp", "webhook-signature"):
            sent = headers()
            del sent[name]
            self.refused(f"missing header {name}", sent)
            self.refused(f"missing header {name}", {**sent, name: ""})

    def test_time(self) -> None:
        verify_webhook(PROJECT_SECRET, headers(), BODY, now=NOW + 300.9)
        verify_webhook(PROJECT_SECRET, headers(), BODY, now=NOW - 300)
        self.refused("the timestamp is too old", headers(), now=NOW + 301)
        self.refused("the timestamp is too new", headers(), now=NOW - 301)
        self.refused("the timestamp is too old", headers(), now=NOW + 11, tolerance=10)

    def test_signature(self) -> None:
        matches = "no signature matches"
        self.refused(matches, headers(secret=OTHER_SECRET))
        self.refused(matches, headers(body=BODY + b" "))
        self.refused(matches, {**headers(), "webhook-signature": "v1,ü"})
        self.refused(matches, {**headers(), "webhook-timestamp": "²"})
        self.refused(matches, {**headers(), "webhook-timestamp": "-5"})
        self.refused(matches, {**headers(), "webhook-id": "msg.1"})

    def test_arguments(self) -> None:
        for secrets in ("", [], ["whsec_x"], [PROJECT_SECRET, PROJECT_SECRET + "\n"], [None], ["gs_x"]):
            with self.assertRaises(parley.InvalidArgumentError) as caught:
                verify_webhook(secrets, headers(), BODY, now=NOW)  # type: ignore[arg-type]
            self.assertNotIn(PROJECT_SECRET, str(caught.exception))
        with self.assertRaises(parley.InvalidArgumentError):
            verify_webhook(PROJECT_SECRET, headers(), BODY.decode(), now=NOW)  # type: ignore[arg-type]

    def test_a_body_that_is_no_event(self) -> None:
        for body in (b"", b"[]", b"{}", b'{"type":"room.opened"}', b"\xff", b"[" * 100_000):
            with self.subTest(body[:30]), self.assertRaises(parley.UnexpectedResponseError):
                verify_webhook(PROJECT_SECRET, headers(body), body, now=NOW)

    def test_an_unknown_type(self) -> None:
        body = json.dumps({**EVENT, "type": "room.painted"}).encode()
        event = verify_webhook(PROJECT_SECRET, headers(body), body, now=NOW)
        assert isinstance(event, parley.UnknownEvent)
        self.assertEqual((event.type, event.id, event.data), ("room.painted", EVENT["id"], EVENT["data"]))


class AdapterTest(unittest.TestCase):
    """Each framework runs the same checks with a client of its own."""

    def setUp(self) -> None:
        self.events: List[parley.Event] = []
        quiet = logging.NullHandler()
        logging.getLogger("django").addHandler(quiet)
        self.addCleanup(logging.getLogger("django").removeHandler, quiet)

    def raise_error(self, event: parley.Event) -> None:
        raise RuntimeError("the database is away")

    def check(self, post: Callable[[Callable[..., Any], bytes, Dict[str, str]], "tuple[int, str]"]) -> None:
        good = headers(now=time.time())
        self.assertEqual(post(self.events.append, BODY, good), (204, ""))
        self.assertEqual([event.type for event in self.events], ["room.opened"])
        self.assertEqual(post(self.events.append, BODY + b" ", good), (401, "no signature matches"))
        self.assertEqual(post(self.events.append, BODY, {}), (401, "missing header webhook-id"))
        self.assertEqual(post(self.events.append, BODY, headers()), (401, "the timestamp is too old"))
        large = b" " * (1024 * 1024 + 1)
        too_large = (413, "the body must not be larger than 1 MiB")
        self.assertEqual(post(self.events.append, large, headers(large, now=time.time())), too_large)
        with self.assertLogs("parley.webhooks", "ERROR"):
            other = headers(b"{}", now=time.time())
            self.assertEqual(post(self.events.append, b"{}", other), (500, "the event was not handled"))
        self.assertEqual(len(self.events), 1)
        with self.assertLogs("parley.webhooks", "ERROR") as logs:
            self.assertEqual(post(self.raise_error, BODY, good), (500, "the event was not handled"))
        self.assertIn("the database is away", logs.output[0])
        self.assertIn(str(EVENT["id"]), logs.output[0])

    def check_construction(self, adapter: Callable[..., Any], asynchronous: bool) -> None:
        with self.assertRaises(parley.InvalidArgumentError):
            adapter("whsec_x", self.events.append)
        with self.assertRaises(parley.InvalidArgumentError):
            adapter(PROJECT_SECRET, self.events.append, tolerance=-1)

        async def handler(event: parley.Event) -> None:
            self.events.append(event)

        if not asynchronous:
            with self.assertRaises(parley.InvalidArgumentError):
                adapter(PROJECT_SECRET, handler)

    @unittest.skipUnless(importlib.util.find_spec("flask"), "Flask is not installed")
    def test_flask(self) -> None:
        import flask

        def post(handler: Callable[..., Any], body: bytes, sent: Dict[str, str]) -> "tuple[int, str]":
            app = flask.Flask("test")
            app.add_url_rule("/webhooks", view_func=webhooks.flask_view(PROJECT_SECRET, handler), methods=["POST"])
            client = app.test_client()
            self.assertEqual(client.get("/webhooks").status_code, 405)
            response = client.post("/webhooks", data=body, headers=sent, content_type="application/json")
            return response.status_code, response.text

        self.check(post)
        self.check_construction(webhooks.flask_view, asynchronous=False)

    @unittest.skipUnless(importlib.util.find_spec("django"), "Django is not installed")
    def test_django(self) -> None:
        import django
        from django.conf import settings
        from django.test import Client
        from django.urls import path

        if not settings.configured:
            settings.configure(
                ROOT_URLCONF=__name__,
                SECRET_KEY="test",
                LOGGING_CONFIG=None,
                ALLOWED_HOSTS=["testserver"],
                MIDDLEWARE=["django.middleware.csrf.CsrfViewMiddleware"],
            )
            django.setup()

        def post(handler: Callable[..., Any], body: bytes, sent: Dict[str, str]) -> "tuple[int, str]":
            global urlpatterns
            urlpatterns = [path("webhooks", webhooks.django_view(PROJECT_SECRET, handler))]
            django.urls.clear_url_caches()
            client = Client(enforce_csrf_checks=True)
            self.assertEqual(client.get("/webhooks").status_code, 405)
            wsgi = {"HTTP_" + name.upper().replace("-", "_"): value for name, value in sent.items()}
            response = client.post("/webhooks", body, content_type="application/json", **wsgi)
            return response.status_code, response.content.decode()

        self.check(post)
        self.check_construction(webhooks.django_view, asynchronous=False)

    def check_starlette(self, make: Callable[..., Any]) -> None:
        import httpx

        async def send(app: Any, body: bytes, sent: Dict[str, str]) -> "tuple[int, str]":
            async with httpx.AsyncClient(
                transport=httpx.ASGITransport(app=app), base_url="http://test"
            ) as client:
                self.assertEqual((await client.get("/webhooks")).status_code, 405)
                response = await client.post("/webhooks", content=body, headers=sent)
                return response.status_code, response.text

        def post(handler: Callable[..., Any], body: bytes, sent: Dict[str, str]) -> "tuple[int, str]":
            app = make(webhooks.starlette_endpoint(PROJECT_SECRET, handler))
            return asyncio.run(send(app, body, sent))

        self.check(post)
        self.check_construction(webhooks.starlette_endpoint, asynchronous=True)

        async def handler(event: parley.Event, fails: bool = False) -> None:
            await asyncio.sleep(0)
            self.events.append(event)
            if fails:
                raise RuntimeError("the database is away")

        good = headers(now=time.time())
        self.events.clear()
        partial = functools.partial(handler, fails=False)
        wrappers: List[Callable[..., Any]] = [handler, partial, lambda event: handler(event)]
        for wrapped in wrappers:
            self.assertEqual(post(wrapped, BODY, good), (204, ""))
        self.assertEqual(len(self.events), 3)
        with self.assertLogs("parley.webhooks", "ERROR"):
            self.assertEqual(post(functools.partial(handler, fails=True), BODY, good)[0], 500)

    @unittest.skipUnless(importlib.util.find_spec("fastapi"), "FastAPI is not installed")
    def test_fastapi(self) -> None:
        import fastapi

        def make(endpoint: Any) -> Any:
            app = fastapi.FastAPI()
            app.post("/webhooks")(endpoint)
            return app

        self.check_starlette(make)

    @unittest.skipUnless(importlib.util.find_spec("starlette"), "Starlette is not installed")
    def test_starlette(self) -> None:
        from starlette.applications import Starlette
        from starlette.routing import Route

        self.check_starlette(lambda endpoint: Starlette(routes=[Route("/webhooks", endpoint, methods=["POST"])]))


urlpatterns: List[Any] = []  # of Django


if __name__ == "__main__":
    unittest.main()
