"""A client of the lorekeep server, with Python's standard library alone (Python 3.9 or later).

    import lorekeep

    with lorekeep.Client(port=9100) as client:
        session = client.create_session()
        session.create_embedded_string_storage(name="notes", strings=["Bees dance."], embedding_model="all-MiniLM-L6-v2")
        for hit in session.search(name="notes", text="what do bees do?", mode="hybrid")["hits"]:
            print(hit["rank"], hit["id"], hit["text"])

`lorekeep.aio` has the same for asyncio. Field names are the protocol's; `lorekeep.frames` has their types.
"""

from . import aio, frames
from .client import Agent, Client, Session, Speech, SpeechEvent, TurnEvent
from .errors import ConnectionLost, LorekeepError, RequestTimeout, ServerError
from .frames import Code
from .remembered import Reconnect
from .server import Server, ServerStartError

__all__ = [
    "Agent",
    "Client",
    "Code",
    "ConnectionLost",
    "LorekeepError",
    "Reconnect",
    "RequestTimeout",
    "Server",
    "ServerError",
    "ServerStartError",
    "Session",
    "Speech",
    "SpeechEvent",
    "TurnEvent",
    "aio",
    "frames",
]
