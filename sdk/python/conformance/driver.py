"""Runs the conformance cases with the installed package: lines of JSON in, lines of JSON out."""

from __future__ import annotations

import base64
import dataclasses
import datetime
import json
import pprint
import sys
import traceback
from typing import Any, Dict, Mapping

import parley
from parley import signing
from parley.webhooks import verify_webhook

# A keyword of Python cannot be the name of an argument.
ARGUMENTS = {"from": "from_"}


def call(message: Mapping[str, Any]) -> Dict[str, Any]:
    """Make a new client and one call."""
    arguments = {ARGUMENTS.get(name, name): value for name, value in message["arguments"].items()}
    try:
        client = parley.Parley(message["base_url"], **message["credentials"], **message.get("options") or {})
        with client:
            result = getattr(client, message["operation"])(**arguments)
            return {"result": as_result(result)}
    except parley.ParleyError as error:
        return as_error(error)
    except TypeError as error:  # Python itself refuses unknown and missing arguments
        return as_error(parley.InvalidArgumentError(str(error)))


def sign(message: Mapping[str, Any]) -> Dict[str, Any]:
    """Sign the inputs of a case, and check the signature of the case."""
    case = message["case"]
    secrets = case["secrets"]
    signature = case["signature"]
    body = base64.b64decode(case["body_base64"]) if "body_base64" in case else case["body"].encode()
    if message["profile"] == signing.PROFILE:
        parts = (case["method"], case["target"], case["timestamp"], case["idempotency_key"], body)
        signed = signing.sign_v5(secrets[0], *parts)
        return {"signature": signed, "valid": signing.verify_v5(signature, secrets[0], *parts)}
    if message["profile"] == "legacy-body":
        valid = signing.verify_body(signature, secrets[0], body)
        return {"signature": signing.sign_body(secrets[0], body), "valid": valid}
    signed_with = case.get("signed_with", secrets)
    try:
        signed = signing.sign_webhook(signed_with, case["id"], case["timestamp"], body)
    except parley.InvalidArgumentError:
        signed = ""
    valid = signing.verify_webhook_signature(signature, secrets, case["id"], case["timestamp"], body)
    return {"signature": signed, "valid": valid}


def webhook(message: Mapping[str, Any]) -> Dict[str, Any]:
    """Verify a webhook."""
    try:
        body = message["body"].encode()
        return {"event": as_json(verify_webhook(message["secrets"], message["headers"], body, now=message["now"]))}
    except parley.ParleyError as error:
        return as_error(error)


def show(message: Mapping[str, Any]) -> Dict[str, Any]:
    """Print a client, its credentials and its errors in the usual ways."""
    client = parley.Parley("http://127.0.0.1:1", **message["credentials"], max_attempts=1, timeout=1)
    asynchronous = parley.AsyncParley("http://127.0.0.1:1", **message["credentials"])
    texts = []
    for thing in (client, asynchronous, vars(client), vars(vars(client)["_core"]), vars(client)["_core"].credentials):
        texts += [str(thing), repr(thing), f"{thing}", "%s" % (thing,), pprint.pformat(thing)]
        texts.append(json.dumps(thing, default=as_printable))
    try:
        client.keys()
    except parley.ParleyError as error:
        texts += [str(error), repr(error), traceback.format_exc(), json.dumps(vars(error), default=repr)]
    return {"text": "\n".join(texts)}


def as_printable(thing: Any) -> Any:
    """Return what a careless encoder would write."""
    try:
        return {str(name): str(value) for name, value in vars(thing).items()}
    except TypeError:
        return repr(thing)


def as_result(result: Any) -> Dict[str, Any]:
    """Return a result in the names of the wire."""
    if isinstance(result, str):
        return {"text": result}
    if dataclasses.is_dataclass(result):
        fields = as_json(result)
        assert isinstance(fields, dict)
        return fields
    return {"items": [as_json(item) for item in result]}


def as_json(value: Any) -> Any:
    """Return a value of JSON."""
    if dataclasses.is_dataclass(value):
        fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        return {name.rstrip("_"): as_json(member) for name, member in fields.items()}
    if isinstance(value, datetime.datetime):
        return value.isoformat()
    if isinstance(value, dict):
        return {name: as_json(member) for name, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_json(item) for item in value]
    return value


def as_error(error: parley.ParleyError) -> Dict[str, Any]:
    """Return the fields of an error."""
    names = ("kind", "status", "code", "message", "request_id", "retry_after", "attempts", "remedy")
    return {"error": {name: getattr(error, name) for name in names}}


ACTIONS = {"call": call, "sign": sign, "webhook": webhook, "print": show}


def main() -> None:
    """Respond to each line."""
    for line in sys.stdin.buffer:
        message = json.loads(line)
        print(json.dumps(ACTIONS[message["do"]](message)), flush=True)


if __name__ == "__main__":
    main()
