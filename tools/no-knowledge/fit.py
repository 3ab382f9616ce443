"""Learns whether the hits of a search answer the question, and reports on collections that it was not learned on.

    python tools/no-knowledge/fit.py FILES         FILES: of dump.mjs, one for each model

Prints the coefficients for src/agents/nodes/generate/relevance.ts, and tables for docs/measurements/search.md: of searches with cosines.
Lexical ones keep KEPT: what is learned here for them ("lexical") ranks less well. The best hit of a question counts, so the regression is repeated with the hits that
its last coefficients call best. Every model, collection, size and mode weighs the same.
"""

import argparse
import json
from collections import defaultdict

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

LARGE = 1200  # records, from which on the size makes no difference: none larger was learned from
NO_RELEVANCE = 0.001
# What an answer to a question without one costs, where a refused answer costs 1. Cosines tell the two apart better.
COST = {"cosines": 3, "lexical": 1}
# Label and weight of the kinds of questions.
KINDS = {
    "answered": (1, 0.5),
    "answered, other words": (1, 0.5),
    "absent": (0, 0.55),
    "absent, other words": (0, 0.25),
    "small talk": (0, 0.15),
    "nonsense": (0, 0.05),
}
FEW_WORDS = 0.3  # a question is in other words if the records that answer it have less than this share of its words
PENALTY = 1e-4
ROUNDS = 8
SEEN_BY_MINI = ("medquad", "textbook")  # lorekeep-mini was trained on these texts
FEATURES = {"cosines": ("above", "words", "size"), "lexical": ("relevance", "size")}
# Coefficients of lexical searches in relevance.ts: constant, log odds of relevance, words, size up to 300 records.
KEPT = (-1.8, 1.3, 10.5, -0.6)
SIGNS = {"above": 1, "words": 1, "relevance": 1, "size": -1}


def logit(p):
    p = np.clip(p, NO_RELEVANCE, 1 - NO_RELEVANCE)
    return np.log(p / (1 - p))


class Search:
    """One search: a row of features for each hit, and what the question is."""

    def __init__(self, row, model):
        self.cell = (model, row["collection"], row["size"], row["mode"])
        self.model, self.collection, self.mode = model, row["collection"], row["mode"]
        self.family = row["collection"].split("-")[0]
        self.kind = row["kind"]
        self.label, self.weight = KINDS[self.kind]
        hits = np.array([[0 if x is None else x for x in hit] for hit in row["hits"]], float).reshape(-1, 4)
        if not len(hits):
            hits = np.array([[0, row["floor"] or 0, 0, 0]], float)
        self.relevance, cosine, self.words, judged = hits.T
        floor = row["floor"] or 0
        size = np.log(min(row["size"], LARGE) / LARGE)
        columns = {
            "above": np.clip((cosine - floor) / max(1 - floor, 0.05), 0, 1),
            "words": self.words,
            "relevance": logit(self.relevance),
            "size": np.full(len(hits), size),
        }
        self.columns = columns
        self.reworded = self.label == 1 and (not judged.any() or self.words[judged > 0].max() < FEW_WORDS)

    def features(self, names):
        return np.stack([np.ones(len(self.words))] + [self.columns[name] for name in names], 1)


def group(mode):
    return "lexical" if mode == "lexical" else "cosines"


def weights(searches):
    cells = defaultdict(lambda: defaultdict(int))
    for one in searches:
        cells[one.cell][one.kind] += 1
    cost = [1 if one.label else COST[group(one.mode)] for one in searches]
    return np.array([one.weight / cells[one.cell][one.kind] for one in searches]) * cost


def fit(searches, names):
    weight = weights(searches)
    weight /= weight.sum()
    label = np.array([one.label for one in searches], float)
    # Searches with fewer hits repeat their first one.
    hits = max(len(one.words) for one in searches)
    rows = np.stack([one.features(names)[[at if at < len(one.words) else 0 for at in range(hits)]] for one in searches])
    theta = None
    bounds = [(None, None)] + [(0, None) if SIGNS[name] > 0 else (None, 0) for name in names]
    for _ in range(ROUNDS):
        best = np.zeros(len(rows), int) if theta is None else (rows @ theta).argmax(1)
        x = rows[np.arange(len(rows)), best]

        def loss(theta):
            z = x @ theta
            gradient = x.T @ (weight * (expit(z) - label)) + 2 * PENALTY * np.r_[0, theta[1:]]
            return float((weight * (np.logaddexp(0, z) - label * z)).sum() + PENALTY * (theta[1:] ** 2).sum()), gradient

        start = np.zeros(x.shape[1]) if theta is None else theta
        theta = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds).x
    return theta


def usable(one):
    return not (one.model == "lorekeep-mini" and one.collection.startswith(SEEN_BY_MINI))


def learns(one):
    """Words alone cannot find what is said in other words."""
    return one.mode != "lexical" or not one.kind.endswith("other words")


class Judge:
    """Coefficients of both groups."""

    def __init__(self, searches, features=FEATURES):
        self.features = features
        self.theta = {
            kind: fit([one for one in searches if group(one.mode) == kind and usable(one) and learns(one)], names)
            for kind, names in features.items()
        }

    def __call__(self, one):
        kind = group(one.mode)
        return float(expit(one.features(self.features[kind]) @ self.theta[kind]).max())


def kept(one):
    """The probability of lexical searches, and what every mode had before."""
    constant, relevance, words, size = KEPT
    up_to_300 = np.clip(one.columns["size"] + np.log(LARGE / 300), None, 0)
    odds = constant + relevance * one.columns["relevance"] + words * one.words + size * up_to_300
    return float(max(expit(odds).max(), one.relevance.max()))


def auroc(positive, negative):
    values = np.r_[positive, negative]
    _, place = np.unique(values, return_inverse=True)
    others = np.bincount(place, np.r_[np.zeros(len(positive)), np.ones(len(negative))])
    below = np.cumsum(others) - others / 2
    return below[place[: len(positive)]].mean() / len(negative) if len(positive) and len(negative) else float("nan")


def share(values, test):
    return f"{np.mean([test(value) for value in values]):.3f}" if len(values) else "-"


def line(head, scored):
    """A row of the table; `scored`: pairs of search and probability."""
    of = defaultdict(list)
    for one, p in scored:
        of[one.kind].append(p)
        if one.kind == "answered" and one.reworded:
            of["few words"].append(p)
    refused = lambda p: p < 0.5
    answered = lambda p: p >= 0.5
    own, other = of["answered"] + of["answered, other words"], of["absent"] + of["absent, other words"]
    cells = [
        f"{auroc(np.array(of['answered']), np.array(of['absent'])):.3f}",
        f"{auroc(np.array(of['answered, other words']), np.array(other)):.3f}",
        share(of["answered"], refused),
        share(of["answered, other words"], refused),
        f"{share(of['few words'], refused)} of {len(of['few words'])}",
        share(of["absent"], answered),
        share(of["absent, other words"], answered),
        share(of["small talk"], answered),
        share(of["nonsense"], answered),
    ]
    print(f"| {head} | " + " | ".join(cells) + " |")


def report(searches, judges):
    heads = "AUROC | AUROC, other words | refused | refused, other words | refused, few words | absent answered | absent, other words | small talk | nonsense"
    for title, judge in (("before", kept), ("now", lambda one: kept(one) if one.mode == "lexical" else judges[one.family](one))):
        scored = [(one, judge(one)) for one in searches]
        print(f"\n{title}\n\n| model | mode | {heads} |\n|---|---|" + "--:|" * 9)
        for model in sorted({one.model for one in searches}):
            for mode in ("hybrid", "dense", "lexical"):
                line(f"{model} | {mode}", [(one, p) for one, p in scored if (one.model, one.mode) == (model, mode) and usable(one)])
        print(f"\n{title}, hybrid\n\n| model | collection | {heads} |\n|---|---|" + "--:|" * 9)
        for model in sorted({one.model for one in searches}):
            for name in dict.fromkeys(one.collection for one in searches):
                chosen = [(one, p) for one, p in scored if (one.model, one.mode, one.collection) == (model, "hybrid", name)]
                if chosen and usable(chosen[0][0]):
                    line(f"{model} | {name}", chosen)
        print(f"\n{title}, hybrid, by size\n\n| model | records | {heads} |\n|---|---|" + "--:|" * 9)
        for model in sorted({one.model for one in searches}):
            for low, high in ((1, 10), (11, 40), (41, 240), (241, 10**9)):
                chosen = [(one, p) for one, p in scored if (one.model, one.mode) == (model, "hybrid") and low <= one.cell[2] <= high and usable(one)]
                if chosen:
                    line(f"{model} | {low} to {min(high, LARGE)}", chosen)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("files", nargs="+")
    parser.add_argument("--cosines", default=",".join(FEATURES["cosines"]))
    options = parser.parse_args()
    features = {**FEATURES, "cosines": tuple(options.cosines.split(","))}
    searches = []
    for path in options.files:
        model = path.split("/")[-1].removesuffix(".jsonl")
        with open(path, encoding="utf8") as file:
            searches += [Search(json.loads(row), model) for row in file]
    all_of_them = Judge(searches, features)
    for kind, names in features.items():
        coefficients = dict(zip(("constant",) + names, np.round(all_of_them.theta[kind], 2).tolist()))
        print(f"{kind}: {coefficients}")
    families = sorted({one.family for one in searches})
    report(searches, {family: Judge([one for one in searches if one.family != family], features) for family in families})


main()
