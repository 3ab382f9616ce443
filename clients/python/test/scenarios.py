"""What every client is proven to do, by the client for threads: scenarios.py PORT CUTTABLE_PORT NAME=PORT..."""

import locale
import os
import sys
import threading
from typing import Any, Callable, Dict, List

from lorekeep import Agent, Client, Code, ConnectionLost, Reconnect, RequestTimeout, Server, ServerError, ServerStartError, Session

PORT, CUTTABLE = int(sys.argv[1]), int(sys.argv[2])
HOSTILE = dict(given.split("=") for given in sys.argv[3:])
WEIRD = 'öfter 日本語 🐝 "quoted" back\\slash\ttab\u2028 İıſ'


def talker(session: Session) -> Agent:
    return session.create_agent(graph={"nodes": [{"id": "talker", "type": "generate"}]})


def creates_a_session(client: Client) -> None:
    assert client.hello["server"] == "lorekeep" and client.connected
    session = client.create_session()
    assert client.status()["sessions"] >= 1
    session.destroy()


def searches_a_storage_of_records(client: Client) -> None:
    session = client.create_session()
    made = session.create_embedded_string_storage(
        name="docs",
        records=[
            {"id": "b", "text": "Honey bees dance in the hive", "metadata": {"year": 1999}},
            {"id": "g", "text": "Glaciers grind valleys", "metadata": {"year": 2005}},
        ],
        fields=[{"name": "year", "type": "int", "optional": True}],
        embedding_model="tiny",
    )
    assert made["record_count"] == 2
    found = session.search(name="docs", text="bees", mode="lexical", top_k=1)
    assert [(hit["id"], hit["metadata"]) for hit in found["hits"]] == [("b", {"year": 1999})]
    after = session.search(name="docs", text="bees", filter={">": [{"knowledge": "year"}, 2000]}, threshold=1.5)
    assert [hit["id"] for hit in after["hits"]] == ["g"] and 0 <= after["hits"][0]["distance"] <= 2


def streams_a_turn(client: Client) -> None:
    events = list(talker(client.create_session()).stream("hello"))
    assert events[0]["type"] == "TurnStarted"
    text = "".join(event["text"] for event in events if event["type"] == "TurnText")
    last = events[-1]
    assert last["type"] == "TurnComplete" and (text, last["text"], last["status"]) == (
        "one two three",
        "one two three",
        "completed",
    )


def cancels_a_turn(client: Client) -> None:
    session = client.create_session()
    agent = talker(session)
    turn_id = ""
    for event in agent.stream("hang"):
        if event["type"] == "TurnStarted":
            turn_id = event["turn_id"]
        if event["type"] == "TurnText" and turn_id:
            session.cancel_turn(turn_id=turn_id)
            turn_id = ""
        if event["type"] == "TurnComplete":
            assert event["status"] == "cancelled"
    for event in agent.stream("hang"):
        if event["type"] == "TurnText":
            break
    assert agent.turn("hello")["status"] == "completed"


def refusal(call: Callable[[], object]) -> ServerError:
    try:
        call()
    except ServerError as error:
        return error
    raise AssertionError("it was not refused")


def tells_errors_by_code(client: Client) -> None:
    session = client.create_session()
    unknown = refusal(lambda: session.search(name="nothing", text="x"))
    assert unknown.code == Code.StorageNotFound and unknown.remedy and "nothing" in unknown.message
    field = refusal(lambda: session.search(name="nothing", text="x", top_k=0))
    assert (field.code, field.details["path"]) == (Code.InvalidField, "top_k")
    client.ping()


def updates_and_forgets_records(client: Client) -> None:
    session = client.create_session()
    session.create_embedded_string_storage(name="docs", strings=["a bee", "a glacier"], embedding_model="tiny")
    changed = session.update_records(name="docs", add=[{"id": "x", "text": "a loaf"}], remove=["0"])
    assert (changed["added"], changed["removed"], changed["record_count"]) == (1, 1, 2)
    assert refusal(lambda: session.update_records(name="docs", add=[{"id": "x", "text": "y"}])).code == 8007
    assert session.forget_records(name="docs", ids=["x"])["forgotten"] == 1
    listed = session.list_records(name="docs")
    assert [record["id"] for record in listed["records"]] == ["1"]
    assert session.get_records(name="docs", ids=["1", "x"])["missing"] == ["x"]


def sends_and_receives_a_large_frame(client: Client) -> None:
    session = client.create_session()
    blobs = {str(index): f"{index}é" * 100_000 for index in range(16)}
    session.create_embedded_string_storage(
        name="big",
        records=[{"id": id, "text": "bees", "metadata": {"blob": blob}} for id, blob in blobs.items()],
        fields=[{"name": "blob", "type": "string", "optional": True, "filterable": False}],
        embedding_model="tiny",
    )
    got = session.get_records(name="big", ids=list(blobs))
    assert {record["id"]: record["metadata"]["blob"] for record in got["records"]} == blobs


def keeps_text_that_is_not_ascii(client: Client) -> None:
    session = client.create_session()
    session.create_embedded_string_storage(name="docs", records=[{"id": WEIRD, "text": WEIRD}], embedding_model="tiny")
    hits = session.search(name="docs", text="öfter", mode="lexical")["hits"]
    assert [(hit["id"], hit["text"]) for hit in hits] == [(WEIRD, WEIRD)]
    assert talker(session).turn(f"echo {WEIRD}")["text"] == WEIRD


def keeps_integers_of_64_bits(client: Client) -> None:
    session = client.create_session()
    values: Dict[str, int] = {"most": 2**63 - 1, "less": 2**63 - 2, "least": -(2**63), "odd": 2**53 + 1}
    session.create_embedded_string_storage(
        name="docs",
        records=[{"id": id, "text": "bees", "metadata": {"n": n}} for id, n in values.items()],
        fields=[{"name": "n", "type": "int", "optional": True}],
        embedding_model="tiny",
    )
    for id, n in values.items():
        hits = session.search(name="docs", text="bees", filter={"==": [{"knowledge": "n"}, n]})["hits"]
        assert [(hit["id"], hit["metadata"]["n"]) for hit in hits] == [(id, str(n))]


def runs_two_turns_at_once(client: Client) -> None:
    session = client.create_session()
    slow, quick = talker(session), talker(session)
    begun, ended = threading.Event(), []

    def wait() -> None:
        for event in slow.stream("hang"):
            if event["type"] == "TurnStarted":
                turns.append(event["turn_id"])
            begun.set()
            if event["type"] == "TurnComplete":
                ended.append(event["status"])

    turns: List[str] = []
    waiting = threading.Thread(target=wait)
    waiting.start()
    begun.wait()
    assert quick.turn("hello")["text"] == "one two three" and ended == []
    session.cancel_turn(turn_id=turns[0])
    waiting.join()
    assert ended == ["cancelled"]


def throttles(client: Client) -> None:
    for level in (0.5, 0):
        client.report_throttle(level=level)
        assert client.status()["throttle"] == level


def forgets_what_is_confirmed(client: Client) -> None:
    session = client.create_session()
    agent = session.create_agent(
        graph={
            "nodes": [
                {"id": "talker", "type": "generate", "params": {"memory": "keep"}},
                {"id": "keep", "type": "remember", "params": {"storage": "memory", "embedding_model": "tiny", "condition": " "}},
            ]
        }
    )
    session.update_records(name="memory", add=[{"id": "bees", "text": "Bees dance."}, {"id": "more", "text": "Bees dance at night."}])
    complete = agent.turn("forget Bees dance", on_forget=lambda event: ["bees"])
    assert [(done["forget"], done["forgotten"]) for done in complete["memory"]] == [("confirmed", ["bees"])]


def makes_everything_again_on_another_connection(_: Client) -> None:
    states: List[str] = []
    again = threading.Event()

    def on_state(state: str, error: object) -> None:
        states.append(state)
        if state == "connected":
            again.set()

    client = Client(port=CUTTABLE, reconnect=Reconnect(min_delay=0.01), on_state=on_state)
    client.create_session().destroy()
    session = client.create_session()
    id = session.id
    session.create_embedded_string_storage(name="docs", strings=["a bee", "a glacier"], embedding_model="tiny")
    session.update_records(
        name="docs", add=[{"id": "x", "text": "a loaf"}], replace=[{"id": "1", "text": "a lake"}]
    )
    session.forget_records(name="docs", ids=["0"])
    agent, other = talker(session), talker(session)
    assert agent.turn("hello")["status"] == "completed"
    try:
        for event in other.stream("hang"):
            if event["type"] == "TurnStarted":
                print("DROP", flush=True)
        raise AssertionError("the turn ended")
    except ConnectionLost:
        pass
    assert agent.turn("recall")["text"] == "hello|recall"
    assert session.id != id and again.wait(60) and states == ["reconnecting", "connected"]
    listed = session.list_records(name="docs")["records"]
    assert [(record["id"], record["text"]) for record in listed] == [("x", "a loaf"), ("1", "a lake")]
    client.close()
    assert states[-1] == "closed" and not client.connected


def starts_and_ends_a_server(_: Client) -> None:
    command = [os.environ["CHILD_NODE"], os.environ["CHILD_PROGRAM"]]
    with Server(command, config=os.environ["CHILD_CONFIG"], data_dir=os.environ["CHILD_DATA"], timeout=300) as server:
        assert server.is_running and server.warnings == []
        with Client(port=server.port, access_token=server.access_token) as client:
            client.create_session()
        with Client(port=server.port) as stranger:
            try:
                stranger.create_session()
                raise AssertionError("it needs a token")
            except ServerError as error:
                assert error.code == Code.AccessTokenMissing
        assert server.close() == 0 and not server.is_running
    wrongs: List[Dict[str, Any]] = [{"config": "absent.json"}, {"args": ["--no-such-flag"]}]
    for wrong in wrongs:
        try:
            Server(command, timeout=300, **wrong)
            raise AssertionError("it started")
        except ServerStartError as error:
            assert "absent.json does not exist" in str(error) or "no-such-flag" in str(error)


def says_that_the_server_went_away(_: Client) -> None:
    client = Client(port=CUTTABLE)
    session = client.create_session()
    begun = False
    try:
        for event in talker(session).stream("hang"):
            if event["type"] == "TurnText" and not begun:
                begun = True
                print("DROP", flush=True)
        raise AssertionError("the turn ended")
    except ConnectionLost:
        assert begun and not client.connected
    try:
        session.list_models()
        raise AssertionError("it was answered")
    except ConnectionLost:
        pass
    client.close()
    with Client(port=CUTTABLE) as again:
        again.create_session()


def hostile(name: str, port: int) -> None:
    client = None
    timeout = 0.5 if name in ("silent", "mute", "stall") else 20.0
    try:
        client = Client(port=port, timeout=timeout, request_timeout=timeout, stall_timeout=0.2 if name == "stall" else 20)
        client.ping()
        assert name == "drip"
    except ConnectionLost:
        assert name not in ("drip", "mute")
    except RequestTimeout:
        assert name == "mute"
    finally:
        if client is not None:
            client.close()


def main() -> None:
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
    with Client(port=PORT) as client:
        for scenario in given:
            scenario(client)
            name = scenario.__name__.replace("_", " ").replace("ascii", "ASCII")
            print(f"ok {name}", flush=True)
    for name, port in HOSTILE.items():
        hostile(name, int(port))
        print(f"ok hostile {name}", flush=True)


if __name__ == "__main__":
    main()
