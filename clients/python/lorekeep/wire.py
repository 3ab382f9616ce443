"""Frames and conversations without input or output: both clients feed what they read and write what they are given."""

from __future__ import annotations

import json
import struct
from array import array
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple, Union

from .errors import ConnectionLost, ServerError
from .frames import PROTOCOL

JSON, BINARY = 1, 2
MAX_FRAME_BYTES = 1 << 30
"""The upper bound of the server's max_frame_mb."""
READ_BYTES = 256 * 1024
AUDIO_BYTES = 32 * 1024
"""Samples of one frame: a request behind it does not wait long."""

_HEADER = struct.Struct(">BI")
_AUDIO = struct.Struct(">III")

Frame = Dict[str, Any]
Event = Union[Frame, Exception]
Sink = Callable[[Event], None]


def encode(kind: int, payload: bytes) -> bytes:
    return _HEADER.pack(kind, len(payload)) + payload


def encode_audio(stream: int, sequence: int, samples: bytes) -> bytes:
    return encode(BINARY, _AUDIO.pack(1, stream, sequence) + samples)


Samples = Union[bytes, bytearray, memoryview, "array[Any]"]
"""Bytes, or an array of samples: `array("h", ...)` for s16, `array("f", ...)` for f32."""


def _refuse_constant(name: str) -> None:
    raise ValueError(f"a frame with {name}, which JSON does not have")


class Decoder:
    """Cuts a stream of bytes into frames. Memory grows with the bytes that came, not with the announced length."""

    def __init__(self, max_frame_bytes: int):
        self._max, self._data, self._length = max_frame_bytes, bytearray(), -1

    @property
    def is_within_frame(self) -> bool:
        """Whether more bytes must come soon, unless the server stalls."""
        return len(self._data) > 0 or self._length >= 0

    def feed(self, data: bytes) -> List[Frame]:
        """Raises ValueError for bytes that are no frames of the protocol."""
        self._data += data
        frames: List[Frame] = []
        while True:
            if self._length < 0:
                if len(self._data) < _HEADER.size:
                    return frames
                kind, length = _HEADER.unpack_from(self._data)
                if kind != JSON:
                    raise ValueError(f"a frame of the kind {kind}")
                if length > self._max:
                    raise ValueError(f"a frame of {length} bytes; max_frame_bytes is {self._max}")
                del self._data[: _HEADER.size]
                self._length = length
            if len(self._data) < self._length:
                return frames
            payload = bytes(self._data[: self._length])
            del self._data[: self._length]
            self._length = -1
            frames.append(_parse(payload))


def _parse(payload: bytes) -> Frame:
    try:
        frame = json.loads(payload.decode("utf-8"), parse_constant=_refuse_constant)
    except RecursionError:
        raise ValueError("a frame that is nested too deeply") from None
    if not isinstance(frame, dict):
        raise ValueError("a frame that is no object")
    return frame


class Waiting:
    """A request whose reply has not come. `sink` hears the turn, the stream of audio or the download that it starts."""

    def __init__(self, resolve: Callable[[Frame], None], reject: Callable[[Exception], None], sink: Optional[Sink]):
        self.resolve, self.reject, self.sink = resolve, reject, sink


class Conversation:
    """Gives each reply and event to whoever waits for it. It does not lock: callers do, where threads share it."""

    def __init__(self) -> None:
        self.hello: Optional[Frame] = None
        self.lost: Optional[ConnectionLost] = None
        self._next_id = 1
        self._replies: Dict[int, Waiting] = {}
        self._turns: Dict[str, Sink] = {}
        self._streams: Dict[int, Sink] = {}

    def request(self, type: str, fields: Mapping[str, Any], waiting: Waiting) -> Tuple[int, bytes]:
        """Returns the request's id and bytes. Raises ConnectionLost; ValueError and TypeError for values that JSON lacks."""
        if self.lost is not None:
            raise self.lost
        id = self._next_id
        body = json.dumps({"type": type, "id": id, **fields}, allow_nan=False).encode("ascii")
        self._next_id += 1
        self._replies[id] = waiting
        return id, encode(JSON, body)

    def drop(self, id: int) -> None:
        """Nobody waits for this reply any more."""
        self._replies.pop(id, None)

    def receive(self, frame: Frame) -> None:
        """Raises ValueError, KeyError or TypeError for a frame without its fields, and ConnectionLost for an Error of no request."""
        type, reply_to = frame.get("type"), frame.get("reply_to")
        if self.hello is None:
            if type != "Hello" or frame.get("protocol") != PROTOCOL or frame.get("server") != "lorekeep":
                raise ValueError(f"it does not speak protocol {PROTOCOL} of lorekeep")
            self.hello = frame
        elif type == "PullProgress":
            pulling = self._replies.get(frame["request_id"])
            if pulling is not None and pulling.sink is not None:
                pulling.sink(frame)
        elif type in ("TurnText", "TurnForget", "TurnComplete"):
            turn = self._turns.get(frame["turn_id"])
            if type == "TurnComplete":
                self._turns.pop(frame["turn_id"], None)
            if turn is not None:
                turn(frame)
        elif "stream" in frame and type != "OpenSpeechResponse":
            self._hear(frame)
        elif type == "Error" and not isinstance(reply_to, int):
            raise ConnectionLost(f"the server ended the connection: {_error(frame)}")
        elif reply_to in self._replies:
            self._answer(frame)

    def lose(self, error: ConnectionLost) -> None:
        """Everything that waits fails with the first error."""
        if self.lost is not None:
            return
        self.lost = error
        replies, sinks = list(self._replies.values()), [*self._turns.values(), *self._streams.values()]
        self._replies, self._turns, self._streams = {}, {}, {}
        for waiting in replies:
            waiting.reject(error)
        for sink in {id(sink): sink for sink in sinks}.values():
            sink(error)

    def _answer(self, frame: Frame) -> None:
        # A frame without its fields raises here, before its request leaves the table: lose() must find it there.
        waiting = self._replies[frame["reply_to"]]
        if frame["type"] == "Error":
            error = _error(frame)
            del self._replies[frame["reply_to"]]
            waiting.reject(error)
            return
        # The first event may be the next frame.
        if waiting.sink is not None and frame["type"] == "TurnStarted":
            self._turns[frame["turn_id"]] = waiting.sink
        if waiting.sink is not None and frame["type"] == "OpenSpeechResponse":
            self._streams[frame["stream"]] = waiting.sink
        del self._replies[frame["reply_to"]]
        waiting.resolve(frame)

    def _hear(self, frame: Frame) -> None:
        sink = self._streams.get(frame["stream"])
        if sink is None:
            return
        if frame["type"] == "TurnStarted":
            self._turns[frame["turn_id"]] = sink
        if frame["type"] == "SpeechClosed":
            del self._streams[frame["stream"]]
        sink(frame)


def _error(frame: Frame) -> ServerError:
    return ServerError(frame["code"], frame["name"], frame["message"], frame.get("details"))


class SpeechState:
    """Credit, sequence and end of a stream of audio."""

    def __init__(self, fields: Mapping[str, Any]):
        self._sample = 4 if fields.get("format") == "f32" else 2
        self.whole = self._sample * int(fields.get("channels", 1))
        self.stream, self._credit, self._sequence = 0, 0, 0
        self.ended: Optional[Exception] = None

    def open(self, frame: Frame) -> None:
        self.stream = frame["stream"]
        self._credit += frame["credit_bytes"]  # Some may have been granted since.

    def hear(self, event: Event) -> bool:
        """Whether the event is for the listener."""
        if isinstance(event, Exception):
            self.ended = event
        elif event["type"] == "SpeechCredit":
            self._credit += event["bytes"]
            return False
        elif event["type"] == "SpeechClosed":
            error = event.get("error")
            self.ended = ServerError(7001, "SpeechStreamNotFound", "it has ended") if error is None else _error(error)
        return True

    def checked(self, samples: Samples) -> memoryview:
        """Returns the bytes of samples. Raises ValueError for those that are not of the stream's format."""
        view = memoryview(samples)
        if view.itemsize not in (1, self._sample):
            raise ValueError(f"samples of {view.itemsize} bytes; the stream's have {self._sample}")
        if view.nbytes % self.whole:
            raise ValueError(f"{view.nbytes} bytes are not whole samples of {self.whole} bytes")
        return view.cast("B")

    @property
    def may_write(self) -> bool:
        return self.ended is not None or self._credit >= self.whole

    def take(self, samples: memoryview, at: int) -> Tuple[bytes, int]:
        """Returns the next frame of the samples from `at` on, and where the rest begins. Raises the stream's end."""
        if self.ended is not None:
            raise self.ended
        length = min(len(samples) - at, self._credit, AUDIO_BYTES)
        length -= length % self.whole
        self._credit -= length
        frame = encode_audio(self.stream, self._sequence, bytes(samples[at : at + length]))
        self._sequence += 1
        return frame, at + length


def is_last(event: Frame, open_turns: set[str], closed: bool) -> Tuple[bool, bool]:
    """Follows the events of a stream of audio: whether it is closed, and whether its turns have ended too."""
    closed = closed or event["type"] == "SpeechClosed"
    if event["type"] == "TurnStarted":
        open_turns.add(event["turn_id"])
    if event["type"] == "TurnComplete":
        open_turns.discard(event["turn_id"])
    return closed, closed and not open_turns
