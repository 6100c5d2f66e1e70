"""Calls about the project, and join events of other systems."""

from __future__ import annotations

from ._base import ClientBase
from ._generated import JoinEventReceived, ProjectStatus, ProjectStatusUpdated
from ._requests import Request, Signature, encode, path_segment, query

# The server treats the same join event within a minute as the same join. The other half of the minute is for the last
# attempt to arrive.
_JOIN_EVENT_WINDOW = 30.0


class Projects(ClientBase):
    """Calls about the project, and join events of other systems."""

    def update_project_status(self, *, status: ProjectStatus) -> ProjectStatusUpdated:
        """Activate or deactivate the project: ``status`` is ``active`` or ``inactive``.

        An inactive project accepts no new rooms and no new joins. Running rooms continue.
        """
        project = query({"project_id": self._core.credentials.project_id})
        result = self._core.send(
            Request(
                "PUT",
                f"/api/v4/projects/update_project_status{project}",
                Signature.BODY,
                encode({"status": status}),
                repeatable=True,
            )
        )
        return result.read(lambda body: ProjectStatusUpdated.from_json(body, request_id=result.request_id))

    def send_join_event(self, *, room_id: str, name: str) -> JoinEventReceived:
        """Report that a person joined a room in another system. The event grants no access and takes no seat.

        The call needs the project secret. It is repeated after a failure for 30 seconds, because the server treats
        the same event within a minute as the same join.
        """
        segment = path_segment("room_id", room_id)
        result = self._core.send(
            Request(
                "POST",
                f"/api/v4/webhook/get_room_events/{segment}",
                Signature.JOIN_EVENT,
                encode({"room_id": room_id, "user_info": {"name": name}}),
                repeatable=True,
                retry_window=_JOIN_EVENT_WINDOW,
            )
        )
        received = result.read(lambda body: JoinEventReceived.from_json(body, request_id=result.request_id))
        if not received.joined:
            raise result.unexpected("the response is not as documented: joined is not true")
        return received
