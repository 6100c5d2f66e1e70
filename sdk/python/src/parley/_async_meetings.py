"""Async calls that run a meeting, and calls about the project."""

from __future__ import annotations

from typing import List, Literal, Optional, Union

from ._async_base import AsyncBase
from ._generated import (
    EndRoomResult,
    InvitationLink,
    JoinEventReceived,
    JoinRoomUserInfo,
    MeetingSimulated,
    PersonalLink,
    ProjectStatus,
    ProjectStatusUpdated,
    RescheduleRoomMetadata,
    ScheduledRoomCreated,
    ScheduledRoomStarted,
    SimulatedPerson,
)
from ._threads import in_thread


class AsyncMeetings(AsyncBase):
    """Async calls that run a meeting: open, change and end a room, and create links."""

    async def start_scheduled_room(
        self,
        *,
        room_id: str,
        name: str,
        external_user_id: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> ScheduledRoomStarted:
        """As :meth:`parley.Parley.start_scheduled_room`."""
        return await in_thread(
            self._sync.start_scheduled_room,
            room_id=room_id,
            name=name,
            external_user_id=external_user_id,
            idempotency_key=idempotency_key,
        )

    async def reschedule_room(
        self,
        *,
        room_id: str,
        start_at: Optional[str] = None,
        max_participants: Optional[Union[int, str]] = None,
        empty_timeout: Optional[Union[int, str]] = None,
        name: Optional[str] = None,
        external_user_id: Optional[str] = None,
        logout_url: Optional[str] = None,
        webhook_url: Optional[str] = None,
        metadata: Optional[RescheduleRoomMetadata] = None,
        idempotency_key: Optional[str] = None,
    ) -> ScheduledRoomCreated:
        """As :meth:`parley.Parley.reschedule_room`."""
        return await in_thread(
            self._sync.reschedule_room,
            room_id=room_id,
            start_at=start_at,
            max_participants=max_participants,
            empty_timeout=empty_timeout,
            name=name,
            external_user_id=external_user_id,
            logout_url=logout_url,
            webhook_url=webhook_url,
            metadata=metadata,
            idempotency_key=idempotency_key,
        )

    async def join_room(
        self,
        *,
        room_id: str,
        user_info: JoinRoomUserInfo,
        expires_in: Optional[int] = None,
        idempotency_key: Optional[str] = None,
    ) -> PersonalLink:
        """As :meth:`parley.Parley.join_room`."""
        return await in_thread(
            self._sync.join_room,
            room_id=room_id,
            user_info=user_info,
            expires_in=expires_in,
            idempotency_key=idempotency_key,
        )

    async def create_invitation_link(
        self,
        *,
        room_id: str,
        role: Literal["admin", "viewer"],
        user_id: Optional[str] = None,
        expires_in: Optional[int] = None,
        idempotency_key: Optional[str] = None,
    ) -> InvitationLink:
        """As :meth:`parley.Parley.create_invitation_link`."""
        return await in_thread(
            self._sync.create_invitation_link,
            room_id=room_id,
            role=role,
            user_id=user_id,
            expires_in=expires_in,
            idempotency_key=idempotency_key,
        )

    async def simulate_meeting(
        self,
        *,
        room_id: str,
        seconds: Optional[int] = None,
        people: Optional[List[SimulatedPerson]] = None,
        idempotency_key: Optional[str] = None,
    ) -> MeetingSimulated:
        """As :meth:`parley.Parley.simulate_meeting`."""
        return await in_thread(
            self._sync.simulate_meeting,
            room_id=room_id,
            seconds=seconds,
            people=people,
            idempotency_key=idempotency_key,
        )

    def sign_join_link(
        self,
        *,
        room_id: str,
        role: Literal["host", "cohost", "guest"] = "guest",
        name: Optional[str] = None,
        user_id: Optional[str] = None,
        single_use: bool = False,
        expires_in: int = 3600,
    ) -> str:
        """As :meth:`parley.Parley.sign_join_link`. It is not a coroutine, because it sends no request."""
        return self._sync.sign_join_link(
            room_id=room_id,
            role=role,
            name=name,
            user_id=user_id,
            single_use=single_use,
            expires_in=expires_in,
        )

    async def end_room(self, *, room_id: str) -> EndRoomResult:
        """As :meth:`parley.Parley.end_room`."""
        return await in_thread(self._sync.end_room, room_id=room_id)


class AsyncProjects(AsyncBase):
    """Async calls about the project, and join events of other systems."""

    async def update_project_status(self, *, status: ProjectStatus) -> ProjectStatusUpdated:
        """As :meth:`parley.Parley.update_project_status`."""
        return await in_thread(self._sync.update_project_status, status=status)

    async def send_join_event(self, *, room_id: str, name: str) -> JoinEventReceived:
        """As :meth:`parley.Parley.send_join_event`."""
        return await in_thread(self._sync.send_join_event, room_id=room_id, name=name)

