"""Calls that read rooms, their participants and their events."""

from __future__ import annotations

from typing import Iterator, Literal, Optional, Sequence

from ._base import ClientBase
from ._generated import (
    ActiveRoom,
    ActiveRooms,
    AnalyticsResponse,
    Event,
    ListedRoom,
    PastRoom,
    PastRooms,
    RoomEventsResponse,
    RoomList,
    RoomState,
    RoomStatus,
)
from ._requests import list_or_none, path_segment, required_text, whole_number
from ._responses import Result
from ._text import digits
from ._transport import ACTIVE_ROOMS_PATH

PAGE_SIZE = 100  # the largest one


class Attendance(ClientBase):
    """Calls that read rooms, their participants and their events. They are repeated after a failure."""

    def room_status(self, *, room_id: str) -> RoomStatus:
        """Return whether people can join a room now."""
        result = self._get_of_room("rooms/room_status", room_id)
        return result.read(lambda body: RoomStatus.from_json(body, request_id=result.request_id))

    def active_room(self, *, room_id: str) -> ActiveRoom:
        """Return a room with its participants. If it is not open or active: :class:`~parley.NotFoundError`."""
        result = self._get_of_room("rooms/get_active_room_info", room_id)
        return result.read(lambda body: ActiveRoom.from_json(body.get("result"), request_id=result.request_id))

    def active_rooms(self) -> list[ActiveRoom]:
        """Return all rooms of the project that are open or active with their participants, the oldest first.

        The response may be as large as 64 MiB.
        """
        result = self._get(f"/api/v{self._version}{ACTIVE_ROOMS_PATH}")
        return result.read(lambda body: ActiveRooms.from_json(body.get("response"))).rooms

    def rooms(self, *, state: Optional[RoomState] = None) -> Iterator[ListedRoom]:
        """Return the rooms of the project in a state, or in all states, the newest first.

        The iterator reads pages when they are needed. It ends with the first error.
        """
        for page in self._room_pages(state):
            yield from page

    def past_rooms(
        self,
        *,
        room_ids: Optional[Sequence[str]] = None,
        from_: Optional[int] = None,
        limit: Optional[int] = None,
        order_by: Optional[Literal["ASC", "DESC"]] = None,
    ) -> PastRooms:
        """Return a page of the rooms that have ended, expired or been canceled, in the order of that time.

        ``room_ids`` are at most 100 IDs; None means all rooms, and an empty list means none. ``from_``, the field
        ``from`` of the API, is the number of rooms to skip. ``limit`` is 1 to 100, 20 by default.
        """
        return self._past_room_page(room_ids, from_, limit, order_by)[1]

    def all_past_rooms(
        self,
        *,
        room_ids: Optional[Sequence[str]] = None,
        from_: int = 0,
        limit: int = PAGE_SIZE,
        order_by: Optional[Literal["ASC", "DESC"]] = None,
    ) -> Iterator[PastRoom]:
        """Return all rooms that have ended, expired or been canceled, beginning with the number ``from_``.

        The iterator reads pages of ``limit`` rooms when they are needed. It ends with the first error. If rooms end
        in the meantime, the order ``DESC``, which is the default, can return a room twice; ``ASC`` does not.
        """
        for page in self._past_room_pages(room_ids, from_, limit, order_by):
            yield from page

    def analytics(self, *, room_id: str) -> AnalyticsResponse:
        """Return the attendance of a room: the people, and their time in the room in seconds."""
        result = self._get_of_room("analytics/get_analytics", room_id)
        return result.read(lambda body: AnalyticsResponse.from_json(body, request_id=result.request_id))

    def export_attendance(self, *, room_id: str) -> str:
        """Return the attendance of a room as CSV, with a line for each connection.

        The text begins with a byte order mark, so that a spreadsheet reads it correctly. Write it to a file with
        ``encoding="utf-8", newline=""``.
        """
        return self._get_of_room("analytics/export_attendance", room_id).document()

    def room_events(self, *, room_id: str, after: int = 0) -> Iterator[Event]:
        """Return the events of a room after the one with the sequence ``after``, the oldest first.

        The iterator reads pages when they are needed. It ends after the last event so far, or with the first error.
        A later call with the sequence of the last event misses no events.
        """
        for page in self._event_pages(room_id, after):
            yield from page

    def _get_of_room(self, route: str, room_id: str) -> Result:
        return self._get(f"/api/v{self._version}/{route}", {"room_id": required_text("room_id", room_id)})

    def _room_pages(self, state: Optional[RoomState]) -> Iterator[list[ListedRoom]]:
        if state:
            required_text("state", state)
        cursor: Optional[str] = None
        while True:
            parameters = {"cursor": cursor, "limit": PAGE_SIZE, "state": state}
            result = self._get(f"/api/v{self._version}/rooms/list_rooms", parameters)
            page = result.read(RoomList.from_json)
            yield page.rooms
            if not page.next_cursor:
                return
            if page.next_cursor == cursor:
                raise result.unexpected("next_cursor is the cursor of the same page")
            cursor = page.next_cursor

    def _past_room_page(
        self,
        room_ids: Optional[Sequence[str]],
        from_: Optional[int],
        limit: Optional[int],
        order_by: Optional[Literal["ASC", "DESC"]],
    ) -> tuple[Result, PastRooms]:
        ids = list_or_none("room_ids", room_ids)
        fields = {"room_ids": ids, "from": from_, "limit": limit, "order_by": order_by}
        result = self._post("fetch_past_rooms", fields, repeatable=True)
        page = result.read(lambda body: PastRooms.from_json(body.get("rooms"), request_id=result.request_id))
        return result, page

    def _past_room_pages(
        self,
        room_ids: Optional[Sequence[str]],
        from_: int,
        limit: int,
        order_by: Optional[Literal["ASC", "DESC"]],
    ) -> Iterator[list[PastRoom]]:
        position = whole_number("from_", from_, 0)
        while True:
            result, page = self._past_room_page(room_ids, position or None, limit, order_by)
            yield page.rooms_list
            total = digits(page.total_rooms)
            if total is None:
                raise result.unexpected("the response is not as documented: rooms.total_rooms: expected digits")
            position += len(page.rooms_list)
            if not page.rooms_list or position >= total:
                return

    def _event_pages(self, room_id: str, after: int) -> Iterator[list[Event]]:
        path = f"/api/v4/rooms/{path_segment('room_id', room_id)}/events"
        position = whole_number("after", after, 0)
        while True:
            result = self._get(path, {"after": position, "limit": PAGE_SIZE})
            page = result.read(RoomEventsResponse.from_json)
            yield page.events
            if not page.has_more:
                return
            if page.next_after <= position:
                raise result.unexpected("next_after does not increase")
            position = page.next_after
