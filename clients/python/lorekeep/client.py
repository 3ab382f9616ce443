"""The client for threads. Every request waits for its own reply, so threads can share a client."""

from __future__ import annotations

import queue
import selectors
import socket
import threading
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from typing import TYPE_CHECKING, Any, Callable, Iterator, List, Literal, Mapping, NamedTuple, Optional, Union, cast

from . import frames, wire
from .errors import ConnectionLost, RequestTimeout, ServerError
from .frames import SessionCalls, TurnComplete, TurnForget, TurnStarted, TurnText
from .remembered import AgentState, Reconnect, Requests, SessionState, policy_of, resolved

if TYPE_CHECKING:
    from typing_extensions import Unpack

TurnEvent = Union[TurnStarted, TurnText, TurnForget, TurnComplete]
SpeechEvent = Union[
    frames.SpeechStarted, frames.SpeechEnded, frames.SpeechText, frames.SpeechClosed, TurnEvent
]
State = Literal["reconnecting", "connected", "closed"]
Note = Optional[Callable[[wire.Frame], None]]


class Limits(NamedTuple):
    """Limits of a connection, in seconds and bytes, as Client describes them."""

    timeout: float
    request_timeout: Optional[float]
    stall_timeout: float
    max_frame_bytes: int


class Link:
    """One connection, with the thread that reads from it."""

    def __init__(self, address: "tuple[str, int]", limits: Limits, on_lost: Callable[[Link, ConnectionLost], None]):
        """Connects and waits for the greeting. Raises ConnectionLost."""
        self._limits, self._on_lost = limits, on_lost
        # Reentrant: a callback of a reply may send a request. Never held while bytes are written.
        self._table, self._writing = threading.RLock(), threading.Lock()
        self.conversation = wire.Conversation()
        self.lost: Optional[ConnectionLost] = None
        self._decoder = wire.Decoder(limits.max_frame_bytes)
        place = f"{address[0]}:{address[1]}"
        try:
            self._socket = socket.create_connection(address, limits.timeout)
        except OSError as error:
            raise ConnectionLost(f"nothing answers at {place}: {error}") from error
        self._socket.settimeout(None)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        greeted: "Future[None]" = Future()
        self._reader = threading.Thread(target=self._read, args=(greeted,), name="lorekeep", daemon=True)
        self._reader.start()
        try:
            greeted.result(limits.timeout)
        except FutureTimeout:
            self.close()
            raise ConnectionLost(f"{place} does not greet within {limits.timeout} s") from None
        except ConnectionLost as error:
            self.close()
            raise ConnectionLost(f"{place} is no lorekeep server: {error}") from error

    def call(self, type: str, fields: Mapping[str, Any], sink: Optional[wire.Sink] = None, note: Note = None) -> Any:
        id, reply = self.post(type, fields, sink, note)
        try:
            return reply.result(self._limits.request_timeout)
        except FutureTimeout:
            with self._table:
                self.conversation.drop(id)
            raise RequestTimeout(f"{type}: no reply within {self._limits.request_timeout} s") from None

    def post(
        self, type: str, fields: Mapping[str, Any], sink: Optional[wire.Sink] = None, note: Note = None
    ) -> tuple[int, Future[Any]]:
        """`note` hears the reply before any later frame is read."""
        reply: Future[Any] = Future()
        reply.set_running_or_notify_cancel()

        def resolve(frame: wire.Frame) -> None:
            if note is not None:
                note(frame)
            reply.set_result(frame)

        waiting = wire.Waiting(resolve, reply.set_exception, sink)
        with self._table:
            id, data = self.conversation.request(type, fields, waiting)
        self.write(data)
        return id, reply

    def write(self, data: bytes) -> None:
        try:
            with self._writing:
                self._socket.sendall(data)
        except OSError as error:
            self.lose(ConnectionLost(f"the connection failed: {error}"))
        except BaseException:  # Ctrl-C, perhaps in the middle of a frame: the next one would be taken for the rest of it.
            self.lose(ConnectionLost("a request was interrupted while it was sent"))
            raise

    def close(self) -> None:
        self.lose(ConnectionLost("the connection was closed"))
        if threading.current_thread() is not self._reader:
            self._reader.join()

    def lose(self, lost: ConnectionLost) -> None:
        with self._table:
            if self.lost is None:
                self.lost = lost
                # First: who hears of the loss and asks again waits for the next connection.
                self._on_lost(self, lost)
            self.conversation.lose(lost)
        try:
            self._socket.shutdown(socket.SHUT_RDWR)  # Wakes the reader, which closes the socket.
        except OSError:
            pass

    def _read(self, greeted: Future[None]) -> None:
        reason: Exception = ConnectionLost("the server closed the connection")
        stall = self._limits.stall_timeout
        try:
            with selectors.DefaultSelector() as selector:
                selector.register(self._socket, selectors.EVENT_READ)
                while True:
                    if not selector.select(stall if self._decoder.is_within_frame else None):
                        raise ConnectionLost(f"the rest of a frame did not come within {stall} s")
                    data = self._socket.recv(wire.READ_BYTES)
                    if not data:
                        break
                    for frame in self._decoder.feed(data):
                        with self._table:
                            self.conversation.receive(frame)
                    if self.conversation.hello is not None and not greeted.done():
                        greeted.set_result(None)
        except Exception as error:  # Whatever ends the reader, nobody may wait for it any longer.
            reason = error
        lost = reason if isinstance(reason, ConnectionLost) else ConnectionLost(f"the connection was lost: {reason!r}")
        self.lose(lost)
        if not greeted.done():
            greeted.set_exception(self.conversation.lost or lost)
        self._socket.close()


class Client(frames.ClientCalls):
    """A connection, which may be replaced when it is lost. Its sessions end with it, unless they are made again on the next."""

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
        reconnect: Union[bool, Reconnect] = False,
        on_state: Callable[[State, Optional[Exception]], None] = lambda state, error: None,
    ):
        """Connects and waits for the greeting. Raises ConnectionLost.

        `timeout`: seconds for both. `request_timeout`: seconds until a request without a reply raises RequestTimeout.
        `stall_timeout`: seconds in which the rest of a frame must come. `access_token`: the secret of a server that wants
        one. `max_frame_bytes`: a server that sends longer frames is left. `reconnect`: a lost connection is replaced, and its
        sessions, storages and agents are made again; what was under way raises ConnectionLost, and what is asked meanwhile
        waits. `on_state` hears of `reconnecting`, `connected` and `closed`, from a thread of the client.
        """
        self._address, self._access_token, self._on_state = (host, port), access_token, on_state
        self._limits = Limits(timeout, request_timeout, stall_timeout, max_frame_bytes)
        self._policy = policy_of(reconnect)
        self._changed, self._stop = threading.Condition(), threading.Event()
        self._closed: Optional[ConnectionLost] = None
        self._sessions: List[SessionState] = []
        self._replacing: Optional[threading.Thread] = None
        self._link: Optional[Link] = None
        self._fresh: Optional[Link] = None
        self._adopt(Link(self._address, self._limits, self._lost))

    @property
    def hello(self) -> frames.Hello:
        """The server's greeting."""
        return self._hello

    @property
    def connected(self) -> bool:
        return self._link is not None

    def create_session(self, **fields: Unpack[frames.CreateSessionFields]) -> Session:
        token = {} if self._access_token is None else {"access_token": self._access_token}
        asked: Mapping[str, Any] = {**token, **fields}
        made = self._call("CreateSessionRequest", asked)
        state = SessionState(made, asked)
        session = Session(self, state, made)
        if self._policy is not None:
            self._sessions.append(state)
        return session

    def send(self, type: str, fields: Mapping[str, Any], sink: Optional[wire.Sink] = None) -> Future[Any]:
        """Sends a request; the future has its reply. Its callbacks run in the thread that reads, and must not wait."""
        return self._current().post(type, fields, sink)[1]

    def close(self) -> None:
        """Ends every session and the connection, and attempts to replace it. Twice is fine."""
        self._stop.set()
        with self._changed:
            links, replacing = [self._link, self._fresh], self._replacing
        for link in links:
            if link is not None:
                link.close()
        if replacing is not None and replacing is not threading.current_thread():
            replacing.join()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def _call(self, type: str, fields: Mapping[str, Any], sink: Optional[wire.Sink] = None) -> Any:
        return self._current().call(type, fields, sink)

    def _current(self) -> Link:
        """Waits while the connection is replaced."""
        with self._changed:
            if not self._changed.wait_for(lambda: self._link or self._closed, self._limits.request_timeout):
                raise RequestTimeout(f"there was no connection within {self._limits.request_timeout} s")
            if self._link is None:
                raise cast(ConnectionLost, self._closed)
            return self._link

    def _adopt(self, link: Link) -> None:
        """May find it lost already."""
        with self._changed:
            self._hello = cast(frames.Hello, link.conversation.hello)
            lost = link.lost
            self._link = link if lost is None else None
            self._changed.notify_all()
        if lost is not None:
            self._replace(lost)

    def _lost(self, link: Link, lost: ConnectionLost) -> None:
        with self._changed:
            if self._link is not link:
                return  # Not adopted yet.
            self._link = None
            self._replace(lost)

    def _replace(self, lost: ConnectionLost) -> None:
        if self._policy is None or self._stop.is_set():
            self._end(lost)
            return
        self._replacing = threading.Thread(target=self._reconnect, args=(lost, self._policy), daemon=True, name="lorekeep")
        self._replacing.start()

    def _end(self, lost: ConnectionLost) -> None:
        with self._changed:
            self._closed = lost
            self._changed.notify_all()
        self._on_state("closed", None if self._stop.is_set() else lost)

    def _reconnect(self, lost: ConnectionLost, policy: Reconnect) -> None:
        self._on_state("reconnecting", lost)
        for attempt in range(policy.attempts):
            if self._stop.wait(policy.delay(attempt)):
                break
            try:
                link = self._restored()
            except (ConnectionLost, RequestTimeout) as error:
                lost = ConnectionLost(f"the connection was lost, and {attempt + 1} attempts to reconnect failed: {error}")
                continue
            if self._stop.is_set():
                link.close()
                break
            self._adopt(link)
            if self.connected:
                self._on_state("connected", None)
            return
        self._end(ConnectionLost("the connection was closed") if self._stop.is_set() else lost)

    def _restored(self) -> Link:
        """Opens a connection and makes everything again."""
        link = Link(self._address, self._limits, self._lost)
        try:
            with self._changed:
                self._fresh = link
            if self._stop.is_set():
                raise ConnectionLost("the connection was closed")
            for session in list(self._sessions):
                _answer(session.restoring(), link)
        except BaseException:
            link.close()
            raise
        return link


def _answer(requests: Requests, link: Link) -> None:
    """Sends the requests one after the other, and gives each its reply or refusal."""
    try:
        asked = next(requests)
        while True:
            try:
                reply = link.call(*asked)
            except ServerError as error:
                asked = requests.throw(error)
            else:
                asked = requests.send(reply)
    except StopIteration:
        pass


class Session(SessionCalls):
    """Named storages and agents; gone when it ends, or its connection unless that is replaced."""

    def __init__(self, client: Client, state: SessionState, made: frames.CreateSessionResponse):
        self._client, self._state = client, state
        kept = made.get("agents", [])
        self.resumed = [self._add(AgentState(one, None)) for one in kept if "agent_id" in one]
        """The agents of a session that was resumed, as far as they could be opened."""
        self.unopened = [one for one in kept if "agent_id" not in one]
        """The others, each with the `error`; create_agent(kept=...) opens them."""

    @property
    def id(self) -> str:
        """Changes when the connection is replaced."""
        return self._state.id

    @property
    def resume(self) -> Optional[str]:
        """Of a session that is kept: the secret with which create_session(resume=...) resumes it, on any server."""
        return self._state.resume

    def create_agent(self, **fields: Unpack[frames.CreateAgentFields]) -> Agent:
        """`history`: that of Agent.export() of an earlier agent."""
        asked = cast(Mapping[str, Any], fields)
        made = self._call("CreateAgentRequest", asked)
        return self._add(AgentState(made, asked), made.get("memories"))

    def open_speech(self, **fields: Unpack[frames.OpenSpeechFields]) -> Speech:
        """Opens a stream of audio, which ends with its connection."""
        return Speech(self, cast(Mapping[str, Any], fields))

    def pull(self, model: str, on_progress: Callable[[frames.PullProgress], None]) -> frames.PullModelResponse:
        """pull_model() that tells how far it is, from the thread that reads: `on_progress` must not wait for replies."""

        def hear(event: wire.Event) -> None:
            if not isinstance(event, Exception):
                on_progress(cast(frames.PullProgress, event))

        return cast(frames.PullModelResponse, self._call("PullModelRequest", {"model": model}, hear))

    def destroy(self) -> None:
        self.destroy_session()
        if self._state in self._client._sessions:
            self._client._sessions.remove(self._state)

    def _add(self, state: AgentState, memories: Optional[List[frames.MadeMemory]] = None) -> Agent:
        if self._client._policy is not None:
            self._state.agents.append(state)
        return Agent(self, state, memories)

    def _call(self, type: str, fields: Mapping[str, Any], sink: Optional[wire.Sink] = None) -> Any:
        link = self._client._current()
        reply = self._call_on(link, type, fields, sink)
        if self._client._policy is not None and fields.get("histories"):
            # Turns were removed from histories: they must not come back with another connection.
            for agent in list(self._state.agents):
                exported = self._call_on(link, "ExportAgentRequest", {"agent_id": agent})
                agent.turns = exported["history"]["turns"]
        return reply

    def _call_on(self, link: Link, type: str, fields: Mapping[str, Any], sink: Optional[wire.Sink] = None) -> Any:
        if self._state.broken is not None:
            raise self._state.broken
        asked = {"session_id": self._state.id, **resolved(fields)}
        if self._client._policy is None:
            return link.call(type, asked, sink)
        return link.call(type, asked, sink, lambda reply: self._state.note(type, asked, reply))


class Agent:
    """Takes turns, one after the other."""

    def __init__(self, session: Session, state: AgentState, memories: Optional[List[frames.MadeMemory]]):
        self._session, self._state = session, state
        self.memories: List[frames.MadeMemory] = memories or []
        """The memories of its remember nodes. Keep their secrets: each is sent once and opens its memory later."""

    @property
    def id(self) -> str:
        """Changes when the connection is replaced."""
        return self._state.id

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
        link = self._session._client._current()
        fields = {"agent_id": self._state, "text": text, **options}
        sink = self._state.listening(events.put, fields)
        started = cast(TurnStarted, self._session._call_on(link, "TurnRequest", fields, sink))
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
                self._cancel(link, started["turn_id"])

    def _cancel(self, link: Link, turn_id: str) -> None:
        try:
            self._session._call_on(link, "CancelTurnRequest", {"turn_id": turn_id})
        except (ServerError, ConnectionLost, RequestTimeout):
            pass  # It has ended.

    def export(self) -> frames.History:
        """The turns that the agent remembers, for create_agent(history=...)."""
        return cast(frames.History, self._session._call("ExportAgentRequest", {"agent_id": self._state})["history"])

    def destroy(self) -> None:
        self._session._call("DestroyAgentRequest", {"agent_id": self._state})


class Speech:
    """A stream of audio. Iterating yields its events, and those of the turns that were spoken, until both have ended."""

    def __init__(self, session: Session, fields: Mapping[str, Any]):
        self._session, self._state = session, wire.SpeechState(fields)
        self._events: queue.SimpleQueue[wire.Event] = queue.SimpleQueue()
        self._changed, self._sending = threading.Condition(), threading.Lock()
        self._link = session._client._current()
        sink = session._state.listening(self._hear, fields)
        frame = session._call_on(self._link, "OpenSpeechRequest", fields, sink)
        with self._changed:
            self._state.open(frame)

    def write(self, samples: wire.Samples) -> None:
        """Sends samples in the stream's format, little-endian: bytes, or an array of samples.

        Waits while the server has not heard earlier audio. Raises ValueError for samples of another format, ServerError if the server closed the stream, ConnectionLost.
        """
        data, at = self._state.checked(samples), 0
        with self._sending:
            while at < len(data):
                with self._changed:
                    self._changed.wait_for(lambda: self._state.may_write)
                    frame, at = self._state.take(data, at)
                self._link.write(frame)

    def end_utterance(self) -> None:
        """Makes a turn of what was said so far."""
        with self._sending:
            self._call("EndUtteranceRequest")

    def finish(self) -> None:
        """Ends the audio. The events of the last segment still come."""
        with self._sending:
            self._call("FinishSpeechRequest")

    def close(self) -> None:
        """Ends the stream at once; write() then raises in threads that wait in it. Twice is fine."""
        if self._state.ended is not None:
            return
        try:
            self._call("CloseSpeechRequest")
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

    def _call(self, type: str) -> None:
        self._session._call_on(self._link, type, {"stream": self._state.stream})

    def _hear(self, event: wire.Event) -> None:
        with self._changed:
            is_event = self._state.hear(event)
            self._changed.notify_all()
        if is_event:
            self._events.put(event)
