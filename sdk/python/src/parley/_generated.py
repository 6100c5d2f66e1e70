"""Generated from the OpenAPI descriptions. Do not edit."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import (
    Any,
    Callable,
    Dict,
    List,
    Literal,
    Mapping,
    Optional,
    Sequence,
    TypedDict,
    TypeVar,
    Union,
)

_T = TypeVar("_T")

# A reader returns a JSON value as the type of a field. It raises ValueError with the path of a
# value that has another type.
_Reader = Callable[[object, str], _T]

_RFC_3339 = re.compile(
    r"(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d:\d\d)(?:\.(\d+))?(?:[Zz]|([+-]\d\d:\d\d))", re.ASCII
)


class _Fields:
    """The fields of a JSON object at a path. Unknown fields are ignored."""

    def __init__(self, value: object, path: str) -> None:
        self._members = _object(value, path)
        self._prefix = path + "." if path else ""

    def required(self, name: str, reader: _Reader[_T]) -> _T:
        return reader(self._members.get(name), self._prefix + name)

    def optional(self, name: str, reader: _Reader[_T]) -> Optional[_T]:
        value = self._members.get(name)
        return None if value is None else reader(value, self._prefix + name)


def _object(value: object, path: str) -> Dict[str, Any]:
    if not isinstance(value, Mapping):
        raise ValueError(f"{path or 'the JSON value'}: expected an object")
    return dict(value)


def _string(value: object, path: str) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{path}: expected a string")
    return value


def _integer(value: object, path: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError(f"{path}: expected an integer")
    return value


def _number(value: object, path: str) -> float:
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise ValueError(f"{path}: expected a number")
    return float(value)


def _boolean(value: object, path: str) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"{path}: expected a boolean")
    return value


def _time(value: object, path: str) -> datetime:
    match = _RFC_3339.fullmatch(value) if isinstance(value, str) else None
    if match is not None:
        day, clock, fraction, offset = match.groups()
        microseconds = (fraction or "")[:6].ljust(6, "0")
        try:
            return datetime.fromisoformat(f"{day}T{clock}.{microseconds}{offset or '+00:00'}")
        except ValueError:
            pass  # such as a 30th of February
    raise ValueError(f"{path}: expected a time in RFC 3339 format")


# A newer server may send other values than a Literal lists, so nothing compares them.
def _any_string(value: object, path: str) -> Any:
    return _string(value, path)


def _any_integer(value: object, path: str) -> Any:
    return _integer(value, path)


def _list_of(reader: _Reader[_T]) -> _Reader[List[_T]]:
    def read(value: object, path: str) -> List[_T]:
        if not isinstance(value, list):
            raise ValueError(f"{path}: expected an array")
        return [reader(item, f"{path}[{index}]") for index, item in enumerate(value)]

    return read


def _map_of(reader: _Reader[_T]) -> _Reader[Dict[str, _T]]:
    def read(value: object, path: str) -> Dict[str, _T]:
        members = _object(value, path)
        return {name: reader(member, f"{path}.{name}") for name, member in members.items()}

    return read


ProjectStatus = Literal["active", "inactive"]

ParticipantRole = Literal["host", "cohost", "guest"]

RoomState = Literal["scheduled", "open", "active", "ended", "cancelled", "expired"]

RoomType = Literal["video", "audio"]

EndReason = Literal["host", "api", "empty_timeout", "duration", "project_suspended", "server"]
"""The reason why the room is over. Present only if it is over."""

LeaveReason = Literal[
    "left",
    "connection_lost",
    "replaced",
    "removed",
    "room_ended",
    "moved",
    "server",
]

Availability = Literal["available", "unavailable"]


class ProjectStatusRequest(TypedDict):
    """The body of a request to activate or deactivate the project."""

    status: ProjectStatus


@dataclass(frozen=True)
class ProjectStatusUpdated:
    """The new status of the project."""

    message: str
    status: ProjectStatus
    request_id: str = ""
    """Identifies this request, from a response header. Quote it to support."""

    @classmethod
    def from_json(cls, data: object, *, request_id: str = "") -> ProjectStatusUpdated:
        """Reads decoded JSON. Raises ValueError, which names the field, if it does not fit."""
        return replace(cls._read(data, ""), request_id=request_id)

    @classmethod
    def _read(cls, value: object, path: str) -> ProjectStatusUpdated:
        fields = _Fields(value, path)
        return cls(
            message=fields.required("message", _string),
            status=fields.required("status", _any_string),
        )


class BreakoutRoomFeatures(TypedDict, total=False):
    """The requested breakout rooms."""

    allowed_number_rooms: Optional[int]
    """The number of breakout rooms. A value above the plan's limit is lowered to it."""


class RoomFeatures(TypedDict, total=False):
    """The requested features of the room. Project settings and plan policy control other
    features, which are listed in `X-Ignored-Fields`.
    """

    room_duration: Optional[int]
    """Minutes from the first join. 0 means the plan's limit; a higher value is lowered to it."""
    breakout_room_features: Optional[BreakoutRoomFeatures]


class _RoomMetadataRequired(TypedDict):
    room_title: str
    """The title that participants see. Not blank."""
    welcome_message: str
    """May be empty. May contain line breaks."""


class RoomMetadata(_RoomMetadataRequired, total=False):
    """The texts and features of the room."""

    room_features: Optional[RoomFeatures]
    """The requested features of the room. Project settings and plan policy control other
    features, which are listed in `X-Ignored-Fields`.
    """


class _CreateScheduledRoomRequestRequired(TypedDict):
    start_at: str
    """A local time of the server's scheduling zone, exactly `YYYY-MM-DDTHH:MM`. The zone is UTC
    unless the operator has set another one. No call names it: ask the operator. `start_time`
    in the response has its offset. The time must be in the future (60 seconds are tolerated)
    and at most 366 days ahead. A time that daylight saving skips is rejected; a time that
    occurs twice means the first.
    """
    max_participants: Union[int, str]
    """From 1 to the limit of the plan, at most 1000."""
    empty_timeout: Union[int, str]
    """Seconds that the room may stay empty after the last participant leaves, 1 to 86400. 0
    means the project's default (300).
    """
    metadata: RoomMetadata


class CreateScheduledRoomRequest(_CreateScheduledRoomRequestRequired, total=False):
    """A room that opens at its start time. The SDK adds the project_id."""

    name: Optional[str]
    """The creator's display name, which the page fills in for the host. Required if
    external_user_id is sent.
    """
    external_user_id: Optional[str]
    """The id of the creator in your system. It cannot be assigned for the first time when the
    room is started.
    """
    logout_url: Optional[str]
    """The URL that opens after leaving: an absolute http(s) URL without credentials. Default:
    the project's default_logout_url.
    """
    webhook_url: Optional[str]
    """The room's own webhook target: an absolute http(s) URL without credentials."""
    client_room_id: Optional[str]
    """Your own id for the room. It is unique in the project and can never be reused."""


@dataclass(frozen=True)
class ScheduledRoomCreated:
    """A scheduled room."""

    status: bool
    message: str
    room_type: Literal["video", "audio"]
    start_time: datetime
    """RFC 3339, in the server's scheduling zone."""
    room_id: str
    client_room_id: Optional[str] = None
    """The value that was sent."""
    final_link: Optional[str] = None
    """The link of the creator. The first browser that joins with it becomes the host. Without
    the part after `#`, it is the link for guests. Version 3 does not send it.
    """
    request_id: str = ""
    """Identifies this request, from a response header. Quote it to support."""
    ignored_fields: List[str] = field(default_factory=list)
    """The names of fields that were sent and have no effect, from the response header
    X-Ignored-Fields.
    """
    features_adjusted: List[str] = field(default_factory=list)
    """The requested features that were lowered to the limit of the plan, from the header
    X-Feature-Adjusted.
    """

    @classmethod
    def from_json(
        cls,
        data: object,
        *,
        request_id: str = "",
        ignored_fields: Sequence[str] = (),
        features_adjusted: Sequence[str] = (),
    ) -> ScheduledRoomCreated:
        """Reads decoded JSON. Raises ValueError, which names the field, if it does not fit."""
        return replace(
            cls._read(data,
            ""),
            request_id=request_id,
            ignored_fields=list(ignored_fields),
            features_adjusted=list(features_adjusted),
        )

    @classmethod
    def _read(cls, value: object, path: str) -> ScheduledRoomCreated:
        fields = _Fields(value, path)
        return cls(
            status=fields.required("status", _boolean),
            message=fields.required("message", _string),
            room_type=fields.required("room_type", _any_string),
            start_time=fields.required("start_time", _time),
            room_id=fields.required("room_id", _string),
            client_room_id=fields.optional("client_room_id", _string),
            final_link=fields.optional("final_link", _string),
        )


class JoinEventUserInfo(TypedDict):
    """The person who joined."""

    name: str
    """The name of the person who joined. Not blank."""


class JoinEventRequest(TypedDict):
    """The body of a request to report a join event."""

    room_id: str
    """The id of the room in the path."""
    user_info: JoinEventUserInfo


@dataclass(frozen=True)
class JoinEventReceived:
    """The join event is in the event log of the room."""

    joined: bool
    request_id: str = ""
    """Identifies this request, from a response header. Quote it to support."""

    @classmethod
    def from_json(cls, data: object, *, request_id: str = "") -> JoinEventReceived:
        """Reads decoded JSON. Raises ValueError, which names the field, if it does not fit."""
        return replace(cls._read(data, ""), request_id=request_id)

    @classmethod
    def _read(cls, value: object, path: str) -> JoinEventReceived:
        fields = _Fields(value, path)
        return cls(
            joined=fields.required("joined", _boolean),
        )


class _CreateQuickRoomRequestRequired(TypedDict):
    name: str
    """The creator's display name, which the page fills in for the host. Not blank."""
    max_participants: Union[int, str]
    """From 1 to the limit of the plan, at most 1000."""
    empty_timeout: Union[int, str]
    """Seconds that the room may stay empty after the last participant leaves. 0 means the
    project's default (300). A room that nobody joins expires after this time, or after 300 s
    if that is longer.
    """
    metadata: RoomMetadata


class CreateQuickRoomRequest(_CreateQuickRoomRequestRequired, total=False):
    """A room that opens immediately. The SDK adds the project_id."""

    external_user_id: Optional[str]
    """The id of the creator in your system. It is the creator's identity in the data of the
    room.
    """
    logout_url: Optional[str]
    """The URL that opens after leaving: an absolute http(s) URL without credentials. Default:
    the project's default_logout_url.
    """
    webhook_url: Optional[str]
    """The room's own webhook target: an absolute http(s) URL without credentials."""
    client_room_id: Optional[str]
    """Your own id for the room. It is unique in the project and can never be reused."""


@dataclass(frozen=True)
class QuickRoomCreated:
    """A room that is open."""

    status: bool
    final_link: str
    """`{public_url}/r/{room_id}#…`. Without the part after `#`, it is the link for guests."""
    room_id: str
    request_id: str = ""
    """Identifies this request, from a response header. Quote it to support."""
    ignored_fields: List[str] = field(default_factory=list)
    """The names of fields that were sent and have no effect, from the response header
    X-Ignored-Fields.
    """
    features_adjusted: List[str] = field(default_factory=list)
    """The requested features that were lowered to the limit of the plan, from the header
    X-Feature-Adjusted.
    """

    @classmethod
    def from_json(
        cls,
        data: object,
        *,
        request_id: str = "",
        ignored_fields: Sequence[str] = (),
        features_adjusted: Sequence[str] = (),
    ) -> QuickRoomCreated:
        """Reads decoded JSON. Raises ValueError, which names the field, if it does not fit."""
        return replace(
            cls._read(data,
            ""),
            request_id=request_id,
            ignored_fields=list(ignored_fields),
            features_adjusted=list(features_adjusted),
        )

    @classmethod
    def _read(cls, value: object, path: str) -> QuickRoomCreated:
        fields = _Fields(value, path)
        return cls(
            status=fields.required("status", _boolean),
            final_link=fields.required("final_link", _string),
            room_id=fields.required("room_id", _string),
        )


class _StartScheduledRoomRequestRequired(TypedDict):
    room_id: str
    name: str
    """The host's display name. Not blank."""


class StartScheduledRoomRequest(_StartScheduledRoomRequestRequired, total=False):
    """The scheduled room to open, and its host."""

    external_user_id: Optional[str]
    """The external_user_id of the room's creation, if any. It cannot be assigned here for the
    first time.
    """


@dataclass(frozen=True)
class ScheduledRoomStarted:
    """A scheduled room that is open now."""

    status: bool
    final_link: str
    """The first browser that joins with it becomes a host."""
    room_id: str
    request_id: str = ""
    """Identifies this request, from a response header. Quote it to support."""

    @classmethod
    def from_json(cls, data: object, *, request_id: str = "") -> ScheduledRoomStarted:
        """Reads decoded JSON. Raises ValueError, which names the field, if it does not fit."""
        return replace(cls._read(data, ""), request_id=request_id)

    @classmethod
    def _read(cls, value: object, path: str) -> ScheduledRoomStarted:
        fields = _Fields(value, path)
        return cls(
            status=fields.required("status", _boolean),
            final_link=fields.required("final_link", _string),
            room_id=fields.required("room_id", _string),
        )


class _JoinRoomUserInfoRequired(TypedDict):
    name: str
    """The name that the page fills in for the person. Not blank."""


class JoinRoomUserInfo(_JoinRoomUserInfoRequired, total=False):
    """The person for whom the link is."""

    client_user_id: Optional[str]
    """The id of the person in your system. It is the person's identity in the data of the room."""
    is_admin: Optional[bool]
    """Whether the person becomes a host."""
    is_hidden: Optional[bool]
    """Whether the person is hidden: the others do not see hidden participants, and they are not
    counted. Requires the project's setting hidden_participants.
    """


class _JoinRoomRequestRequired(TypedDict):
    room_id: str
    user_info: JoinRoomUserInfo


class JoinRoomRequest(_JoinRoomRequestRequired, total=False):
    """The room, and the person for whom the link is."""

    expires_in: Optional[int]
    """Seconds after which the link expires for people who have not used it. 0, null or absent
    means as long as the room exists.
    """


@dataclass(frozen=True)
class PersonalLink:
    """A link for one person."""

    status: bool
    final_link: str
    """The first browser that joins with it claims it."""
    request_id: str = ""
    """Identifies this request, from a response header. Quote it to support."""

    @classmethod
    def from_json(cls, data: object, *, request_id: str = "") -> PersonalLink:
        """Reads decoded JSON. Raises ValueError, which names the field, if it does not fit."""
        return replace(cls._read(data, ""), request_id=request_id)

    @classmethod
    def _read(cls, value: object, path: str) -> PersonalLink:
        fields = _Fields(value, path)
        return cls(
            status=fields.required("status", _boolean),
            final_link=fields.required("final_link", _string),
        )


class _InvitationLinkRequestRequired(TypedDict):
    room_id: str
    role: Literal["admin", "viewer"]
    """admin admits a co-host, viewer admits guests."""


class InvitationLinkRequest(_InvitationLinkRequestRequired, total=False):
    """The room, and the role of the people whom the link admits."""

    user_id: Optional[str]
    """The id of the person in your system. Everybody who opens the link is this person: a second
    browser takes over the seat.
    """
    expires_in: Optional[int]
    """Seconds after which the link expires for people who have not used it. 0, null or absent
    means as long as the room exists.
    """


@dataclass(frozen=True)
class InvitationLink:
    """A link that invites people."""

    status: bool
    invitation_link: str
    invitation_url: str
    """The same value as invitation_link."""
    request_id: str = ""
    """Identifies this request, from a response header. Quote it to support."""

    @classmethod
    def from_json(cls, data: object, *, request_id: str = "") -> InvitationLink:
        """Reads decoded JSON. Raises ValueError, which names the field, if it does not fit."""
        return replace(cls._read(data, ""), request_id=request_id)

    @classmethod
    def _read(cls, value: object, path: str) -> InvitationLink:
        fields = _Fields(value, path)
        return cls(
            status=fields.required("status", _boolean),
            invitation_link=fields.required("invitation_link", _string),
            invitation_url=fields.required("invitation_url", _string),
        )


class _SimulatedPersonRequired(TypedDict):
    name: str


class SimulatedPerson(_SimulatedPersonRequired, total=False):
    """A person who joins a simulated meeting."""

    client_user_id: Optional[str]
    """Your own ID of the person: different for each of the people, or absent."""
    is_admin: Optional[bool]
    """Whether the person is a host."""


class _MeetingSimulationRequired(TypedDict):
    room_id: str
    """The id of an open room of the project."""


class MeetingSimulation(_MeetingSimulationRequired, total=False):
    """A room of a test project, and the people who join it."""

    seconds: Optional[int]
    """The time from the first join to the end of the room. People join in its first third and
    leave in its last third, in the opposite order.
    """
    people: Optional[List[SimulatedPerson]]
    """The people who join, in this order; by default a host and two guests. The first one stays
    to the end. If it is a host, the host ends the room (`end_reason` host); otherwise the
    server does (empty_timeout). Both also disconnect other people in the room.
    """


@dataclass(frozen=True)
class MeetingSimulated:
    """The meeting that has begun."""

    status: bool
    room_id: str
    people: int
    """The number of people who join."""
    seconds: int
    """The time until the end of the room."""
    request_id: str = ""
    """Identifies this request, from a response header. Quote it to support."""

    @classmethod
    def from_json(cls, data: object, *, request_id: str = "") -> MeetingSimulated:
        """Reads decoded JSON. Raises ValueError, which names the field, if it does not fit."""
        return replace(cls._read(data, ""), request_id=request_id)

    @classmethod
    def _read(cls, value: object, path: str) -> MeetingSimulated:
        fields = _Fields(value, path)
        return cls(
            status=fields.required("status", _boolean),
            room_id=fields.required("room_id", _string),
            people=fields.required("people", _integer),
            seconds=fields.required("seconds", _integer),
        )


@dataclass(frozen=True)
class RoomStatus:
    """Whether people can join the room."""

    status: bool
    """True while the room is open or active."""
    message: str
    request_id: str = ""
    """Identifies this request, from a response header. Quote it to support."""

    @classmethod
    def from_json(cls, data: object, *, request_id: str = "") -> RoomStatus:
        """Reads decoded JSON. Raises ValueError, which names the field, if it does not fit."""
        return replace(cls._read(data, ""), request_id=request_id)

    @classmethod
    def _read(cls, value: object, path: str) -> RoomStatus:
        fields = _Fields(value, path)
        return cls(
            status=fields.required("status", _boolean),
            message=fields.required("message", _string),
        )


@dataclass(frozen=True)
class RoomInfo:
    """The data of a room. Some numbers are strings because existing clients expect them."""

    room_id: str
    room_title: str
    sid: str
    """The session, `{room_id}.{n}`. Empty before the first join."""
    joined_participants: str
    """The number of participants in the room now."""
    is_running: Literal[1]
    is_recording: Literal[0]
    is_active_rtmp: Literal[0]
    is_breakout_room: Literal[0]
    """Always 0, because breakout rooms are shown as part of their room."""
    parent_room_id: Literal[""]
    creation_time: str
    """Unix time in seconds."""
    metadata: str
    """JSON: the metadata of the creation, and default_lock_settings."""
    webhook_url: str

    @classmethod
    def from_json(cls, data: object) -> RoomInfo:
        """Reads decoded JSON. Raises ValueError, which names the field, if it does not fit."""
        return cls._read(data, "")

    @classmethod
    def _read(cls, value: object, path: str) -> RoomInfo:
        fields = _Fields(value, path)
        return cls(
            room_id=fields.required("room_id", _string),
            room_title=fields.required("room_title", _string),
            sid=fields.required("sid", _string),
            joined_participants=fields.required("joined_participants", _string),
            is_running=fields.required("is_running", _any_integer),
            is_recording=fields.required("is_recording", _any_integer),
            is_active_rtmp=fields.required("is_active_rtmp", _any_integer),
            is_breakout_room=fields.required("is_breakout_room", _any_integer),
            parent_room_id=fields.required("parent_room_id", _any_string),
            creation_time=fields.required("creation_time", _string),
            metadata=fields.required("metadata", _string),
            webhook_url=fields.required("webhook_url", _string),
        )


@dataclass(frozen=True)
class ParticipantMetadata:
    """The role of a participant, and the breakout room."""

    role: ParticipantRole
    is_admin: bool
    breakout_room: int
    """The number of the participant's breakout room, 0 for the main room."""

    @classmethod
    def from_json(cls, data: object) -> ParticipantMetadata:
        """Reads decoded JSON. Raises ValueError, which names the field, if it does not fit."""
        return cls._read(data, "")

    @classmethod
    def _read(cls, value: object, path: str) -> ParticipantMetadata:
        fields = _Fields(value, path)
        return cls(
            role=fields.required("role", _any_string),
            is_admin=fields.required("is_admin", _boolean),
            breakout_room=fields.required("breakout_room", _integer),
        )


@dataclass(frozen=True)
class ParticipantPermission:
    """What the participant's role may send in this room. A host may have unlocked more for a
    single person.
    """

    can_subscribe: bool
    can_publish_microphone: bool
    can_publish_camera: bool
    can_publish_screen_share: bool
    can_chat: bool

    @classmethod
    def from_json(cls, data: object) -> ParticipantPermission:
        """Reads decoded JSON. Raises ValueError, which names the field, if it does not fit."""
        return cls._read(data, "")

    @classmethod
    def _read(cls, value: object, path: str) -> ParticipantPermission:
        fields = _Fields(value, path)
        return cls(
            can_subscribe=fields.required("can_subscribe", _boolean),
            can_publish_microphone=fields.required("can_publish_microphone", _boolean),
            can_publish_camera=fields.required("can_publish_camera", _boolean),
            can_publish_screen_share=fields.required("can_publish_screen_share", _boolean),
            can_chat=fields.required("can_chat", _boolean),
        )


@dataclass(frozen=True)
class ParticipantInfo:
    """A participant of an open or active room."""

    identity: str
    """Your client_user_id for the person, or an id that the server assigned."""
    name: str
    sid: str
    """The id of the connection."""
    state: Literal["ACTIVE"]
    joined_at: str
    """Unix time in seconds."""
    is_publisher: bool
    """Whether the participant may send audio or video."""
    metadata: ParticipantMetadata
    permission: ParticipantPermission
    """What the participant's role may send in this room. A host may have unlocked more for a
    single person.
    """

    @classmethod
    def from_json(cls, data: object) -> ParticipantInfo:
        """Reads decoded JSON. Raises ValueError, which names the field, if it does not fit."""
        return cls._read(data, "")

    @classmethod
    def _read(cls, value: object, path: str) -> ParticipantInfo:
        fields = _Fields(value, path)
        return cls(
            identity=fields.required("identity", _string),
            name=fields.required("name", _string),
            sid=fields.required("sid", _string),
            state=fields.required("state", _any_string),
            joined_at=fields.required("joined_at", _string),
            is_publisher=fields.required("is_publisher", _boolean),
            metadata=fields.required("metadata", ParticipantMetadata._read),
            permission=fields.required("permission", ParticipantPermission._read),
        )


@dataclass(frozen=True)
class ActiveRoom:
    """A room that is open or active, and its participants."""

    room_info: RoomInfo
    participants_info: List[ParticipantInfo]
    request_id: str = ""
    """Identifies this request, from a response header. Quote it to support."""

    @classmethod
    def from_json(cls, data: object, *, request_id: str = "") -> ActiveRoom:
        """Reads decoded JSON. Raises ValueError, which names the field, if it does not fit."""
        return replace(cls._read(data, ""), request_id=request_id)

    @classmethod
    def _read(cls, value: object, path: str) -> ActiveRoom:
        fields = _Fields(value, path)
        return cls(
            room_info=fields.required("room_info", RoomInfo._read),
            participants_info=fields.required("participants_info", _list_of(ParticipantInfo._read)),
        )


@dataclass(frozen=True)
class ActiveRooms:
    """The open and active rooms of the project, the oldest first."""

    status: bool
    msg: str
    rooms: List[ActiveRoom]
    request_id: str = ""
    """Identifies this request, from a response header. Quote it to support."""

    @classmethod
    def from_json(cls, data: object, *, request_id: str = "") -> ActiveRooms:
        """Reads decoded JSON. Raises ValueError, which names the field, if it does not fit."""
        return replace(cls._read(data, ""), request_id=request_id)

    @classmethod
    def _read(cls, value: object, path: str) -> ActiveRooms:
        fields = _Fields(value, path)
        return cls(
            status=fields.required("status", _boolean),
            msg=fields.required("msg", _string),
            rooms=fields.required("rooms", _list_of(ActiveRoom._read)),
        )


class EndRoomRequest(TypedDict):
    """The room to end."""

    room_id: str


@dataclass(frozen=True)
class EndRoomResult:
    """The confirmation that the room is over."""

    status: bool
    msg: str
    request_id: str = ""
    """Identifies this request, from a response header. Quote it to support."""

    @classmethod
    def from_json(cls, data: object, *, request_id: str = "") -> EndRoomResult:
        """Reads decoded JSON. Raises ValueError, which names the field, if it does not fit."""
        return replace(cls._read(data, ""), request_id=request_id)

    @classmethod
    def _read(cls, value: object, path: str) -> EndRoomResult:
        fields = _Fields(value, path)
        return cls(
            status=fields.required("status", _boolean),
            msg=fields.required("msg", _string),
        )


_PastRoomsRequestFrom = TypedDict("_PastRoomsRequestFrom", {"from": Optional[int]}, total=False)


class PastRoomsRequest(_PastRoomsRequestFrom, total=False):
    """The page of past rooms to list.

    from: The number of rooms to skip.
    """

    room_ids: Optional[List[str]]
    """Only these rooms. Absent or null means all, and an empty list none."""
    limit: Optional[int]
    order_by: Optional[Literal["ASC", "DESC"]]
    """The order by end time."""


@dataclass(frozen=True)
class PastRoom:
    """A room that has ended, expired or been cancelled."""

    room_id: str
    room_sid: str
    """The last session, `{room_id}.{n}`. Empty if nobody joined."""
    room_title: str
    created: datetime
    ended: datetime
    joined_participants: str
    """The number of people who joined."""
    analytics_file_id: Literal[""]
    """Always empty, because there are no files. See get_analytics."""
    webhook_url: str

    @classmethod
    def from_json(cls, data: object) -> PastRoom:
        """Reads decoded JSON. Raises ValueError, which names the field, if it does not fit."""
        return cls._read(data, "")

    @classmethod
    def _read(cls, value: object, path: str) -> PastRoom:
        fields = _Fields(value, path)
        return cls(
            room_id=fields.required("room_id", _string),
            room_sid=fields.required("room_sid", _string),
            room_title=fields.required("room_title", _string),
            created=fields.required("created", _time),
            ended=fields.required("ended", _time),
            joined_participants=fields.required("joined_participants", _string),
            analytics_file_id=fields.required("analytics_file_id", _any_string),
            webhook_url=fields.required("webhook_url", _string),
        )


@dataclass(frozen=True)
class PastRooms:
    """One page of the past rooms, ordered by the time of their end."""

    from_: int
    limit: int
    order_by: Literal["ASC", "DESC"]
    total_rooms: str
    """The total number of matching rooms."""
    rooms_list: List[PastRoom]
    request_id: str = ""
    """Identifies this request, from a response header. Quote it to support."""

    @classmethod
    def from_json(cls, data: object, *, request_id: str = "") -> PastRooms:
        """Reads decoded JSON. Raises ValueError, which names the field, if it does not fit."""
        return replace(cls._read(data, ""), request_id=request_id)

    @classmethod
    def _read(cls, value: object, path: str) -> PastRooms:
        fields = _Fields(value, path)
        return cls(
            from_=fields.required("from", _integer),
            limit=fields.required("limit", _integer),
            order_by=fields.required("order_by", _any_string),
            total_rooms=fields.required("total_rooms", _string),
            rooms_list=fields.required("rooms_list", _list_of(PastRoom._read)),
        )


@dataclass(frozen=True)
class ListedRoom:
    """A room in the list of rooms."""

    room_id: str
    room_type: Literal["video", "audio"]
    state: RoomState
    room_title: str
    joined_participants: int
    """The number of participants in the room now."""
    max_participants: int
    created_at: datetime
    client_room_id: Optional[str] = None
    end_reason: Optional[Literal["host", "api", "empty_timeout", "duration", "project_suspended", "server"]] = None
    start_at: Optional[datetime] = None
    """The start time of a scheduled room."""
    opened_at: Optional[datetime] = None
    started_at: Optional[datetime] = None
    """The time of the first join."""
    ended_at: Optional[datetime] = None

    @classmethod
    def from_json(cls, data: object) -> ListedRoom:
        """Reads decoded JSON. Raises ValueError, which names the field, if it does not fit."""
        return cls._read(data, "")

    @classmethod
    def _read(cls, value: object, path: str) -> ListedRoom:
        fields = _Fields(value, path)
        return cls(
            room_id=fields.required("room_id", _string),
            room_type=fields.required("room_type", _any_string),
            state=fields.required("state", _any_string),
            room_title=fields.required("room_title", _string),
            joined_participants=fields.required("joined_participants", _integer),
            max_participants=fields.required("max_participants", _integer),
            created_at=fields.required("created_at", _time),
            client_room_id=fields.optional("client_room_id", _string),
            end_reason=fields.optional("end_reason", _any_string),
            start_at=fields.optional("start_at", _time),
            opened_at=fields.optional("opened_at", _time),
            started_at=fields.optional("started_at", _time),
            ended_at=fields.optional("ended_at", _time),
        )


@dataclass(frozen=True)
class RoomList:
    """One page of the list of rooms, the newest first."""

    rooms: List[ListedRoom]
    next_cursor: Optional[str] = None
    """Present if there are older rooms."""
    request_id: str = ""
    """Identifies this request, from a response header. Quote it to support."""

    @classmethod
    def from_json(cls, data: object, *, request_id: str = "") -> RoomList:
        """Reads decoded JSON. Raises ValueError, which names the field, if it does not fit."""
        return replace(cls._read(data, ""), request_id=request_id)

    @classmethod
    def _read(cls, value: object, path: str) -> RoomList:
        fields = _Fields(value, path)
        return cls(
            rooms=fields.required("rooms", _list_of(ListedRoom._read)),
            next_cursor=fields.optional("next_cursor", _string),
        )


class RescheduleRoomMetadata(TypedDict, total=False):
    """The texts and features of the room that change."""

    room_title: Optional[str]
    welcome_message: Optional[str]
    room_features: Optional[RoomFeatures]


class _RescheduleRoomRequestRequired(TypedDict):
    room_id: str


class RescheduleRoomRequest(_RescheduleRoomRequestRequired, total=False):
    """The changes of a scheduled room. The fields have the rules of the creation. Absent fields
    keep their value.
    """

    start_at: Optional[str]
    max_participants: Optional[Union[int, str]]
    """An integer, or a string of the digits 0 to 9."""
    empty_timeout: Optional[Union[int, str]]
    """An integer, or a string of the digits 0 to 9."""
    name: Optional[str]
    external_user_id: Optional[str]
    logout_url: Optional[str]
    webhook_url: Optional[str]
    metadata: Optional[RescheduleRoomMetadata]


@dataclass(frozen=True)
class AttendeeInfo:
    """A person who was in the room, over all connections."""

    identity: str
    """Your client_user_id for the person, or an id that the server assigned."""
    name: str
    role: ParticipantRole
    joined_at: datetime
    """The time of the first join."""
    duration: float
    """The seconds that the person was in the room, over all connections."""
    connections: int
    """The number of connections."""
    left_at: Optional[datetime] = None
    """The time of the last leave. Absent while the person is present."""

    @classmethod
    def from_json(cls, data: object) -> AttendeeInfo:
        """Reads decoded JSON. Raises ValueError, which names the field, if it does not fit."""
        return cls._read(data, "")

    @classmethod
    def _read(cls, value: object, path: str) -> AttendeeInfo:
        fields = _Fields(value, path)
        return cls(
            identity=fields.required("identity", _string),
            name=fields.required("name", _string),
            role=fields.required("role", _any_string),
            joined_at=fields.required("joined_at", _time),
            duration=fields.required("duration", _number),
            connections=fields.required("connections", _integer),
            left_at=fields.optional("left_at", _time),
        )


@dataclass(frozen=True)
class ReportedAttendee:
    """A person whom a join event reported."""

    name: str
    at: datetime
    """The time of the join event."""
    source: Literal["external"]

    @classmethod
    def from_json(cls, data: object) -> ReportedAttendee:
        """Reads decoded JSON. Raises ValueError, which names the field, if it does not fit."""
        return cls._read(data, "")

    @classmethod
    def _read(cls, value: object, path: str) -> ReportedAttendee:
        fields = _Fields(value, path)
        return cls(
            name=fields.required("name", _string),
            at=fields.required("at", _time),
            source=fields.required("source", _any_string),
        )


@dataclass(frozen=True)
class AnalyticsResponse:
    """The attendance of a room."""

    status: bool
    msg: str
    room_id: str
    as_of: datetime
    """The time until which people who are still present are counted."""
    participant_durations: Dict[str, float]
    """Seconds for each identity, with millisecond precision."""
    total_duration: float
    """The sum of all durations, in seconds."""
    participants: List[AttendeeInfo]
    """The people, in the order of their first join."""
    reported: List[ReportedAttendee]
    """The first 1000 people whom join events reported, in order. They are in no other figure,
    because the server did not see their connections.
    """
    request_id: str = ""
    """Identifies this request, from a response header. Quote it to support."""

    @classmethod
    def from_json(cls, data: object, *, request_id: str = "") -> AnalyticsResponse:
        """Reads decoded JSON. Raises ValueError, which names the field, if it does not fit."""
        return replace(cls._read(data, ""), request_id=request_id)

    @classmethod
    def _read(cls, value: object, path: str) -> AnalyticsResponse:
        fields = _Fields(value, path)
        return cls(
            status=fields.required("status", _boolean),
            msg=fields.required("msg", _string),
            room_id=fields.required("room_id", _string),
            as_of=fields.required("as_of", _time),
            participant_durations=fields.required("participant_durations", _map_of(_number)),
            total_duration=fields.required("total_duration", _number),
            participants=fields.required("participants", _list_of(AttendeeInfo._read)),
            reported=fields.required("reported", _list_of(ReportedAttendee._read)),
        )


@dataclass(frozen=True)
class RoomEventsResponse:
    """One page of the events of a room, the oldest first."""

    events: List[Event]
    """The oldest first."""
    next_after: int
    """The value of after for the next call."""
    has_more: bool
    """Whether there are more events now."""
    request_id: str = ""
    """Identifies this request, from a response header. Quote it to support."""

    @classmethod
    def from_json(cls, data: object, *, request_id: str = "") -> RoomEventsResponse:
        """Reads decoded JSON. Raises ValueError, which names the field, if it does not fit."""
        return replace(cls._read(data, ""), request_id=request_id)

    @classmethod
    def _read(cls, value: object, path: str) -> RoomEventsResponse:
        fields = _Fields(value, path)
        return cls(
            events=fields.required("events", _list_of(_event)),
            next_after=fields.required("next_after", _integer),
            has_more=fields.required("has_more", _boolean),
        )


@dataclass(frozen=True)
class PlannedRoomData:
    """The room and its scheduled start."""

    room_id: str
    room_type: RoomType
    start_at: datetime
    """The start time of a scheduled room."""
    client_room_id: Optional[str] = None
    """Your own id for the room, if any."""

    @classmethod
    def from_json(cls, data: object) -> PlannedRoomData:
        """Reads decoded JSON. Raises ValueError, which names the field, if it does not fit."""
        return cls._read(data, "")

    @classmethod
    def _read(cls, value: object, path: str) -> PlannedRoomData:
        fields = _Fields(value, path)
        return cls(
            room_id=fields.required("room_id", _string),
            room_type=fields.required("room_type", _any_string),
            start_at=fields.required("start_at", _time),
            client_room_id=fields.optional("client_room_id", _string),
        )


@dataclass(frozen=True)
class RoomScheduledEvent:
    """A room was scheduled or rescheduled."""

    id: str
    """The id of the event. It is the same in every delivery and list."""
    type: Literal["room.scheduled"]
    timestamp: datetime
    """The time of the event, in UTC with millisecond precision."""
    sequence: int
    """The number of the event in the room, or in the project, without gaps."""
    previous: int
    """The sequence of the previous event for this receiver; 0 for the first event. If you do not
    have that event, you have missed it. In a list of a room's events, it is the previous
    event of any type.
    """
    project_id: str
    data: PlannedRoomData

    @classmethod
    def from_json(cls, data: object) -> RoomScheduledEvent:
        """Reads decoded JSON. Raises ValueError, which names the field, if it does not fit."""
        return cls._read(data, "")

    @classmethod
    def _read(cls, value: object, path: str) -> RoomScheduledEvent:
        fields = _Fields(value, path)
        return cls(
            id=fields.required("id", _string),
            type=fields.required("type", _any_string),
            timestamp=fields.required("timestamp", _time),
            sequence=fields.required("sequence", _integer),
            previous=fields.required("previous", _integer),
            project_id=fields.required("project_id", _string),
            data=fields.required("data", PlannedRoomData._read),
        )


@dataclass(frozen=True)
class OpenedRoomData:
    """The room that opened."""

    room_id: str
    room_type: RoomType
    client_room_id: Optional[str] = None
    """Your own id for the room, if any."""
    start_at: Optional[datetime] = None
    """The start time of a scheduled room."""

    @classmethod
    def from_json(cls, data: object) -> OpenedRoomData:
        """Reads decoded JSON. Raises ValueError, which names the field, if it does not fit."""
        return cls._read(data, "")

    @classmethod
    def _read(cls, value: object, path: str) -> OpenedRoomData:
        fields = _Fields(value, path)
        return cls(
            room_id=fields.required("room_id", _string),
            room_type=fields.required("room_type", _any_string),
            client_room_id=fields.optional("client_room_id", _string),
            start_at=fields.optional("start_at", _time),
        )


@dataclass(frozen=True)
class RoomOpenedEvent:
    """A room opened."""

    id: str
    """The id of the event. It is the same in every delivery and list."""
    type: Literal["room.opened"]
    timestamp: datetime
    """The time of the event, in UTC with millisecond precision."""
    sequence: int
    """The number of the event in the room, or in the project, without gaps."""
    previous: int
    """The sequence of the previous event for this receiver; 0 for the first event. If you do not
    have that event, you have missed it. In a list of a room's events, it is the previous
    event of any type.
    """
    project_id: str
    data: OpenedRoomData

    @classmethod
    def from_json(cls, data: object) -> RoomOpenedEvent:
        """Reads decoded JSON. Raises ValueError, which names the field, if it does not fit."""
        return cls._read(data, "")

    @classmethod
    def _read(cls, value: object, path: str) -> RoomOpenedEvent:
        fields = _Fields(value, path)
        return cls(
            id=fields.required("id", _string),
            type=fields.required("type", _any_string),
            timestamp=fields.required("timestamp", _time),
            sequence=fields.required("sequence", _integer),
            previous=fields.required("previous", _integer),
            project_id=fields.required("project_id", _string),
            data=fields.required("data", OpenedRoomData._read),
        )


@dataclass(frozen=True)
class RoomData:
    """The room of the event."""

    room_id: str
    room_type: RoomType
    client_room_id: Optional[str] = None
    """Your own id for the room, if any."""
    session_id: Optional[str] = None
    """The current session of the room, or the last one if the room is over. Absent before the
    first session.
    """
    start_at: Optional[datetime] = None
    """The start time of a scheduled room."""

    @classmethod
    def from_json(cls, data: object) -> RoomData:
        """Reads decoded JSON. Raises ValueError, which names the field, if it does not fit."""
        return cls._read(data, "")

    @classmethod
    def _read(cls, value: object, path: str) -> RoomData:
        fields = _Fields(value, path)
        return cls(
            room_id=fields.required("room_id", _string),
            room_type=fields.required("room_type", _any_string),
            client_room_id=fields.optional("client_room_id", _string),
            session_id=fields.optional("session_id", _string),
            start_at=fields.optional("start_at", _time),
        )


@dataclass(frozen=True)
class RoomStartedEvent:
    """The first participant joined."""

    id: str
    """The id of the event. It is the same in every delivery and list."""
    type: Literal["room.started"]
    timestamp: datetime
    """The time of the event, in UTC with millisecond precision."""
    sequence: int
    """The number of the event in the room, or in the project, without gaps."""
    previous: int
    """The sequence of the previous event for this receiver; 0 for the first event. If you do not
    have that event, you have missed it. In a list of a room's events, it is the previous
    event of any type.
    """
    project_id: str
    data: RoomData

    @classmethod
    def from_json(cls, data: object) -> RoomStartedEvent:
        """Reads decoded JSON. Raises ValueError, which names the field, if it does not fit."""
        return cls._read(data, "")

    @classmethod
    def _read(cls, value: object, path: str) -> RoomStartedEvent:
        fields = _Fields(value, path)
        return cls(
            id=fields.required("id", _string),
            type=fields.required("type", _any_string),
            timestamp=fields.required("timestamp", _time),
            sequence=fields.required("sequence", _integer),
            previous=fields.required("previous", _integer),
            project_id=fields.required("project_id", _string),
            data=fields.required("data", RoomData._read),
        )


@dataclass(frozen=True)
class EndedRoomData:
    """The room that is over, and the reason."""

    room_id: str
    room_type: RoomType
    end_reason: EndReason
    """The reason why the room is over. Present only if it is over."""
    client_room_id: Optional[str] = None
    """Your own id for the room, if any."""
    session_id: Optional[str] = None
    """The current session of the room, or the last one if the room is over. Absent before the
    first session.
    """
    start_at: Optional[datetime] = None
    """The start time of a scheduled room."""

    @classmethod
    def from_json(cls, data: object) -> EndedRoomData:
        """Reads decoded JSON. Raises ValueError, which names the field, if it does not fit."""
        return cls._read(data, "")

    @classmethod
    def _read(cls, value: object, path: str) -> EndedRoomData:
        fields = _Fields(value, path)
        return cls(
            room_id=fields.required("room_id", _string),
            room_type=fields.required("room_type", _any_string),
            end_reason=fields.required("end_reason", _any_string),
            client_room_id=fields.optional("client_room_id", _string),
            session_id=fields.optional("session_id", _string),
            start_at=fields.optional("start_at", _time),
        )


@dataclass(frozen=True)
class RoomEndedEvent:
    """A room is over."""

    id: str
    """The id of the event. It is the same in every delivery and list."""
    type: Literal["room.ended"]
    timestamp: datetime
    """The time of the event, in UTC with millisecond precision."""
    sequence: int
    """The number of the event in the room, or in the project, without gaps."""
    previous: int
    """The sequence of the previous event for this receiver; 0 for the first event. If you do not
    have that event, you have missed it. In a list of a room's events, it is the previous
    event of any type.
    """
    project_id: str
    data: EndedRoomData

    @classmethod
    def from_json(cls, data: object) -> RoomEndedEvent:
        """Reads decoded JSON. Raises ValueError, which names the field, if it does not fit."""
        return cls._read(data, "")

    @classmethod
    def _read(cls, value: object, path: str) -> RoomEndedEvent:
        fields = _Fields(value, path)
        return cls(
            id=fields.required("id", _string),
            type=fields.required("type", _any_string),
            timestamp=fields.required("timestamp", _time),
            sequence=fields.required("sequence", _integer),
            previous=fields.required("previous", _integer),
            project_id=fields.required("project_id", _string),
            data=fields.required("data", EndedRoomData._read),
        )


@dataclass(frozen=True)
class RoomCancelledEvent:
    """A room was cancelled before it opened."""

    id: str
    """The id of the event. It is the same in every delivery and list."""
    type: Literal["room.cancelled"]
    timestamp: datetime
    """The time of the event, in UTC with millisecond precision."""
    sequence: int
    """The number of the event in the room, or in the project, without gaps."""
    previous: int
    """The sequence of the previous event for this receiver; 0 for the first event. If you do not
    have that event, you have missed it. In a list of a room's events, it is the previous
    event of any type.
    """
    project_id: str
    data: PlannedRoomData

    @classmethod
    def from_json(cls, data: object) -> RoomCancelledEvent:
        """Reads decoded JSON. Raises ValueError, which names the field, if it does not fit."""
        return cls._read(data, "")

    @classmethod
    def _read(cls, value: object, path: str) -> RoomCancelledEvent:
        fields = _Fields(value, path)
        return cls(
            id=fields.required("id", _string),
            type=fields.required("type", _any_string),
            timestamp=fields.required("timestamp", _time),
            sequence=fields.required("sequence", _integer),
            previous=fields.required("previous", _integer),
            project_id=fields.required("project_id", _string),
            data=fields.required("data", PlannedRoomData._read),
        )


@dataclass(frozen=True)
class RoomExpiredEvent:
    """A room expired because nobody joined."""

    id: str
    """The id of the event. It is the same in every delivery and list."""
    type: Literal["room.expired"]
    timestamp: datetime
    """The time of the event, in UTC with millisecond precision."""
    sequence: int
    """The number of the event in the room, or in the project, without gaps."""
    previous: int
    """The sequence of the previous event for this receiver; 0 for the first event. If you do not
    have that event, you have missed it. In a list of a room's events, it is the previous
    event of any type.
    """
    project_id: str
    data: RoomData

    @classmethod
    def from_json(cls, data: object) -> RoomExpiredEvent:
        """Reads decoded JSON. Raises ValueError, which names the field, if it does not fit."""
        return cls._read(data, "")

    @classmethod
    def _read(cls, value: object, path: str) -> RoomExpiredEvent:
        fields = _Fields(value, path)
        return cls(
            id=fields.required("id", _string),
            type=fields.required("type", _any_string),
            timestamp=fields.required("timestamp", _time),
            sequence=fields.required("sequence", _integer),
            previous=fields.required("previous", _integer),
            project_id=fields.required("project_id", _string),
            data=fields.required("data", RoomData._read),
        )


@dataclass(frozen=True)
class EventParticipant:
    """The participant. There are no events about hidden participants."""

    identity: str
    """Your client_user_id for the person, or an id that the server assigned."""
    name: str
    role: ParticipantRole
    session_id: str
    """The session of the room or of the breakout room."""
    connection_id: str
    """The same in the joined and the left event of a connection."""
    joined_at: datetime

    @classmethod
    def from_json(cls, data: object) -> EventParticipant:
        """Reads decoded JSON. Raises ValueError, which names the field, if it does not fit."""
        return cls._read(data, "")

    @classmethod
    def _read(cls, value: object, path: str) -> EventParticipant:
        fields = _Fields(value, path)
        return cls(
            identity=fields.required("identity", _string),
            name=fields.required("name", _string),
            role=fields.required("role", _any_string),
            session_id=fields.required("session_id", _string),
            connection_id=fields.required("connection_id", _string),
            joined_at=fields.required("joined_at", _time),
        )


@dataclass(frozen=True)
class JoinedData:
    """The room, and the participant who joined."""

    room_id: str
    session_id: str
    """The current session of the room, or the last one if the room is over."""
    room_type: RoomType
    participant: EventParticipant
    client_room_id: Optional[str] = None
    """Your own id for the room, if any."""
    start_at: Optional[datetime] = None
    """The start time of a scheduled room."""

    @classmethod
    def from_json(cls, data: object) -> JoinedData:
        """Reads decoded JSON. Raises ValueError, which names the field, if it does not fit."""
        return cls._read(data, "")

    @classmethod
    def _read(cls, value: object, path: str) -> JoinedData:
        fields = _Fields(value, path)
        return cls(
            room_id=fields.required("room_id", _string),
            session_id=fields.required("session_id", _string),
            room_type=fields.required("room_type", _any_string),
            participant=fields.required("participant", EventParticipant._read),
            client_room_id=fields.optional("client_room_id", _string),
            start_at=fields.optional("start_at", _time),
        )


@dataclass(frozen=True)
class ParticipantJoinedEvent:
    """A participant joined."""

    id: str
    """The id of the event. It is the same in every delivery and list."""
    type: Literal["participant.joined"]
    timestamp: datetime
    """The time of the event, in UTC with millisecond precision."""
    sequence: int
    """The number of the event in the room, or in the project, without gaps."""
    previous: int
    """The sequence of the previous event for this receiver; 0 for the first event. If you do not
    have that event, you have missed it. In a list of a room's events, it is the previous
    event of any type.
    """
    project_id: str
    data: JoinedData

    @classmethod
    def from_json(cls, data: object) -> ParticipantJoinedEvent:
        """Reads decoded JSON. Raises ValueError, which names the field, if it does not fit."""
        return cls._read(data, "")

    @classmethod
    def _read(cls, value: object, path: str) -> ParticipantJoinedEvent:
        fields = _Fields(value, path)
        return cls(
            id=fields.required("id", _string),
            type=fields.required("type", _any_string),
            timestamp=fields.required("timestamp", _time),
            sequence=fields.required("sequence", _integer),
            previous=fields.required("previous", _integer),
            project_id=fields.required("project_id", _string),
            data=fields.required("data", JoinedData._read),
        )


@dataclass(frozen=True)
class EventFormerParticipant:
    """The participant who left, with the same data as in the joined event."""

    identity: str
    """Your client_user_id for the person, or an id that the server assigned."""
    name: str
    role: ParticipantRole
    session_id: str
    """The session of the room or of the breakout room."""
    connection_id: str
    """The same in the joined and the left event of a connection."""
    joined_at: datetime
    reason: LeaveReason

    @classmethod
    def from_json(cls, data: object) -> EventFormerParticipant:
        """Reads decoded JSON. Raises ValueError, which names the field, if it does not fit."""
        return cls._read(data, "")

    @classmethod
    def _read(cls, value: object, path: str) -> EventFormerParticipant:
        fields = _Fields(value, path)
        return cls(
            identity=fields.required("identity", _string),
            name=fields.required("name", _string),
            role=fields.required("role", _any_string),
            session_id=fields.required("session_id", _string),
            connection_id=fields.required("connection_id", _string),
            joined_at=fields.required("joined_at", _time),
            reason=fields.required("reason", _any_string),
        )


@dataclass(frozen=True)
class LeftData:
    """The room, and the participant who left."""

    room_id: str
    session_id: str
    """The current session of the room, or the last one if the room is over."""
    room_type: RoomType
    participant: EventFormerParticipant
    client_room_id: Optional[str] = None
    """Your own id for the room, if any."""
    start_at: Optional[datetime] = None
    """The start time of a scheduled room."""

    @classmethod
    def from_json(cls, data: object) -> LeftData:
        """Reads decoded JSON. Raises ValueError, which names the field, if it does not fit."""
        return cls._read(data, "")

    @classmethod
    def _read(cls, value: object, path: str) -> LeftData:
        fields = _Fields(value, path)
        return cls(
            room_id=fields.required("room_id", _string),
            session_id=fields.required("session_id", _string),
            room_type=fields.required("room_type", _any_string),
            participant=fields.required("participant", EventFormerParticipant._read),
            client_room_id=fields.optional("client_room_id", _string),
            start_at=fields.optional("start_at", _time),
        )


@dataclass(frozen=True)
class ParticipantLeftEvent:
    """A participant left."""

    id: str
    """The id of the event. It is the same in every delivery and list."""
    type: Literal["participant.left"]
    timestamp: datetime
    """The time of the event, in UTC with millisecond precision."""
    sequence: int
    """The number of the event in the room, or in the project, without gaps."""
    previous: int
    """The sequence of the previous event for this receiver; 0 for the first event. If you do not
    have that event, you have missed it. In a list of a room's events, it is the previous
    event of any type.
    """
    project_id: str
    data: LeftData

    @classmethod
    def from_json(cls, data: object) -> ParticipantLeftEvent:
        """Reads decoded JSON. Raises ValueError, which names the field, if it does not fit."""
        return cls._read(data, "")

    @classmethod
    def _read(cls, value: object, path: str) -> ParticipantLeftEvent:
        fields = _Fields(value, path)
        return cls(
            id=fields.required("id", _string),
            type=fields.required("type", _any_string),
            timestamp=fields.required("timestamp", _time),
            sequence=fields.required("sequence", _integer),
            previous=fields.required("previous", _integer),
            project_id=fields.required("project_id", _string),
            data=fields.required("data", LeftData._read),
        )


@dataclass(frozen=True)
class JoinFailedPerson:
    """The person. There is no identity because the person has no seat."""

    name: str
    """The name that the person entered, or empty."""
    code: Literal["room_full"]

    @classmethod
    def from_json(cls, data: object) -> JoinFailedPerson:
        """Reads decoded JSON. Raises ValueError, which names the field, if it does not fit."""
        return cls._read(data, "")

    @classmethod
    def _read(cls, value: object, path: str) -> JoinFailedPerson:
        fields = _Fields(value, path)
        return cls(
            name=fields.required("name", _string),
            code=fields.required("code", _any_string),
        )


@dataclass(frozen=True)
class JoinFailedData:
    """The room that is full, and the person who could not join."""

    room_id: str
    session_id: str
    """The current session of the room, or the last one if the room is over."""
    room_type: RoomType
    refusal: JoinFailedPerson
    """The person. There is no identity because the person has no seat."""
    client_room_id: Optional[str] = None
    """Your own id for the room, if any."""
    start_at: Optional[datetime] = None
    """The start time of a scheduled room."""

    @classmethod
    def from_json(cls, data: object) -> JoinFailedData:
        """Reads decoded JSON. Raises ValueError, which names the field, if it does not fit."""
        return cls._read(data, "")

    @classmethod
    def _read(cls, value: object, path: str) -> JoinFailedData:
        fields = _Fields(value, path)
        return cls(
            room_id=fields.required("room_id", _string),
            session_id=fields.required("session_id", _string),
            room_type=fields.required("room_type", _any_string),
            refusal=fields.required("refusal", JoinFailedPerson._read),
            client_room_id=fields.optional("client_room_id", _string),
            start_at=fields.optional("start_at", _time),
        )


@dataclass(frozen=True)
class ParticipantJoinFailedEvent:
    """A person could not join because the room is full."""

    id: str
    """The id of the event. It is the same in every delivery and list."""
    type: Literal["participant.join_failed"]
    timestamp: datetime
    """The time of the event, in UTC with millisecond precision."""
    sequence: int
    """The number of the event in the room, or in the project, without gaps."""
    previous: int
    """The sequence of the previous event for this receiver; 0 for the first event. If you do not
    have that event, you have missed it. In a list of a room's events, it is the previous
    event of any type.
    """
    project_id: str
    data: JoinFailedData

    @classmethod
    def from_json(cls, data: object) -> ParticipantJoinFailedEvent:
        """Reads decoded JSON. Raises ValueError, which names the field, if it does not fit."""
        return cls._read(data, "")

    @classmethod
    def _read(cls, value: object, path: str) -> ParticipantJoinFailedEvent:
        fields = _Fields(value, path)
        return cls(
            id=fields.required("id", _string),
            type=fields.required("type", _any_string),
            timestamp=fields.required("timestamp", _time),
            sequence=fields.required("sequence", _integer),
            previous=fields.required("previous", _integer),
            project_id=fields.required("project_id", _string),
            data=fields.required("data", JoinFailedData._read),
        )


@dataclass(frozen=True)
class ReportedPerson:
    """The person. There is no identity because the person has no seat."""

    name: str
    """The name in the join event."""
    source: Literal["external"]

    @classmethod
    def from_json(cls, data: object) -> ReportedPerson:
        """Reads decoded JSON. Raises ValueError, which names the field, if it does not fit."""
        return cls._read(data, "")

    @classmethod
    def _read(cls, value: object, path: str) -> ReportedPerson:
        fields = _Fields(value, path)
        return cls(
            name=fields.required("name", _string),
            source=fields.required("source", _any_string),
        )


@dataclass(frozen=True)
class ReportedData:
    """The room, and the person whom another system reported."""

    room_id: str
    room_type: RoomType
    mark: ReportedPerson
    """The person. There is no identity because the person has no seat."""
    client_room_id: Optional[str] = None
    """Your own id for the room, if any."""
    session_id: Optional[str] = None
    """The current session of the room, or the last one if the room is over. Absent before the
    first session.
    """
    start_at: Optional[datetime] = None
    """The start time of a scheduled room."""

    @classmethod
    def from_json(cls, data: object) -> ReportedData:
        """Reads decoded JSON. Raises ValueError, which names the field, if it does not fit."""
        return cls._read(data, "")

    @classmethod
    def _read(cls, value: object, path: str) -> ReportedData:
        fields = _Fields(value, path)
        return cls(
            room_id=fields.required("room_id", _string),
            room_type=fields.required("room_type", _any_string),
            mark=fields.required("mark", ReportedPerson._read),
            client_room_id=fields.optional("client_room_id", _string),
            session_id=fields.optional("session_id", _string),
            start_at=fields.optional("start_at", _time),
        )


@dataclass(frozen=True)
class ParticipantReportedEvent:
    """Another system reported a participant."""

    id: str
    """The id of the event. It is the same in every delivery and list."""
    type: Literal["participant.reported"]
    timestamp: datetime
    """The time of the event, in UTC with millisecond precision."""
    sequence: int
    """The number of the event in the room, or in the project, without gaps."""
    previous: int
    """The sequence of the previous event for this receiver; 0 for the first event. If you do not
    have that event, you have missed it. In a list of a room's events, it is the previous
    event of any type.
    """
    project_id: str
    data: ReportedData

    @classmethod
    def from_json(cls, data: object) -> ParticipantReportedEvent:
        """Reads decoded JSON. Raises ValueError, which names the field, if it does not fit."""
        return cls._read(data, "")

    @classmethod
    def _read(cls, value: object, path: str) -> ParticipantReportedEvent:
        fields = _Fields(value, path)
        return cls(
            id=fields.required("id", _string),
            type=fields.required("type", _any_string),
            timestamp=fields.required("timestamp", _time),
            sequence=fields.required("sequence", _integer),
            previous=fields.required("previous", _integer),
            project_id=fields.required("project_id", _string),
            data=fields.required("data", ReportedData._read),
        )


@dataclass(frozen=True)
class Feedback:
    """The participant and the rating."""

    identity: str
    """Your client_user_id for the person, or an id that the server assigned."""
    name: str
    role: ParticipantRole
    rating: Literal["good", "bad"]

    @classmethod
    def from_json(cls, data: object) -> Feedback:
        """Reads decoded JSON. Raises ValueError, which names the field, if it does not fit."""
        return cls._read(data, "")

    @classmethod
    def _read(cls, value: object, path: str) -> Feedback:
        fields = _Fields(value, path)
        return cls(
            identity=fields.required("identity", _string),
            name=fields.required("name", _string),
            role=fields.required("role", _any_string),
            rating=fields.required("rating", _any_string),
        )


@dataclass(frozen=True)
class FeedbackData:
    """The room, and the participant with the rating."""

    room_id: str
    session_id: str
    """The current session of the room, or the last one if the room is over."""
    room_type: RoomType
    feedback: Feedback
    client_room_id: Optional[str] = None
    """Your own id for the room, if any."""
    start_at: Optional[datetime] = None
    """The start time of a scheduled room."""
    end_reason: Optional[EndReason] = None
    """The reason why the room is over. Present only if it is over."""

    @classmethod
    def from_json(cls, data: object) -> FeedbackData:
        """Reads decoded JSON. Raises ValueError, which names the field, if it does not fit."""
        return cls._read(data, "")

    @classmethod
    def _read(cls, value: object, path: str) -> FeedbackData:
        fields = _Fields(value, path)
        return cls(
            room_id=fields.required("room_id", _string),
            session_id=fields.required("session_id", _string),
            room_type=fields.required("room_type", _any_string),
            feedback=fields.required("feedback", Feedback._read),
            client_room_id=fields.optional("client_room_id", _string),
            start_at=fields.optional("start_at", _time),
            end_reason=fields.optional("end_reason", _any_string),
        )


@dataclass(frozen=True)
class FeedbackGivenEvent:
    """A participant rated the meeting."""

    id: str
    """The id of the event. It is the same in every delivery and list."""
    type: Literal["feedback.given"]
    timestamp: datetime
    """The time of the event, in UTC with millisecond precision."""
    sequence: int
    """The number of the event in the room, or in the project, without gaps."""
    previous: int
    """The sequence of the previous event for this receiver; 0 for the first event. If you do not
    have that event, you have missed it. In a list of a room's events, it is the previous
    event of any type.
    """
    project_id: str
    data: FeedbackData

    @classmethod
    def from_json(cls, data: object) -> FeedbackGivenEvent:
        """Reads decoded JSON. Raises ValueError, which names the field, if it does not fit."""
        return cls._read(data, "")

    @classmethod
    def _read(cls, value: object, path: str) -> FeedbackGivenEvent:
        fields = _Fields(value, path)
        return cls(
            id=fields.required("id", _string),
            type=fields.required("type", _any_string),
            timestamp=fields.required("timestamp", _time),
            sequence=fields.required("sequence", _integer),
            previous=fields.required("previous", _integer),
            project_id=fields.required("project_id", _string),
            data=fields.required("data", FeedbackData._read),
        )


@dataclass(frozen=True)
class ProjectStatusChangedData:
    """The new status of the project."""

    status: ProjectStatus
    suspended: bool
    """Whether the operator has suspended the project."""

    @classmethod
    def from_json(cls, data: object) -> ProjectStatusChangedData:
        """Reads decoded JSON. Raises ValueError, which names the field, if it does not fit."""
        return cls._read(data, "")

    @classmethod
    def _read(cls, value: object, path: str) -> ProjectStatusChangedData:
        fields = _Fields(value, path)
        return cls(
            status=fields.required("status", _any_string),
            suspended=fields.required("suspended", _boolean),
        )


@dataclass(frozen=True)
class ProjectStatusChangedEvent:
    """The project was activated, deactivated, suspended or resumed."""

    id: str
    """The id of the event. It is the same in every delivery and list."""
    type: Literal["project.status_changed"]
    timestamp: datetime
    """The time of the event, in UTC with millisecond precision."""
    sequence: int
    """The number of the event in the room, or in the project, without gaps."""
    previous: int
    """The sequence of the previous event for this receiver; 0 for the first event. If you do not
    have that event, you have missed it. In a list of a room's events, it is the previous
    event of any type.
    """
    project_id: str
    data: ProjectStatusChangedData

    @classmethod
    def from_json(cls, data: object) -> ProjectStatusChangedEvent:
        """Reads decoded JSON. Raises ValueError, which names the field, if it does not fit."""
        return cls._read(data, "")

    @classmethod
    def _read(cls, value: object, path: str) -> ProjectStatusChangedEvent:
        fields = _Fields(value, path)
        return cls(
            id=fields.required("id", _string),
            type=fields.required("type", _any_string),
            timestamp=fields.required("timestamp", _time),
            sequence=fields.required("sequence", _integer),
            previous=fields.required("previous", _integer),
            project_id=fields.required("project_id", _string),
            data=fields.required("data", ProjectStatusChangedData._read),
        )


@dataclass(frozen=True)
class KeyRotatedData:
    """The credential that was rotated."""

    credential: Literal["api_key", "project_secret"]
    """The kind of the rotated credential."""
    overlap_ends_at: datetime
    """The time until which the old credential works."""

    @classmethod
    def from_json(cls, data: object) -> KeyRotatedData:
        """Reads decoded JSON. Raises ValueError, which names the field, if it does not fit."""
        return cls._read(data, "")

    @classmethod
    def _read(cls, value: object, path: str) -> KeyRotatedData:
        fields = _Fields(value, path)
        return cls(
            credential=fields.required("credential", _any_string),
            overlap_ends_at=fields.required("overlap_ends_at", _time),
        )


@dataclass(frozen=True)
class KeyRotatedEvent:
    """A credential was rotated."""

    id: str
    """The id of the event. It is the same in every delivery and list."""
    type: Literal["key.rotated"]
    timestamp: datetime
    """The time of the event, in UTC with millisecond precision."""
    sequence: int
    """The number of the event in the room, or in the project, without gaps."""
    previous: int
    """The sequence of the previous event for this receiver; 0 for the first event. If you do not
    have that event, you have missed it. In a list of a room's events, it is the previous
    event of any type.
    """
    project_id: str
    data: KeyRotatedData

    @classmethod
    def from_json(cls, data: object) -> KeyRotatedEvent:
        """Reads decoded JSON. Raises ValueError, which names the field, if it does not fit."""
        return cls._read(data, "")

    @classmethod
    def _read(cls, value: object, path: str) -> KeyRotatedEvent:
        fields = _Fields(value, path)
        return cls(
            id=fields.required("id", _string),
            type=fields.required("type", _any_string),
            timestamp=fields.required("timestamp", _time),
            sequence=fields.required("sequence", _integer),
            previous=fields.required("previous", _integer),
            project_id=fields.required("project_id", _string),
            data=fields.required("data", KeyRotatedData._read),
        )


@dataclass(frozen=True)
class KeyOverlapEndingData:
    """The credential whose old value stops working soon."""

    credential: Literal["api_key", "project_secret"]
    """The kind of the rotated credential."""
    overlap_ends_at: datetime
    """The time until which the old credential works."""

    @classmethod
    def from_json(cls, data: object) -> KeyOverlapEndingData:
        """Reads decoded JSON. Raises ValueError, which names the field, if it does not fit."""
        return cls._read(data, "")

    @classmethod
    def _read(cls, value: object, path: str) -> KeyOverlapEndingData:
        fields = _Fields(value, path)
        return cls(
            credential=fields.required("credential", _any_string),
            overlap_ends_at=fields.required("overlap_ends_at", _time),
        )


@dataclass(frozen=True)
class KeyOverlapEndingEvent:
    """The old credential stops working soon."""

    id: str
    """The id of the event. It is the same in every delivery and list."""
    type: Literal["key.overlap_ending"]
    timestamp: datetime
    """The time of the event, in UTC with millisecond precision."""
    sequence: int
    """The number of the event in the room, or in the project, without gaps."""
    previous: int
    """The sequence of the previous event for this receiver; 0 for the first event. If you do not
    have that event, you have missed it. In a list of a room's events, it is the previous
    event of any type.
    """
    project_id: str
    data: KeyOverlapEndingData

    @classmethod
    def from_json(cls, data: object) -> KeyOverlapEndingEvent:
        """Reads decoded JSON. Raises ValueError, which names the field, if it does not fit."""
        return cls._read(data, "")

    @classmethod
    def _read(cls, value: object, path: str) -> KeyOverlapEndingEvent:
        fields = _Fields(value, path)
        return cls(
            id=fields.required("id", _string),
            type=fields.required("type", _any_string),
            timestamp=fields.required("timestamp", _time),
            sequence=fields.required("sequence", _integer),
            previous=fields.required("previous", _integer),
            project_id=fields.required("project_id", _string),
            data=fields.required("data", KeyOverlapEndingData._read),
        )


@dataclass(frozen=True)
class WebhookTestEvent:
    """An operator requested a test."""

    id: str
    """The id of the event. It is the same in every delivery and list."""
    type: Literal["webhook.test"]
    timestamp: datetime
    """The time of the event, in UTC with millisecond precision."""
    sequence: int
    """The number of the event in the room, or in the project, without gaps."""
    previous: int
    """The sequence of the previous event for this receiver; 0 for the first event. If you do not
    have that event, you have missed it. In a list of a room's events, it is the previous
    event of any type.
    """
    project_id: str
    data: Dict[str, Any]

    @classmethod
    def from_json(cls, data: object) -> WebhookTestEvent:
        """Reads decoded JSON. Raises ValueError, which names the field, if it does not fit."""
        return cls._read(data, "")

    @classmethod
    def _read(cls, value: object, path: str) -> WebhookTestEvent:
        fields = _Fields(value, path)
        return cls(
            id=fields.required("id", _string),
            type=fields.required("type", _any_string),
            timestamp=fields.required("timestamp", _time),
            sequence=fields.required("sequence", _integer),
            previous=fields.required("previous", _integer),
            project_id=fields.required("project_id", _string),
            data=fields.required("data", _object),
        )


class _CreateScheduledRoomV3RequestRequired(TypedDict):
    start_at: str
    """An ISO 8601 calendar date and time with `T`, at least to the minute; seconds and fractions
    are allowed. With `Z` or an offset it is that instant, otherwise a local time of the
    server's scheduling zone. The zone is UTC unless the operator has set another one. No call
    names it: ask the operator, or send an offset. The time must be in the future (60 seconds
    are tolerated) and at most 366 days ahead. A local time that daylight saving skips is
    rejected; one that occurs twice means the first.
    """
    max_participants: int
    """From 1 to the limit of the plan, at most 1000."""
    empty_timeout: int
    """Seconds that the room may stay empty after the last participant leaves. 0 means the
    project's default (300).
    """
    metadata: RoomMetadata


class CreateScheduledRoomV3Request(_CreateScheduledRoomV3RequestRequired, total=False):
    """A room that opens at its start time, in version 3. The SDK adds the project_id."""

    client_room_id: Optional[str]
    """Your own id for the room. It is unique in the project and can never be reused."""


@dataclass(frozen=True)
class CurrentKey:
    """The API key in use."""

    id: str
    api_key: str
    """The prefix of the key and five more characters, `…` and the last four."""
    status: Literal["active"]
    signing_profile: Literal["SVC-HMAC-V5-1"]
    created_at: datetime
    last_used_at: Optional[datetime] = None
    """The time of the last authenticated call of any version with this key, including this one."""

    @classmethod
    def from_json(cls, data: object) -> CurrentKey:
        """Reads decoded JSON. Raises ValueError, which names the field, if it does not fit."""
        return cls._read(data, "")

    @classmethod
    def _read(cls, value: object, path: str) -> CurrentKey:
        fields = _Fields(value, path)
        return cls(
            id=fields.required("id", _string),
            api_key=fields.required("api_key", _string),
            status=fields.required("status", _any_string),
            signing_profile=fields.required("signing_profile", _any_string),
            created_at=fields.required("created_at", _time),
            last_used_at=fields.optional("last_used_at", _time),
        )


@dataclass(frozen=True)
class OverlapKey:
    """The previous API key, which works until the overlap of a rotation ends."""

    id: str
    api_key: str
    status: Literal["retiring"]
    retiring_since: datetime
    overlap_ends_at: datetime
    requests_since_rotation: int
    """The number of authenticated calls of any version with this key since the rotation. While
    it rises, a client still uses the old key.
    """
    last_used_at: Optional[datetime] = None

    @classmethod
    def from_json(cls, data: object) -> OverlapKey:
        """Reads decoded JSON. Raises ValueError, which names the field, if it does not fit."""
        return cls._read(data, "")

    @classmethod
    def _read(cls, value: object, path: str) -> OverlapKey:
        fields = _Fields(value, path)
        return cls(
            id=fields.required("id", _string),
            api_key=fields.required("api_key", _string),
            status=fields.required("status", _any_string),
            retiring_since=fields.required("retiring_since", _time),
            overlap_ends_at=fields.required("overlap_ends_at", _time),
            requests_since_rotation=fields.required("requests_since_rotation", _integer),
            last_used_at=fields.optional("last_used_at", _time),
        )


@dataclass(frozen=True)
class Keys:
    """The API keys of the project."""

    current: CurrentKey
    overlap: Optional[OverlapKey] = None
    """The previous key during the overlap of a rotation, otherwise null."""
    request_id: str = ""
    """Identifies this request, from a response header. Quote it to support."""
    requests_used: Optional[int] = None
    """The number of correctly signed version 5 calls of the organization on this UTC day,
    including this one, from the header X-Gateway-Requests-Used. It is null if the server does
    not know it.
    """

    @classmethod
    def from_json(
        cls,
        data: object,
        *,
        request_id: str = "",
        requests_used: Optional[int] = None,
    ) -> Keys:
        """Reads decoded JSON. Raises ValueError, which names the field, if it does not fit."""
        return replace(cls._read(data, ""), request_id=request_id, requests_used=requests_used)

    @classmethod
    def _read(cls, value: object, path: str) -> Keys:
        fields = _Fields(value, path)
        return cls(
            current=fields.required("current", CurrentKey._read),
            overlap=fields.optional("overlap", OverlapKey._read),
        )


@dataclass(frozen=True)
class UsagePeriod:
    """The calendar month."""

    start: datetime
    end: datetime
    """The start of the next period."""

    @classmethod
    def from_json(cls, data: object) -> UsagePeriod:
        """Reads decoded JSON. Raises ValueError, which names the field, if it does not fit."""
        return cls._read(data, "")

    @classmethod
    def _read(cls, value: object, path: str) -> UsagePeriod:
        fields = _Fields(value, path)
        return cls(
            start=fields.required("start", _time),
            end=fields.required("end", _time),
        )


@dataclass(frozen=True)
class UsageTotals:
    """The sums of the month."""

    participant_minutes: float
    """Rounded to two decimals."""
    audio_participant_minutes: float
    """Rounded to two decimals."""
    video_participant_minutes: float
    """Rounded to two decimals."""
    rooms_created: int
    sessions: int
    """The number of started sessions."""
    peak_concurrent_participants: int

    @classmethod
    def from_json(cls, data: object) -> UsageTotals:
        """Reads decoded JSON. Raises ValueError, which names the field, if it does not fit."""
        return cls._read(data, "")

    @classmethod
    def _read(cls, value: object, path: str) -> UsageTotals:
        fields = _Fields(value, path)
        return cls(
            participant_minutes=fields.required("participant_minutes", _number),
            audio_participant_minutes=fields.required("audio_participant_minutes", _number),
            video_participant_minutes=fields.required("video_participant_minutes", _number),
            rooms_created=fields.required("rooms_created", _integer),
            sessions=fields.required("sessions", _integer),
            peak_concurrent_participants=fields.required("peak_concurrent_participants", _integer),
        )


@dataclass(frozen=True)
class PlanMinutes:
    """Participant minutes. Without `value` if the number is unknown."""

    availability: Availability
    value: Optional[float] = None
    """Rounded to two decimals."""

    @classmethod
    def from_json(cls, data: object) -> PlanMinutes:
        """Reads decoded JSON. Raises ValueError, which names the field, if it does not fit."""
        return cls._read(data, "")

    @classmethod
    def _read(cls, value: object, path: str) -> PlanMinutes:
        fields = _Fields(value, path)
        return cls(
            availability=fields.required("availability", _any_string),
            value=fields.optional("value", _number),
        )


@dataclass(frozen=True)
class PlanUsage:
    """The usage of the plan. Only `availability` if no plan provider knows the plan."""

    availability: Availability
    name: Optional[str] = None
    included_minutes: Optional[PlanMinutes] = None
    used_minutes: Optional[PlanMinutes] = None
    remaining_minutes: Optional[PlanMinutes] = None

    @classmethod
    def from_json(cls, data: object) -> PlanUsage:
        """Reads decoded JSON. Raises ValueError, which names the field, if it does not fit."""
        return cls._read(data, "")

    @classmethod
    def _read(cls, value: object, path: str) -> PlanUsage:
        fields = _Fields(value, path)
        return cls(
            availability=fields.required("availability", _any_string),
            name=fields.optional("name", _string),
            included_minutes=fields.optional("included_minutes", PlanMinutes._read),
            used_minutes=fields.optional("used_minutes", PlanMinutes._read),
            remaining_minutes=fields.optional("remaining_minutes", PlanMinutes._read),
        )


@dataclass(frozen=True)
class PayAsYouGo:
    """Only for organizations that pay as they go. Only `availability` while no price is set.
    `amount_due` is exactly `unit_price` times `participant_minutes`.
    """

    availability: Availability
    currency: Optional[str] = None
    unit: Optional[Literal["participant_minute"]] = None
    unit_price: Optional[str] = None
    amount_due: Optional[str] = None

    @classmethod
    def from_json(cls, data: object) -> PayAsYouGo:
        """Reads decoded JSON. Raises ValueError, which names the field, if it does not fit."""
        return cls._read(data, "")

    @classmethod
    def _read(cls, value: object, path: str) -> PayAsYouGo:
        fields = _Fields(value, path)
        return cls(
            availability=fields.required("availability", _any_string),
            currency=fields.optional("currency", _string),
            unit=fields.optional("unit", _any_string),
            unit_price=fields.optional("unit_price", _string),
            amount_due=fields.optional("amount_due", _string),
        )


@dataclass(frozen=True)
class Usage:
    """The usage in the current calendar month (UTC): of all projects of the organization but
    test projects, or of the test project.
    """

    organization_id: str
    billing_model: Literal["plan", "payg"]
    period: UsagePeriod
    as_of: datetime
    totals: UsageTotals
    plan: PlanUsage
    test: Optional[bool] = None
    """Present and true for a key of a test project: the totals are those of this project, which
    costs nothing. The totals of an organization do not contain those of its test projects.
    """
    pay_as_you_go: Optional[PayAsYouGo] = None
    request_id: str = ""
    """Identifies this request, from a response header. Quote it to support."""
    requests_used: Optional[int] = None
    """The number of correctly signed version 5 calls of the organization on this UTC day,
    including this one, from the header X-Gateway-Requests-Used. It is null if the server does
    not know it.
    """

    @classmethod
    def from_json(
        cls,
        data: object,
        *,
        request_id: str = "",
        requests_used: Optional[int] = None,
    ) -> Usage:
        """Reads decoded JSON. Raises ValueError, which names the field, if it does not fit."""
        return replace(cls._read(data, ""), request_id=request_id, requests_used=requests_used)

    @classmethod
    def _read(cls, value: object, path: str) -> Usage:
        fields = _Fields(value, path)
        return cls(
            organization_id=fields.required("organization_id", _string),
            billing_model=fields.required("billing_model", _any_string),
            period=fields.required("period", UsagePeriod._read),
            as_of=fields.required("as_of", _time),
            totals=fields.required("totals", UsageTotals._read),
            plan=fields.required("plan", PlanUsage._read),
            test=fields.optional("test", _boolean),
            pay_as_you_go=fields.optional("pay_as_you_go", PayAsYouGo._read),
        )


@dataclass(frozen=True)
class Entitlement:
    """One entitlement of the plan."""

    key: Literal["max_participants", "room_duration", "breakout_rooms"]
    value: int
    unit: Literal["participants", "minutes", "rooms"]
    scope: Literal["room"]
    source: str
    """`plan:` and the plan's name."""
    availability: Availability

    @classmethod
    def from_json(cls, data: object) -> Entitlement:
        """Reads decoded JSON. Raises ValueError, which names the field, if it does not fit."""
        return cls._read(data, "")

    @classmethod
    def _read(cls, value: object, path: str) -> Entitlement:
        fields = _Fields(value, path)
        return cls(
            key=fields.required("key", _any_string),
            value=fields.required("value", _integer),
            unit=fields.required("unit", _any_string),
            scope=fields.required("scope", _any_string),
            source=fields.required("source", _string),
            availability=fields.required("availability", _any_string),
        )


@dataclass(frozen=True)
class Limits:
    """The entitlements of the organization's plan."""

    availability: Availability
    entitlements: List[Entitlement]
    request_id: str = ""
    """Identifies this request, from a response header. Quote it to support."""
    requests_used: Optional[int] = None
    """The number of correctly signed version 5 calls of the organization on this UTC day,
    including this one, from the header X-Gateway-Requests-Used. It is null if the server does
    not know it.
    """

    @classmethod
    def from_json(
        cls,
        data: object,
        *,
        request_id: str = "",
        requests_used: Optional[int] = None,
    ) -> Limits:
        """Reads decoded JSON. Raises ValueError, which names the field, if it does not fit."""
        return replace(cls._read(data, ""), request_id=request_id, requests_used=requests_used)

    @classmethod
    def _read(cls, value: object, path: str) -> Limits:
        fields = _Fields(value, path)
        return cls(
            availability=fields.required("availability", _any_string),
            entitlements=fields.required("entitlements", _list_of(Entitlement._read)),
        )


@dataclass(frozen=True)
class LoggedRequest:
    """A call in the request log."""

    request_id: str
    received_at: datetime
    method: str
    path: str
    """The path without the query."""
    status: int
    duration_ms: float
    key_slot: Literal["current", "overlap", "retired"]
    auth_result: Literal["ok", "stale_timestamp", "retired_key", "bad_signature"]
    code: Optional[str] = None
    """Null on success."""
    hint: Optional[str] = None
    """A mistake that the server recognized."""
    clock_skew_seconds: Optional[int] = None
    """The client's clock minus the server's clock, in seconds. Null if the timestamp is not a
    number.
    """
    user_agent: Optional[str] = None

    @classmethod
    def from_json(cls, data: object) -> LoggedRequest:
        """Reads decoded JSON. Raises ValueError, which names the field, if it does not fit."""
        return cls._read(data, "")

    @classmethod
    def _read(cls, value: object, path: str) -> LoggedRequest:
        fields = _Fields(value, path)
        return cls(
            request_id=fields.required("request_id", _string),
            received_at=fields.required("received_at", _time),
            method=fields.required("method", _string),
            path=fields.required("path", _string),
            status=fields.required("status", _integer),
            duration_ms=fields.required("duration_ms", _number),
            key_slot=fields.required("key_slot", _any_string),
            auth_result=fields.required("auth_result", _any_string),
            code=fields.optional("code", _string),
            hint=fields.optional("hint", _string),
            clock_skew_seconds=fields.optional("clock_skew_seconds", _integer),
            user_agent=fields.optional("user_agent", _string),
        )


@dataclass(frozen=True)
class RequestList:
    """One page of the request log, the newest first."""

    availability: Availability
    items: List[LoggedRequest]
    next_cursor: Optional[str] = None
    """Present if there are more calls."""
    request_id: str = ""
    """Identifies this request, from a response header. Quote it to support."""
    requests_used: Optional[int] = None
    """The number of correctly signed version 5 calls of the organization on this UTC day,
    including this one, from the header X-Gateway-Requests-Used. It is null if the server does
    not know it.
    """

    @classmethod
    def from_json(
        cls,
        data: object,
        *,
        request_id: str = "",
        requests_used: Optional[int] = None,
    ) -> RequestList:
        """Reads decoded JSON. Raises ValueError, which names the field, if it does not fit."""
        return replace(cls._read(data, ""), request_id=request_id, requests_used=requests_used)

    @classmethod
    def _read(cls, value: object, path: str) -> RequestList:
        fields = _Fields(value, path)
        return cls(
            availability=fields.required("availability", _any_string),
            items=fields.required("items", _list_of(LoggedRequest._read)),
            next_cursor=fields.optional("next_cursor", _string),
        )


@dataclass(frozen=True)
class UnknownEvent:
    """An event of a type that this version of the SDK does not know."""

    type: str
    id: str = ""
    """The id of the event. It is the same in every delivery and list."""
    timestamp: Optional[datetime] = None
    """The time of the event, in UTC with millisecond precision."""
    sequence: Optional[int] = None
    """The number of the event in the room, or in the project, without gaps."""
    previous: Optional[int] = None
    """The sequence of the previous event for this receiver; 0 for the first event."""
    project_id: str = ""
    data: Dict[str, Any] = field(default_factory=dict)
    """The content of the event, as it was received."""

    @classmethod
    def from_json(cls, data: object) -> UnknownEvent:
        """Reads decoded JSON. Raises ValueError, which names the field, if it does not fit."""
        return cls._read(data, "")

    @classmethod
    def _read(cls, value: object, path: str) -> UnknownEvent:
        fields = _Fields(value, path)
        return cls(
            type=fields.required("type", _string),
            id=fields.optional("id", _string) or "",
            timestamp=fields.optional("timestamp", _time),
            sequence=fields.optional("sequence", _integer),
            previous=fields.optional("previous", _integer),
            project_id=fields.optional("project_id", _string) or "",
            data=fields.optional("data", _object) or {},
        )


Event = Union[
    RoomScheduledEvent,
    RoomOpenedEvent,
    RoomStartedEvent,
    RoomEndedEvent,
    RoomCancelledEvent,
    RoomExpiredEvent,
    ParticipantJoinedEvent,
    ParticipantLeftEvent,
    ParticipantJoinFailedEvent,
    ParticipantReportedEvent,
    FeedbackGivenEvent,
    ProjectStatusChangedEvent,
    KeyRotatedEvent,
    KeyOverlapEndingEvent,
    WebhookTestEvent,
    UnknownEvent,
]
"""An event, which a webhook delivers or the list of a room's events contains."""

_EVENTS: Dict[str, _Reader[Event]] = {
    "room.scheduled": RoomScheduledEvent._read,
    "room.opened": RoomOpenedEvent._read,
    "room.started": RoomStartedEvent._read,
    "room.ended": RoomEndedEvent._read,
    "room.cancelled": RoomCancelledEvent._read,
    "room.expired": RoomExpiredEvent._read,
    "participant.joined": ParticipantJoinedEvent._read,
    "participant.left": ParticipantLeftEvent._read,
    "participant.join_failed": ParticipantJoinFailedEvent._read,
    "participant.reported": ParticipantReportedEvent._read,
    "feedback.given": FeedbackGivenEvent._read,
    "project.status_changed": ProjectStatusChangedEvent._read,
    "key.rotated": KeyRotatedEvent._read,
    "key.overlap_ending": KeyOverlapEndingEvent._read,
    "webhook.test": WebhookTestEvent._read,
}


def _event(value: object, path: str) -> Event:
    kind = _Fields(value, path).required("type", _string)
    return _EVENTS.get(kind, UnknownEvent._read)(value, path)


def parse_event(data: object) -> Event:
    """Returns the event in the decoded body of a webhook.

    An event of a type that this version of the SDK does not know is an UnknownEvent.
    Raises ValueError, which names the field, if the body is not an event.
    """
    return _event(data, "")


__all__ = [
    "ActiveRoom",
    "ActiveRooms",
    "AnalyticsResponse",
    "AttendeeInfo",
    "Availability",
    "BreakoutRoomFeatures",
    "CreateQuickRoomRequest",
    "CreateScheduledRoomRequest",
    "CreateScheduledRoomV3Request",
    "CurrentKey",
    "EndReason",
    "EndRoomRequest",
    "EndRoomResult",
    "EndedRoomData",
    "Entitlement",
    "Event",
    "EventFormerParticipant",
    "EventParticipant",
    "Feedback",
    "FeedbackData",
    "FeedbackGivenEvent",
    "InvitationLink",
    "InvitationLinkRequest",
    "JoinEventReceived",
    "JoinEventRequest",
    "JoinEventUserInfo",
    "JoinFailedData",
    "JoinFailedPerson",
    "JoinRoomRequest",
    "JoinRoomUserInfo",
    "JoinedData",
    "KeyOverlapEndingData",
    "KeyOverlapEndingEvent",
    "KeyRotatedData",
    "KeyRotatedEvent",
    "Keys",
    "LeaveReason",
    "LeftData",
    "Limits",
    "ListedRoom",
    "LoggedRequest",
    "MeetingSimulated",
    "MeetingSimulation",
    "OpenedRoomData",
    "OverlapKey",
    "ParticipantInfo",
    "ParticipantJoinFailedEvent",
    "ParticipantJoinedEvent",
    "ParticipantLeftEvent",
    "ParticipantMetadata",
    "ParticipantPermission",
    "ParticipantReportedEvent",
    "ParticipantRole",
    "PastRoom",
    "PastRooms",
    "PastRoomsRequest",
    "PayAsYouGo",
    "PersonalLink",
    "PlanMinutes",
    "PlanUsage",
    "PlannedRoomData",
    "ProjectStatus",
    "ProjectStatusChangedData",
    "ProjectStatusChangedEvent",
    "ProjectStatusRequest",
    "ProjectStatusUpdated",
    "QuickRoomCreated",
    "ReportedAttendee",
    "ReportedData",
    "ReportedPerson",
    "RequestList",
    "RescheduleRoomMetadata",
    "RescheduleRoomRequest",
    "RoomCancelledEvent",
    "RoomData",
    "RoomEndedEvent",
    "RoomEventsResponse",
    "RoomExpiredEvent",
    "RoomFeatures",
    "RoomInfo",
    "RoomList",
    "RoomMetadata",
    "RoomOpenedEvent",
    "RoomScheduledEvent",
    "RoomStartedEvent",
    "RoomState",
    "RoomStatus",
    "RoomType",
    "ScheduledRoomCreated",
    "ScheduledRoomStarted",
    "SimulatedPerson",
    "StartScheduledRoomRequest",
    "UnknownEvent",
    "Usage",
    "UsagePeriod",
    "UsageTotals",
    "WebhookTestEvent",
    "parse_event",
]
