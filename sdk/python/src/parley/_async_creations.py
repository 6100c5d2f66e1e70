"""Async calls that create rooms."""

from __future__ import annotations

from typing import Optional, Union

from ._async_base import AsyncBase
from ._generated import QuickRoomCreated, RoomMetadata, ScheduledRoomCreated
from ._threads import in_thread


class AsyncCreations(AsyncBase):
    """Async calls that create rooms."""

    async def create_quick_audio_room(
        self,
        *,
        name: str,
        max_participants: Union[int, str],
        empty_timeout: Union[int, str],
        metadata: RoomMetadata,
        external_user_id: Optional[str] = None,
        logout_url: Optional[str] = None,
        webhook_url: Optional[str] = None,
        client_room_id: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> QuickRoomCreated:
        """As :meth:`parley.Parley.create_quick_audio_room`."""
        return await in_thread(
            self._sync.create_quick_audio_room,
            name=name,
            max_participants=max_participants,
            empty_timeout=empty_timeout,
            metadata=metadata,
            external_user_id=external_user_id,
            logout_url=logout_url,
            webhook_url=webhook_url,
            client_room_id=client_room_id,
            idempotency_key=idempotency_key,
        )

    async def create_quick_video_room(
        self,
        *,
        name: str,
        max_participants: Union[int, str],
        empty_timeout: Union[int, str],
        metadata: RoomMetadata,
        external_user_id: Optional[str] = None,
        logout_url: Optional[str] = None,
        webhook_url: Optional[str] = None,
        client_room_id: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> QuickRoomCreated:
        """As :meth:`parley.Parley.create_quick_video_room`."""
        return await in_thread(
            self._sync.create_quick_video_room,
            name=name,
            max_participants=max_participants,
            empty_timeout=empty_timeout,
            metadata=metadata,
            external_user_id=external_user_id,
            logout_url=logout_url,
            webhook_url=webhook_url,
            client_room_id=client_room_id,
            idempotency_key=idempotency_key,
        )

    async def create_scheduled_audio_room(
        self,
        *,
        start_at: str,
        max_participants: Union[int, str],
        empty_timeout: Union[int, str],
        metadata: RoomMetadata,
        name: Optional[str] = None,
        external_user_id: Optional[str] = None,
        logout_url: Optional[str] = None,
        webhook_url: Optional[str] = None,
        client_room_id: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> ScheduledRoomCreated:
        """As :meth:`parley.Parley.create_scheduled_audio_room`."""
        return await in_thread(
            self._sync.create_scheduled_audio_room,
            start_at=start_at,
            max_participants=max_participants,
            empty_timeout=empty_timeout,
            metadata=metadata,
            name=name,
            external_user_id=external_user_id,
            logout_url=logout_url,
            webhook_url=webhook_url,
            client_room_id=client_room_id,
            idempotency_key=idempotency_key,
        )

    async def create_scheduled_video_room(
        self,
        *,
        start_at: str,
        max_participants: Union[int, str],
        empty_timeout: Union[int, str],
        metadata: RoomMetadata,
        name: Optional[str] = None,
        external_user_id: Optional[str] = None,
        logout_url: Optional[str] = None,
        webhook_url: Optional[str] = None,
        client_room_id: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> ScheduledRoomCreated:
        """As :meth:`parley.Parley.create_scheduled_video_room`."""
        return await in_thread(
            self._sync.create_scheduled_video_room,
            start_at=start_at,
            max_participants=max_participants,
            empty_timeout=empty_timeout,
            metadata=metadata,
            name=name,
            external_user_id=external_user_id,
            logout_url=logout_url,
            webhook_url=webhook_url,
            client_room_id=client_room_id,
            idempotency_key=idempotency_key,
        )

    async def create_scheduled_audio_room_v3(
        self,
        *,
        start_at: str,
        max_participants: int,
        empty_timeout: int,
        metadata: RoomMetadata,
        client_room_id: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> ScheduledRoomCreated:
        """As :meth:`parley.Parley.create_scheduled_audio_room_v3`."""
        return await in_thread(
            self._sync.create_scheduled_audio_room_v3,
            start_at=start_at,
            max_participants=max_participants,
            empty_timeout=empty_timeout,
            metadata=metadata,
            client_room_id=client_room_id,
            idempotency_key=idempotency_key,
        )

    async def create_scheduled_video_room_v3(
        self,
        *,
        start_at: str,
        max_participants: int,
        empty_timeout: int,
        metadata: RoomMetadata,
        client_room_id: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> ScheduledRoomCreated:
        """As :meth:`parley.Parley.create_scheduled_video_room_v3`."""
        return await in_thread(
            self._sync.create_scheduled_video_room_v3,
            start_at=start_at,
            max_participants=max_participants,
            empty_timeout=empty_timeout,
            metadata=metadata,
            client_room_id=client_room_id,
            idempotency_key=idempotency_key,
        )

