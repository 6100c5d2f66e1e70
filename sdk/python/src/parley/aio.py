"""The client for programs with asyncio."""

from __future__ import annotations

import ssl
from types import TracebackType
from typing import Optional, Type

from ._async_creations import AsyncCreations
from ._async_meetings import AsyncMeetings, AsyncProjects
from ._async_reads import AsyncAttendance, AsyncGateway
from ._settings import DEFAULT_MAX_ATTEMPTS, DEFAULT_TIMEOUT, DEFAULT_VERSION, environment_arguments
from .client import Parley


class AsyncParley(AsyncCreations, AsyncMeetings, AsyncAttendance, AsyncProjects, AsyncGateway):
    """The calls of :class:`parley.Parley` for asyncio.

    The standard library has no async HTTP client. Therefore each call runs in a thread of the default executor of the
    event loop (:func:`asyncio.to_thread`), and as many calls run at the same time as that executor has threads.

    If the task is canceled, it stops waiting at once. A thread cannot be interrupted: it finishes the attempt in
    progress, for at most ``timeout`` seconds, and makes no further attempt. The attempt can still take effect on the
    server.
    """

    def __init__(
        self,
        base_url: str,
        *,
        project_id: Optional[str] = None,
        project_secret: Optional[str] = None,
        api_key: Optional[str] = None,
        gateway_secret: Optional[str] = None,
        timeout: float = DEFAULT_TIMEOUT,
        deadline: Optional[float] = None,
        max_attempts: int = DEFAULT_MAX_ATTEMPTS,
        version: int = DEFAULT_VERSION,
        user_agent: Optional[str] = None,
        ssl_context: Optional[ssl.SSLContext] = None,
    ) -> None:
        """Check the arguments, which are those of :class:`parley.Parley`."""
        self._sync = Parley(
            base_url,
            project_id=project_id,
            project_secret=project_secret,
            api_key=api_key,
            gateway_secret=gateway_secret,
            timeout=timeout,
            deadline=deadline,
            max_attempts=max_attempts,
            version=version,
            user_agent=user_agent,
            ssl_context=ssl_context,
        )

    @classmethod
    def from_environment(
        cls,
        *,
        timeout: float = DEFAULT_TIMEOUT,
        deadline: Optional[float] = None,
        max_attempts: int = DEFAULT_MAX_ATTEMPTS,
        version: int = DEFAULT_VERSION,
        user_agent: Optional[str] = None,
        ssl_context: Optional[ssl.SSLContext] = None,
    ) -> AsyncParley:
        """As :meth:`parley.Parley.from_environment`."""
        return cls(
            **environment_arguments(),
            timeout=timeout,
            deadline=deadline,
            max_attempts=max_attempts,
            version=version,
            user_agent=user_agent,
            ssl_context=ssl_context,
        )

    @property
    def clock_offset(self) -> float:
        """As :attr:`parley.Parley.clock_offset`."""
        return self._sync.clock_offset

    async def close(self) -> None:
        """As :meth:`parley.Parley.close`."""
        self._sync.close()

    async def __aenter__(self) -> AsyncParley:
        return self

    async def __aexit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return repr(self._sync).replace("<Parley", "<AsyncParley", 1)
