"""What the groups of calls share."""

from __future__ import annotations

from typing import Any, Mapping, Optional

from ._core import Core
from ._generated import ScheduledRoomCreated
from ._requests import Request, Signature, encode, query, required_text
from ._responses import Result
from ._settings import checked_idempotency_key


class ClientBase:
    """Base class of the groups of calls."""

    _base_url: str
    _core: Core
    _version: int

    def _create(self, version: int, route: str, fields: Mapping[str, Any], idempotency_key: Optional[str]) -> Result:
        """Send a creation. It is repeated only if the server can recognize the repetition."""
        key = checked_idempotency_key(idempotency_key)
        has_client_room_id = bool(fields.get("client_room_id"))
        body = encode({"project_id": self._core.credentials.project_id, **fields})
        return self._core.send(
            Request(
                "POST",
                f"/api/v{version}/rooms/{route}",
                Signature.BODY,
                body,
                idempotency_key=key,
                has_client_room_id=has_client_room_id,
                repeatable=key != "" or has_client_room_id,
            )
        )

    def _post(
        self, route: str, fields: Mapping[str, Any], *, idempotency_key: Optional[str] = None, repeatable: bool = False
    ) -> Result:
        """Send a POST that is signed with the Gateway secret. A ``room_id`` among the fields must not be empty."""
        if "room_id" in fields:
            required_text("room_id", fields["room_id"])
        key = checked_idempotency_key(idempotency_key)
        return self._core.send(
            Request(
                "POST",
                f"/api/v{self._version}/rooms/{route}",
                Signature.GATEWAY,
                encode(fields),
                idempotency_key=key,
                repeatable=repeatable or key != "",
            )
        )

    def _get(self, path: str, parameters: Optional[Mapping[str, Any]] = None) -> Result:
        """Send a GET that is signed with the Gateway secret."""
        return self._core.send(Request("GET", path + query(parameters or {}), Signature.GATEWAY, repeatable=True))


def scheduled_room(result: Result) -> ScheduledRoomCreated:
    """Return the scheduled room in a response."""
    return result.read(
        lambda body: ScheduledRoomCreated.from_json(
            body,
            request_id=result.request_id,
            ignored_fields=result.names("X-Ignored-Fields"),
            features_adjusted=result.names("X-Feature-Adjusted"),
        )
    )
