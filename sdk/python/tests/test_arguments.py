import copy
import datetime
import json
import os
import pickle
import pprint
import traceback
import unittest
import uuid
from typing import Any, Dict
from unittest import mock

import parley

from .support import API_KEY, CREATED, CREDENTIALS, PROJECT_ID, QUICK_ROOM, ROOM_ID, SECRETS, Reply, Server


class ConstructorTest(unittest.TestCase):
    def refused(self, message: str, base_url: Any = "https://meet.example.org", **options: Any) -> None:
        for kind in (parley.Parley, parley.AsyncParley):
            with self.assertRaises(parley.InvalidArgumentError) as caught:
                kind(base_url, **options)
            self.assertEqual(str(caught.exception), message)
            self.assertEqual(caught.exception.attempts, 0)
            self.assertIsNone(caught.exception.status)

    def test_base_url(self) -> None:
        good = ["https://meet.example.org", "https://meet.example.org/", "HTTP://127.0.0.1:8080", "http://[::1]:8080"]
        for url in [*good, "https://bücher.example"]:
            parley.Parley(url)
        absolute = "base_url must be an absolute http or https URL"
        invalid = "base_url is not a valid URL"
        parts = "base_url must not have a path, query or fragment"
        for url, message in {
            "": absolute,
            "meet.example.org": absolute,
            "ftp://meet.example.org": absolute,
            "https://": absolute,
            "https://:8080": absolute,
            "https://u:hunter2@example.org": "base_url must not contain a user or password",
            "https://@example.org": "base_url must not contain a user or password",
            "https://u:hunter2@exa mple": invalid,
            "https://example.org:port": invalid,
            "https://example.org:99999": invalid,
            "https://example.org\n": invalid,
            "https://exam\tple.org": invalid,
            "https://a..b": invalid,
            "https://[::1": invalid,
            "https://example.org\\@evil.example": invalid,
            "https://example.org/parley": parts,
            "https://example.org?": parts,
            "https://example.org?a=b": parts,
            "https://example.org/#f": parts,
        }.items():
            with self.subTest(url):
                self.refused(message, url)
        self.refused("base_url must be a string", None)
        self.refused("base_url must be a string", b"https://example.org")

    def test_environment(self) -> None:
        for kind in (parley.Parley, parley.AsyncParley):
            with mock.patch.dict(os.environ, {"PARLEY_URL": ""}):
                with self.assertRaises(parley.InvalidArgumentError) as caught:
                    kind.from_environment()
                self.assertIn("PARLEY_URL", str(caught.exception))
        with Server(Reply(json=CREATED)) as server:
            variables = {f"PARLEY_{name.upper()}": value for name, value in CREDENTIALS.items()}
            with mock.patch.dict(os.environ, {**variables, "PARLEY_URL": server.url}):
                parley.Parley.from_environment(version=3).create_quick_video_room(**QUICK_ROOM)
            self.assertEqual(server.seen[0].target, "/api/v3/rooms/create_quick_video_room")

    def test_options(self) -> None:
        for value in (0, -1, float("nan"), float("inf"), "3", True, None):
            self.refused("timeout must be a number of seconds above 0", timeout=value)
        self.refused("deadline must be a number of seconds above 0", deadline=0)
        for value in (0, -1, 1.5, True, None):
            self.refused("max_attempts must be an integer of at least 1", max_attempts=value)
        for value in (2, 5, "4", None, True):
            self.refused("version must be 3 or 4", version=value)
        for value in ("", "a\r\nb", "ü", 5):
            self.refused("user_agent must be printable ASCII", user_agent=value)

    def test_credentials(self) -> None:
        self.refused(
            "gateway_secret must be printable ASCII without spaces, but has another character at position 4",
            gateway_secret="gs_\n",
        )
        self.refused("api_key must be a string", api_key=b"pk_x")
        for field, value, message in [
            ("gateway_secret", "whsec_x", "gateway_secret begins with whsec_, so it is a project secret"),
            ("project_secret", "gs_x", "project_secret begins with gs_, so it is a Gateway secret"),
            ("api_key", "gs_x", "api_key begins with gs_, so it is a Gateway secret"),
            ("project_secret", "pk_x", "project_secret begins with pk_, so it is an API key"),
            ("project_id", "pk_x", "project_id begins with pk_, so it is an API key"),
        ]:
            self.refused(message, **{field: value})

    def test_user_agent(self) -> None:
        with Server() as server:
            parley.Parley(server.url, **CREDENTIALS).room_status(room_id=ROOM_ID)
            parley.Parley(server.url, **CREDENTIALS, user_agent="billing/2").room_status(room_id=ROOM_ID)
            agents = [seen.headers["User-Agent"] for seen in server.seen]
        self.assertEqual(agents, [f"parley-python/{parley.__version__}", "billing/2"])


class MissingCredentialTest(unittest.TestCase):
    def test_nothing_is_sent(self) -> None:
        for present, calls in {
            (): {"keys": "api_key", "send_join_event": "project_secret", "create_quick_video_room": "project_id"},
            ("project_id",): {"create_quick_video_room": "project_secret or api_key"},
            ("project_id", "api_key"): {"keys": "gateway_secret", "send_join_event": "project_secret"},
            ("project_id", "project_secret", "gateway_secret"): {"keys": "api_key"},
        }.items():
            client = parley.Parley("http://127.0.0.1:1", **{name: CREDENTIALS[name] for name in present})
            for operation, field in calls.items():
                arguments = {
                    "keys": {},
                    "send_join_event": {"room_id": ROOM_ID, "name": "Zoë"},
                    "create_quick_video_room": QUICK_ROOM,
                }[operation]
                with self.assertRaises(parley.MissingCredentialError) as caught:
                    getattr(client, operation)(**arguments)
                self.assertEqual(str(caught.exception), f"the call needs {field}\nPass {field} to the client.")

    def test_none_is_an_absent_credential(self) -> None:
        client = parley.Parley("http://127.0.0.1:1", api_key=None, gateway_secret="")
        with self.assertRaises(parley.MissingCredentialError):
            client.keys()


class ArgumentTest(unittest.TestCase):
    def setUp(self) -> None:
        self.server = Server()
        self.addCleanup(self.server.close)
        self.client = parley.Parley(self.server.url, **CREDENTIALS)
        self.addCleanup(self.client.close)

    def refused(self, message: str, operation: str, **arguments: Any) -> None:
        with self.assertRaises(parley.InvalidArgumentError) as caught:
            result = getattr(self.client, operation)(**arguments)
            list(result)  # an iterator raises when it is read
        self.assertEqual(caught.exception.message, message)
        self.assertEqual(self.server.seen, [])

    def test_rooms(self) -> None:
        text = "room_id must be a string that is not empty"
        for value in ("", None, 5):
            for operation in ("room_status", "active_room", "analytics", "export_attendance", "room_events"):
                self.refused(text, operation, room_id=value)
            self.refused(text, "send_join_event", room_id=value, name="Zoë")
            self.refused(text, "end_room", room_id=value)
            self.refused(text, "start_scheduled_room", room_id=value, name="Amina")
            self.refused(text, "reschedule_room", room_id=value, start_at="2027-01-31T09:30")
            self.refused(text, "join_room", room_id=value, user_info={"name": "Bela"})
            self.refused(text, "create_invitation_link", room_id=value, role="viewer")
            self.refused(text, "simulate_meeting", room_id=value)
        self.refused("room_id must not be ..", "room_events", room_id="..")
        self.refused("room_id must be well-formed Unicode", "room_events", room_id="a\ud800b")
        self.refused("room_id must be well-formed Unicode", "room_status", room_id="a\ud800b")
        self.refused("room_id must not be .", "send_join_event", room_id=".", name="Zoë")

    def test_numbers_and_lists(self) -> None:
        self.refused("after must be an integer of at least 0", "room_events", room_id=ROOM_ID, after=-1)
        self.refused("from_ must be an integer of at least 0", "all_past_rooms", from_=-1)
        self.refused("limit must be an integer of at least 1", "requests", limit=0)
        self.refused("room_ids must be a list", "past_rooms", room_ids=ROOM_ID)
        self.refused("version must be 3, 4 or 5", "openapi", version=2)

    def test_idempotency_key(self) -> None:
        text = "idempotency_key must have 1 to 255 characters, all of them printable ASCII"
        for key in ("", "ü", "a\nb", "a" * 256, 5):
            self.refused(text, "create_quick_video_room", **QUICK_ROOM, idempotency_key=key)
        for key in (" a", "a "):
            self.refused(
                "idempotency_key must not begin or end with a space",
                "create_quick_video_room",
                **QUICK_ROOM,
                idempotency_key=key,
            )

    def test_values_that_json_does_not_have(self) -> None:
        circle: Dict[str, Any] = {}
        circle["self"] = [circle]
        deep: Any = "a"
        for _ in range(100_000):
            deep = [deep]
        for value, message in [
            (datetime.date(2027, 1, 31), "metadata must be a string, number, bool, list or dict, not date"),
            ({"room_title": b"a"}, "metadata.room_title must be a string, number, bool, list or dict, not bytes"),
            ({"room_title": "\ud800"}, "metadata.room_title must be well-formed Unicode"),
            ({"a": ["b", 1.5, True, None, float("nan")]}, "metadata.a[4] must be a finite number"),
            ({"a": ({"b": float("inf")},)}, "metadata.a[0].b must be a finite number"),
            ({("a", "b"): 1}, "the keys of metadata must be strings of well-formed Unicode"),
            ({"\udfff": 1}, "the keys of metadata must be strings of well-formed Unicode"),
            (circle, "metadata.self[0] must not contain itself"),
            (deep, "metadata has too many levels"),
        ]:
            self.refused(message, "create_quick_video_room", **{**QUICK_ROOM, "metadata": value})
        self.refused("user_info.name must be well-formed Unicode", "send_join_event", room_id=ROOM_ID, name="\ud83d")
        self.refused("state must be well-formed Unicode", "rooms", state="\ud83d")
        self.refused(
            "room_ids[1] must be a string, number, bool, list or dict, not UUID",
            "past_rooms",
            room_ids=[ROOM_ID, uuid.UUID(ROOM_ID)],
        )

    def test_error_about_json_shows_no_value(self) -> None:
        with self.assertRaises(parley.InvalidArgumentError) as caught:
            self.client.send_join_event(room_id=ROOM_ID, name=f"{API_KEY}\ud83d")
        self.assertIsNone(caught.exception.__cause__)
        self.assertIsNone(caught.exception.__context__)
        self.assertNotIn(API_KEY, str(caught.exception))

    def test_positional_and_unknown_arguments(self) -> None:
        with self.assertRaises(TypeError):
            self.client.room_status(ROOM_ID)  # type: ignore[misc]
        with self.assertRaises(TypeError):
            self.client.room_status(room=ROOM_ID)  # type: ignore[call-arg]

    def test_non_ascii_is_sent_as_utf_8(self) -> None:
        self.server._http.default = Reply(json={"joined": True})
        self.client.send_join_event(room_id=ROOM_ID, name="Zoë 会議")
        body = '{"room_id":"%s","user_info":{"name":"Zoë 会議"}}' % ROOM_ID
        self.assertEqual(self.server.seen[0].body, body.encode())


class SecrecyTest(unittest.TestCase):
    def test_nothing_prints_a_secret(self) -> None:
        echo = Reply(400, {"error": " ".join(SECRETS)}, {"X-Request-ID": API_KEY})
        with Server(echo, Reply(json={API_KEY: API_KEY})) as server:
            client = parley.Parley(server.url, **CREDENTIALS)
            things = [client, parley.AsyncParley(server.url, **CREDENTIALS), client._core, client._core.credentials]
            texts = []
            for _ in range(2):
                try:
                    client.keys()
                except parley.ParleyError as error:
                    texts.append("".join(traceback.format_exception(type(error), error, error.__traceback__)))
                    things.append(error)
            client.close()
        self.assertEqual(len(things), 6)
        for thing in things:
            texts += [str(thing), repr(thing), f"{thing}", "%r" % [thing], pprint.pformat(thing)]
            texts.append(json.dumps(thing, default=repr))
            texts.append(repr(getattr(thing, "__dict__", None)))
        text = "\n".join(texts)
        for secret in SECRETS:
            self.assertNotIn(secret, text)
        self.assertIn("[redacted]", text)
        self.assertIn(PROJECT_ID, text)

    def test_clients_are_not_pickled(self) -> None:
        client = parley.Parley("http://127.0.0.1:1", **CREDENTIALS)
        with self.assertRaises(TypeError):
            pickle.dumps(client)
        with self.assertRaises(TypeError):
            copy.deepcopy(client)
        with self.assertRaises(TypeError):
            vars(client._core.credentials)

    def test_a_bad_status_line_is_redacted(self) -> None:
        def act(handler: Any) -> None:
            handler.wfile.write(f"{API_KEY} no\r\n\r\n".encode())
            handler.close_connection = True

        with Server(Reply(act=act)) as server:
            client = parley.Parley(server.url, **CREDENTIALS, max_attempts=1)
            with self.assertRaises(parley.ConnectionFailedError) as caught:
                client.keys()
        self.assertEqual(str(caught.exception), "no complete response: [redacted] no")
        self.assertIsNone(caught.exception.__cause__)
        self.assertIsNone(caught.exception.__context__)


class ErrorTest(unittest.TestCase):
    def test_text(self) -> None:
        error = parley.ForbiddenError(
            "the project is inactive", status=403, request_id="0197", remedy="Activate the project."
        )
        self.assertEqual(str(error), "403: the project is inactive (request 0197)\nActivate the project.")
        disabled = parley.NotFoundError("disabled", status=404, code="SVC_GATEWAY_DISABLED")
        self.assertEqual(str(disabled), "404 SVC_GATEWAY_DISABLED: disabled")
        self.assertEqual(str(parley.ConnectionFailedError("timed out", attempts=3)), "timed out")

    def test_pickled(self) -> None:
        error = parley.ConflictError(
            "taken", status=409, code="c", request_id="r", retry_after=1.5, attempts=2, remedy="Wait."
        )
        again = pickle.loads(pickle.dumps(error))
        self.assertIs(type(again), parley.ConflictError)
        self.assertEqual(vars(again), vars(error))
        self.assertEqual(str(again), str(error))

    def test_kinds(self) -> None:
        classes = {cls for name in parley.__all__ if name.endswith("Error") for cls in [getattr(parley, name)]}
        classes.discard(parley.ParleyError)
        kinds = {cls.kind for cls in classes}
        self.assertEqual(len(kinds), len(classes))
        self.assertTrue(all(issubclass(cls, parley.ParleyError) and cls.kind for cls in classes))

    def test_v5_request_id_in_the_body_only(self) -> None:
        def act(handler: Any) -> None:
            body = b'{"error":{"code":"SVC_X","message":"m","request_id":"req_9"}}'
            handler.send_response(400)
            handler.send_header("Content-Length", str(len(body)))
            handler.end_headers()
            handler.wfile.write(body)

        with Server(Reply(act=act)) as server:
            with self.assertRaises(parley.InvalidRequestError) as caught:
                parley.Parley(server.url, **CREDENTIALS).keys()
        self.assertEqual((caught.exception.request_id, caught.exception.remedy), ("req_9", ""))


if __name__ == "__main__":
    unittest.main()
