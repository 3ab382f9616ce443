"""What a client must know to make its sessions, storages and agents again on another connection."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any, Dict, Generator, List, Mapping, Optional, Tuple

from .errors import ConnectionLost, ServerError
from .frames import Code
from .wire import Event, Frame, Sink

MAX_TURNS = 1000
"""Of one agent, as the server limits them."""

_TRANSIENT = {
    Code.ServerShuttingDown,
    Code.TooManyWrongTokens,
    Code.SessionNotKept,
    Code.OutOfMemory,
    Code.ServerMemoryExceeded,
}
"""Errors about the server rather than the session: another attempt may succeed."""

Requests = Generator[Tuple[str, Mapping[str, Any]], Frame, None]
"""Yields requests and is sent their replies."""


@dataclass(frozen=True)
class Reconnect:
    """How a lost connection is replaced: `attempts` at most; the delay before each doubles, minus up to half at random."""

    attempts: int = 10
    min_delay: float = 0.1
    max_delay: float = 5.0

    def __post_init__(self) -> None:
        if self.attempts < 1 or self.min_delay < 0 or self.max_delay < self.min_delay:
            raise ValueError("Reconnect: at least 1 attempt, and 0 <= min_delay <= max_delay are expected")

    def delay(self, attempt: int) -> float:
        """Seconds to wait before this attempt, counted from 0."""
        return min(self.max_delay, self.min_delay * 2.0 ** min(attempt, 60)) * random.uniform(0.5, 1)


def policy_of(given: "bool | Reconnect") -> Optional[Reconnect]:
    return given if isinstance(given, Reconnect) else Reconnect() if given else None


class AgentState:
    """`fields`: None for an agent that was resumed."""

    def __init__(self, made: Mapping[str, Any], fields: Optional[Mapping[str, Any]]):
        self.id: str = made["agent_id"]
        self.kept: Optional[int] = made.get("kept")
        self.fields = None if fields is None else _with_secrets(fields, made.get("memories", []))
        self.turns: List[Frame] = list((fields or {}).get("history", {"turns": []})["turns"])[-MAX_TURNS:]

    def listening(self, sink: Sink, asked: Mapping[str, Any]) -> Sink:
        """Returns the sink of a request whose turns the agent remembers at their ends: a TurnRequest, or a stream of audio."""
        texts: Dict[str, str] = {}

        def hear(event: Event) -> None:
            if not isinstance(event, Exception):
                if event["type"] == "TurnStarted" and "text" in event:
                    texts[event["turn_id"]] = event["text"]
                if event["type"] == "TurnComplete" and not asked.get("dry_run"):
                    self._remember({"text": texts.pop(event["turn_id"], ""), **asked}, event)
            sink(event)

        return hear

    def _remember(self, asked: Mapping[str, Any], complete: Frame) -> None:
        if complete["status"] == "failed" or (complete["status"] == "cancelled" and complete["text"] == ""):
            return
        turn: Frame = {"text": asked["text"], "reply": complete["text"]}
        if "action" in complete:
            turn["action"] = {key: complete["action"][key] for key in ("name", "arguments")}
        if "action_result" in asked:
            turn["action_result"] = asked["action_result"]
        self.turns.append(turn)
        del self.turns[:-MAX_TURNS]

    def restoring(self, session_id: str, kept: Mapping[int, Optional[str]]) -> Requests:
        reopened = None if self.kept is None else kept.get(self.kept)
        if reopened is not None:
            self.id = reopened
            return
        if self.fields is None:
            raise ServerError(
                Code.KeptSessionNotFound, "KeptSessionNotFound", "an agent that was resumed could not be opened again"
            )
        fields = {key: value for key, value in self.fields.items() if key not in ("history", "kept")}
        if self.kept is not None and self.kept in kept:
            fields["kept"] = self.kept
        elif self.turns:
            fields["history"] = {"version": 1, "turns": self.turns}
        made = yield "CreateAgentRequest", {"session_id": session_id, **fields}
        self.id, self.kept = made["agent_id"], made.get("kept")


class StorageState:
    """What makes a storage again as its changes have left it: what was forgotten does not come back."""

    def __init__(self, made: Mapping[str, Any]):
        self._made = {key: value for key, value in made.items() if key != "session_id"}
        self._records: Optional[Dict[str, Any]] = None

    @property
    def fields(self) -> Frame:
        """Those of its CreateEmbeddedStringStorageRequest."""
        return self._made if self._records is None else {**self._made, "records": list(self._records.values())}

    def change(self, change: Mapping[str, Any]) -> None:
        """Applies an update or a forgetting. Takes the time of the change, not of the storage, but for the first one."""
        if "config_path" in self._made:
            return
        if self._records is None:
            texts = self._made.pop("strings", [])
            self._records = {str(index): {"id": str(index), "text": text} for index, text in enumerate(texts)}
            self._records.update((record["id"], record) for record in self._made.pop("records", []))
        for id in [*change.get("remove", []), *change.get("ids", [])]:
            self._records.pop(id, None)
        for record in [*change.get("add", []), *change.get("replace", [])]:
            self._records.pop(record["id"], None)  # a replaced record goes to the end, as in the storage
            self._records[record["id"]] = record


class SessionState:
    """`fields`: those of its CreateSessionRequest."""

    def __init__(self, made: Mapping[str, Any], fields: Mapping[str, Any]):
        self.id: str = made["session_id"]
        self.resume: Optional[str] = made.get("resume")
        self.fields = fields
        self.broken: Optional[ServerError] = None
        self.storages: Dict[str, StorageState] = {}
        self.agents: List[AgentState] = []

    def listening(self, sink: Sink, asked: Mapping[str, Any]) -> Sink:
        """The same for a stream of audio, whose agent is named by id."""
        agent = next((agent for agent in self.agents if agent.id == asked.get("agent_id")), None)
        return sink if agent is None else agent.listening(sink, {})

    def note(self, type: str, fields: Mapping[str, Any], reply: Frame) -> None:
        """Remembers the effect of a request that was served."""
        name = fields.get("name")
        if type == "CreateEmbeddedStringStorageRequest":
            self.storages[fields["name"]] = StorageState(fields)
        elif type == "DestroyEmbeddedStringStorageRequest":
            self.storages.pop(fields["name"], None)
        elif type in ("UpdateEmbeddedStringStorageRequest", "ForgetEmbeddedStringStorageRequest") and name in self.storages:
            self.storages[fields["name"]].change(fields)
        elif type == "DestroyAgentRequest":
            self.agents = [agent for agent in self.agents if agent.id != fields["agent_id"]]

    def restoring(self) -> Requests:
        """Makes everything again. Raises ConnectionLost if another attempt may succeed where this one did not."""
        if self.broken is not None:
            return
        try:
            kept = yield from self._remaking()
            for storage in self.storages.values():
                yield "CreateEmbeddedStringStorageRequest", {"session_id": self.id, **storage.fields}
            for agent in self.agents:
                yield from agent.restoring(self.id, kept)
        except ServerError as error:
            if error.code in _TRANSIENT:
                raise ConnectionLost(str(error)) from error
            message = f"the session could not be made again after the connection was lost: {error.message}"
            self.broken = ServerError(error.code, error.name, message, error.details)

    def _remaking(self) -> Generator[Tuple[str, Mapping[str, Any]], Frame, Mapping[int, Optional[str]]]:
        fields = {key: value for key, value in self.fields.items() if key not in ("keep", "resume")}
        try:
            made = yield "CreateSessionRequest", fields if self.resume is None else {**fields, "resume": self.resume}
        except ServerError as error:
            if self.resume is None or error.code != Code.KeptSessionNotFound:
                raise
            made = yield "CreateSessionRequest", {**fields, "keep": True}
        self.id, self.resume = made["session_id"], made.get("resume")
        return {agent["kept"]: agent.get("agent_id") for agent in made.get("agents", [])}


def resolved(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns the fields with the present id of their agent."""
    agent = fields.get("agent_id")
    return {**fields, "agent_id": agent.id} if isinstance(agent, AgentState) else fields


def _with_secrets(fields: Mapping[str, Any], memories: List[Frame]) -> Mapping[str, Any]:
    """Returns the request that opens the memories which it has made."""
    secrets = {memory["node"]: memory["secret"] for memory in memories if "secret" in memory}
    if not secrets:
        return fields
    nodes = [
        {**node, "params": {**node.get("params", {}), "secret": secrets[node["id"]]}} if node["id"] in secrets else node
        for node in fields["graph"]["nodes"]
    ]
    return {**fields, "graph": {**fields["graph"], "nodes": nodes}}
