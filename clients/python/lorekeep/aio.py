"""The client for asyncio: the calls of lorekeep.Client as coroutines. Tasks of one event loop can share a client."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, AsyncIterator, Callable, List, Mapping, Optional, Union, cast

from . import frames, wire
from .client import Limits, Note, SpeechEvent, State, TurnEvent
from .errors import ConnectionLost, RequestTimeout, ServerError
from .frames import AsyncSessionCalls, TurnComplete, TurnForget, TurnStarted
from .remembered import AgentState, Reconnect, Requests, SessionState, policy_of, resolved

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Link:
    """One connection, with the task that reads from it."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        limits: Limits,
        on_lost: Callable[[Link, ConnectionLost], None],
    ):
        self._from, self._to, self._limits, self._on_lost = reader, writer, limits, on_lost
        self.conversation = wire.Conversation()
        self.lost: Optional[ConnectionLost] = None
        self._decoder = wire.Decoder(limits.max_frame_bytes)
        self._greeted = asyncio.Event()
        self._reading = asyncio.ensure_future(self._read())

    @classmethod
    async def open(
        cls, address: "tuple[str, int]", limits: Limits, on_lost: Callable[[Link, ConnectionLost], None]
    ) -> Link:
        """Connects and waits for the greeting. Raises ConnectionLost."""
        place = f"{address[0]}:{address[1]}"
        try:
            streams = await asyncio.wait_for(asyncio.open_connection(*address), limits.timeout)
        except (OSError, asyncio.TimeoutError) as error:
            raise ConnectionLost(f"nothing answers at {place}: {error}") from error
        link = cls(*streams, limits, on_lost)
        try:
            await asyncio.wait_for(link._greeted.wait(), limits.timeout)
        except asyncio.TimeoutError:
            await link.close()
            raise ConnectionLost(f"{place} does not greet within {limits.timeout} s") from None
        except BaseException:
            await link.close()
            raise
        if link.lost is not None and link.conversation.hello is None:
            await link.close()
            raise ConnectionLost(f"{place} is no lorekeep server: {link.lost}") from link.lost
        return link

    async def call(
        self, type: str, fields: Mapping[str, Any], sink: Optional[wire.Sink] = None, note: Note = None
    ) -> Any:
        id, reply = self.post(type, fields, sink, note)
        try:
            await self.drained()
            return await asyncio.wait_for(reply, self._limits.request_timeout)
        except asyncio.TimeoutError:
            raise RequestTimeout(f"{type}: no reply within {self._limits.request_timeout} s") from None
        finally:
            self.conversation.drop(id)

    def post(
        self, type: str, fields: Mapping[str, Any], sink: Optional[wire.Sink] = None, note: Note = None
    ) -> tuple[int, asyncio.Future[Any]]:
        """Sends a request without waiting. `note` hears the reply before any later frame is read."""
        reply: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        # Nobody may await it: its exception is then no defect.
        reply.add_done_callback(lambda done: None if done.cancelled() else done.exception() and None)

        def settle(set: Callable[[Any], None]) -> Callable[[Any], None]:
            return lambda value: None if reply.done() else set(value)

        def resolve(frame: wire.Frame) -> None:
            if note is not None:
                note(frame)
            settle(reply.set_result)(frame)

        waiting = wire.Waiting(resolve, settle(reply.set_exception), sink)
        id, data = self.conversation.request(type, fields, waiting)
        self._to.write(data)
        return id, reply

    def write(self, data: bytes) -> None:
        self._to.write(data)

    async def drained(self) -> None:
        try:
            await self._to.drain()
        except OSError as error:
            self.lose(ConnectionLost(f"the connection failed: {error}"))

    async def close(self) -> None:
        self.lose(ConnectionLost("the connection was closed"))
        if self._reading is not asyncio.current_task():
            await asyncio.wait([self._reading])

    def lose(self, lost: ConnectionLost) -> None:
        if self.lost is None:
            self.lost = lost
            # First: who hears of the loss and asks again waits for the next connection.
            self._on_lost(self, lost)
        self.conversation.lose(lost)
        self._greeted.set()
        self._to.close()
        if self._reading is not asyncio.current_task():
            self._reading.cancel()

    async def _read(self) -> None:
        reason: BaseException = ConnectionLost("the server closed the connection")
        try:
            while True:
                stall = self._limits.stall_timeout if self._decoder.is_within_frame else None
                try:
                    data = await asyncio.wait_for(self._from.read(wire.READ_BYTES), stall)
                except asyncio.TimeoutError:
                    raise ConnectionLost(f"the rest of a frame did not come within {stall} s") from None
                if not data:
                    break
                for frame in self._decoder.feed(data):
                    self.conversation.receive(frame)
                if self.conversation.hello is not None:
                    self._greeted.set()
        except asyncio.CancelledError as error:
            reason = error
        except Exception as error:  # Whatever ends the reader, nobody may wait for it any longer.
            reason = error
        lost = reason if isinstance(reason, ConnectionLost) else ConnectionLost(f"the connection was lost: {reason!r}")
        self.lose(lost)


class Client(frames.AsyncClientCalls):
    """A connection, which may be replaced when it is lost: `client = await Client.connect(port=9100)`."""

    def __init__(
        self,
        address: "tuple[str, int]",
        limits: Limits,
        *,
        access_token: Optional[str],
        policy: Optional[Reconnect],
        on_state: Callable[[State, Optional[Exception]], None],
    ):
        self._address, self._limits, self._access_token = address, limits, access_token
        self._policy, self._on_state = policy, on_state
        self._changed, self._is_stopped = asyncio.Event(), False
        self._link: Optional[Link] = None
        self._closed: Optional[ConnectionLost] = None
        self._sessions: List[SessionState] = []
        self._replacing: Optional[asyncio.Future[None]] = None

    @classmethod
    async def connect(
        cls,
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
    ) -> Client:
        """Connects and waits for the greeting; the parameters are those of lorekeep.Client. Raises ConnectionLost."""
        limits = Limits(timeout, request_timeout, stall_timeout, max_frame_bytes)
        policy = policy_of(reconnect)
        client = cls((host, port), limits, access_token=access_token, policy=policy, on_state=on_state)
        client._adopt(await Link.open(client._address, limits, client._lost))
        return client

    @property
    def hello(self) -> frames.Hello:
        """The server's greeting."""
        return self._hello

    @property
    def connected(self) -> bool:
        return self._link is not None

    async def create_session(self, **fields: Unpack[frames.CreateSessionFields]) -> Session:
        token = {} if self._access_token is None else {"access_token": self._access_token}
        asked: Mapping[str, Any] = {**token, **fields}
        made = await self._call("CreateSessionRequest", asked)
        state = SessionState(made, asked)
        if self._policy is not None:
            self._sessions.append(state)
        return Session(self, state, made)

    async def close(self) -> None:
        """Ends every session and the connection, and attempts to replace it. Twice is fine."""
        self._is_stopped = True
        if self._link is not None:
            await self._link.close()
        if self._replacing is not None and not self._replacing.done():
            self._replacing.cancel()
            await asyncio.wait([self._replacing])

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(self, *_: Any) -> None:
        await self.close()

    async def _call(self, type: str, fields: Mapping[str, Any], sink: Optional[wire.Sink] = None) -> Any:
        return await (await self._current()).call(type, fields, sink)

    async def _current(self) -> Link:
        """Waits while the connection is replaced."""
        while self._link is None:
            if self._closed is not None:
                raise self._closed
            self._changed.clear()
            try:
                await asyncio.wait_for(self._changed.wait(), self._limits.request_timeout)
            except asyncio.TimeoutError:
                raise RequestTimeout(f"there was no connection within {self._limits.request_timeout} s") from None
        return self._link

    def _adopt(self, link: Link) -> None:
        """May find it lost already."""
        self._hello = cast(frames.Hello, link.conversation.hello)
        if link.lost is None:
            self._link = link
            self._changed.set()
        else:
            self._replace(link.lost)

    def _lost(self, link: Link, lost: ConnectionLost) -> None:
        if self._link is link:
            self._link = None
            self._replace(lost)

    def _replace(self, lost: ConnectionLost) -> None:
        if self._policy is None or self._is_stopped:
            self._end(lost)
        else:
            self._replacing = asyncio.ensure_future(self._reconnect(lost, self._policy))

    def _end(self, lost: ConnectionLost) -> None:
        self._closed = lost
        self._changed.set()
        self._on_state("closed", None if self._is_stopped else lost)

    async def _reconnect(self, lost: ConnectionLost, policy: Reconnect) -> None:
        try:
            self._on_state("reconnecting", lost)
            for attempt in range(policy.attempts):
                await asyncio.sleep(policy.delay(attempt))
                try:
                    link = await self._restored()
                except (ConnectionLost, RequestTimeout) as error:
                    lost = ConnectionLost(
                        f"the connection was lost, and {attempt + 1} attempts to reconnect failed: {error}"
                    )
                    continue
                self._adopt(link)
                if self.connected:
                    self._on_state("connected", None)
                return
        except asyncio.CancelledError:
            lost = ConnectionLost("the connection was closed")
        self._end(lost)

    async def _restored(self) -> Link:
        """Opens a connection and makes everything again."""
        link = await Link.open(self._address, self._limits, self._lost)
        try:
            for session in list(self._sessions):
                await _answer(session.restoring(), link)
        except BaseException:
            await link.close()
            raise
        return link


async def _answer(requests: Requests, link: Link) -> None:
    """Sends the requests one after the other, and gives each its reply or refusal."""
    try:
        asked = next(requests)
        while True:
            try:
                reply = await link.call(*asked)
            except ServerError as error:
                asked = requests.throw(error)
            else:
                asked = requests.send(reply)
    except StopIteration:
        pass


class Session(AsyncSessionCalls):
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

    async def create_agent(self, **fields: Unpack[frames.CreateAgentFields]) -> Agent:
        """`history`: that of Agent.export() of an earlier agent."""
        asked = cast(Mapping[str, Any], fields)
        made = await self._call("CreateAgentRequest", asked)
        return self._add(AgentState(made, asked), made.get("memories"))

    async def open_speech(self, **fields: Unpack[frames.OpenSpeechFields]) -> Speech:
        """Opens a stream of audio, which ends with its connection."""
        asked = cast(Mapping[str, Any], fields)
        link = await self._client._current()
        speech = Speech(self, link, asked)
        frame = await self._call_on(link, "OpenSpeechRequest", asked, self._state.listening(speech._hear, asked))
        speech._state.open(frame)
        return speech

    async def pull(self, model: str, on_progress: Callable[[frames.PullProgress], None]) -> frames.PullModelResponse:
        """pull_model() that tells how far it is."""

        def hear(event: wire.Event) -> None:
            if not isinstance(event, Exception):
                on_progress(cast(frames.PullProgress, event))

        return cast(frames.PullModelResponse, await self._call("PullModelRequest", {"model": model}, hear))

    async def destroy(self) -> None:
        await self.destroy_session()
        if self._state in self._client._sessions:
            self._client._sessions.remove(self._state)

    def _add(self, state: AgentState, memories: Optional[List[frames.MadeMemory]] = None) -> Agent:
        if self._client._policy is not None:
            self._state.agents.append(state)
        return Agent(self, state, memories)

    async def _call(self, type: str, fields: Mapping[str, Any], sink: Optional[wire.Sink] = None) -> Any:
        link = await self._client._current()
        reply = await self._call_on(link, type, fields, sink)
        if self._client._policy is not None and fields.get("histories"):
            # Turns were removed from histories: they must not come back with another connection.
            for agent in list(self._state.agents):
                exported = await self._call_on(link, "ExportAgentRequest", {"agent_id": agent})
                agent.turns = exported["history"]["turns"]
        return reply

    async def _call_on(
        self, link: Link, type: str, fields: Mapping[str, Any], sink: Optional[wire.Sink] = None
    ) -> Any:
        asked, note = self._asked(type, fields)
        return await link.call(type, asked, sink, note)

    def _asked(self, type: str, fields: Mapping[str, Any]) -> "tuple[Mapping[str, Any], Note]":
        if self._state.broken is not None:
            raise self._state.broken
        asked = {"session_id": self._state.id, **resolved(fields)}
        if self._client._policy is None:
            return asked, None
        return asked, lambda reply: self._state.note(type, asked, reply)


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

    async def turn(
        self,
        text: str,
        *,
        on_forget: Callable[[TurnForget], List[str]] = lambda event: [],
        **options: Unpack[frames.TurnOptions],
    ) -> TurnComplete:
        """Takes a turn and returns its end, as lorekeep.Agent.turn(). Cancelling the task cancels the turn."""
        complete: Optional[TurnComplete] = None
        async for event in self.stream(text, **options):
            if event["type"] == "TurnForget":
                ids = on_forget(event)
                if ids:
                    await self._session.confirm_forget(forget_id=event["forget_id"], confirm=True, ids=ids)
                else:
                    await self._session.confirm_forget(forget_id=event["forget_id"], confirm=False)
            if event["type"] == "TurnComplete":
                complete = event
        assert complete is not None
        return complete

    async def stream(self, text: str, **options: Unpack[frames.TurnOptions]) -> AsyncIterator[TurnEvent]:
        """Yields the turn's frames as they come, as lorekeep.Agent.stream(). Leaving the loop early cancels the turn."""
        events: asyncio.Queue[wire.Event] = asyncio.Queue()
        link = await self._session._client._current()
        fields = {"agent_id": self._state, "text": text, **options}
        asked, _ = self._session._asked("TurnRequest", fields)
        ended = False
        _, reply = link.post("TurnRequest", asked, self._state.listening(events.put_nowait, fields))
        try:
            yield cast(TurnStarted, await asyncio.shield(reply))
            while not ended:
                event = await events.get()
                ended = isinstance(event, Exception) or event["type"] == "TurnComplete"
                if isinstance(event, Exception):
                    raise event
                yield cast(TurnEvent, event)
        finally:
            if not ended:
                # Also a turn whose start nobody has waited for.
                reply.add_done_callback(lambda done: self._cancel(link, asked, done))

    def _cancel(self, link: Link, asked: Mapping[str, Any], reply: asyncio.Future[Any]) -> None:
        if link.lost is None and not reply.cancelled() and reply.exception() is None:
            fields = {"session_id": asked["session_id"], "turn_id": reply.result()["turn_id"]}
            link.post("CancelTurnRequest", fields)

    async def export(self) -> frames.History:
        """The turns that the agent remembers, for create_agent(history=...)."""
        exported = await self._session._call("ExportAgentRequest", {"agent_id": self._state})
        return cast(frames.History, exported["history"])

    async def destroy(self) -> None:
        await self._session._call("DestroyAgentRequest", {"agent_id": self._state})


class Speech:
    """A stream of audio. Iterating yields its events, and those of the turns that were spoken, until both have ended."""

    def __init__(self, session: Session, link: Link, fields: Mapping[str, Any]):
        self._session, self._link, self._state = session, link, wire.SpeechState(fields)
        self._events: asyncio.Queue[wire.Event] = asyncio.Queue()
        self._changed, self._sending = asyncio.Event(), asyncio.Lock()

    async def write(self, samples: wire.Samples) -> None:
        """Sends samples in the stream's format, as lorekeep.Speech.write()."""
        data, at = self._state.checked(samples), 0
        async with self._sending:
            while at < len(data):
                while not self._state.may_write:
                    self._changed.clear()
                    await self._changed.wait()
                frame, at = self._state.take(data, at)
                self._link.write(frame)
                await self._link.drained()

    async def end_utterance(self) -> None:
        """Makes a turn of what was said so far."""
        async with self._sending:
            await self._call("EndUtteranceRequest")

    async def finish(self) -> None:
        """Ends the audio. The events of the last segment still come."""
        async with self._sending:
            await self._call("FinishSpeechRequest")

    async def close(self) -> None:
        """Ends the stream at once; write() then raises in tasks that wait in it. Twice is fine."""
        if self._state.ended is not None:
            return
        try:
            await self._call("CloseSpeechRequest")
        except ServerError as error:
            if error.code != frames.Code.SpeechStreamNotFound:
                raise

    async def __aiter__(self) -> AsyncIterator[SpeechEvent]:
        turns: set[str] = set()
        closed = ended = False
        while not ended:
            event = await self._events.get()
            if isinstance(event, Exception):
                raise event
            closed, ended = wire.is_last(event, turns, closed)
            yield cast(SpeechEvent, event)

    async def _call(self, type: str) -> None:
        await self._session._call_on(self._link, type, {"stream": self._state.stream})

    def _hear(self, event: wire.Event) -> None:
        if self._state.hear(event):
            self._events.put_nowait(event)
        self._changed.set()
