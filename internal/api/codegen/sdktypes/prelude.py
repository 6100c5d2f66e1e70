from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import (
    Any,
    Callable,
    Dict,
    List,
    Literal,
    Mapping,
    Optional,
    Sequence,
    TypedDict,
    TypeVar,
    Union,
)

_T = TypeVar("_T")

# A reader returns a JSON value as the type of a field. It raises ValueError with the path of a
# value that has another type.
_Reader = Callable[[object, str], _T]

_RFC_3339 = re.compile(
    r"(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d:\d\d)(?:\.(\d+))?(?:[Zz]|([+-]\d\d:\d\d))", re.ASCII
)


class _Fields:
    """The fields of a JSON object at a path. Unknown fields are ignored."""

    def __init__(self, value: object, path: str) -> None:
        self._members = _object(value, path)
        self._prefix = path + "." if path else ""

    def required(self, name: str, reader: _Reader[_T]) -> _T:
        return reader(self._members.get(name), self._prefix + name)

    def optional(self, name: str, reader: _Reader[_T]) -> Optional[_T]:
        value = self._members.get(name)
        return None if value is None else reader(value, self._prefix + name)


def _object(value: object, path: str) -> Dict[str, Any]:
    if not isinstance(value, Mapping):
        raise ValueError(f"{path or 'the JSON value'}: expected an object")
    return dict(value)


def _string(value: object, path: str) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{path}: expected a string")
    return value


def _integer(value: object, path: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError(f"{path}: expected an integer")
    return value


def _number(value: object, path: str) -> float:
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise ValueError(f"{path}: expected a number")
    return float(value)


def _boolean(value: object, path: str) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"{path}: expected a boolean")
    return value


def _time(value: object, path: str) -> datetime:
    match = _RFC_3339.fullmatch(value) if isinstance(value, str) else None
    if match is not None:
        day, clock, fraction, offset = match.groups()
        microseconds = (fraction or "")[:6].ljust(6, "0")
        try:
            return datetime.fromisoformat(f"{day}T{clock}.{microseconds}{offset or '+00:00'}")
        except ValueError:
            pass  # such as a 30th of February
    raise ValueError(f"{path}: expected a time in RFC 3339 format")


# A newer server may send other values than a Literal lists, so nothing compares them.
def _any_string(value: object, path: str) -> Any:
    return _string(value, path)


def _any_integer(value: object, path: str) -> Any:
    return _integer(value, path)


def _list_of(reader: _Reader[_T]) -> _Reader[List[_T]]:
    def read(value: object, path: str) -> List[_T]:
        if not isinstance(value, list):
            raise ValueError(f"{path}: expected an array")
        return [reader(item, f"{path}[{index}]") for index, item in enumerate(value)]

    return read


def _map_of(reader: _Reader[_T]) -> _Reader[Dict[str, _T]]:
    def read(value: object, path: str) -> Dict[str, _T]:
        members = _object(value, path)
        return {name: reader(member, f"{path}.{name}") for name, member in members.items()}

    return read
