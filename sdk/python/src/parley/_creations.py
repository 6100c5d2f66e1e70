"""Calls that create rooms."""

from __future__ import annotations

from typing import Any, Mapping, Optional, Union

from ._base import ClientBase, scheduled_room
from ._generated import QuickRoomCreated, RoomMetadata, ScheduledRoomCreated


class Creations(ClientBase):
    """Calls that create rooms."""

    def create_quick_audio_room(
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
        """Create an audio room that is open at once. The arguments are those of :meth:`create_quick_video_room`."""
        return self._create_quick(
            "create_quick_audio_room",
            {
                "name": name,
                "max_participants": max_participants,
                "empty_timeout": empty_timeout,
                "metadata": metadata,
                "external_user_id": external_user_id,
                "logout_url": logout_url,
                "webhook_url": webhook_url,
                "client_room_id": client_room_id,
            },
            idempotency_key,
        )

    def create_quick_video_room(
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
        """Create a video room that is open at once.

        ``name`` is the display name of the creator, 1 to 255 characters. ``max_participants`` is at most 1000 and at
        most the limit of the plan. ``empty_timeout`` is how many seconds a room stays open after the last participant
        has left, at most 86400; 0 means the default of the project. Version 3 ignores ``external_user_id``,
        ``logout_url`` and ``webhook_url``.

        With ``client_room_id`` or ``idempotency_key`` the creation is repeated after a failure. With an
        ``idempotency_key`` of 1 to 255 printable ASCII characters, the same call gets the same response for 24 hours.
        A ``client_room_id`` is unique in the project forever. If it is taken, the error is
        :class:`~parley.ConflictError`.
        """
        return self._create_quick(
            "create_quick_video_room",
            {
                "name": name,
                "max_participants": max_participants,
                "empty_timeout": empty_timeout,
                "metadata": metadata,
                "external_user_id": external_user_id,
                "logout_url": logout_url,
                "webhook_url": webhook_url,
                "client_room_id": client_room_id,
            },
            idempotency_key,
        )

    def create_scheduled_audio_room(
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
        """Create an audio room that opens at its start time, with version 4.

        The arguments are those of :meth:`create_scheduled_video_room`.
        """
        return self._create_scheduled(
            4,
            "create_schedule_audio_room",
            {
                "start_at": start_at,
                "max_participants": max_participants,
                "empty_timeout": empty_timeout,
                "metadata": metadata,
                "name": name,
                "external_user_id": external_user_id,
                "logout_url": logout_url,
                "webhook_url": webhook_url,
                "client_room_id": client_room_id,
            },
            idempotency_key,
        )

    def create_scheduled_video_room(
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
        """Create a video room that opens at its start time, with version 4.

        ``start_at`` is a local time in the scheduling zone of the server, ``YYYY-MM-DDTHH:MM``, in the future and at
        most 366 days ahead. The zone is UTC unless the operator has set another one, and no call names it. A time that
        daylight saving skips is refused, and a time that occurs twice means the first one. ``name`` is required with
        ``external_user_id``. The other arguments are those of :meth:`create_quick_video_room`.
        """
        return self._create_scheduled(
            4,
            "create_schedule_video_room",
            {
                "start_at": start_at,
                "max_participants": max_participants,
                "empty_timeout": empty_timeout,
                "metadata": metadata,
                "name": name,
                "external_user_id": external_user_id,
                "logout_url": logout_url,
                "webhook_url": webhook_url,
                "client_room_id": client_room_id,
            },
            idempotency_key,
        )

    def create_scheduled_audio_room_v3(
        self,
        *,
        start_at: str,
        max_participants: int,
        empty_timeout: int,
        metadata: RoomMetadata,
        client_room_id: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> ScheduledRoomCreated:
        """Create an audio room that opens at its start time, with version 3.

        The arguments are those of :meth:`create_scheduled_video_room_v3`.
        """
        return self._create_scheduled(
            3,
            "create_schedule_audio_room",
            {
                "start_at": start_at,
                "max_participants": max_participants,
                "empty_timeout": empty_timeout,
                "metadata": metadata,
                "client_room_id": client_room_id,
            },
            idempotency_key,
        )

    def create_scheduled_video_room_v3(
        self,
        *,
        start_at: str,
        max_participants: int,
        empty_timeout: int,
        metadata: RoomMetadata,
        client_room_id: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> ScheduledRoomCreated:
        """Create a video room that opens at its start time, with version 3.

        ``start_at`` is a date and time of ISO 8601, in the future and at most 366 days ahead, as
        :meth:`datetime.datetime.isoformat` writes it. Without an offset, it is a local time in the scheduling zone of
        the server. The other arguments are those of :meth:`create_quick_video_room`.
        """
        return self._create_scheduled(
            3,
            "create_schedule_video_room",
            {
                "start_at": start_at,
                "max_participants": max_participants,
                "empty_timeout": empty_timeout,
                "metadata": metadata,
                "client_room_id": client_room_id,
            },
            idempotency_key,
        )

    def _create_quick(
        self, route: str, fields: Mapping[str, Any], idempotency_key: Optional[str]
    ) -> QuickRoomCreated:
        result = self._create(self._version, route, fields, idempotency_key)
        return result.read(
            lambda body: QuickRoomCreated.from_json(
                body,
                request_id=result.request_id,
                ignored_fields=result.names("X-Ignored-Fields"),
                features_adjusted=result.names("X-Feature-Adjusted"),
            )
        )

    def _create_scheduled(
        self, version: int, route: str, fields: Mapping[str, Any], idempotency_key: Optional[str]
    ) -> ScheduledRoomCreated:
        return scheduled_room(self._create(version, route, fields, idempotency_key))
