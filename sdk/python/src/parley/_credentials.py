"""The credentials of one project, which are never printed."""

from __future__ import annotations

from typing import Any, Optional

from .errors import InvalidArgumentError, MissingCredentialError

_REDACTED = "[redacted]"

_PREFIXES = {
    "pk_": ("api_key", "an API key"),
    "gs_": ("gateway_secret", "a Gateway secret"),
    "whsec_": ("project_secret", "a project secret"),
}


class Credentials:
    """The credentials of one project. An absent credential is an empty text."""

    # Without a __dict__, vars() and encoders that use it cannot read the secrets.
    __slots__ = ("project_id", "project_secret", "api_key", "gateway_secret")

    def __init__(
        self,
        project_id: Optional[str],
        project_secret: Optional[str],
        api_key: Optional[str],
        gateway_secret: Optional[str],
    ) -> None:
        self.project_id = _checked("project_id", project_id)
        self.project_secret = _checked("project_secret", project_secret)
        self.api_key = _checked("api_key", api_key)
        self.gateway_secret = _checked("gateway_secret", gateway_secret)

    def __repr__(self) -> str:
        return f"<credentials of project {self.project_id!r}>"

    def __reduce__(self) -> Any:
        raise TypeError("credentials cannot be pickled or copied, because they contain secrets")

    def require_gateway(self) -> None:
        """Raise MissingCredentialError unless both credentials of the Gateway signature are present."""
        if not self.api_key:
            raise _missing("api_key")
        if not self.gateway_secret:
            raise _missing("gateway_secret")

    def require_project_secret(self) -> None:
        """Raise MissingCredentialError unless the project secret is present."""
        if not self.project_secret:
            raise _missing("project_secret")

    def require_body_key(self) -> None:
        """Raise MissingCredentialError unless a project and a key for body signatures are present."""
        if not self.project_id:
            raise _missing("project_id")
        if not self.body_key():
            raise _missing("project_secret or api_key")

    def body_key(self) -> str:
        """Return the key of body signatures. A project can refuse API keys, so the project secret is preferred."""
        return self.project_secret or self.api_key

    def redact(self, text: str) -> str:
        """Return a text of the server without the secrets that it repeats."""
        # The longest first, because a secret could contain another one.
        for secret in sorted((self.project_secret, self.api_key, self.gateway_secret), key=len, reverse=True):
            if secret:
                text = text.replace(secret, _REDACTED)
        return text


def _checked(field: str, value: Optional[str]) -> str:
    """Return a credential, or raise InvalidArgumentError without its value.

    The check finds, for instance, the line break at the end of a file, for which the server can only answer 401.
    """
    if value is None:
        return ""
    if not isinstance(value, str):
        raise InvalidArgumentError(f"{field} must be a string")
    for position, character in enumerate(value, start=1):
        if not "!" <= character <= "~":
            raise InvalidArgumentError(
                f"{field} must be printable ASCII without spaces, but has another character at position {position}"
            )
    for prefix, (owner, name) in _PREFIXES.items():
        if value.startswith(prefix) and owner != field:
            raise InvalidArgumentError(f"{field} begins with {prefix}, so it is {name}")
    return value


def _missing(field: str) -> MissingCredentialError:
    return MissingCredentialError(f"the call needs {field}", remedy=f"Pass {field} to the client.")
