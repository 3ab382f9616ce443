"""The client for threads against a running server, beyond scenarios.py: test_client.py PORT MODEL."""

import socket
import struct
import sys
import threading
import unittest

from lorekeep import Client, ConnectionLost, ServerError

PORT, MODEL = int(sys.argv.pop(1)), sys.argv.pop(1)
STRINGS = ["Honey bees dance in the hive", "Glaciers grind valleys", "Schwarzbrot braucht Sauerteig, öfter Malz"]
GRAPH = {"nodes": [{"id": "kb", "type": "retrieve", "params": {"embedded_string_storage": "docs", "mode": "lexical"}}]}


class ClientTest(unittest.TestCase):
    def setUp(self):
        self.client = Client(port=PORT)
        self.addCleanup(self.client.close)
        self.session = self.client.create_session()

    def make(self, name="docs"):
        return self.session.create_embedded_string_storage(name=name, strings=STRINGS, embedding_model=MODEL)

    def test_greets(self):
        self.assertEqual(self.client.hello["server"], "lorekeep")
        self.client.ping()

    def test_throttles(self):
        self.client.report_throttle(level=0.5)
        self.assertEqual(self.client.status()["throttle"], 0.5)
        self.client.report_throttle(level=0)
        self.assertEqual(self.client.status()["throttle"], 0)

    def test_makes_searches_and_destroys_a_storage(self):
        self.assertEqual(self.make()["record_count"], 3)
        hits = self.session.search(name="docs", text="öfter", mode="lexical", top_k=1)["hits"]
        self.assertEqual([hit["text"] for hit in hits], [STRINGS[2]])
        self.session.destroy_embedded_string_storage(name="docs")
        with self.assertRaises(ServerError) as refused:
            self.session.search(name="docs", text="bees")
        self.assertEqual(refused.exception.code, 8005)

    def test_takes_turns_whole_and_as_they_come(self):
        self.make()
        agent = self.session.create_agent(graph=GRAPH)
        self.assertEqual(agent.turn("do bees dance?")["status"], "completed")
        self.assertNotIn("hits", agent.turn("do bees dance?"))
        found = self.session.search(name="docs", text="do bees dance?", mode="lexical")["hits"]
        hits = agent.turn("do bees dance?", hits=True)["hits"]
        self.assertEqual(hits, [{"node": "kb", "storage": "docs", **hit} for hit in found])
        self.assertGreater(len(hits), 0)
        types = [frame["type"] for frame in agent.stream("glaciers?", variables={"unused": 1})]
        self.assertEqual((types[0], types[-1]), ("TurnStarted", "TurnComplete"))
        for frame in agent.stream("left early"):
            break
        self.assertEqual(agent.turn("again")["status"], "completed")
        agent.destroy()
        with self.assertRaises(ServerError):
            agent.turn("nobody")

    def test_continues_a_conversation_with_another_agent(self):
        graph = {"nodes": [{"id": "talker", "type": "generate"}]}
        agent = self.session.create_agent(graph=graph)
        self.assertEqual(agent.turn("one")["finish"], "stop")
        again = self.session.create_agent(graph=graph, history=agent.export())
        again.turn("two")
        self.assertEqual([turn["text"] for turn in again.export()["turns"]], ["one", "two"])
        dry = again.turn("three", dry_run=True)["dry_run"][0]
        self.assertGreater(dry["tokens"]["history"], 0)

    def test_hears_of_turns_that_end_at_once(self):
        agent = self.session.create_agent(graph={"nodes": [{"id": "reply", "type": "canned_response"}]})
        for _ in range(200):
            self.assertEqual(agent.turn("hello")["status"], "completed")

    def test_goes_on_after_what_its_caller_does_wrong(self):
        self.make()
        agent = self.session.create_agent(graph=GRAPH)
        for variables, error in (({"n": float("nan")}, ValueError), ({"n": object()}, TypeError)):
            with self.assertRaises(error):
                agent.turn("hello", variables=variables)
        deep = []
        for _ in range(100):
            deep = [deep]
        with self.assertRaisesRegex(ServerError, "nested deeper"):
            agent.turn("hello", variables={"deep": deep})
        self.client.ping()

    def test_lets_a_callback_of_a_reply_send_requests(self):
        done = threading.Event()
        self.client.send("Ping", {}).add_done_callback(
            lambda _: self.client.send("Ping", {}).add_done_callback(lambda _: done.set())
        )
        self.assertTrue(done.wait(20))

    def test_serves_threads_side_by_side(self):
        self.make()
        found = []

        def search(word, expected):
            for _ in range(25):
                hits = self.session.search(name="docs", text=word, mode="lexical", top_k=1)["hits"]
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
            self.session.pull(MODEL, print)
        self.assertEqual(refused.exception.code, 5007)
        self.session.cancel_pull(model=MODEL)

    def test_says_that_the_connection_is_gone(self):
        other = Client(port=PORT)
        session = other.create_session()
        other.close()
        other.close()
        with self.assertRaises(ConnectionLost):
            session.search(name="docs", text="bees")
        lost = Client(port=PORT)
        lost.ping()
        lost._link._socket.sendall(struct.pack(">BI", 77, 0))
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

        self.client._link._socket = Interrupted(self.client._link._socket)
        with self.assertRaises(KeyboardInterrupt):
            self.client.ping()
        with self.assertRaises(ConnectionLost):
            self.client.ping()

    def test_says_what_does_not_answer(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            with self.assertRaisesRegex(ConnectionLost, "nothing answers at 127.0.0.1"):
                Client(port=free.getsockname()[1])


if __name__ == "__main__":
    unittest.main()
