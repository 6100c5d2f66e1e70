import json
import unittest
from typing import Any, Dict, List

import parley

from .support import CREDENTIALS, ROOM_ID, Reply, Server


def listed(number: int) -> Dict[str, Any]:
    return {
        "room_id": f"room-{number}",
        "room_type": "video",
        "state": "ended",
        "room_title": "Standup",
        "joined_participants": 0,
        "max_participants": 10,
        "created_at": "2026-11-21T09:00:00Z",
    }


def rooms_page(numbers: List[int], cursor: str = "") -> Reply:
    page: Dict[str, Any] = {"rooms": [listed(number) for number in numbers]}
    return Reply(json={**page, "next_cursor": cursor} if cursor else page)


def past_page(numbers: List[int], total: str) -> Reply:
    rooms = [
        {
            "room_id": f"room-{number}",
            "room_sid": "",
            "room_title": "Standup",
            "created": "2026-11-21T09:00:00Z",
            "ended": "2026-11-21T10:00:00Z",
            "joined_participants": "3",
            "analytics_file_id": "",
            "webhook_url": "",
        }
        for number in numbers
    ]
    page = {"from": 0, "limit": 2, "order_by": "DESC", "total_rooms": total, "rooms_list": rooms}
    return Reply(json={"status": True, "rooms": page})


class IteratorTest(unittest.TestCase):
    def serve(self, *script: Reply) -> "tuple[Server, parley.Parley]":
        server = Server(*script)
        self.addCleanup(server.close)
        client = parley.Parley(server.url, **CREDENTIALS)
        self.addCleanup(client.close)
        return server, client

    def test_pages_are_read_when_they_are_needed(self) -> None:
        server, client = self.serve(rooms_page([1, 2], "a"), rooms_page([3]))
        rooms = client.rooms()
        self.assertEqual(server.seen, [])
        self.assertEqual([next(rooms).room_id, next(rooms).room_id], ["room-1", "room-2"])
        self.assertEqual(len(server.seen), 1)
        self.assertEqual([room.room_id for room in rooms], ["room-3"])
        self.assertEqual(len(server.seen), 2)

    def test_an_error_ends_the_iterator(self) -> None:
        server, client = self.serve(rooms_page([1], "a"), Reply(403, {"error": "the project is suspended"}))
        found = []
        with self.assertRaises(parley.ForbiddenError):
            for room in client.rooms(state="ended"):
                found.append(room.room_id)
        self.assertEqual(found, ["room-1"])

    def test_a_cursor_that_repeats(self) -> None:
        server, client = self.serve(rooms_page([1], "a"), rooms_page([2], "a"))
        with self.assertRaises(parley.UnexpectedResponseError):
            list(client.rooms())
        self.assertEqual(len(server.seen), 2)

    def test_an_unpaired_surrogate_in_a_cursor(self) -> None:
        server, client = self.serve(rooms_page([1], "\ud800"), Reply(400, {"error": "cursor"}))
        with self.assertRaises(parley.InvalidRequestError):
            list(client.rooms())

    def test_all_past_rooms(self) -> None:
        server, client = self.serve(past_page([4, 5], "7"), past_page([6, 7], "7"))
        rooms = client.all_past_rooms(from_=3, limit=2, order_by="ASC", room_ids=("a", "b"))
        self.assertEqual([room.room_id for room in rooms], ["room-4", "room-5", "room-6", "room-7"])
        bodies = [json.loads(seen.body) for seen in server.seen]
        self.assertEqual(bodies[0], {"room_ids": ["a", "b"], "from": 3, "limit": 2, "order_by": "ASC"})
        self.assertEqual([body["from"] for body in bodies], [3, 5])

    def test_all_past_rooms_ends_without_rooms(self) -> None:
        server, client = self.serve(past_page([1], "100"), past_page([], "100"))
        self.assertEqual(len(list(client.all_past_rooms())), 1)
        self.assertEqual(json.loads(server.seen[0].body), {"limit": 100})

    def test_all_past_rooms_with_a_strange_total(self) -> None:
        server, client = self.serve(past_page([1], "many"))
        with self.assertRaises(parley.UnexpectedResponseError):
            list(client.all_past_rooms())

    def test_events(self) -> None:
        event = {
            "id": "e",
            "type": "room.opened",
            "timestamp": "2026-11-21T09:00:00.250Z",
            "sequence": 1,
            "previous": 0,
            "project_id": "p",
            "data": {"room_id": ROOM_ID, "room_type": "video"},
        }
        unknown = {**event, "type": "room.painted", "sequence": 2, "data": {"color": "red"}}
        page = {"events": [event, unknown], "next_after": 2, "has_more": False}
        server, client = self.serve(Reply(json=page))
        opened, painted = client.room_events(room_id=ROOM_ID)
        assert isinstance(opened, parley.RoomOpenedEvent)
        self.assertEqual(opened.data.room_id, ROOM_ID)
        self.assertEqual(opened.timestamp.isoformat(), "2026-11-21T09:00:00.250000+00:00")
        assert isinstance(painted, parley.UnknownEvent)
        self.assertEqual((painted.sequence, painted.data), (2, {"color": "red"}))
        self.assertEqual(server.seen[0].target, f"/api/v4/rooms/{ROOM_ID}/events?after=0&limit=100")


if __name__ == "__main__":
    unittest.main()
