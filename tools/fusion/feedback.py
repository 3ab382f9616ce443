"""Learns feedback on training collections, and reports on the others.

    python tools/fusion/feedback.py DUMPS [DUMPS ...] [--search] [--ranks]        one folder of dump.mjs per model

Feedback moves a query towards its best hits and ranks the candidates again (native/store/search/feedback.cc). Prints nDCG@10 on the
training collections for numbers of hits, weights, and of the chosen ones on all collections beside both fusions, with paired
95 % intervals of the bootstrap. Nothing is chosen by the collections outside training. --search: by a second dense search instead of
new scores for the candidates; --ranks: with the fusion by ranks.
"""

import json
import os
import sys

import numpy as np

from dumps import LEG_DEPTH, Query, mean_ndcg, ranks

SLOPE = 1.5  # of fit.py
SHARES = {"minilm": 0.7, "mini": 0.4, "e5": 0.6}  # of the catalog
TRAINING = ("scifact-train", "medquad", "aws", "web", "textbook")
HITS = (1, 2, 3, 5)
WEIGHTS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0)
RESAMPLES = 2000


def unit(rows):
    return rows / np.maximum(np.linalg.norm(rows, axis=-1, keepdims=True), 1e-12)


class FedQuery(Query):
    """A query whose candidates can be ranked again."""

    def __init__(self, dumped, documents, rows, vector, share):
        super().__init__(dumped, documents)
        self.rows, self.vector, self.share = rows, vector, share
        self.own = rows[self.ordinal.astype(int)]
        self.sampled = rows[(np.arange(min(len(rows), 64)) * len(rows)) // min(len(rows), 64)]
        self.first = {ranked: self.fused(self, ranked) for ranked in (False, True)}
        every = np.array(dumped["candidates"], float).reshape(-1, 6)
        self.known = {int(row[0]): row for row in every}

    def fused(self, as_seen, by_ranks):
        return as_seen.by_ranks() if by_ranks else as_seen.by_scores(self.share, SLOPE)

    def moved(self, hits, weight, by_ranks):
        scores = self.first[by_ranks]
        best = self.order(scores, hits)
        shares = scores[best] / max(scores[best].sum(), 1e-12)
        return self.vector + weight * (shares[:, None] * self.own[best]).sum(0)

    def fed(self, hits, weight, by_ranks=False):
        """nDCG@10 with feedback over the same candidates."""
        moved = unit(self.moved(hits, weight, by_ranks))
        seen = Seen(self)
        seen.cosine = self.own @ moved
        seen.mean = float((self.sampled @ moved).mean())
        seen.best_cosine = float(seen.cosine.max())
        found = self.dense_rank > 0
        seen.dense_rank = np.zeros(len(found))
        seen.dense_rank[np.flatnonzero(found)[np.argsort(-seen.cosine[found], kind="stable")]] = np.arange(found.sum()) + 1
        return self.ndcg(self.fused(seen, by_ranks))

    def searched(self, hits, weight, by_ranks=False):
        """The same with a dense leg that searches again. BM25 scores beyond the first 100 of each leg count as 0."""
        moved = unit(self.moved(hits, weight, by_ranks))
        cosines = self.rows @ moved
        dense = np.argpartition(-cosines, min(LEG_DEPTH, len(cosines) - 1))[:LEG_DEPTH]
        lexical = self.ordinal[self.lexical_rank > 0].astype(int)
        ordinals = np.array(sorted(set(dense.tolist()) | set(lexical.tolist())))
        seen = Seen(self)
        seen.ordinal = ordinals
        seen.cosine = cosines[ordinals]
        seen.mean = float((self.sampled @ moved).mean())
        seen.best_cosine = float(seen.cosine.max())
        seen.bm25 = np.array([self.known[o][2] if o in self.known else 0.0 for o in ordinals])
        seen.gain = np.array([self.gains.get(o, 0.0) for o in ordinals])
        place = {o: r + 1 for r, o in enumerate(dense[np.argsort(-cosines[dense], kind="stable")])}
        seen.dense_rank = np.array([place.get(o, 0) for o in ordinals], float)
        own = dict(zip(self.ordinal.astype(int), self.lexical_rank))
        seen.lexical_rank = np.array([own.get(o, 0) for o in ordinals], float)
        seen.best_bm25 = self.best_bm25
        return seen.ndcg(self.fused(seen, by_ranks))


class Seen(Query):
    """The candidates as a moved query sees them."""

    def __init__(self, query):
        self.__dict__.update(query.__dict__)


def read(folder, name, share):
    with open(os.path.join(folder, f"{name}.json"), encoding="utf8") as file:
        dump = json.load(file)
    base = os.path.join(folder, dump["name"])
    rows = unit(np.fromfile(f"{base}.documents.f32", "<f4").reshape(-1, dump["dimension"]))
    vectors = unit(np.fromfile(f"{base}.queries.f32", "<f4").reshape(-1, dump["dimension"]))
    queries = []
    for one, vector in zip(dump["queries"], vectors):
        if one["kind"] != "judged" or not any(gain > 0 for gain in one["gains"]):
            continue
        query = FedQuery(one, dump["documents"], rows, vector, share)
        query.gains = {int(row[0]): row[5] for row in np.array(one["candidates"], float).reshape(-1, 6)}
        queries.append(query)
    return dump["name"], queries


def interval(differences, random):
    means = differences[random.integers(len(differences), size=(RESAMPLES, len(differences)))].mean(1)
    low, high = np.quantile(means, [0.025, 0.975])
    return f"{differences.mean():+.4f} ({low:+.4f} to {high:+.4f})"


def is_training(name):
    return name.startswith(TRAINING)


def report(folder, way, by_ranks):
    model = os.path.basename(os.path.normpath(folder))
    share = next(value for key, value in SHARES.items() if key in model)
    tokenizer = "multilingual" if "e5" in model else "enhanced"
    names = sorted(f[: -len(".json")] for f in os.listdir(folder) if f.endswith(f".{tokenizer}.json"))
    collections = dict(read(folder, name, share) for name in names)
    base = {name: np.array([q.ndcg(q.first[by_ranks]) for q in queries]) for name, queries in collections.items()}
    training = [name for name in collections if is_training(name)]
    run = lambda name, hits, weight: np.array([getattr(q, way)(hits, weight, by_ranks) for q in collections[name]])
    print(f"\n## {model}, {way}\n\n| hits | weight | " + " | ".join(training) + " | mean |\n" + "|--:" * (len(training) + 3) + "|")
    best = None
    for hits in HITS:
        for weight in WEIGHTS:
            gains = [(run(name, hits, weight) - base[name]).mean() for name in training]
            print(f"| {hits} | {weight} | " + " | ".join(f"{g:+.4f}" for g in gains) + f" | {np.mean(gains):+.4f} |", flush=True)
            if training and (best is None or np.mean(gains) > best[0]):
                best = (np.mean(gains), hits, weight)
    random = np.random.default_rng(1)
    for hits, weight in dict.fromkeys([best[1:] if best else (2, 0.5), (2, 0.5), (2, 0.3)]):
        print(f"\n{hits} hits, weight {weight}\n\n| collection | queries | ranks | before | feedback | - before | - ranks |\n" + "|--:" * 7 + "|")
        for name in collections:
            fed = run(name, hits, weight)
            rrf = np.array([q.ndcg(q.by_ranks()) for q in collections[name]])
            print(f"| {name} | {len(fed)} | {rrf.mean():.4f} | {base[name].mean():.4f} | {fed.mean():.4f} | {interval(fed - base[name], random)} | {interval(fed - rrf, random)} |")


def main():
    folders = [one for one in sys.argv[1:] if not one.startswith("--")]
    for folder in folders:
        report(folder, "searched" if "--search" in sys.argv else "fed", "--ranks" in sys.argv)


main()
