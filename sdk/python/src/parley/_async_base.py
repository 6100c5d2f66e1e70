"""What the groups of async calls share."""

from __future__ import annotations

from .client import Parley


class AsyncBase:
    """Base class of the groups of async calls."""

    _sync: Parley
