"""What every client is proven to do, by the client for asyncio: scenarios_aio.py PORT CUTTABLE_PORT NAME=PORT..."""

import asyncio
import locale
import os
import sys
from typing import Any, Coroutine, Dict, List

from lorekeep import Code, ConnectionLost, Reconnect, RequestTimeout, Server, ServerError
from lorekeep.aio import Agent, Client, Session

PORT, CUTTABLE = int(sys.argv[1]), int(sys.argv[2])
HOSTILE = dict(given.split("=") for given in sys.argv[3:])
WEIRD = 'öfter 日本語 🐝 "quoted" back\\slash\ttab\u2028 İıſ'


async def talker(session: Session) -> Agent:
    return await session.create_agent(graph={"nodes": [{"id": "talker", "type": "generate"}]})


async def creates_a_session(client: Client) -> None:
    assert client.hello["server"] == "lorekeep" and client.connected
    session = await client.create_session()
    assert (await client.status())["sessions"] >= 1
    await session.destroy()


async def searches_a_storage_of_records(client: Client) -> None:
    session = await client.create_session()
    made = await session.create_embedded_string_storage(
        name="docs",
        records=[
            {"id": "b", "text": "Honey bees dance in the hive", "metadata": {"year": 1999}},
            {"id": "g", "text": "Glaciers grind valleys", "metadata": {"year": 2005}},
        ],
        fields=[{"name": "year", "type": "int", "optional": True}],
        embedding_model="tiny",
    )
    assert made["record_count"] == 2
    found = await session.search(name="docs", text="bees", mode="lexical", top_k=1)
    assert [(hit["id"], hit["metadata"]) for hit in found["hits"]] == [("b", {"year": 1999})]


async def streams_a_turn(client: Client) -> None:
    agent = await talker(await client.create_session())
    events = [event async for event in agent.stream("hello")]
    text = "".join(event["text"] for event in events if event["type"] == "TurnText")
    last = events[-1]
    assert events[0]["type"] == "TurnStarted" and last["type"] == "TurnComplete"
    assert (text, last["text"], last["status"]) == ("one two three", "one two three", "completed")


async def cancels_a_turn(client: Client) -> None:
    session = await client.create_session()
    agent = await talker(session)
    turn_id = ""
    async for event in agent.stream("hang"):
        if event["type"] == "TurnStarted":
            turn_id = event["turn_id"]
        if event["type"] == "TurnText" and turn_id:
            await session.cancel_turn(turn_id=turn_id)
            turn_id = ""
        if event["type"] == "TurnComplete":
            assert event["status"] == "cancelled"
    async for event in agent.stream("hang"):
        if event["type"] == "TurnText":
            break
    assert (await agent.turn("hello"))["status"] == "completed"
    # A task that is cancelled, before its turn has started and after.
    for steps in (0, 1, 1000):
        task = asyncio.ensure_future(agent.turn("hang"))
        for _ in range(steps):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()
        assert (await agent.turn("hello"))["status"] == "completed"


async def refusal(call: Coroutine[Any, Any, object]) -> ServerError:
    try:
        await call
    except ServerError as error:
        return error
    raise AssertionError("it was not refused")


async def tells_errors_by_code(client: Client) -> None:
    session = await client.create_session()
    unknown = await refusal(session.search(name="nothing", text="x"))
    assert unknown.code == Code.StorageNotFound and unknown.remedy and "nothing" in unknown.message
    field = await refusal(session.search(name="nothing", text="x", top_k=0))
    assert (field.code, field.details["path"]) == (Code.InvalidField, "top_k")
    await client.ping()


async def updates_and_forgets_records(client: Client) -> None:
    session = await client.create_session()
    await session.create_embedded_string_storage(name="docs", strings=["a bee", "a glacier"], embedding_model="tiny")
    changed = await session.update_records(name="docs", add=[{"id": "x", "text": "a loaf"}], remove=["0"])
    assert (changed["added"], changed["removed"], changed["record_count"]) == (1, 1, 2)
    assert (await refusal(session.update_records(name="docs", add=[{"id": "x", "text": "y"}]))).code == 8007
    assert (await session.forget_records(name="docs", ids=["x"]))["forgotten"] == 1
    assert [record["id"] for record in (await session.list_records(name="docs"))["records"]] == ["1"]
    assert (await session.get_records(name="docs", ids=["1", "x"]))["missing"] == ["x"]


async def sends_and_receives_a_large_frame(client: Client) -> None:
    session = await client.create_session()
    blobs = {str(index): f"{index}é" * 100_000 for index in range(16)}
    await session.create_embedded_string_storage(
        name="big",
        records=[{"id": id, "text": "bees", "metadata": {"blob": blob}} for id, blob in blobs.items()],
        fields=[{"name": "blob", "type": "string", "optional": True, "filterable": False}],
        embedding_model="tiny",
    )
    got = await session.get_records(name="big", ids=list(blobs))
    assert {record["id"]: record["metadata"]["blob"] for record in got["records"]} == blobs


async def keeps_text_that_is_not_ascii(client: Client) -> None:
    session = await client.create_session()
    records: Any = [{"id": WEIRD, "text": WEIRD}]
    await session.create_embedded_string_storage(name="docs", records=records, embedding_model="tiny")
    hits = (await session.search(name="docs", text="öfter", mode="lexical"))["hits"]
    assert [(hit["id"], hit["text"]) for hit in hits] == [(WEIRD, WEIRD)]
    assert (await (await talker(session)).turn(f"echo {WEIRD}"))["text"] == WEIRD


async def keeps_integers_of_64_bits(client: Client) -> None:
    session = await client.create_session()
    values: Dict[str, int] = {"most": 2**63 - 1, "less": 2**63 - 2, "least": -(2**63), "odd": 2**53 + 1}
    await session.create_embedded_string_storage(
        name="docs",
        records=[{"id": id, "text": "bees", "metadata": {"n": n}} for id, n in values.items()],
        fields=[{"name": "n", "type": "int", "optional": True}],
        embedding_model="tiny",
    )
    for id, n in values.items():
        hits = (await session.search(name="docs", text="bees", filter={"==": [{"knowledge": "n"}, n]}))["hits"]
        assert [(hit["id"], hit["metadata"]["n"]) for hit in hits] == [(id, str(n))]


async def runs_two_turns_at_once(client: Client) -> None:
    session = await client.create_session()
    slow, quick = await talker(session), await talker(session)
    turns: List[str] = []
    begun = asyncio.Event()

    async def wait() -> str:
        async for event in slow.stream("hang"):
            if event["type"] == "TurnStarted":
                turns.append(event["turn_id"])
            begun.set()
            if event["type"] == "TurnComplete":
                return event["status"]
        raise AssertionError("it did not end")

    waiting = asyncio.ensure_future(wait())
    await begun.wait()
    assert (await quick.turn("hello"))["text"] == "one two three" and not waiting.done()
    await session.cancel_turn(turn_id=turns[0])
    assert await waiting == "cancelled"


async def throttles(client: Client) -> None:
    for level in (0.5, 0):
        await client.report_throttle(level=level)
        assert (await client.status())["throttle"] == level


async def forgets_what_is_confirmed(client: Client) -> None:
    session = await client.create_session()
    agent = await session.create_agent(
        graph={
            "nodes": [
                {"id": "talker", "type": "generate", "params": {"memory": "keep"}},
                {"id": "keep", "type": "remember", "params": {"storage": "memory", "embedding_model": "tiny", "condition": " "}},
            ]
        }
    )
    await session.update_records(name="memory", add=[{"id": "bees", "text": "Bees dance."}])
    complete = await agent.turn("forget Bees dance", on_forget=lambda event: ["bees"])
    assert [(done["forget"], done["forgotten"]) for done in complete["memory"]] == [("confirmed", ["bees"])]


async def makes_everything_again_on_another_connection(_: Client) -> None:
    states: List[str] = []
    client = await Client.connect(
        port=CUTTABLE, reconnect=Reconnect(min_delay=0.01), on_state=lambda state, error: states.append(state)
    )
    await (await client.create_session()).destroy()
    session = await client.create_session()
    id = session.id
    await session.create_embedded_string_storage(name="docs", strings=["a bee", "a glacier"], embedding_model="tiny")
    await session.update_records(
        name="docs", add=[{"id": "x", "text": "a loaf"}], replace=[{"id": "1", "text": "a lake"}]
    )
    await session.forget_records(name="docs", ids=["0"])
    agent, other = await talker(session), await talker(session)
    assert (await agent.turn("hello"))["status"] == "completed"
    try:
        async for event in other.stream("hang"):
            if event["type"] == "TurnStarted":
                print("DROP", flush=True)
        raise AssertionError("the turn ended")
    except ConnectionLost:
        pass
    assert (await agent.turn("recall"))["text"] == "hello|recall"
    assert session.id != id and states == ["reconnecting", "connected"]
    listed = (await session.list_records(name="docs"))["records"]
    assert [(record["id"], record["text"]) for record in listed] == [("x", "a loaf"), ("1", "a lake")]
    await client.close()
    assert states[-1] == "closed" and not client.connected


async def starts_and_ends_a_server(_: Client) -> None:
    command = [os.environ["CHILD_NODE"], os.environ["CHILD_PROGRAM"]]
    server = await asyncio.to_thread(
        Server, command, config=os.environ["CHILD_CONFIG"], data_dir=os.environ["CHILD_DATA"], timeout=300
    )
    async with await Client.connect(port=server.port, access_token=server.access_token) as client:
        await client.create_session()
    assert await asyncio.to_thread(server.close) == 0


async def says_that_the_server_went_away(_: Client) -> None:
    client = await Client.connect(port=CUTTABLE)
    session = await client.create_session()
    begun = False
    try:
        async for event in (await talker(session)).stream("hang"):
            if event["type"] == "TurnText" and not begun:
                begun = True
                print("DROP", flush=True)
        raise AssertionError("the turn ended")
    except ConnectionLost:
        assert begun and not client.connected
    try:
        await session.list_models()
        raise AssertionError("it was answered")
    except ConnectionLost:
        pass
    await client.close()
    async with await Client.connect(port=CUTTABLE) as again:
        await again.create_session()


async def hostile(name: str, port: int) -> None:
    client = None
    timeout = 0.5 if name in ("silent", "mute", "stall") else 20.0
    stall = 0.2 if name == "stall" else 20
    try:
        client = await Client.connect(port=port, timeout=timeout, request_timeout=timeout, stall_timeout=stall)
        await client.ping()
        assert name == "drip"
    except ConnectionLost:
        assert name not in ("drip", "mute")
    except RequestTimeout:
        assert name == "mute"
    finally:
        if client is not None:
            await client.close()


async def main() -> None:
    locale.setlocale(locale.LC_ALL, "")
    given = [
        creates_a_session,
        searches_a_storage_of_records,
        streams_a_turn,
        cancels_a_turn,
        tells_errors_by_code,
        updates_and_forgets_records,
        sends_and_receives_a_large_frame,
        keeps_text_that_is_not_ascii,
        keeps_integers_of_64_bits,
        runs_two_turns_at_once,
        throttles,
        forgets_what_is_confirmed,
        says_that_the_server_went_away,
        makes_everything_again_on_another_connection,
        starts_and_ends_a_server,
    ]
    async with await Client.connect(port=PORT) as client:
        for scenario in given:
            await scenario(client)
            name = scenario.__name__.replace("_", " ").replace("ascii", "ASCII")
            print(f"ok {name}", flush=True)
    for name, port in HOSTILE.items():
        await hostile(name, int(port))
        print(f"ok hostile {name}", flush=True)


asyncio.run(main())
