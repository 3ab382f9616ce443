"""Keeps a session, leaves, and resumes it. Arguments: the port, and `threads` or `asyncio`."""

import asyncio
import sys

import lorekeep
import lorekeep.aio

port = int(sys.argv[1])
graph = {"nodes": [{"id": "g", "type": "generate", "params": {"model": "talker"}}]}


def threads() -> None:
    with lorekeep.Client(port=port) as client:
        session = client.create_session(keep=True)
        session.create_agent(graph=graph).turn("My name is Ann.")
        secret = session.resume
    with lorekeep.Client(port=port) as client:
        session = client.create_session(resume=secret)
        (agent,) = session.resumed
        assert session.unopened == [] and session.resume == secret
        print([turn["text"] for turn in agent.export()["turns"]])


async def coroutines() -> None:
    client = await lorekeep.aio.Client.connect(port=port)
    session = await client.create_session(keep=True)
    await (await session.create_agent(graph=graph)).turn("My name is Ann.")
    secret = session.resume
    await client.close()
    client = await lorekeep.aio.Client.connect(port=port)
    session = await client.create_session(resume=secret)
    (agent,) = session.resumed
    assert session.unopened == [] and session.resume == secret
    print([turn["text"] for turn in (await agent.export())["turns"]])
    await client.close()


threads() if sys.argv[2] == "threads" else asyncio.run(coroutines())
