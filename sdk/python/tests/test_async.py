import asyncio
import inspect
import threading
import time
import unittest
from typing import Any, Coroutine

import parley
from parley import aio

from .support import CREATED, CREDENTIALS, QUICK_ROOM, ROOM_ID, Handler, Reply, Server, drop, unavailable
from .test_iterators import past_page, rooms_page


def held() -> "tuple[threading.Event, Reply]":
    """Return a reply that closes its connection, and the event that it waits for."""
    released = threading.Event()

    def drop_when_released(handler: Handler) -> None:
        released.wait(60)
        drop(handler)

    return released, Reply(act=drop_when_released)


class ParityTest(unittest.TestCase):
    def test_both_clients_have_the_same_calls(self) -> None:
        def public(cls: type) -> "dict[str, Any]":
            return {name: member for name, member in inspect.getmembers(cls) if not name.startswith("_")}

        sync, asynchronous = public(parley.Parley), public(parley.AsyncParley)
        self.assertEqual(set(sync), set(asynchronous))
        for name, member in {**sync, "__init__": parley.Parley.__init__}.items():
            if callable(member):
                theirs = getattr(parley.AsyncParley, name)
                self.assertEqual(
                    str(inspect.signature(member)).replace("Iterator[", "AsyncIterator["),
                    str(inspect.signature(theirs)).replace("'AsyncParley'", "'Parley'"),
                    name,
                )


class AsyncTest(unittest.IsolatedAsyncioTestCase):
    async def serve(self, *script: Reply, **options: Any) -> "tuple[Server, parley.AsyncParley]":
        server = Server(*script)
        self.addCleanup(server.close)
        client = parley.AsyncParley(server.url, **CREDENTIALS, **options)
        self.addAsyncCleanup(client.close)
        return server, client

    async def cancel(self, server: Server, requests: int, work: "Coroutine[Any, Any, object]") -> None:
        """Cancel work as soon as the server has received some requests."""
        task = asyncio.ensure_future(work)
        while len(server.seen) < requests and not task.done():
            await asyncio.sleep(0.01)
        self.assertFalse(task.done(), f"the work ended after {len(server.seen)} requests")
        await asyncio.sleep(0.1)  # so that the client probably waits for the next attempt
        task.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await task

    async def test_calls_at_the_same_time(self) -> None:
        server, client = await self.serve()
        results = await asyncio.gather(*[client.room_status(room_id=ROOM_ID) for _ in range(50)])
        self.assertEqual(len({result.request_id for result in results}), 50)

    async def test_the_event_loop_is_not_blocked(self) -> None:
        released, reply = held()
        server, client = await self.serve(reply, max_attempts=1)
        call = asyncio.ensure_future(client.room_status(room_id=ROOM_ID))
        for _ in range(10):
            await asyncio.sleep(0.01)
        self.assertFalse(call.done())
        released.set()
        with self.assertRaises(parley.ConnectionFailedError):
            await call

    async def test_creation_and_errors(self) -> None:
        server, client = await self.serve(Reply(json=CREATED), Reply(404, {"error": "there is no such room"}))
        async with client:
            room = await client.create_quick_video_room(**QUICK_ROOM)
            self.assertEqual(room.room_id, ROOM_ID)
            with self.assertRaises(parley.NotFoundError):
                await client.end_room(room_id=ROOM_ID)

    async def test_iterators(self) -> None:
        server, client = await self.serve(rooms_page([1, 2], "a"), rooms_page([3]), past_page([1], "1"))
        self.assertEqual([room.room_id async for room in client.rooms()], ["room-1", "room-2", "room-3"])
        self.assertEqual([room.room_id async for room in client.all_past_rooms()], ["room-1"])

    async def test_an_iterator_reads_no_page_too_many(self) -> None:
        server, client = await self.serve(rooms_page([1], "a"))
        async for room in client.rooms():
            break
        self.assertEqual(len(server.seen), 1)

    async def test_canceled_while_it_waits(self) -> None:
        server, client = await self.serve(unavailable(Retry_After="29"))
        began = time.monotonic()
        await self.cancel(server, 1, client.room_status(room_id=ROOM_ID))
        # The thread stops to wait, too, so that the executor can end.
        await asyncio.get_running_loop().shutdown_default_executor()
        self.assertLess(time.monotonic() - began, 29)
        self.assertEqual(len(server.seen), 1)

    async def test_canceled_during_an_attempt(self) -> None:
        released, reply = held()
        server, client = await self.serve(reply)
        await self.cancel(server, 1, client.room_status(room_id=ROOM_ID))
        released.set()
        await asyncio.get_running_loop().shutdown_default_executor()
        self.assertEqual(len(server.seen), 1)  # no further attempt

    async def test_canceled_iterator(self) -> None:
        server, client = await self.serve(rooms_page([1], "a"), unavailable(Retry_After="29"))

        async def read() -> None:
            async for _ in client.rooms():
                pass

        await self.cancel(server, 2, read())
        await asyncio.get_running_loop().shutdown_default_executor()
        self.assertEqual(len(server.seen), 2)

    async def test_representation(self) -> None:
        server, client = await self.serve()
        self.assertTrue(repr(client).startswith("<AsyncParley client of http://127.0.0.1:"))
        self.assertEqual(client.clock_offset, 0)
        self.assertIs(aio.AsyncParley, parley.AsyncParley)


if __name__ == "__main__":
    unittest.main()
