import gc
import os
import shutil
import socket
import ssl
import subprocess
import tempfile
import threading
import time
import unittest
import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Dict
from unittest import mock

import parley

from .support import CREATED, CREDENTIALS, QUICK_ROOM, ROOM_ID, Handler, Reply, Server, drop, unavailable


def client_of(server: Server, **options: Any) -> parley.Parley:
    return parley.Parley(server.url, **CREDENTIALS, **options)


class ConnectionTest(unittest.TestCase):
    def test_connections_are_kept(self) -> None:
        with Server() as server, client_of(server) as client:
            for _ in range(3):
                client.room_status(room_id=ROOM_ID)
            self.assertEqual(len({seen.port for seen in server.seen}), 1)

    def test_error_responses_keep_the_connection(self) -> None:
        with Server(Reply(404, {"error": "no"}), Reply(204, text="")) as server, client_of(server) as client:
            for kind in (parley.NotFoundError, parley.UnexpectedResponseError):
                with self.assertRaises(kind):
                    client.room_status(room_id=ROOM_ID)
            client.room_status(room_id=ROOM_ID)
            self.assertEqual(len({seen.port for seen in server.seen}), 1)

    def test_idle_connection_closed_by_the_server(self) -> None:
        with Server(default=Reply(json=CREATED)) as server, client_of(server, max_attempts=1) as client:
            for number in range(1, 4):
                client.create_quick_video_room(**QUICK_ROOM)  # must not be repeated
                self.assertEqual(len(server.seen), number)
                server.close_connections()

    def test_reused_connection_closed_during_a_creation(self) -> None:
        # The server has received the creation, so that a second one could create a second room.
        with Server(Reply(json=CREATED), Reply(act=drop)) as server, client_of(server) as client:
            client.create_quick_video_room(**QUICK_ROOM)
            with self.assertRaises(parley.ConnectionFailedError) as caught:
                client.create_quick_video_room(**QUICK_ROOM)
            self.assertEqual(len(server.seen), 2)
        self.assertEqual(caught.exception.attempts, 1)
        self.assertEqual(
            str(caught.exception), "no complete response: the server closed the connection without a response"
        )

    def test_old_idle_connections_are_not_used(self) -> None:
        with Server() as server, client_of(server) as client:
            client.room_status(room_id=ROOM_ID)
            with mock.patch("parley._transport._MAX_IDLE_SECONDS", 0):
                client.room_status(room_id=ROOM_ID)
            self.assertEqual(len({seen.port for seen in server.seen}), 2)

    def test_connection_close_of_the_server(self) -> None:
        with Server(Reply(headers={"Connection": "close"})) as server, client_of(server) as client:
            for _ in range(2):
                client.room_status(room_id=ROOM_ID)
            self.assertEqual(len({seen.port for seen in server.seen}), 2)

    def test_threads(self) -> None:
        with Server() as server, client_of(server) as client, ThreadPoolExecutor(20) as pool:
            results = list(pool.map(lambda _: client.room_status(room_id=ROOM_ID), range(400)))
            ids = {result.request_id for result in results}
            self.assertEqual(len(ids), 400)
            self.assertLessEqual(len(client._core._transport._idle), 16)

    @unittest.skipUnless(hasattr(os, "fork"), "the system has no fork")
    def test_a_forked_process_opens_its_own_connection(self) -> None:
        with Server() as server, client_of(server) as client:
            client.room_status(room_id=ROOM_ID)
            process = os.fork()
            if process == 0:
                client.room_status(room_id=ROOM_ID)
                os._exit(0)
            os.waitpid(process, 0)
            client.room_status(room_id=ROOM_ID)
            ports = [seen.port for seen in server.seen]
        self.assertNotEqual(ports[0], ports[1])
        self.assertEqual(ports[0], ports[2])

    def test_garbage_collection_closes_connections(self) -> None:
        with Server() as server, warnings.catch_warnings():
            warnings.simplefilter("error")
            client = client_of(server)
            client.room_status(room_id=ROOM_ID)
            sock = client._core._transport._idle[0].connection.sock
            del client
            gc.collect()
            self.assertEqual(sock.fileno(), -1)

    def test_nobody_listens(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
        client = parley.Parley(f"http://127.0.0.1:{port}", **CREDENTIALS, max_attempts=2)
        with self.assertRaises(parley.ConnectionFailedError) as caught:
            client.keys()
        self.assertEqual(str(caught.exception), "no complete response: Connection refused")
        self.assertEqual(caught.exception.attempts, 2)


class ResponseTest(unittest.TestCase):
    def test_slow_response(self) -> None:
        self.check_timeout(lambda handler: time.sleep(32))

    def test_headers_byte_by_byte(self) -> None:
        self.check_timeout(lambda handler: self.drip(handler, b"HTTP/1.1 200 OK\r\nX-Long: " + b"a" * 100))

    def test_body_byte_by_byte(self) -> None:
        head = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n"

        def act(handler: Handler) -> None:
            handler.wfile.write(head)
            self.drip(handler, b" " * 100)

        self.check_timeout(act)

    def drip(self, handler: Handler, content: bytes) -> None:
        for byte in content[:40]:
            handler.wfile.write(bytes([byte]))
            time.sleep(0.8)  # 32 seconds in all

    def check_timeout(self, act: Any) -> None:
        with Server(Reply(act=act)) as server, client_of(server, timeout=1, max_attempts=1) as client:
            began = time.monotonic()
            with self.assertRaises(parley.ConnectionFailedError) as caught:
                client.room_status(room_id=ROOM_ID)
            self.assertLess(time.monotonic() - began, 30)
            self.assertEqual(caught.exception.message, "no complete response: timed out")

    def test_chunked_body(self) -> None:
        def act(handler: Handler) -> None:
            handler.wfile.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-Request-ID: r\r\n\r\n")
            for part in (b'{"status":true,', b'"message":"the room is open"}'):
                handler.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
            handler.wfile.write(b"0\r\n\r\n")

        with Server(Reply(act=act)) as server, client_of(server) as client:
            self.assertTrue(client.room_status(room_id=ROOM_ID).status)
            client.room_status(room_id=ROOM_ID)
            self.assertEqual(len({seen.port for seen in server.seen}), 1)

    def test_chunked_body_cut_off(self) -> None:
        def act(handler: Handler) -> None:
            handler.wfile.write(b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n{"status"\r\n')
            drop(handler)

        with Server(Reply(act=act)) as server, client_of(server, max_attempts=1) as client:
            with self.assertRaises(parley.ConnectionFailedError) as caught:
                client.room_status(room_id=ROOM_ID)
        self.assertEqual(caught.exception.message, "no complete response: the response was cut off")

    def test_response_before_the_body_was_read(self) -> None:
        def serve(listener: socket.socket) -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(100)
                connection.sendall(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\nX-Request-ID: r\r\n\r\n")
                connection.shutdown(socket.SHUT_RDWR)

        with socket.create_server(("127.0.0.1", 0)) as listener:
            threading.Thread(target=serve, args=(listener,), daemon=True).start()
            client = parley.Parley(f"http://127.0.0.1:{listener.getsockname()[1]}", **CREDENTIALS)
            # Depending on the time, the system discards the response when the connection is reset.
            room: Dict[str, Any] = {**QUICK_ROOM, "name": "a" * 20_000_000}
            with self.assertRaises((parley.InvalidRequestError, parley.ConnectionFailedError)):
                client.create_quick_video_room(**room)

    def test_endless_error_body(self) -> None:
        def act(handler: Handler) -> None:
            handler.wfile.write(b"HTTP/1.1 403 Forbidden\r\nX-Request-ID: r\r\n\r\n")
            try:
                while True:
                    handler.wfile.write(b"x" * 65536)
            except OSError:
                handler.close_connection = True

        with Server(Reply(act=act)) as server, client_of(server) as client:
            with self.assertRaises(parley.ForbiddenError) as caught:
                client.room_status(room_id=ROOM_ID)
        self.assertEqual(caught.exception.message, "Forbidden")

    def test_many_active_rooms(self) -> None:
        # The list has no pages, so it may be larger than other responses.
        text = '{"response":{"status":true,"msg":"success","rooms":[]' + " " * (5 * 1024 * 1024) + "}}"
        with Server(Reply(text=text)) as server, client_of(server) as client:
            self.assertEqual(client.active_rooms(), [])

    def test_strange_bodies(self) -> None:
        other = '{"status":1,"message":""}'
        for text in ("", "null", "[]", "NaN", '{"status":NaN,"message":""}', "[" * 100_000, other):
            with self.subTest(text[:20]), Server(Reply(text=text)) as server, client_of(server) as client:
                with self.assertRaises(parley.UnexpectedResponseError):
                    client.room_status(room_id=ROOM_ID)
                self.assertEqual(len(server.seen), 1)


@unittest.skipUnless(shutil.which("openssl"), "openssl makes the certificate")
class TLSTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.certificate = os.path.join(folder.name, "certificate.pem")
        key = os.path.join(folder.name, "key.pem")
        command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=test"
        names = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", self.certificate]
        subprocess.run([*command.split(), *names], check=True, capture_output=True)
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(self.certificate, key)

    def test_own_authority(self) -> None:
        trusted = ssl.create_default_context(cafile=self.certificate)
        with Server(context=self.context) as server, client_of(server, ssl_context=trusted) as client:
            for _ in range(2):
                client.room_status(room_id=ROOM_ID)
            self.assertEqual(len({seen.port for seen in server.seen}), 1)

    def test_an_unknown_authority_is_not_tried_again(self) -> None:
        with Server(context=self.context) as server, client_of(server) as client:
            with self.assertRaises(parley.ConnectionFailedError) as caught:
                client.room_status(room_id=ROOM_ID)
            self.assertEqual(server.seen, [])
        self.assertEqual(caught.exception.attempts, 1)
        self.assertIn("certificate verification failed", caught.exception.message)


class RecoveryTest(unittest.TestCase):
    def test_server_restarts(self) -> None:
        with Server() as server, client_of(server, max_attempts=3) as client:
            client.room_status(room_id=ROOM_ID)
            server.close_connections()
            server._http.script = [Reply(act=drop), unavailable()]
            client.room_status(room_id=ROOM_ID)
            self.assertEqual(len(server.seen), 4)


if __name__ == "__main__":
    unittest.main()
