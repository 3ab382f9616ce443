"""Learns the relevance of hits, and reports on collections that it was not learned on.

    python tools/fusion/relevance.py MODEL=SHARE=DUMPS [...]        SHARE: score_weight of the model's catalog entry

Prints the coefficients for native/store/relevance.cc, learned on all judged collections, and how good the relevance of each
collection is with coefficients learned without it and without others of the same documents (XQuAD is a part of SQuAD). Every collection weighs the same,
whatever its number of queries, but those whose judges counted whole topics as relevant weigh a twentieth (half in lexical mode). Pooled numbers count
every judged query of a collection alike. Four kinds of questions take part: judged ones; questions of people about the collection's
subjects that it does not answer (of SQuAD 2.0); judged ones without the records that answer them; and questions about subjects
that the collection does not have.
"""

import sys

import numpy as np
from scipy.optimize import minimize, minimize_scalar
from scipy.special import expit

from dumps import read

SLOPE = 1.5  # of fit.py
# Columns of each mode, in the order of the coefficients after the constant.
FEATURES = {
    "dense": ("above", "dense"),
    "dense with words": ("above", "dense", "coverage"),
    "lexical": ("coverage", "lexical", "words"),
    "hybrid": ("above", "coverage", "lexical", "lead", "coverage lead"),
}
# A record may answer in other words, so the log odds of "dense" count if they are larger by this; both less what makes
# the larger one too large.
OTHER_WORDS = {"dense with words": 0.0, "hybrid": 0.5}
WEIGHTS = {"judged": 1.0, "absent": 0.3, "unanswerable": 0.3, "removed": 0.3}
# Judges called a third and more of the first ten records relevant: for their subject, where others ask for the answer.
TOPICAL = ("cranfield", "cisi", "cacm", "med", "npl")
# By mode. In dense mode, less would call answers in other words irrelevant that are not the first hit.
TOPICAL_WEIGHT = {"dense": 0.25, "dense with words": 0.15, "lexical": 0.5, "hybrid": 0.05}
# Made of headings and sentences: other records may answer them as well, so only the questions about absent subjects count.
UNJUDGED = ("web-headings", "aws-headings", "textbook-headings", "msdocs-headings", "php-headings", "factbook-headings")
# lorekeep-mini was trained on these texts, so that its cosines for them are better than for others.
SEEN_BY_MINI = ("medquad", "textbook")
PENALTY = 1e-4


def family(name):
    return "squad" if "squad" in name or name.startswith("xquad") else name.split("-")[0]


def lead(values, found):
    """By how much the best exceeds the next one; of another, by how much less than the best it is; as native/store does."""
    if not len(values):
        return values
    best = values.max()
    others = found[np.abs(found - (found.max() if len(found) else 0)) > 1e-5]
    return np.where(values >= best, values - (others.max() if len(others) else 0), values - best)


def columns(query, mode):
    """Features of all candidates; see native/store/relevance.h."""
    above = (query.cosine - query.floor) / max(1 - query.floor, 0.05)
    coverage = np.minimum(query.bm25 / query.limit, 1) if query.limit > 0 else np.zeros(len(query.bm25))
    all_columns = {
        "above": above,
        "coverage": coverage,
        "dense": query.dense_scores(),
        "lexical": query.lexical_scores(),
        "lead": lead(above, above[query.dense_rank > 0]),
        "coverage lead": lead(coverage, coverage[query.lexical_rank > 0]),
        "words": np.full(len(above), np.log(max(query.words, 1))),
    }
    return np.stack([np.ones(len(above))] + [all_columns[name] for name in FEATURES[mode]], 1)


def first_ten(query, mode, share):
    if mode == "hybrid":
        return query.order(query.by_scores(share, SLOPE))
    dense = mode.startswith("dense")
    hits = query.order(query.by_meaning() if dense else query.by_words())
    found = query.dense_rank if dense else query.lexical_rank
    return hits[found[hits] > 0]


def stacked(arrays, empty):
    return np.concatenate(arrays) if arrays else np.zeros(empty)


class Hits:
    """The first ten hits of some queries: features, labels, and which ones are first."""

    def __init__(self, queries, mode, share):
        found = [(query, hits) for query in queries if len(hits := first_ten(query, mode, share))]
        self.x = stacked([columns(query, mode)[hits] for query, hits in found], (0, len(FEATURES[mode]) + 1))
        self.cosines = stacked([columns(query, "dense")[hits] for query, hits in found], (0, len(FEATURES["dense"]) + 1))
        self.y = stacked([query.gain[hits] > 0 for query, hits in found], 0).astype(bool)
        sizes = np.array([len(hits) for _, hits in found], int)
        self.first = np.cumsum(sizes) - sizes


def regress(sets, least=0):
    """Logistic regression over pairs of Hits and weight; coefficients but the constant are at least `least`, if it is given."""
    sets = [(hits, weight) for hits, weight in sets if len(hits.y)]
    x = np.concatenate([hits.x for hits, _ in sets])
    y = np.concatenate([hits.y for hits, _ in sets]).astype(float)
    weight = np.concatenate([np.full(len(hits.y), weight / len(hits.y)) for hits, weight in sets])
    weight /= weight.sum()
    mean, deviation = x.mean(0), x.std(0)
    mean[0], deviation[0] = 0, 1
    scaled = (x - mean) / deviation

    def loss(theta):
        z = scaled @ theta
        gradient = scaled.T @ (weight * (expit(z) - y)) + 2 * PENALTY * np.r_[0, theta[1:]]
        return float((weight * (np.logaddexp(0, z) - y * z)).sum() + PENALTY * (theta[1:] ** 2).sum()), gradient

    bounds = [(None, None)] + [(least, None)] * (x.shape[1] - 1)  # 0: more of a feature is never less relevant
    found = minimize(loss, np.zeros(x.shape[1]), jac=True, method="L-BFGS-B", bounds=bounds).x
    theta = found / deviation
    theta[0] = found[0] - (found[1:] * mean[1:] / deviation[1:]).sum()
    return theta


def excess(sets):
    """What to subtract from log odds so that they are calibrated; over triples of log odds, labels and weight."""
    sets = [(z, y, weight / len(y)) for z, y, weight in sets if len(y)]
    return minimize_scalar(lambda less: sum(weight * (np.logaddexp(0, z - less) - y * (z - less)).sum() for z, y, weight in sets)).x


def auroc(scores, labels, weight=None):
    """Probability that a relevant hit is above another one, ties counted half."""
    weight = np.ones(len(scores)) if weight is None else weight
    if labels.all() or not labels.any():
        return float("nan")
    _, place = np.unique(scores, return_inverse=True)
    others = np.bincount(place, weight * ~labels)
    below = np.cumsum(others) - others / 2
    return (weight[labels] * below[place[labels]]).sum() / (weight[labels].sum() * others.sum())


def bins(probability, labels, weight, count=10):
    place = np.minimum((probability * count).astype(int), count - 1)
    for k in range(count):
        if (here := place == k).any():
            yield weight[here].sum(), np.average(probability[here], weights=weight[here]), np.average(labels[here], weights=weight[here])


def calibration_error(probability, labels, weight=None):
    weight = np.ones(len(labels)) if weight is None else weight
    return sum(n * abs(p - y) for n, p, y in bins(probability, labels, weight)) / weight.sum()


def tell_apart(present, absent):
    """Probability that a value of the first list is above one of the second."""
    return auroc(np.r_[present, absent], np.r_[np.ones(len(present), bool), np.zeros(len(absent), bool)])


def mean(values):
    return f"{values.mean():.3f}" if len(values) else "-"


def report(models, mode):
    def hits_of(mode):
        return {
            (model, name): {kind: Hits(queries, mode, share) for kind, queries in kinds.items()}
            for model, (share, collections) in models.items()
            for name, (kinds, _) in collections.items()
        }

    data = hits_of(mode)
    by_meaning = hits_of("dense") if mode in OTHER_WORDS else None
    asked = {name: judged for _, collections in models.values() for name, (_, judged) in collections.items()}

    def learned(without=None):
        """Returns the coefficients, what the larger estimate is too large by, and the relevance of hits."""
        chosen = []
        for (model, name), kinds in data.items():
            if family(name) == without or (model == "lorekeep-mini" and name.startswith(SEEN_BY_MINI)):
                continue
            chosen += [((model, name), kind) for kind in kinds if kind == "absent" or name not in UNJUDGED]

        def weight(name, kind, mode):
            return WEIGHTS[kind] * (TOPICAL_WEIGHT[mode] if name in TOPICAL else 1)

        theta = regress([(data[key][kind], weight(key[1], kind, mode)) for key, kind in chosen])
        if by_meaning is None:
            return theta, 0, lambda key, kind: expit(data[key][kind].x @ theta)
        cosines = regress([(by_meaning[key][kind], weight(key[1], kind, "dense")) for key, kind in chosen])

        def log_odds(key, kind):
            hits = data[key][kind]
            return np.maximum(hits.cosines @ cosines - OTHER_WORDS[mode], hits.x @ theta)

        less = excess([(log_odds(key, kind), data[key][kind].y, weight(key[1], kind, mode)) for key, kind in chosen])
        return theta, less, lambda key, kind: expit(log_odds(key, kind) - less)

    names = ", ".join(("constant",) + FEATURES[mode])
    theta, less, _ = learned()
    print(f"\n{mode}: {names}: {np.round(theta, 2).tolist()}, less {less:.2f}\n")
    print("| model | collection | relevant | AUROC | calibration error | first hit: relevance | relevant | absent subject | AUROC of the two | answer removed | unanswerable |")
    print("|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    pooled = []
    for (model, name), kinds in data.items():
        if name in UNJUDGED or name.startswith(("medquad", "scifact-train")):
            continue
        *_, relevance = learned(without=family(name))
        judged = kinds["judged"]
        probability = relevance((model, name), "judged")
        first = {kind: relevance((model, name), kind)[hits.first] for kind, hits in kinds.items()}
        apart = tell_apart(first["judged"], first["absent"]) if len(first["absent"]) else float("nan")
        print(
            f"| {model} | {name} | {judged.y.mean():.3f} | {auroc(probability, judged.y):.3f} | {calibration_error(probability, judged.y):.3f} "
            f"| {mean(first['judged'])} | {judged.y[judged.first].mean():.3f} | {mean(first['absent'])} | {apart:.3f} "
            f"| {mean(first['removed'])} | {mean(first['unanswerable'])} |"
        )
        pooled.append((probability, judged.y, np.full(len(judged.y), asked[name] / len(judged.first))))
    probability, labels, weight = (np.concatenate(one) for one in zip(*pooled))
    print(f"\npooled: AUROC {auroc(probability, labels, weight):.3f}, calibration error {calibration_error(probability, labels, weight):.3f}\n")
    print("| hits | mean relevance | share of relevant |\n|--:|--:|--:|")
    for n, p, y in bins(probability, labels, weight):
        print(f"| {n:.0f} | {p:.3f} | {y:.3f} |")


def main():
    models = {}
    for argument in sys.argv[1:]:
        model, share, folder = argument.split("=", 2)
        models[model] = (float(share), read(folder, by_kind=True))
    for mode in FEATURES:
        report(models, mode)


if __name__ == "__main__":
    main()
