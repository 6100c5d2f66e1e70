"""Calls of version 5, which read keys, usage, limits and recent requests, and the descriptions of the API."""

from __future__ import annotations

from typing import Iterator, Literal, Optional

from ._base import ClientBase
from ._generated import Keys, Limits, LoggedRequest, RequestList, Usage
from ._requests import Request, Signature, whole_number
from .errors import InvalidArgumentError

_DESCRIPTIONS = {3: "/api/v3/openapi.yaml", 4: "/api/v4/openapi.yaml", 5: "/api/v5/openapi.json"}


class Gateway(ClientBase):
    """Calls of version 5, and the descriptions of the API. They are repeated after a failure."""

    def keys(self) -> Keys:
        """Return the API keys of the project. Keys are masked, and the response contains no secret."""
        result = self._get("/api/v5/keys")
        return result.read(
            lambda body: Keys.from_json(
                body.get("data"), request_id=result.request_id, requests_used=result.requests_used
            )
        )

    def usage(self) -> Usage:
        """Return the usage of the organization, or of the test project, in the current calendar month (UTC)."""
        result = self._get("/api/v5/usage")
        return result.read(
            lambda body: Usage.from_json(
                body.get("data"), request_id=result.request_id, requests_used=result.requests_used
            )
        )

    def limits(self) -> Limits:
        """Return the entitlements of the organization."""
        result = self._get("/api/v5/limits")
        return result.read(
            lambda body: Limits.from_json(
                body.get("data"), request_id=result.request_id, requests_used=result.requests_used
            )
        )

    def requests(self, *, limit: Optional[int] = None) -> Iterator[LoggedRequest]:
        """Return the recent version 5 calls of the project, the newest first.

        A refused call is listed with its true cause if it named a key of the project. ``limit`` is the size of a
        page: 50 by default, and a value above 100 means 100. The iterator reads pages when they are needed. It ends
        with the first error.
        """
        for page in self._request_pages(limit):
            yield from page

    def openapi(self, *, version: Literal[3, 4, 5]) -> str:
        """Return the OpenAPI description of a version: YAML for 3 and 4, JSON for 5. It needs no credentials."""
        if version not in _DESCRIPTIONS:
            raise InvalidArgumentError("version must be 3, 4 or 5")
        request = Request("GET", _DESCRIPTIONS[version], Signature.NONE, repeatable=True)
        return self._core.send(request).document()

    def _request_pages(self, limit: Optional[int]) -> Iterator[list[LoggedRequest]]:
        if limit is not None:
            whole_number("limit", limit, 1)
        cursor: Optional[str] = None
        while True:
            result = self._get("/api/v5/requests", {"limit": limit, "cursor": cursor})
            page = result.read(lambda body: RequestList.from_json(body.get("data")))
            yield page.items
            if not page.next_cursor:
                return
            if page.next_cursor == cursor:
                raise result.unexpected("next_cursor is the cursor of the same page")
            cursor = page.next_cursor
