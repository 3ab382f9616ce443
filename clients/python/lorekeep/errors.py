"""The errors of both clients."""

from __future__ import annotations

from typing import Any, Mapping, Optional

from .frames import REMEDIES


class LorekeepError(Exception):
    """Any error of this package, except those of a wrong call (TypeError, ValueError)."""


class ServerError(LorekeepError):
    """The server refused a request: docs/reference/errors.md lists the codes."""

    def __init__(self, code: int, name: str, message: str, details: Optional[Mapping[str, Any]] = None):
        super().__init__(f"{name} ({code}): {message}")
        self.code, self.name, self.message, self.details = code, name, message, dict(details or {})

    @property
    def remedy(self) -> str:
        """How to mend it; empty for a code of a newer server."""
        return REMEDIES.get(self.code, "")


class ConnectionLost(LorekeepError):
    """The connection is gone, and its sessions with it. Requests that were under way may or may not have been served."""


class RequestTimeout(LorekeepError):
    """No reply came in time. The server may still serve the request; its reply is dropped."""
