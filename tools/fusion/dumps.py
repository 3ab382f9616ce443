"""Reads what dump.mjs wrote, and computes fusions and measures on it."""

import glob
import json
import os

import numpy as np

DISCOUNT = 1 / np.log2(np.arange(10) + 2)
LEG_DEPTH = 50


class Query:
    """The candidates of one query as arrays, as native/store sees them: the first 50 of each leg."""

    def __init__(self, dumped, documents, without_answers=False):
        rows = np.array(dumped["candidates"], float).reshape(-1, 6)
        if without_answers:
            rows = rows[rows[:, 5] <= 0]
        dense = rows[rows[:, 3] > 0]
        lexical = rows[rows[:, 4] > 0]
        kept = set(dense[np.argsort(dense[:, 3])][:LEG_DEPTH, 0]) | set(lexical[np.argsort(lexical[:, 4])][:LEG_DEPTH, 0])
        rows = rows[[row in kept for row in rows[:, 0]]]
        self.ordinal = rows[:, 0]
        self.cosine = 1 - rows[:, 1]
        self.bm25 = rows[:, 2]
        self.dense_rank = ranks(rows[:, 3])
        self.lexical_rank = ranks(rows[:, 4])
        self.gain = rows[:, 5]
        gains = [] if without_answers else sorted((gain for gain in dumped["gains"] if gain > 0), reverse=True)
        self.ideal = float((np.array(gains[:10]) * DISCOUNT[: len(gains[:10])]).sum()) if gains else 0.0
        words = np.array(dumped["words"], float).reshape(-1, 2)
        idf = np.log1p((documents - words[:, 0] + 0.5) / (words[:, 0] + 0.5))
        self.limit = float((idf * words[:, 1]).sum() * 2.2)  # text::TextQuery::limit()
        self.words = len(words)
        background = np.sort(np.array(dumped["background"], float))
        self.mean = float(background.mean())
        self.floor = float(background[: max(1, len(background) // 4)].mean())
        self.best_cosine = float(self.cosine.max()) if len(rows) else 0.0
        self.best_bm25 = float(self.bm25.max()) if len(rows) else 0.0
        leg = np.sort(self.cosine[self.dense_rank > 0])[::-1]
        full = len(leg) >= LEG_DEPTH and leg[0] > leg[LEG_DEPTH - 1]
        self.fall = (leg[0] - leg[9]) / (leg[0] - leg[LEG_DEPTH - 1]) if full else None

    def dense_scores(self):
        return np.clip(1 - (self.best_cosine - self.cosine) / max(1 - self.mean, 0.05), 0, 1)

    def lexical_scores(self):
        return np.clip(self.bm25 / self.best_bm25, 0, 1) if self.best_bm25 > 0 else np.zeros(len(self.bm25))

    def by_scores(self, weight, slope=0.0, usual=0.66):
        if slope != 0 and self.fall is not None:
            odds = weight / (1 - weight) * np.exp(slope * (self.fall - usual))
            weight = odds / (1 + odds)
        return weight * self.dense_scores() + (1 - weight) * self.lexical_scores()

    def by_ranks(self, k=60):
        parts = [np.where(rank > 0, 1 / (k + np.maximum(rank, 1)), 0) for rank in (self.dense_rank, self.lexical_rank)]
        return parts[0] + parts[1]

    def by_words(self):
        return np.where(self.lexical_rank > 0, self.bm25, -1)

    def by_meaning(self):
        return np.where(self.dense_rank > 0, self.cosine, -3)

    def order(self, scores, count=10):
        return np.lexsort((self.ordinal, -scores))[:count]

    def ndcg(self, scores):
        first = self.gain[self.order(scores)]
        return float((first * DISCOUNT[: len(first)]).sum() / self.ideal)


def ranks(column):
    """Ranks from 1 in the leg, 0 beyond its depth; the order of the dump is kept if candidates were removed."""
    found = np.zeros(len(column))
    places = np.flatnonzero(column > 0)
    places = places[np.argsort(column[places])][:LEG_DEPTH]
    found[places] = np.arange(len(places)) + 1
    return found


def read(folder, tokenizer="enhanced", by_kind=False):
    """Returns the collections of a folder: name -> judged queries; by kind: name -> (kind -> queries, number judged)."""
    found = {}
    for path in sorted(glob.glob(os.path.join(folder, f"*.{tokenizer}.json"))):
        with open(path, encoding="utf8") as file:
            dump = json.load(file)
        kinds = {kind: [] for kind in ("judged", "absent", "unanswerable", "removed")}
        for one in dump["queries"]:
            kinds[one.get("kind", "judged")].append(Query(one, dump["documents"]))
        if by_kind:
            # Without the one record that answers: other records are about the same subject.
            single = [one for one in dump["queries"] if sum(gain > 0 for gain in one["gains"]) == 1]
            kinds["removed"] = [Query(one, dump["documents"], True) for one in single[::2]]
        found[dump["name"]] = (kinds, dump["judged"]) if by_kind else kinds["judged"]
    return found


def mean_ndcg(queries, score):
    return np.array([query.ndcg(score(query)) for query in queries if query.ideal > 0])
