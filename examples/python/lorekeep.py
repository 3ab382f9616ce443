"""A client of the lorekeep server, with Python's standard library alone (Python 3.9 or later).

    from lorekeep import connect

    with connect(port=9100) as client:
        session = client.create_session()
        session.create_embedded_string_storage("notes", strings=["Bees dance."], embedding_model="all-MiniLM-L6-v2")
        for hit in session.search("notes", "what do bees do?", mode="hybrid")["hits"]:
            print(hit["rank"], hit["id"], hit["text"])

Every request waits for its own reply, so that threads can share a client. Field names are the protocol's (docs/reference/protocol.md).
"""

import itertools
import json
import queue
import socket
import struct
import threading
from concurrent.futures import Future
from typing import Any, Callable, Dict, Iterator, List, Optional

PROTOCOL = 1
_JSON = 1
_BINARY = 2
_AUDIO = 1
_AUDIO_HEADER = struct.Struct(">III")
_AUDIO_BYTES = 32 * 1024  # of samples in one frame: a ping behind it does not wait long
_HEADER = struct.Struct(">BI")
_MOST_BYTES = 1 << 30  # the upper bound of max_frame_mb

Frame = Dict[str, Any]


class ServerError(Exception):
    """What the server refused a request with: docs/reference/errors.md lists the codes."""

    def __init__(self, code: int, name: str, message: str, details: Optional[Frame] = None):
        super().__init__(f"{name} ({code}): {message}")
        self.code, self.name, self.message, self.details = code, name, message, details or {}


class ConnectionLost(Exception):
    """There is no connection any more; what was under way may or may not have been done."""


class Client:
    """A connection. Its sessions end with it."""

    def __init__(
        self,
        host: str = "127.0.0.1",
        port: int = 9100,
        timeout: Optional[float] = 10.0,
        access_token: Optional[str] = None,
    ):
        """`timeout`: seconds to wait for the server to answer the connection; requests wait as long as they take.
        `access_token`: the secret of a server that wants one (access_token_file)."""
        self._access_token = access_token
        self._write = threading.Lock()
        self._table = threading.Lock()
        self._ids = itertools.count(1)
        self._replies: Dict[int, "Future[Frame]"] = {}
        self._turns: Dict[str, "queue.Queue[Any]"] = {}
        self._pulls: Dict[int, Callable[[Frame], None]] = {}
        self._speech: Dict[int, "Speech"] = {}
        # Streams of audio by the OpenSpeechRequest whose reply is awaited.
        self._opening: Dict[int, "Speech"] = {}
        # Turns that nobody listens to yet.
        self._started: Dict[str, "queue.Queue[Any]"] = {}
        self._lost: Optional[ConnectionLost] = None
        try:
            self._socket = socket.create_connection((host, port), timeout)
        except OSError as error:
            raise ConnectionLost(f"nothing answers at {host}:{port}: {error}") from error
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._stream = self._socket.makefile("rb")
        try:
            self.hello = self._receive()
        except (OSError, EOFError) as error:
            self._socket.close()
            raise ConnectionLost(f"{host}:{port} does not greet: {error}") from error
        except (ValueError, RecursionError) as error:
            self._socket.close()
            raise ConnectionLost(f"{host}:{port} does not speak lorekeep's protocol: {error}") from error
        if self.hello.get("type") != "Hello" or self.hello.get("protocol") != PROTOCOL:
            self._socket.close()
            raise ConnectionLost(f"{host}:{port} does not speak protocol {PROTOCOL} of lorekeep: {self.hello}")
        self._socket.settimeout(None)
        self._reader = threading.Thread(target=self._read, name="lorekeep", daemon=True)
        self._reader.start()

    def create_session(self, storage_data_folder: str = "") -> "Session":
        """`storage_data_folder`: the folder in which this session's paths start; empty: the server's storage_root."""
        given = {"storage_data_folder": storage_data_folder or None, "access_token": self._access_token}
        fields = {name: value for name, value in given.items() if value is not None}
        return Session(self, self.request("CreateSessionRequest", **fields)["session_id"])

    def status(self) -> dict:
        """Memory, connections and sessions, with their limits."""
        return self.request("StatusRequest")

    def report_throttle(self, level: float) -> None:
        """Asks the server's inference to rest, 0 (not at all) to 1. The highest level of all clients counts.

        Report again at least every 10 seconds: a silent client's level ends, as with its connection.
        """
        self.request("ThrottleReport", level=level)

    def allow_video_memory(self, allowed: bool) -> None:
        """False: models leave the GPU; returns when its memory is free. It counts until True, or the end of the connection."""
        self.request("VideoMemoryRequest", allowed=allowed)

    def ping(self) -> None:
        self.request("Ping")

    def request(self, type: str, **fields: Any) -> Frame:
        """Sends a request and waits for its reply. Raises ServerError, ConnectionLost."""
        return self.send(type, **fields).result()

    def send(
        self,
        type: str,
        on_progress: Optional[Callable[[Frame], None]] = None,
        speech: "Optional[Speech]" = None,
        **fields: Any,
    ) -> "Future[Frame]":
        """Sends a request; the future has its reply. `on_progress` is called from the thread that reads."""
        reply: "Future[Frame]" = Future()
        id = next(self._ids)
        # Only what JSON has: NaN, say, is a ValueError here.
        body = json.dumps({"type": type, "id": id, **fields}, allow_nan=False).encode("ascii")
        with self._table:
            if self._lost is not None:
                raise self._lost
            self._replies[id] = reply
            if on_progress is not None:
                self._pulls[id] = on_progress
            if speech is not None:
                self._opening[id] = speech
        self._send_frame(_JSON, body)
        return reply

    def _send_frame(self, kind: int, body: bytes) -> None:
        try:
            with self._write:
                self._socket.sendall(_HEADER.pack(kind, len(body)) + body)
        except OSError as error:
            self._lose(ConnectionLost(f"the connection failed: {error}"))
        except BaseException:  # Ctrl-C, perhaps in the middle of a frame: the next one would be taken for the rest of it.
            self._lose(ConnectionLost("a request was interrupted while it was sent"))
            raise

    def close(self) -> None:
        """Ends every session and the connection. Twice is fine."""
        self._lose(ConnectionLost("the connection was closed"))
        try:
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        if threading.current_thread() is not self._reader:
            self._reader.join()
        self._stream.close()
        self._socket.close()

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def _receive(self) -> Frame:
        header = self._exactly(_HEADER.size)
        kind, length = _HEADER.unpack(header)
        if kind != _JSON or length > _MOST_BYTES:
            raise ValueError(f"a frame of kind {kind} and {length} bytes")
        body = self._exactly(length)
        frame = json.loads(body)
        if not isinstance(frame, dict):
            raise ValueError("a frame that is no object")
        return frame

    def _exactly(self, length: int) -> bytes:
        data = self._stream.read(length)
        if len(data) < length:
            raise EOFError("the server closed the connection")
        return data

    def _read(self) -> None:
        try:
            while True:
                self._dispatch(self._receive())
        except Exception as error:  # Whatever ends the reader, nobody may wait for it any longer.
            self._lose(ConnectionLost(f"the connection was lost: {error}"))

    def _dispatch(self, frame: Frame) -> None:
        type, reply_to = frame.get("type"), frame.get("reply_to")
        if "stream" in frame and type != "OpenSpeechResponse":
            with self._table:
                speech = self._speech.get(frame["stream"])
                if type == "SpeechClosed":
                    self._speech.pop(frame["stream"], None)
                if type == "TurnStarted" and speech is not None:
                    self._turns[frame["turn_id"]] = speech._events
            if speech is not None:
                speech._hear(frame)
            return
        if type in ("TurnText", "TurnForget", "TurnComplete"):
            with self._table:
                turn = self._turns.get(frame["turn_id"])
                if type == "TurnComplete":
                    self._turns.pop(frame["turn_id"], None)
            if turn is not None:
                turn.put(frame)
            return
        if type == "PullProgress":
            with self._table:
                on_progress = self._pulls.get(frame["request_id"])
            if on_progress is not None:
                on_progress(frame)
            return
        if type == "Error" and reply_to is None:
            self._lose(ConnectionLost(f"{frame['name']}: {frame['message']}"))
            return
        # A frame without its fields raises here, before its reply leaves the table: _lose() must find it there.
        error = None
        if type == "Error":
            error = ServerError(frame["code"], frame["name"], frame["message"], frame.get("details"))
        with self._table:
            # Its first event may be the next frame: it must be known before that is read.
            if type == "TurnStarted" and reply_to in self._replies:
                self._turns[frame["turn_id"]] = self._started[frame["turn_id"]] = queue.Queue()
            speech = self._opening.pop(reply_to, None)
            if type == "OpenSpeechResponse" and speech is not None:
                speech._opened(frame)
                self._speech[frame["stream"]] = speech
            reply = self._replies.pop(reply_to, None)
            self._pulls.pop(reply_to, None)
        if reply is None or not reply.set_running_or_notify_cancel():
            return
        if error is not None:
            reply.set_exception(error)
        else:
            reply.set_result(frame)

    def _turn(self, turn_id: str) -> "queue.Queue[Any]":
        """What comes of a turn that has started; its end may be there already."""
        with self._table:
            return self._started.pop(turn_id)

    def _lose(self, lost: ConnectionLost) -> None:
        with self._table:
            if self._lost is None:
                self._lost = lost
            replies, self._replies = list(self._replies.values()), {}
            turns, self._turns = list(self._turns.values()), {}
            speech, self._speech = list(self._speech.values()), {}
            self._opening = {}
        for reply in replies:
            if reply.set_running_or_notify_cancel():
                reply.set_exception(self._lost)
        for turn in turns:
            turn.put(self._lost)
        for each in speech:
            each._end(self._lost)


class Session:
    """Named storages and agents; gone when it or its connection ends."""

    def __init__(self, client: Client, id: str):
        self._client, self.id = client, id

    def create_embedded_string_storage(
        self,
        name: str,
        config_path: Optional[str] = None,
        strings: Optional[List[str]] = None,
        embedding_model: Optional[str] = None,
        records: Optional[List[Frame]] = None,
        fields: Optional[List[Frame]] = None,
        on_complete: Optional[Callable[[str, int, bool], None]] = None,
    ) -> Optional[Frame]:
        """Makes a storage from a knowledge base's config file, from strings, or from records ({"id", "text", "metadata"}).

        Without `on_complete` it waits and returns {"record_count", "embedding_dim"}. With it, it returns at once, and
        on_complete(name, record_count, success) is called from another thread.
        """
        given = {
            "config_path": config_path,
            "strings": strings,
            "records": records,
            "fields": fields,
            "embedding_model": embedding_model,
        }
        request = {key: value for key, value in given.items() if value is not None}
        reply = self._client.send(
            "CreateEmbeddedStringStorageRequest", session_id=self.id, name=name, **request
        )
        if on_complete is None:
            return reply.result()

        def tell(done: "Future[Frame]") -> None:
            success = done.exception() is None
            count = done.result()["record_count"] if success else 0
            # In a thread of its own, so that it may send requests: this one reads their replies.
            threading.Thread(target=on_complete, args=(name, count, success), daemon=True).start()

        reply.add_done_callback(tell)
        return None

    def destroy_embedded_string_storage(self, name: str) -> None:
        self._client.request("DestroyEmbeddedStringStorageRequest", session_id=self.id, name=name)

    def update_records(self, name: str, **changes: Any) -> Frame:
        """Applies one batch whole, or nothing of it: `add`, `replace` (lists of {"id", "text", "metadata"}), `remove` (ids).

        More: upsert, if_version. Returns {"version", "added", "replaced", "removed", "record_count"}.
        """
        return self._client.request("UpdateEmbeddedStringStorageRequest", session_id=self.id, name=name, **changes)

    def get_records(self, name: str, ids: List[str], **params: Any) -> Frame:
        """{"version", "records", "missing"}; `params`: as_of."""
        fields = {"session_id": self.id, "name": name, "ids": ids, **params}
        return self._client.request("GetEmbeddedStringStorageRequest", **fields)

    def list_records(self, name: str, **params: Any) -> Frame:
        """{"version", "total", "records"}; `params`: filter, variables, offset, limit, as_of."""
        return self._client.request("ListEmbeddedStringStorageRequest", session_id=self.id, name=name, **params)

    def forget_records(self, name: str, ids: List[str], histories: bool = False) -> Frame:
        """Removes records for good: {"version", "forgotten", "record_count", "histories"}.

        `histories` of the reply: the turns of your agents that quote a text. With histories=True they are removed.
        """
        fields = {"session_id": self.id, "name": name, "ids": ids, "histories": histories}
        return self._client.request("ForgetEmbeddedStringStorageRequest", **fields)

    def search(self, name: str, text: str, **params: Any) -> Frame:
        """{"hits", "plan"}; `params`: mode, top_k, threshold, filter, rrf, variables."""
        fields = {"session_id": self.id, "name": name, "text": text, **params}
        return self._client.request("SearchEmbeddedStringStorageRequest", **fields)

    def list_models(self) -> Frame:
        """{"models", "memory", "pulls_allowed"}: the server's catalog and what is in memory."""
        return self._client.request("ListModelsRequest", session_id=self.id)

    def pull_model(
        self,
        model: str,
        variant: Optional[str] = None,
        on_progress: Optional[Callable[[Frame], None]] = None,
    ) -> Frame:
        """Downloads a model of the server's catalog and waits for it; the operator must allow it.

        `on_progress` is called with {"file", "done_bytes", "total_bytes"} and must not send requests.
        """
        fields: Frame = {"session_id": self.id, "model": model}
        if variant is not None:
            fields["variant"] = variant
        return self._client.send("PullModelRequest", on_progress, **fields).result()

    def cancel_pull(self, model: str) -> None:
        """Cancels pull_model() of another thread, unless another client waits for the same model."""
        self._client.request("CancelPullRequest", session_id=self.id, model=model)

    def create_agent(
        self, graph: Frame, enable_diagnostics: bool = False, history: Optional[Frame] = None
    ) -> "Agent":
        """Makes an agent. `history`: what Agent.export() of an earlier one returned."""
        fields: Frame = {"session_id": self.id, "graph": graph, "enable_diagnostics": enable_diagnostics}
        if history is not None:
            fields["history"] = history
        return Agent(self._client, self.id, self._client.request("CreateAgentRequest", **fields))

    def open_speech(self, **params: Any) -> "Speech":
        """Opens a stream of audio. `params`: format, rate, channels, language, vad, partial, agent_id, turns and others of
        OpenSpeechRequest."""
        speech = Speech(self._client, self.id, params)
        self._client.send("OpenSpeechRequest", speech=speech, session_id=self.id, **params).result()
        return speech

    def reply_heard(self, turn_id: str, characters: int) -> None:
        """The user has heard only so much of a turn's reply; `characters`: UTF-16 units."""
        self._client.request("ReplyHeardRequest", session_id=self.id, turn_id=turn_id, characters=characters)

    def destroy(self) -> None:
        self._client.request("DestroySessionRequest", session_id=self.id)


class Speech:
    """A stream of audio. Iterating yields its events, and those of the turns that were spoken, until both have ended."""

    def __init__(self, client: Client, session_id: str, params: Frame):
        self._client, self._session_id = client, session_id
        self._whole = (4 if params.get("format") == "f32" else 2) * params.get("channels", 1)
        self._events: "queue.Queue[Any]" = queue.Queue()
        self._changed = threading.Condition()
        self._sending = threading.Lock()
        self._credit, self._sequence, self.stream = 0, 0, 0
        self._ended: Optional[Exception] = None

    def write(self, samples: bytes) -> None:
        """Sends samples in the stream's format, little-endian. Waits while the server has not heard earlier audio.

        Raises ServerError if the server closed the stream, ConnectionLost.
        """
        if len(samples) % self._whole:
            raise ValueError(f"{len(samples)} bytes are not whole samples of {self._whole} bytes")
        with self._sending:
            at = 0
            while at < len(samples):
                with self._changed:
                    self._changed.wait_for(lambda: self._ended is not None or self._credit >= self._whole)
                    if self._ended is not None:
                        raise self._ended
                    length = min(len(samples) - at, self._credit, _AUDIO_BYTES)
                    length -= length % self._whole
                    self._credit -= length
                header = _AUDIO_HEADER.pack(_AUDIO, self.stream, self._sequence)
                self._client._send_frame(_BINARY, header + samples[at : at + length])
                self._sequence += 1
                at += length

    def end_utterance(self) -> None:
        """What was said so far becomes a turn."""
        self._request("EndUtteranceRequest")

    def finish(self) -> None:
        """No audio follows. The events of the last segment still come."""
        self._request("FinishSpeechRequest")

    def close(self) -> None:
        """Ends the stream at once; write() then raises in threads that wait in it. A stream that has ended is no error."""
        with self._changed:
            if self._ended is not None:
                return
        try:
            self._client.request("CloseSpeechRequest", session_id=self._session_id, stream=self.stream)
        except ServerError as error:
            if error.code != 7001:
                raise

    def __iter__(self) -> Iterator[Frame]:
        turns, closed = set(), False
        while not closed or turns:
            event = self._events.get()
            if isinstance(event, Exception):
                raise event
            closed = closed or event["type"] == "SpeechClosed"
            if event["type"] == "TurnStarted":
                turns.add(event["turn_id"])
            if event["type"] == "TurnComplete":
                turns.discard(event["turn_id"])
            yield event

    def _request(self, type: str) -> None:
        with self._sending:
            reply = self._client.send(type, session_id=self._session_id, stream=self.stream)
        reply.result()

    def _opened(self, frame: Frame) -> None:
        with self._changed:
            self.stream, self._credit = frame["stream"], frame["credit_bytes"]

    def _hear(self, frame: Frame) -> None:
        with self._changed:
            if frame["type"] == "SpeechCredit":
                self._credit += frame["bytes"]
            if frame["type"] == "SpeechClosed":
                error = frame.get("error") or {"code": 7001, "name": "SpeechStreamNotFound", "message": "it has ended"}
                self._ended = ServerError(error["code"], error["name"], error["message"], error.get("details"))
            self._changed.notify_all()
        if frame["type"] != "SpeechCredit":
            self._events.put(frame)

    def _end(self, lost: ConnectionLost) -> None:
        with self._changed:
            self._ended = lost
            self._changed.notify_all()
        self._events.put(lost)


class Agent:
    """Takes turns, one after the other."""

    def __init__(self, client: Client, session_id: str, made: Frame):
        self._client, self._session_id, self.id = client, session_id, made["agent_id"]
        self.memories: List[Frame] = made.get("memories", [])
        """The memories of its remember nodes. Keep their secrets: each is sent once and opens its memory later."""

    def turn(self, text: str, variables: Optional[Frame] = None, **more: Any) -> Frame:
        """Takes a turn and returns its TurnComplete; `status` says how it ended. `more`: action_result, hits, dry_run, as_of.

        `on_forget`: called with a TurnForget; returns the ids of the records that may be forgotten. Without it, none is.
        """
        on_forget: Callable[[Frame], List[str]] = more.pop("on_forget", lambda event: [])
        complete: Frame = {}
        for complete in self.stream(text, variables, **more):
            if complete["type"] == "TurnForget":
                ids = on_forget(complete)
                self.confirm_forget(complete["forget_id"], confirm=len(ids) > 0, ids=ids or None)
        return complete

    def stream(self, text: str, variables: Optional[Frame] = None, **more: Any) -> Iterator[Frame]:
        """Yields the turn's frames as they come: TurnStarted, TurnText, TurnForget, and TurnComplete last.

        A TurnForget waits for confirm_forget(); without an answer nothing is forgotten, after `expires_in_ms`.

        Leaving the loop early cancels the turn.
        """
        fields = {"session_id": self._session_id, "agent_id": self.id, "text": text, "variables": variables or {}}
        fields.update(more)
        started = self._client.send("TurnRequest", **fields).result()
        turn_id = started["turn_id"]
        events = self._client._turn(turn_id)
        ended = False
        try:
            yield started
            while not ended:
                event = events.get()
                if isinstance(event, Exception):
                    ended = True
                    raise event
                ended = event["type"] == "TurnComplete"
                yield event
        finally:
            if not ended:
                try:
                    self._client.request("CancelTurnRequest", session_id=self._session_id, turn_id=turn_id)
                except (ServerError, ConnectionLost):
                    pass

    def confirm_forget(
        self, forget_id: str, confirm: bool = True, ids: Optional[List[str]] = None, histories: bool = False
    ) -> None:
        """Answers the event TurnForget, from another thread or within the loop over stream().

        `histories`: also removes the turns of your agents that quote the records.
        """
        fields: Frame = {
            "session_id": self._session_id,
            "forget_id": forget_id,
            "confirm": confirm,
            "histories": histories,
        }
        if ids is not None:
            fields["ids"] = ids
        self._client.request("ConfirmForgetRequest", **fields)

    def export(self) -> Frame:
        """The turns that the agent remembers, for create_agent(history=...)."""
        fields = {"session_id": self._session_id, "agent_id": self.id}
        return self._client.request("ExportAgentRequest", **fields)["history"]

    def destroy(self) -> None:
        self._client.request("DestroyAgentRequest", session_id=self._session_id, agent_id=self.id)


def connect(
    host: str = "127.0.0.1",
    port: int = 9100,
    timeout: Optional[float] = 10.0,
    access_token: Optional[str] = None,
) -> Client:
    """Connects and waits for the greeting. Raises ConnectionLost."""
    return Client(host, port, timeout, access_token)
