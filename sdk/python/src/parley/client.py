"""The client for programs without asyncio."""

from __future__ import annotations

import ssl
from types import TracebackType
from typing import Optional, Type

from ._attendance import Attendance
from ._core import Core
from ._creations import Creations
from ._credentials import Credentials
from ._gateway import Gateway
from ._meetings import Meetings
from ._projects import Projects
from ._settings import (
    DEFAULT_MAX_ATTEMPTS,
    DEFAULT_TIMEOUT,
    DEFAULT_VERSION,
    checked_base_url,
    checked_max_attempts,
    checked_seconds,
    checked_user_agent,
    checked_version,
    environment_arguments,
)


class Parley(Creations, Meetings, Attendance, Projects, Gateway):
    """A client of one project on a Parley server.

    It signs requests, repeats them when this is safe, and corrects its clock. Several threads can use it at the same
    time. Create one and keep it, because it keeps connections. All calls raise subclasses of
    :class:`~parley.ParleyError`.
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
        """Check the arguments; :class:`~parley.InvalidArgumentError` names a wrong one and never a secret.

        ``base_url`` is a scheme and a host, such as ``https://meet.example.org``. Use http on trusted networks only.

        The credentials are the texts that the server shows to the owner of the project. All are optional. Creations
        and the status of the project need ``project_id`` and ``project_secret`` (or ``api_key``), join events and
        signed links need ``project_secret``, and all other calls need ``api_key`` and ``gateway_secret``. A call
        without its credential is a :class:`~parley.MissingCredentialError` and sends nothing.

        ``timeout`` is the limit of each attempt and ``deadline`` that of a whole call with all its attempts and
        waits, both in seconds. Without ``deadline``, a call has no limit of its own. ``max_attempts`` is at least 1.
        ``version``, 3 or 4, is the version of the routes that both versions have. ``ssl_context`` is for servers
        with a certificate of your own authority.
        """
        self._base_url = checked_base_url(base_url)
        self._version = checked_version(version)
        self._core = Core(
            self._base_url,
            Credentials(project_id, project_secret, api_key, gateway_secret),
            timeout=checked_seconds("timeout", timeout),
            deadline=None if deadline is None else checked_seconds("deadline", deadline),
            max_attempts=checked_max_attempts(max_attempts),
            user_agent=checked_user_agent(user_agent),
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
    ) -> Parley:
        """Return a client with the settings of environment variables.

        They are ``PARLEY_URL``, ``PARLEY_PROJECT_ID``, ``PARLEY_PROJECT_SECRET``, ``PARLEY_API_KEY`` and
        ``PARLEY_GATEWAY_SECRET``. Only ``PARLEY_URL`` must be set.
        """
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
        """How many seconds the clock of the server is ahead of ours; 0 before the first response."""
        return self._core.clock.offset

    def close(self) -> None:
        """Close the connections that no call uses. The client can still be used."""
        self._core.close()

    def __enter__(self) -> Parley:
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Parley client of {self._base_url}, project {self._core.credentials.project_id!r}>"
