"""Async calls that read rooms, and calls of version 5."""

from __future__ import annotations

from typing import AsyncIterator, Literal, Optional, Sequence

from ._async_base import AsyncBase
from ._attendance import PAGE_SIZE
from ._generated import (
    ActiveRoom,
    AnalyticsResponse,
    Event,
    Keys,
    Limits,
    ListedRoom,
    LoggedRequest,
    PastRoom,
    PastRooms,
    RoomState,
    RoomStatus,
    Usage,
)
from ._threads import in_thread, items


class AsyncAttendance(AsyncBase):
    """Async calls that read rooms, their participants and their events."""

    async def room_status(self, *, room_id: str) -> RoomStatus:
        """As :meth:`parley.Parley.room_status`."""
        return await in_thread(self._sync.room_status, room_id=room_id)

    async def active_room(self, *, room_id: str) -> ActiveRoom:
        """As :meth:`parley.Parley.active_room`."""
        return await in_thread(self._sync.active_room, room_id=room_id)

    async def active_rooms(self) -> list[ActiveRoom]:
        """As :meth:`parley.Parley.active_rooms`."""
        return await in_thread(self._sync.active_rooms)

    def rooms(self, *, state: Optional[RoomState] = None) -> AsyncIterator[ListedRoom]:
        """As :meth:`parley.Parley.rooms`."""
        return items(self._sync._room_pages(state))

    async def past_rooms(
        self,
        *,
        room_ids: Optional[Sequence[str]] = None,
        from_: Optional[int] = None,
        limit: Optional[int] = None,
        order_by: Optional[Literal["ASC", "DESC"]] = None,
    ) -> PastRooms:
        """As :meth:`parley.Parley.past_rooms`."""
        return await in_thread(self._sync.past_rooms, room_ids=room_ids, from_=from_, limit=limit, order_by=order_by)

    def all_past_rooms(
        self,
        *,
        room_ids: Optional[Sequence[str]] = None,
        from_: int = 0,
        limit: int = PAGE_SIZE,
        order_by: Optional[Literal["ASC", "DESC"]] = None,
    ) -> AsyncIterator[PastRoom]:
        """As :meth:`parley.Parley.all_past_rooms`."""
        return items(self._sync._past_room_pages(room_ids, from_, limit, order_by))

    async def analytics(self, *, room_id: str) -> AnalyticsResponse:
        """As :meth:`parley.Parley.analytics`."""
        return await in_thread(self._sync.analytics, room_id=room_id)

    async def export_attendance(self, *, room_id: str) -> str:
        """As :meth:`parley.Parley.export_attendance`."""
        return await in_thread(self._sync.export_attendance, room_id=room_id)

    def room_events(self, *, room_id: str, after: int = 0) -> AsyncIterator[Event]:
        """As :meth:`parley.Parley.room_events`."""
        return items(self._sync._event_pages(room_id, after))


class AsyncGateway(AsyncBase):
    """Async calls of version 5, and the descriptions of the API."""

    async def keys(self) -> Keys:
        """As :meth:`parley.Parley.keys`."""
        return await in_thread(self._sync.keys)

    async def usage(self) -> Usage:
        """As :meth:`parley.Parley.usage`."""
        return await in_thread(self._sync.usage)

    async def limits(self) -> Limits:
        """As :meth:`parley.Parley.limits`."""
        return await in_thread(self._sync.limits)

    def requests(self, *, limit: Optional[int] = None) -> AsyncIterator[LoggedRequest]:
        """As :meth:`parley.Parley.requests`."""
        return items(self._sync._request_pages(limit))

    async def openapi(self, *, version: Literal[3, 4, 5]) -> str:
        """As :meth:`parley.Parley.openapi`."""
        return await in_thread(self._sync.openapi, version=version)

