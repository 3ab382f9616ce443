#!/usr/bin/env python3
"""Makes a storage of a few sentences and asks a running server about them: python3 ask.py [--port 9100] [question]"""

import argparse
import os
import sys

from lorekeep import Client, ConnectionLost, ServerError, frames

NOTES = [
    "The oak behind the mill is hollow; the smuggler keeps his ledger in it.",
    "Mother Agnes buys honey from the ferryman on market days.",
    "The bridge toll is two coppers, and nothing for those who carry bread.",
    "The blacksmith's daughter knows the way through the marsh.",
    "No bell is rung in the village after the harvest feast.",
]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("question", nargs="?", default="Where is the ledger?")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=9100)
    parser.add_argument("--model", default="all-MiniLM-L6-v2", help="catalog name of an embedding model")
    args = parser.parse_args()
    # Not an argument: every user sees those in the list of processes.
    token = os.environ.get("LOREKEEP_ACCESS_TOKEN") or None
    try:
        with Client(args.host, args.port, access_token=token) as client:
            session = client.create_session()
            session.create_embedded_string_storage(name="notes", strings=NOTES, embedding_model=args.model)
            params: frames.RetrieveParams = {"embedded_string_storage": "notes", "mode": "hybrid", "top_k": 3}
            graph: frames.Graph = {"nodes": [{"id": "notes", "type": "retrieve", "params": params}]}
            complete = session.create_agent(graph=graph).turn(args.question)
            print(f"turn {complete['turn_id']}: {complete['status']}")
            for hit in session.search(name="notes", text=args.question, mode="hybrid", top_k=3)["hits"]:
                print(f"{hit['rank']}. {hit['text']}  (score {hit['score']:.4f})")
    except (ConnectionLost, ServerError) as error:
        print(f"ask.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
