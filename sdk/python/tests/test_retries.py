import time
import types
import unittest
from typing import Any, Dict, List, Tuple
from unittest import mock

import parley
from parley import _core

from .support import CREATED, CREDENTIALS, QUICK_ROOM, ROOM_ID, Reply, Server, unavailable

OLD = "Thu, 01 Jan 2015 00:00:00 GMT"


class RetryTest(unittest.TestCase):
    """Uses a clock that only the waits between attempts advance."""

    def setUp(self) -> None:
        self.now = 1000.0
        self.waits: List[float] = []
        self.fake = types.SimpleNamespace(monotonic=lambda: self.now, time=time.time, sleep=self.sleep)
        patch = mock.patch.object(_core, "time", self.fake)
        patch.start()
        self.addCleanup(patch.stop)

    def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds

    def serve(self, *script: Reply, **options: Any) -> "tuple[Server, parley.Parley]":
        server = Server(*script)
        self.addCleanup(server.close)
        client = parley.Parley(server.url, **CREDENTIALS, **options)
        self.addCleanup(client.close)
        return server, client

    def test_waits_double_with_jitter(self) -> None:
        server, client = self.serve(*[unavailable()] * 10, max_attempts=10)
        with self.assertRaises(parley.UnavailableError) as caught:
            client.room_status(room_id=ROOM_ID)
        self.assertEqual(caught.exception.attempts, 10)
        span = 0.25
        for wait in self.waits:
            self.assertTrue(span / 2 <= wait <= span, wait)
            span = min(span * 2, 30)
        self.assertEqual(len(self.waits), 9)

    def test_retry_after(self) -> None:
        date = "Fri, 01 Jan 2027 10:00:00 GMT"
        cases: List[Tuple[str, int, Dict[str, str]]] = [
            ("7", 7, {}),
            ("007", 7, {}),
            ("Fri, 01 Jan 2027 10:00:20 GMT", 20, {"Date": date}),
            ("Friday, 01-Jan-27 10:00:20 GMT", 20, {"Date": date}),
            ("Fri Jan  1 10:00:20 2027", 20, {"Date": date}),
            ("0", 0, {}),
            ("-5", 0, {}),
            ("soon", 0, {}),
            ("1_0", 0, {}),
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0, {"Date": date}),
        ]
        for value, least, headers in cases:
            with self.subTest(value):
                self.waits.clear()
                server, client = self.serve(self.with_one_date(value, headers))
                client.room_status(room_id=ROOM_ID)
                self.assertEqual(len(self.waits), 1)
                self.assertTrue(least <= self.waits[0] <= least + 0.25, self.waits)

    def with_one_date(self, retry_after: str, headers: "dict[str, str]") -> Reply:
        def act(handler: Any) -> None:
            handler.send_response_only(503)
            for name, value in {**headers, "Retry-After": retry_after, "Content-Length": "0"}.items():
                handler.send_header(name, value)
            handler.end_headers()

        return Reply(act=act)

    def test_too_long_waits(self) -> None:
        for value, seconds in [("30", 30), ("31", 31), ("99999999999999999999", 86400), ("9" * 5000, 86400)]:
            server, client = self.serve(unavailable(Retry_After=value))
            with self.assertRaises(parley.UnavailableError) as caught:
                client.room_status(room_id=ROOM_ID)
            self.assertEqual((caught.exception.attempts, caught.exception.retry_after), (1, seconds))
        self.assertEqual(self.waits, [])

    def test_deadline(self) -> None:
        server, client = self.serve(unavailable(Retry_After="10"), deadline=10)
        with self.assertRaises(parley.UnavailableError):
            client.room_status(room_id=ROOM_ID)
        self.assertEqual(self.waits, [])
        server, client = self.serve(unavailable(Retry_After="10"), unavailable(Retry_After="10"), deadline=15)
        with self.assertRaises(parley.UnavailableError) as caught:
            client.room_status(room_id=ROOM_ID)
        self.assertEqual((len(self.waits), caught.exception.attempts), (1, 2))

    def test_a_join_event_is_repeated_for_30_seconds(self) -> None:
        server, client = self.serve(unavailable(Retry_After="20"), unavailable(Retry_After="20"))
        with self.assertRaises(parley.UnavailableError) as caught:
            client.send_join_event(room_id=ROOM_ID, name="Zoë")
        self.assertEqual(caught.exception.attempts, 2)

    def test_each_attempt_is_signed_again(self) -> None:
        server, client = self.serve(unavailable(Retry_After="5"))
        self.fake.time = lambda: 1767225600.9 + self.now - 1000
        client.room_status(room_id=ROOM_ID)
        first, second = [int(seen.headers["timestamp"]) for seen in server.seen]
        self.assertEqual(first, 1767225600)
        self.assertIn(second - first, (5, 6))
        self.assertNotEqual(*[seen.headers["hash-signature"] for seen in server.seen])

    def test_a_correction_of_the_clock_is_not_counted(self) -> None:
        refused = self.refused(OLD)
        server, client = self.serve(refused, max_attempts=1)
        client.room_status(room_id=ROOM_ID)
        self.assertEqual(len(server.seen), 2)
        server, client = self.serve(refused, *[unavailable()] * 3, max_attempts=3)
        with self.assertRaises(parley.UnavailableError) as caught:
            client.room_status(room_id=ROOM_ID)
        self.assertEqual((len(server.seen), caught.exception.attempts), (4, 4))

    def test_a_clock_that_jumps_is_corrected_once(self) -> None:
        script = [self.refused(f"Thu, 01 Jan {year} 00:00:00 GMT") for year in (2015, 2016, 2017)]
        server, client = self.serve(*script, max_attempts=5)
        with self.assertRaises(parley.UnauthorizedError) as caught:
            client.room_status(room_id=ROOM_ID)
        self.assertEqual((len(server.seen), caught.exception.attempts), (2, 2))
        self.assertLess(client.clock_offset, -86400)

    def refused(self, date: str) -> Reply:
        def act(handler: Any) -> None:
            body = b'{"error":"invalid signature"}'
            handler.send_response_only(401)
            for name, value in {"Date": date, "X-Request-ID": "r", "Content-Length": str(len(body))}.items():
                handler.send_header(name, value)
            handler.end_headers()
            handler.wfile.write(body)

        return Reply(act=act)

    def test_a_body_signature_is_not_corrected(self) -> None:
        server, client = self.serve(self.refused(OLD))
        with self.assertRaises(parley.UnauthorizedError):
            client.create_quick_video_room(**QUICK_ROOM, idempotency_key="a")
        self.assertEqual(len(server.seen), 1)

    def test_conflict_without_a_wait(self) -> None:
        conflict = Reply(409, {"error": "in progress"}, {"Retry-After": "0"})
        server, client = self.serve(conflict)
        with self.assertRaises(parley.ConflictError):
            client.create_quick_video_room(**QUICK_ROOM, idempotency_key="a")
        server, client = self.serve(Reply(409, {"error": "in progress"}, {"Retry-After": "1"}), Reply(json=CREATED))
        with self.assertRaises(parley.ConflictError):  # without a key
            client.create_quick_video_room(**QUICK_ROOM, client_room_id="a")


if __name__ == "__main__":
    unittest.main()
