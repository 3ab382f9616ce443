"""The client for asyncio: the calls of lorekeep.Client as coroutines. Tasks of one event loop can share a client."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, AsyncIterator, Callable, List, Mapping, Optional, cast

from . import frames, wire
from .client import SpeechEvent, TurnEvent
from .errors import ConnectionLost, RequestTimeout, ServerError
from .frames import AsyncSessionCalls, TurnComplete, TurnForget, TurnStarted

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Client(frames.AsyncClientCalls):
    """A connection: `client = await Client.connect(port=9100)`. Its sessions end with it."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        *,
        request_timeout: Optional[float],
        stall_timeout: float,
        access_token: Optional[str],
        max_frame_bytes: int,
    ):
        self._from, self._to = reader, writer
        self._access_token, self._request_timeout, self._stall = access_token, request_timeout, stall_timeout
        self._conversation = wire.Conversation()
        self._decoder = wire.Decoder(max_frame_bytes)
        self._greeted = asyncio.Event()
        self._reading = asyncio.ensure_future(self._read())

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
    ) -> Client:
        """Connects and waits for the greeting; the parameters are those of lorekeep.Client. Raises ConnectionLost."""
        place = f"{host}:{port}"
        try:
            streams = await asyncio.wait_for(asyncio.open_connection(host, port), timeout)
        except (OSError, asyncio.TimeoutError) as error:
            raise ConnectionLost(f"nothing answers at {place}: {error}") from error
        client = cls(
            *streams,
            request_timeout=request_timeout,
            stall_timeout=stall_timeout,
            access_token=access_token,
            max_frame_bytes=max_frame_bytes,
        )
        try:
            await asyncio.wait_for(client._greeted.wait(), timeout)
        except asyncio.TimeoutError:
            await client.close()
            raise ConnectionLost(f"{place} does not greet within {timeout} s") from None
        except BaseException:
            await client.close()
            raise
        if client._conversation.lost is not None and client._conversation.hello is None:
            lost = client._conversation.lost
            await client.close()
            raise ConnectionLost(f"{place} is no lorekeep server: {lost}") from lost
        return client

    @property
    def hello(self) -> frames.Hello:
        """The server's greeting."""
        return cast(frames.Hello, self._conversation.hello)

    @property
    def connected(self) -> bool:
        return self._conversation.lost is None

    async def create_session(self, **fields: Unpack[frames.CreateSessionFields]) -> Session:
        token = {} if self._access_token is None else {"access_token": self._access_token}
        made = await self._call("CreateSessionRequest", {**token, **fields})
        return Session(self, made)

    async def close(self) -> None:
        """Ends every session and the connection. Twice is fine."""
        self._lose(ConnectionLost("the connection was closed"))
        await asyncio.wait([self._reading])

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(self, *_: Any) -> None:
        await self.close()

    async def _call(self, type: str, fields: Mapping[str, Any], sink: Optional[wire.Sink] = None) -> Any:
        id, reply = self._post(type, fields, sink)
        try:
            await self._drained()
            return await asyncio.wait_for(reply, self._request_timeout)
        except asyncio.TimeoutError:
            raise RequestTimeout(f"{type}: no reply within {self._request_timeout} s") from None
        finally:
            self._conversation.drop(id)

    def _post(
        self, type: str, fields: Mapping[str, Any], sink: Optional[wire.Sink] = None
    ) -> tuple[int, asyncio.Future[Any]]:
        """Sends a request without waiting."""
        reply: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        # Nobody may await it: its exception is then no defect.
        reply.add_done_callback(lambda done: None if done.cancelled() else done.exception() and None)

        def settle(set: Callable[[Any], None]) -> Callable[[Any], None]:
            return lambda value: None if reply.done() else set(value)

        waiting = wire.Waiting(settle(reply.set_result), settle(reply.set_exception), sink)
        id, data = self._conversation.request(type, fields, waiting)
        self._to.write(data)
        return id, reply

    async def _drained(self) -> None:
        try:
            await self._to.drain()
        except OSError as error:
            self._lose(ConnectionLost(f"the connection failed: {error}"))

    async def _read(self) -> None:
        reason: BaseException = ConnectionLost("the server closed the connection")
        try:
            while True:
                stall = self._stall if self._decoder.is_within_frame else None
                try:
                    data = await asyncio.wait_for(self._from.read(wire.READ_BYTES), stall)
                except asyncio.TimeoutError:
                    raise ConnectionLost(f"the rest of a frame did not come within {stall} s") from None
                if not data:
                    break
                for frame in self._decoder.feed(data):
                    self._conversation.receive(frame)
                if self._conversation.hello is not None:
                    self._greeted.set()
        except asyncio.CancelledError as error:
            reason = error
        except Exception as error:  # Whatever ends the reader, nobody may wait for it any longer.
            reason = error
        lost = reason if isinstance(reason, ConnectionLost) else ConnectionLost(f"the connection was lost: {reason!r}")
        self._lose(lost)

    def _lose(self, lost: ConnectionLost) -> None:
        self._conversation.lose(lost)
        self._greeted.set()
        self._to.close()
        if self._reading is not asyncio.current_task():
            self._reading.cancel()


class Session(AsyncSessionCalls):
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

    async def create_agent(self, **fields: Unpack[frames.CreateAgentFields]) -> Agent:
        """`history`: that of Agent.export() of an earlier agent."""
        made = await self._call("CreateAgentRequest", cast(Mapping[str, Any], fields))
        return Agent(self, made["agent_id"], made.get("memories"))

    async def open_speech(self, **fields: Unpack[frames.OpenSpeechFields]) -> Speech:
        """Opens a stream of audio."""
        speech = Speech(self, cast(Mapping[str, Any], fields))
        frame = await self._call("OpenSpeechRequest", cast(Mapping[str, Any], fields), speech._hear)
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

    async def _call(self, type: str, fields: Mapping[str, Any], sink: Optional[wire.Sink] = None) -> Any:
        return await self._client._call(type, {"session_id": self.id, **fields}, sink)


class Agent:
    """Takes turns, one after the other."""

    def __init__(self, session: Session, id: str, memories: Optional[List[frames.MadeMemory]] = None):
        self._session, self.id = session, id
        self.memories: List[frames.MadeMemory] = memories or []
        """The memories of its remember nodes. Keep their secrets: each is sent once and opens its memory later."""

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
        client, session_id = self._session._client, self._session.id
        fields = {"session_id": session_id, "agent_id": self.id, "text": text, **options}
        ended = False
        _, reply = client._post("TurnRequest", fields, events.put_nowait)
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
                reply.add_done_callback(lambda done: self._cancel(done))

    def _cancel(self, reply: asyncio.Future[Any]) -> None:
        client = self._session._client
        if client.connected and not reply.cancelled() and reply.exception() is None:
            fields = {"session_id": self._session.id, "turn_id": reply.result()["turn_id"]}
            client._post("CancelTurnRequest", fields)

    async def export(self) -> frames.History:
        """The turns that the agent remembers, for create_agent(history=...)."""
        return (await self._session.export_agent(agent_id=self.id))["history"]

    async def destroy(self) -> None:
        await self._session.destroy_agent(agent_id=self.id)


class Speech:
    """A stream of audio. Iterating yields its events, and those of the turns that were spoken, until both have ended."""

    def __init__(self, session: Session, fields: Mapping[str, Any]):
        self._session, self._state = session, wire.SpeechState(fields)
        self._events: asyncio.Queue[wire.Event] = asyncio.Queue()
        self._changed, self._sending = asyncio.Event(), asyncio.Lock()

    async def write(self, samples: bytes) -> None:
        """Sends samples in the stream's format, as lorekeep.Speech.write()."""
        self._state.check(samples)
        at = 0
        async with self._sending:
            while at < len(samples):
                while not self._state.may_write:
                    self._changed.clear()
                    await self._changed.wait()
                frame, at = self._state.take(samples, at)
                self._session._client._to.write(frame)
                await self._session._client._drained()

    async def end_utterance(self) -> None:
        """Makes a turn of what was said so far."""
        async with self._sending:
            await self._session.end_utterance(stream=self._state.stream)

    async def finish(self) -> None:
        """Ends the audio. The events of the last segment still come."""
        async with self._sending:
            await self._session.finish_speech(stream=self._state.stream)

    async def close(self) -> None:
        """Ends the stream at once; write() then raises in tasks that wait in it. Twice is fine."""
        if self._state.ended is not None:
            return
        try:
            await self._session.close_speech(stream=self._state.stream)
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

    def _hear(self, event: wire.Event) -> None:
        if self._state.hear(event):
            self._events.put_nowait(event)
        self._changed.set()
