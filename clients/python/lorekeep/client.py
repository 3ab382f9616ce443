"""The client for threads. Every request waits for its own reply, so threads can share a client."""

from __future__ import annotations

import queue
import selectors
import socket
import threading
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from typing import TYPE_CHECKING, Any, Callable, Iterator, List, Mapping, Optional, Union, cast

from . import frames, wire
from .errors import ConnectionLost, RequestTimeout, ServerError
from .frames import SessionCalls, TurnComplete, TurnForget, TurnStarted, TurnText

if TYPE_CHECKING:
    from typing_extensions import Unpack

TurnEvent = Union[TurnStarted, TurnText, TurnForget, TurnComplete]
SpeechEvent = Union[
    frames.SpeechStarted, frames.SpeechEnded, frames.SpeechText, frames.SpeechClosed, TurnEvent
]


class Client(frames.ClientCalls):
    """A connection. Its sessions end with it."""

    def __init__(
        self,
        host: str = "127.0.0.1",
        port: int = 9100,
        *,
        timeout: float = 10.0,
        request_timeout: Optional[float] = None,
        stall_timeout: float = 30.0,
        access_token: Optional[str] = None,
        max_frame_bytes: int = wire.MAX_FRAME_BYTES,
    ):
        """Connects and waits for the greeting. Raises ConnectionLost.

        `timeout`: seconds for both. `request_timeout`: seconds until a request without a reply raises RequestTimeout.
        `stall_timeout`: seconds in which the rest of a frame must come. `access_token`: the secret of a server that wants
        one. `max_frame_bytes`: a server that sends longer frames is left.
        """
        self._access_token, self._request_timeout, self._stall = access_token, request_timeout, stall_timeout
        # Reentrant: a callback of a reply may send a request. Never held while bytes are written.
        self._table, self._writing = threading.RLock(), threading.Lock()
        self._conversation = wire.Conversation()
        self._decoder = wire.Decoder(max_frame_bytes)
        place = f"{host}:{port}"
        try:
            self._socket = socket.create_connection((host, port), timeout)
        except OSError as error:
            raise ConnectionLost(f"nothing answers at {place}: {error}") from error
        self._socket.settimeout(None)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        greeted: "Future[None]" = Future()
        self._reader = threading.Thread(target=self._read, args=(greeted,), name="lorekeep", daemon=True)
        self._reader.start()
        try:
            greeted.result(timeout)
        except FutureTimeout:
            self.close()
            raise ConnectionLost(f"{place} does not greet within {timeout} s") from None
        except ConnectionLost as error:
            self.close()
            raise ConnectionLost(f"{place} is no lorekeep server: {error}") from error

    @property
    def hello(self) -> frames.Hello:
        """The server's greeting."""
        return cast(frames.Hello, self._conversation.hello)

    @property
    def connected(self) -> bool:
        return self._conversation.lost is None

    def create_session(self, **fields: Unpack[frames.CreateSessionFields]) -> Session:
        token = {} if self._access_token is None else {"access_token": self._access_token}
        return Session(self, self._call("CreateSessionRequest", {**token, **fields}))

    def send(self, type: str, fields: Mapping[str, Any], sink: Optional[wire.Sink] = None) -> Future[Any]:
        """Sends a request; the future has its reply. Its callbacks run in the thread that reads, and must not wait."""
        return self._post(type, fields, sink)[1]

    def close(self) -> None:
        """Ends every session and the connection. Twice is fine."""
        self._lose(ConnectionLost("the connection was closed"))
        if threading.current_thread() is not self._reader:
            self._reader.join()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def _call(self, type: str, fields: Mapping[str, Any], sink: Optional[wire.Sink] = None) -> Any:
        id, reply = self._post(type, fields, sink)
        try:
            return reply.result(self._request_timeout)
        except FutureTimeout:
            with self._table:
                self._conversation.drop(id)
            raise RequestTimeout(f"{type}: no reply within {self._request_timeout} s") from None

    def _post(self, type: str, fields: Mapping[str, Any], sink: Optional[wire.Sink]) -> tuple[int, Future[Any]]:
        reply: Future[Any] = Future()
        reply.set_running_or_notify_cancel()
        waiting = wire.Waiting(reply.set_result, reply.set_exception, sink)
        with self._table:
            id, data = self._conversation.request(type, fields, waiting)
        self._write(data)
        return id, reply

    def _write(self, data: bytes) -> None:
        try:
            with self._writing:
                self._socket.sendall(data)
        except OSError as error:
            self._lose(ConnectionLost(f"the connection failed: {error}"))
        except BaseException:  # Ctrl-C, perhaps in the middle of a frame: the next one would be taken for the rest of it.
            self._lose(ConnectionLost("a request was interrupted while it was sent"))
            raise

    def _read(self, greeted: Future[None]) -> None:
        reason: Exception = ConnectionLost("the server closed the connection")
        try:
            with selectors.DefaultSelector() as selector:
                selector.register(self._socket, selectors.EVENT_READ)
                while True:
                    if not selector.select(self._stall if self._decoder.is_within_frame else None):
                        raise ConnectionLost(f"the rest of a frame did not come within {self._stall} s")
                    data = self._socket.recv(wire.READ_BYTES)
                    if not data:
                        break
                    for frame in self._decoder.feed(data):
                        with self._table:
                            self._conversation.receive(frame)
                    if self._conversation.hello is not None and not greeted.done():
                        greeted.set_result(None)
        except Exception as error:  # Whatever ends the reader, nobody may wait for it any longer.
            reason = error
        lost = reason if isinstance(reason, ConnectionLost) else ConnectionLost(f"the connection was lost: {reason!r}")
        self._lose(lost)
        if not greeted.done():
            greeted.set_exception(self._conversation.lost or lost)
        self._socket.close()

    def _lose(self, lost: ConnectionLost) -> None:
        with self._table:
            self._conversation.lose(lost)
        try:
            self._socket.shutdown(socket.SHUT_RDWR)  # Wakes the reader, which closes the socket.
        except OSError:
            pass


class Session(SessionCalls):
    """Named storages and agents; gone when it or its connection ends."""

    def __init__(self, client: Client, made: frames.CreateSessionResponse):
        self._client, self.id = client, made["session_id"]
        self.resume: Optional[str] = made.get("resume")
        """Of a session that is kept: the secret with which create_session(resume=...) resumes it, on any server."""
        kept = made.get("agents", [])
        self.resumed = [Agent(self, one["agent_id"]) for one in kept if "agent_id" in one]
        """The agents of a session that was resumed, as far as they could be opened."""
        self.unopened = [one for one in kept if "agent_id" not in one]
        """The others, each with the `error`; create_agent(kept=...) opens them."""

    def create_agent(self, **fields: Unpack[frames.CreateAgentFields]) -> Agent:
        """`history`: that of Agent.export() of an earlier agent."""
        made = self._call("CreateAgentRequest", cast(Mapping[str, Any], fields))
        return Agent(self, made["agent_id"], made.get("memories"))

    def open_speech(self, **fields: Unpack[frames.OpenSpeechFields]) -> Speech:
        """Opens a stream of audio."""
        return Speech(self, cast(Mapping[str, Any], fields))

    def pull(self, model: str, on_progress: Callable[[frames.PullProgress], None]) -> frames.PullModelResponse:
        """pull_model() that tells how far it is, from the thread that reads: `on_progress` must not wait for replies."""

        def hear(event: wire.Event) -> None:
            if not isinstance(event, Exception):
                on_progress(cast(frames.PullProgress, event))

        return cast(frames.PullModelResponse, self._call("PullModelRequest", {"model": model}, hear))

    def destroy(self) -> None:
        self.destroy_session()

    def _call(self, type: str, fields: Mapping[str, Any], sink: Optional[wire.Sink] = None) -> Any:
        return self._client._call(type, {"session_id": self.id, **fields}, sink)


class Agent:
    """Takes turns, one after the other."""

    def __init__(self, session: Session, id: str, memories: Optional[List[frames.MadeMemory]] = None):
        self._session, self.id = session, id
        self.memories: List[frames.MadeMemory] = memories or []
        """The memories of its remember nodes. Keep their secrets: each is sent once and opens its memory later."""

    def turn(
        self,
        text: str,
        *,
        on_forget: Callable[[TurnForget], List[str]] = lambda event: [],
        **options: Unpack[frames.TurnOptions],
    ) -> TurnComplete:
        """Takes a turn and returns its end; `status` says how it ended.

        `on_forget` returns the ids of the records that may be forgotten. Without it, none is.
        """
        complete: Optional[TurnComplete] = None
        for event in self.stream(text, **options):
            if event["type"] == "TurnForget":
                ids = on_forget(event)
                if ids:
                    self._session.confirm_forget(forget_id=event["forget_id"], confirm=True, ids=ids)
                else:
                    self._session.confirm_forget(forget_id=event["forget_id"], confirm=False)
            if event["type"] == "TurnComplete":
                complete = event
        assert complete is not None
        return complete

    def stream(self, text: str, **options: Unpack[frames.TurnOptions]) -> Iterator[TurnEvent]:
        """Yields the turn's frames as they come: TurnStarted, TurnText, TurnForget, and TurnComplete last.

        A TurnForget waits for confirm_forget() of the session, and forgets nothing without it, after `expires_in_ms`.
        Leaving the loop early cancels the turn.
        """
        events: queue.SimpleQueue[wire.Event] = queue.SimpleQueue()
        fields = {"agent_id": self.id, "text": text, **options}
        started = cast(TurnStarted, self._session._call("TurnRequest", fields, events.put))
        ended = False
        try:
            yield started
            while not ended:
                event = events.get()
                ended = isinstance(event, Exception) or event["type"] == "TurnComplete"
                if isinstance(event, Exception):
                    raise event
                yield cast(TurnEvent, event)
        finally:
            if not ended:
                self._cancel(started["turn_id"])

    def _cancel(self, turn_id: str) -> None:
        try:
            self._session.cancel_turn(turn_id=turn_id)
        except (ServerError, ConnectionLost, RequestTimeout):
            pass  # It has ended.

    def export(self) -> frames.History:
        """The turns that the agent remembers, for create_agent(history=...)."""
        return self._session.export_agent(agent_id=self.id)["history"]

    def destroy(self) -> None:
        self._session.destroy_agent(agent_id=self.id)


class Speech:
    """A stream of audio. Iterating yields its events, and those of the turns that were spoken, until both have ended."""

    def __init__(self, session: Session, fields: Mapping[str, Any]):
        self._session, self._state = session, wire.SpeechState(fields)
        self._events: queue.SimpleQueue[wire.Event] = queue.SimpleQueue()
        self._changed, self._sending = threading.Condition(), threading.Lock()
        frame = session._call("OpenSpeechRequest", fields, self._hear)
        with self._changed:
            self._state.open(frame)

    def write(self, samples: bytes) -> None:
        """Sends samples in the stream's format, little-endian. Waits while the server has not heard earlier audio.

        Raises ServerError if the server closed the stream, ConnectionLost.
        """
        self._state.check(samples)
        at = 0
        with self._sending:
            while at < len(samples):
                with self._changed:
                    self._changed.wait_for(lambda: self._state.may_write)
                    frame, at = self._state.take(samples, at)
                self._session._client._write(frame)

    def end_utterance(self) -> None:
        """Makes a turn of what was said so far."""
        with self._sending:
            self._session.end_utterance(stream=self._state.stream)

    def finish(self) -> None:
        """Ends the audio. The events of the last segment still come."""
        with self._sending:
            self._session.finish_speech(stream=self._state.stream)

    def close(self) -> None:
        """Ends the stream at once; write() then raises in threads that wait in it. Twice is fine."""
        if self._state.ended is not None:
            return
        try:
            self._session.close_speech(stream=self._state.stream)
        except ServerError as error:
            if error.code != frames.Code.SpeechStreamNotFound:
                raise

    def __iter__(self) -> Iterator[SpeechEvent]:
        turns: set[str] = set()
        closed = ended = False
        while not ended:
            event = self._events.get()
            if isinstance(event, Exception):
                raise event
            closed, ended = wire.is_last(event, turns, closed)
            yield cast(SpeechEvent, event)

    def _hear(self, event: wire.Event) -> None:
        with self._changed:
            is_event = self._state.hear(event)
            self._changed.notify_all()
        if is_event:
            self._events.put(event)
