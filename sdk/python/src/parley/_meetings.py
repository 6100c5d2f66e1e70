"""Calls that run a meeting: open, change and end a room, and create links."""

from __future__ import annotations

import math
import secrets
import time
from typing import List, Literal, Optional, Union

from . import signing
from ._base import ClientBase, scheduled_room
from ._generated import (
    EndRoomResult,
    InvitationLink,
    JoinRoomUserInfo,
    MeetingSimulated,
    PersonalLink,
    RescheduleRoomMetadata,
    ScheduledRoomCreated,
    ScheduledRoomStarted,
    SimulatedPerson,
)
from ._requests import number_between, path_segment

_JOIN_LINK_ID_SIZE = 16  # bytes


class Meetings(ClientBase):
    """Calls that run a meeting: open, change and end a room, and create links.

    The server executes each signed request once. Two equal calls within one second have the same signature, so that
    the second one is a :class:`~parley.ConflictError`. Give each of them an ``idempotency_key`` of its own.
    """

    def start_scheduled_room(
        self,
        *,
        room_id: str,
        name: str,
        external_user_id: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> ScheduledRoomStarted:
        """Open a scheduled room before its start, and return a new link for its host.

        If the room is already open, the call only returns such a link. ``name`` is the display name of the host.
        ``external_user_id`` must be the one of the creation of the room.
        """
        result = self._post(
            "start_schedule_room",
            {"room_id": room_id, "name": name, "external_user_id": external_user_id},
            idempotency_key=idempotency_key,
        )
        return result.read(lambda body: ScheduledRoomStarted.from_json(body, request_id=result.request_id))

    def reschedule_room(
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
        """Change a room that is still scheduled. What is None stays as it is.

        The form of ``start_at`` depends on the version of the client: see :meth:`create_scheduled_video_room` and
        :meth:`create_scheduled_video_room_v3`. The links of the room stay valid.
        """
        result = self._post(
            "reschedule_room",
            {
                "room_id": room_id,
                "start_at": start_at,
                "max_participants": max_participants,
                "empty_timeout": empty_timeout,
                "name": name,
                "external_user_id": external_user_id,
                "logout_url": logout_url,
                "webhook_url": webhook_url,
                "metadata": metadata,
            },
            idempotency_key=idempotency_key,
        )
        return scheduled_room(result)

    def join_room(
        self,
        *,
        room_id: str,
        user_info: JoinRoomUserInfo,
        expires_in: Optional[int] = None,
        idempotency_key: Optional[str] = None,
    ) -> PersonalLink:
        """Create a link for one person. Only the first browser that joins with the link can use it.

        With ``client_user_id`` in ``user_info``, the person keeps the seat in another browser, too. ``expires_in`` is
        how many seconds the link may wait for its first use, at most 366 days; without it, or with 0, the link is
        valid until the room ends. With an ``idempotency_key`` the call is repeated after a failure, and the same call
        gets the same link for 24 hours.
        """
        result = self._post(
            "join_room",
            {"room_id": room_id, "user_info": user_info, "expires_in": expires_in},
            idempotency_key=idempotency_key,
        )
        return result.read(lambda body: PersonalLink.from_json(body, request_id=result.request_id))

    def create_invitation_link(
        self,
        *,
        room_id: str,
        role: Literal["admin", "viewer"],
        user_id: Optional[str] = None,
        expires_in: Optional[int] = None,
        idempotency_key: Optional[str] = None,
    ) -> InvitationLink:
        """Create an invitation link, which can be forwarded.

        A link with the role ``viewer`` admits guests, as many as the room has seats. A link with the role ``admin``
        admits one person as co-host. Everybody who opens a link with a ``user_id`` is the same person, so that a
        second browser takes over the seat. ``expires_in`` and ``idempotency_key`` are as in :meth:`join_room`.
        """
        result = self._post(
            "create_invitation_link",
            {"room_id": room_id, "role": role, "user_id": user_id, "expires_in": expires_in},
            idempotency_key=idempotency_key,
        )
        return result.read(lambda body: InvitationLink.from_json(body, request_id=result.request_id))

    def simulate_meeting(
        self,
        *,
        room_id: str,
        seconds: Optional[int] = None,
        people: Optional[List[SimulatedPerson]] = None,
        idempotency_key: Optional[str] = None,
    ) -> MeetingSimulated:
        """Start a simulated meeting in an open room of a test project, and return before its end.

        Events, webhooks, attendance and usage are those of a meeting of people. ``seconds`` is the time from the first
        join to the end of the room, 1 to 60, by default 10. ``people`` are up to 20 people, who join in this order, by
        default a host and two guests; the first one stays to the end.
        """
        result = self._post(
            "simulate_meeting",
            {"room_id": room_id, "seconds": seconds, "people": people},
            idempotency_key=idempotency_key,
        )
        return result.read(lambda body: MeetingSimulated.from_json(body, request_id=result.request_id))

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
        """Return a link into a room that is signed with the project secret. The call sends no request.

        The server checks the link when it is used. ``name`` is the display name that the page fills in. ``user_id`` is
        your own ID of the person: a second browser with a link of the same person takes over the seat. Both have at
        most 255 characters. With ``single_use``, only the first browser that joins with the link can use it.
        ``expires_in`` is how many seconds the link may wait for its first use, 1 to 86400. People who have joined by
        then may stay and come back.
        """
        self._core.credentials.require_project_secret()
        age = number_between("expires_in", expires_in, 1, signing.MAX_JOIN_LINK_AGE)
        segment = path_segment("room_id", room_id)
        issued = math.floor(time.time() + self._core.clock.offset)
        token = signing.sign_join_link(
            self._core.credentials.project_secret,
            room_id=room_id,
            role=role,
            iat=issued,
            exp=issued + age,
            jti=secrets.token_hex(_JOIN_LINK_ID_SIZE),
            name=name,
            user_id=user_id,
            single_use=single_use,
        )
        return f"{self._base_url}/r/{segment}#j={token}"

    def end_room(self, *, room_id: str) -> EndRoomResult:
        """End a room for everybody. A room that is not open yet is canceled.

        The call is never repeated, because the second one would be a :class:`~parley.ConflictError`.
        """
        result = self._post("end_room", {"room_id": room_id})
        return result.read(lambda body: EndRoomResult.from_json(body, request_id=result.request_id))
