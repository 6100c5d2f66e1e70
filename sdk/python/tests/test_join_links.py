import base64
import email.utils
import hashlib
import hmac
import json
import time
import unittest
from typing import Any, Dict, List, Tuple

import parley
from parley import signing

from .support import CREDENTIALS, PROJECT_SECRET, ROOM_ID, Handler, Reply, Server

BASE = "https://meet.example.org"
CLAIMS: Dict[str, Any] = {"room_id": "r", "role": "guest", "iat": 1767225600, "exp": 1767225601}


def decode(part: str) -> bytes:
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


class JoinLinkTest(unittest.TestCase):
    def setUp(self) -> None:
        self.client = parley.Parley(BASE, project_secret=PROJECT_SECRET)

    def verified(self, token: str) -> Dict[str, Any]:
        """Return the claims of a token after a check of its header and its signature."""
        self.assertNotIn("=", token)
        header, claims, signature = token.split(".")
        self.assertEqual(decode(header), b'{"alg":"HS256","typ":"JWT"}')
        expected = hmac.new(PROJECT_SECRET.encode(), f"{header}.{claims}".encode(), hashlib.sha256).digest()
        self.assertEqual(decode(signature), expected)
        decoded = json.loads(decode(claims))
        assert isinstance(decoded, dict)
        return decoded

    def claims(self, link: str, age: int, base: str = BASE, ahead: float = 0) -> Dict[str, Any]:
        """Return the claims of a link without its ID and its times, which are checked."""
        address, token = link.split("#j=")
        self.assertEqual(address, f"{base}/r/{ROOM_ID}")
        claims = self.verified(token)
        self.assertRegex(claims.pop("jti"), "^[0-9a-f]{32}$")
        issued = claims.pop("iat")
        self.assertIsInstance(issued, int)
        self.assertAlmostEqual(issued, time.time() + ahead, delta=3)
        self.assertEqual(claims.pop("exp") - issued, age)
        return claims

    def test_claims(self) -> None:
        defaults = {"room_id": ROOM_ID, "role": "guest"}
        self.assertEqual(self.claims(self.client.sign_join_link(room_id=ROOM_ID), 3600), defaults)
        name = "Zoë " + "🎉" * 251
        link = self.client.sign_join_link(
            room_id=ROOM_ID, role="host", name=name, user_id="4711", single_use=True, expires_in=86400
        )
        expected = {"room_id": ROOM_ID, "role": "host", "name": name, "user_id": "4711", "single_use": True}
        self.assertEqual(self.claims(link, 86400), expected)
        link = self.client.sign_join_link(room_id=ROOM_ID, role="cohost", name="", user_id=None, expires_in=1)
        self.assertEqual(self.claims(link, 1), {"room_id": ROOM_ID, "role": "cohost"})

    def test_async_client(self) -> None:
        client = parley.AsyncParley(BASE, project_secret=PROJECT_SECRET)
        link = client.sign_join_link(room_id=ROOM_ID, role="host", name="Zoë", user_id="1", single_use=True)
        expected = {"room_id": ROOM_ID, "role": "host", "name": "Zoë", "user_id": "1", "single_use": True}
        self.assertEqual(self.claims(link, 3600), expected)
        self.assertEqual(self.claims(client.sign_join_link(room_id=ROOM_ID, expires_in=60), 60)["role"], "guest")

    def test_two_links_differ(self) -> None:
        self.assertEqual(len({self.client.sign_join_link(room_id=ROOM_ID) for _ in range(20)}), 20)

    def test_room_id_is_escaped(self) -> None:
        address, token = self.client.sign_join_link(room_id="a/b #é").split("#j=")
        self.assertEqual(address, f"{BASE}/r/a%2Fb%20%23%C3%A9")
        self.assertEqual(self.verified(token)["room_id"], "a/b #é")

    def test_issued_at_the_time_of_the_server(self) -> None:
        def act(handler: Handler) -> None:
            body = b'{"status":true,"message":"m"}'
            handler.send_response_only(200)
            headers = {"X-Request-ID": "r", "Date": email.utils.formatdate(time.time() + 7200, usegmt=True)}
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                handler.send_header(name, value)
            handler.end_headers()
            handler.wfile.write(body)

        with Server(Reply(act=act)) as server, parley.Parley(server.url, **CREDENTIALS) as client:
            client.room_status(room_id=ROOM_ID)
            self.claims(client.sign_join_link(room_id=ROOM_ID), 3600, server.url, 7200)
            self.assertEqual(len(server.seen), 1)

    def test_bad_arguments(self) -> None:
        room = "room_id must be a string that is not empty"
        role = 'role must be "host", "cohost" or "guest"'
        text = " must be a string of at most 255 Unicode characters"
        age = "expires_in must be an integer between 1 and 86400"
        cases: List[Tuple[Dict[str, Any], str]] = [
            ({"room_id": ""}, room),
            ({"room_id": 5}, room),
            ({"room_id": ".."}, "room_id must not be .."),
            ({"role": "admin"}, role),
            ({"role": ""}, role),
            ({"role": None}, role),
            ({"role": PROJECT_SECRET}, role),
            ({"name": "ä" * 256}, "name" + text),
            ({"name": 0}, "name" + text),
            ({"name": "a\ud800"}, "name" + text),
            ({"user_id": "🎉" * 256}, "user_id" + text),
            ({"user_id": b"a"}, "user_id" + text),
            ({"single_use": "true"}, "single_use must be a boolean"),
            ({"single_use": 0}, "single_use must be a boolean"),
            ({"expires_in": 0}, age),
            ({"expires_in": 86401}, age),
            ({"expires_in": 60.0}, age),
            ({"expires_in": "60"}, age),
            ({"expires_in": True}, age),
        ]
        for arguments, message in cases:
            given: Dict[str, Any] = {"room_id": ROOM_ID, **arguments}
            with self.subTest(arguments), self.assertRaises(parley.InvalidArgumentError) as caught:
                self.client.sign_join_link(**given)
            self.assertEqual(str(caught.exception), message)
        with self.assertRaises(TypeError):
            self.client.sign_join_link(room_id=ROOM_ID, userid="4711")  # type: ignore[call-arg]

    def test_half_of_a_surrogate_pair_in_the_room(self) -> None:
        with self.assertRaises(parley.InvalidArgumentError):
            self.client.sign_join_link(room_id="\ud800")

    def test_missing_secret(self) -> None:
        present = {name: value for name, value in CREDENTIALS.items() if name != "project_secret"}
        client = parley.Parley(BASE, **present)
        with self.assertRaises(parley.MissingCredentialError) as caught:
            client.sign_join_link(room_id=ROOM_ID)
        self.assertEqual(caught.exception.remedy, "Pass project_secret to the client.")

    def test_low_level_function(self) -> None:
        self.assertEqual(self.verified(signing.sign_join_link(PROJECT_SECRET, **CLAIMS)), CLAIMS)
        single: Dict[str, Any] = {**CLAIMS, "single_use": True, "jti": "a1"}
        self.assertEqual(self.verified(signing.sign_join_link(PROJECT_SECRET, **single)), single)
        host: Dict[str, Any] = {**CLAIMS, "role": "host", "jti": "a1"}
        self.assertEqual(self.verified(signing.sign_join_link(PROJECT_SECRET, **host)), host)
        changes: List[Dict[str, Any]] = [
            {"room_id": ""},
            {"role": "admin"},
            {"single_use": True},
            {"role": "host"},
            {"role": "cohost", "jti": ""},
            {"jti": 5},
            {"iat": 1.5},
            {"iat": "1767225600"},
            {"exp": CLAIMS["iat"]},
            {"exp": CLAIMS["iat"] + 86401},
            {"exp": "1767225601"},
        ]
        for change in changes:
            wrong: Dict[str, Any] = {**CLAIMS, **change}
            with self.subTest(change), self.assertRaises(parley.InvalidArgumentError):
                signing.sign_join_link(PROJECT_SECRET, **wrong)


if __name__ == "__main__":
    unittest.main()
