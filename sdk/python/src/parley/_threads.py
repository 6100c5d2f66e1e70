"""Running the synchronous client in threads."""

from __future__ import annotations

import asyncio
import threading
from typing import Any, AsyncIterator, Callable, Iterator, List, Optional, TypeVar

from ._core import abandoned

_T = TypeVar("_T")


async def in_thread(function: Callable[..., _T], *arguments: Any, **options: Any) -> _T:
    """Call a function in a thread. If the task is canceled, the call ends after its attempt in progress."""
    event = threading.Event()
    token = abandoned.set(event)  # asyncio.to_thread copies the context
    try:
        return await asyncio.to_thread(function, *arguments, **options)
    finally:
        event.set()
        abandoned.reset(token)


async def items(pages: Iterator[List[_T]]) -> AsyncIterator[_T]:
    """Return the items of pages, each of which is read in a thread."""
    while True:
        page: Optional[List[_T]] = await in_thread(next, pages, None)
        if page is None:
            return
        for item in page:
            yield item
