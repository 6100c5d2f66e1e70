"""Client of Parley, a self-hosted service for video and audio rooms."""

from __future__ import annotations

from . import signing, webhooks
from ._generated import *  # noqa: F403
from ._generated import __all__ as _types
from ._version import __version__
from .aio import AsyncParley
from .client import Parley
from .errors import (
    ConflictError,
    ConnectionFailedError,
    ForbiddenError,
    GoneError,
    InvalidArgumentError,
    InvalidRequestError,
    InvalidSignatureError,
    MissingCredentialError,
    NotFoundError,
    ParleyError,
    RateLimitedError,
    ServerError,
    UnauthorizedError,
    UnavailableError,
    UnexpectedResponseError,
)

__all__ = [
    "AsyncParley",
    "ConflictError",
    "ConnectionFailedError",
    "ForbiddenError",
    "GoneError",
    "InvalidArgumentError",
    "InvalidRequestError",
    "InvalidSignatureError",
    "MissingCredentialError",
    "NotFoundError",
    "Parley",
    "ParleyError",
    "RateLimitedError",
    "ServerError",
    "UnauthorizedError",
    "UnavailableError",
    "UnexpectedResponseError",
    "__version__",
    "signing",
    "webhooks",
]
__all__ += _types
