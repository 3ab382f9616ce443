"""Tests of lorekeep.py against a running server: python3 test_lorekeep.py PORT MODEL. `npm test` starts the server."""

import json
import socket
import struct
import sys
import threading
import unittest

from lorekeep import ConnectionLost, ServerError, connect

PORT, MODEL = int(sys.argv.pop(1)), sys.argv.pop(1)
STRINGS = ["Honey bees dance in the hive", "Glaciers grind valleys", "Schwarzbrot braucht Sauerteig, öfter Malz"]
GRAPH = {"nodes": [{"id": "kb", "type": "retrieve", "params": {"embedded_string_storage": "docs", "mode": "lexical"}}]}


class ClientTest(unittest.TestCase):
    def setUp(self):
        self.client = connect(port=PORT)
        self.addCleanup(self.client.close)
        self.session = self.client.create_session()

    def make(self, name="docs"):
        return self.session.create_embedded_string_storage(name, strings=STRINGS, embedding_model=MODEL)

    def test_greets(self):
        self.assertEqual(self.client.hello["server"], "lorekeep")
        self.client.ping()

    def test_throttles(self):
        self.client.report_throttle(0.5)
        self.assertEqual(self.client.status()["throttle"], 0.5)
        self.client.report_throttle(0)
        self.assertEqual(self.client.status()["throttle"], 0)

    def test_makes_searches_and_destroys_a_storage(self):
        self.assertEqual(self.make()["record_count"], 3)
        hits = self.session.search("docs", "öfter", mode="lexical", top_k=1)["hits"]
        self.assertEqual([hit["text"] for hit in hits], [STRINGS[2]])
        self.session.destroy_embedded_string_storage("docs")
        with self.assertRaises(ServerError) as refused:
            self.session.search("docs", "bees")
        self.assertEqual(refused.exception.code, 8005)

    def test_tells_of_a_storage_made_when_it_is_there(self):
        told, done = [], threading.Event()

        def on_complete(*args):
            told.append(args)
            if len(told) == 2:
                done.set()

        for name in ("docs", "bad name"):
            self.session.create_embedded_string_storage(
                name, strings=STRINGS, embedding_model=MODEL, on_complete=on_complete
            )
        self.assertTrue(done.wait(20))
        self.assertEqual(sorted(told), [("bad name", 0, False), ("docs", 3, True)])

    def test_takes_turns_whole_and_as_they_come(self):
        self.make()
        agent = self.session.create_agent(GRAPH)
        self.assertEqual(agent.turn("do bees dance?")["status"], "completed")
        self.assertNotIn("hits", agent.turn("do bees dance?"))
        found = self.session.search("docs", "do bees dance?", mode="lexical")["hits"]
        hits = agent.turn("do bees dance?", hits=True)["hits"]
        self.assertEqual(hits, [{"node": "kb", "storage": "docs", **hit} for hit in found])
        self.assertGreater(len(hits), 0)
        types = [frame["type"] for frame in agent.stream("glaciers?", {"unused": 1})]
        self.assertEqual((types[0], types[-1]), ("TurnStarted", "TurnComplete"))
        for frame in agent.stream("left early"):
            break
        self.assertEqual(agent.turn("again")["status"], "completed")
        agent.destroy()
        with self.assertRaises(ServerError):
            agent.turn("nobody")

    def test_continues_a_conversation_with_another_agent(self):
        graph = {"nodes": [{"id": "talker", "type": "generate"}]}
        agent = self.session.create_agent(graph)
        self.assertEqual(agent.turn("one")["finish"], "stop")
        again = self.session.create_agent(graph, history=agent.export())
        again.turn("two")
        self.assertEqual([turn["text"] for turn in again.export()["turns"]], ["one", "two"])
        dry = again.turn("three", dry_run=True)["dry_run"][0]
        self.assertGreater(dry["tokens"]["history"], 0)

    def test_hears_of_turns_that_end_at_once(self):
        agent = self.session.create_agent({"nodes": [{"id": "reply", "type": "canned_response"}]})
        for _ in range(200):
            self.assertEqual(agent.turn("hello")["status"], "completed")

    def test_goes_on_after_what_its_caller_does_wrong(self):
        with self.assertRaises(ValueError):
            self.client.request("TurnRequest", variables={"n": float("nan")})
        self.client.send("Ping").cancel()
        with self.assertRaisesRegex(ServerError, "nested deeper"):
            deep = []
            for _ in range(100):
                deep = [deep]
            self.client.request("TurnRequest", variables={"deep": deep})
        self.client.ping()

    def test_lets_on_complete_send_requests(self):
        done = threading.Event()

        def on_complete(name, count, success):
            self.session.search(name, "bees", mode="lexical")
            done.set()

        self.session.create_embedded_string_storage(
            "docs", strings=STRINGS, embedding_model=MODEL, on_complete=on_complete
        )
        self.assertTrue(done.wait(20))

    def test_serves_threads_side_by_side(self):
        self.make()
        found = []

        def search(word, expected):
            for _ in range(25):
                hits = self.session.search("docs", word, mode="lexical", top_k=1)["hits"]
                found.append(hits[0]["text"] == expected)

        queries = [("bees", STRINGS[0]), ("glaciers", STRINGS[1]), ("malz", STRINGS[2])]
        threads = [threading.Thread(target=search, args=query) for query in queries]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, [True] * 75)

    def test_lists_models_and_says_who_may_download(self):
        listed = self.session.list_models()
        self.assertIn(MODEL, [model["name"] for model in listed["models"]])
        self.assertFalse(listed["pulls_allowed"])
        with self.assertRaises(ServerError) as refused:
            self.session.pull_model(MODEL, on_progress=print)
        self.assertEqual(refused.exception.code, 5007)
        self.session.cancel_pull(MODEL)

    def test_says_that_the_connection_is_gone(self):
        other = connect(port=PORT)
        session = other.create_session()
        other.close()
        other.close()
        with self.assertRaises(ConnectionLost):
            session.search("docs", "bees")
        lost = connect(port=PORT)
        pending = lost.send("Ping")
        pending.result()
        lost._socket.sendall(struct.pack(">BI", 77, 0))
        with self.assertRaises(ConnectionLost):
            while True:
                lost.ping()
        lost.close()

    def test_is_lost_when_a_request_is_interrupted_in_the_middle(self):
        class Interrupted:
            def __init__(self, real):
                self._real = real

            def sendall(self, data):
                self._real.sendall(data[:3])
                raise KeyboardInterrupt

            def __getattr__(self, name):
                return getattr(self._real, name)

        self.client._socket = Interrupted(self.client._socket)
        with self.assertRaises(KeyboardInterrupt):
            self.client.ping()
        with self.assertRaises(ConnectionLost):
            self.client.ping()

    def test_says_what_does_not_answer(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            with self.assertRaisesRegex(ConnectionLost, "nothing answers at 127.0.0.1"):
                connect(port=free.getsockname()[1])
        with socket.create_server(("127.0.0.1", 0)) as other:

            def answer():
                connection, _ = other.accept()
                connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
                connection.close()

            threading.Thread(target=answer).start()
            with self.assertRaisesRegex(ConnectionLost, "does not speak"):
                connect(port=other.getsockname()[1])

    def test_waits_for_no_reply_after_a_frame_without_its_fields(self):
        hello = {"type": "Hello", "protocol": 1, "server": "lorekeep", "version": "x"}
        for reply in ({"type": "Error", "reply_to": 1}, {"type": "TurnStarted", "reply_to": 1}, {"reply_to": [1]}):
            with socket.create_server(("127.0.0.1", 0)) as other:
                client = connect_to(other, [hello])
                pending = client.send("Ping")
                client.peer.sendall(framed(reply))
                with self.assertRaises(ConnectionLost):
                    pending.result(20)
                client.close()
                client.peer.close()

    def test_refuses_a_greeting_that_is_nested_too_deeply_or_too_long(self):
        for greeting in (framed_bytes(b"[" * 200_000), struct.pack(">BI", 1, 1 << 31)):
            with socket.create_server(("127.0.0.1", 0)) as other:
                with self.assertRaisesRegex(ConnectionLost, "does not speak"):
                    connect_to(other, greeting)


def framed_bytes(payload):
    return struct.pack(">BI", 1, len(payload)) + payload


def framed(frame):
    return framed_bytes(json.dumps(frame).encode())


def connect_to(listener, greeting):
    """A client of a server that sends these frames or bytes; `peer` is the server's end."""
    peers = []

    def answer():
        peer, _ = listener.accept()
        peers.append(peer)
        peer.sendall(greeting if isinstance(greeting, bytes) else b"".join(map(framed, greeting)))

    answering = threading.Thread(target=answer)
    answering.start()
    try:
        client = connect(port=listener.getsockname()[1])
    except ConnectionLost:
        answering.join()
        peers[0].close()
        raise
    client.peer = peers[0]
    return client


if __name__ == "__main__":
    unittest.main()
