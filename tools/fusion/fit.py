"""Learns the fusion by scores and the relevance on training collections, and reports on the others.

    python tools/fusion/fit.py DUMPS [DUMPS ...]        one folder of dump.mjs per model

Prints the share of the dense leg per model, the coefficients for native/store/relevance.cc, nDCG@10 of both fusions beside
the legs with paired 95 % intervals, and how well the relevance is calibrated. Training collections are scifact's train
queries and those of training-sets.mjs; nothing is fitted on the others. Each training collection is reported with
parameters learned without it and without collections of the same documents.
"""

import os
import sys

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from dumps import mean_ndcg, read

SHARES = np.arange(0.3, 0.86, 0.05)
TRAINING = ("scifact-train", "medquad", "aws", "web", "textbook")
# lorekeep-mini was trained on these texts, so that its cosines for them are better than for others.
SEEN_BY_MINI = ("medquad", "textbook")
SLOPE = 1.5  # of the odds per unit of fall
TOLERANCE = 0.001  # of nDCG: the least share within it is taken, because BM25 does not depend on the model
# Relevance is learned where people judged, or where nothing is relevant: the collections asked by headings or sentences
# have relevant chunks that nobody marked.
JUDGED = ("scifact-train", "medquad-questions", "web-absent", "medquad-absent")
WITHOUT_ANSWERS = 0.1  # weight of a training collection without answers: most questions have one


def is_training(name):
    return name.startswith(TRAINING)


def family(name):
    return name.split("-")[0]


def interval(differences):
    return differences.mean(), 1.96 * differences.std(ddof=1) / np.sqrt(len(differences))


def best_share(collections, slope):
    def value(share):
        return np.mean([mean_ndcg(queries, lambda q: q.by_scores(share, slope)).mean() for queries in collections])

    values = np.array([value(share) for share in SHARES])
    return SHARES[int(np.flatnonzero(values >= values.max() - TOLERANCE)[0])]


def report_fusion(model, collections, usable):
    judged = {name: queries for name, queries in collections.items() if any(q.ideal > 0 for q in queries)}
    training = {name: judged[name] for name in judged if usable(name)}
    share = best_share(list(training.values()), SLOPE)
    print(f"\n{model}: share of the dense leg {share:.2f}, learned on {', '.join(training)}\n")
    print("| collection | queries | lexical | dense | rrf | scores, fixed share | scores | - rrf | - best of the others |")
    print("|---|---|---|---|---|---|---|---|---|")
    gains = []
    for name, queries in judged.items():
        own = share
        if name in training:
            own = best_share([q for other, q in training.items() if family(other) != family(name)], SLOPE)
        elif is_training(name):
            continue
        by = {
            "lexical": mean_ndcg(queries, lambda q: q.by_words()),
            "dense": mean_ndcg(queries, lambda q: q.by_meaning()),
            "rrf": mean_ndcg(queries, lambda q: q.by_ranks()),
            "fixed": mean_ndcg(queries, lambda q: q.by_scores(own)),
            "scores": mean_ndcg(queries, lambda q: q.by_scores(own, SLOPE)),
        }
        best = max(("lexical", "dense", "rrf"), key=lambda key: by[key].mean())
        over, wide = interval(by["scores"] - by["rrf"])
        ahead, ahead_wide = interval(by["scores"] - by[best])
        if not is_training(name):
            gains.append(over)
        cells = [f"{by[key].mean():.4f}" for key in by]
        label = f"{name} (training, left out)" if is_training(name) else name
        print(f"| {label} | {len(by['rrf'])} | {' | '.join(cells)} | {over:+.4f} ± {wide:.4f} | {ahead:+.4f} ± {ahead_wide:.4f} ({best}) |")
    print(f"\nmean gain over rrf on collections without training queries: {np.mean(gains):+.4f}")
    return share


def features(query, mode, share):
    """Returns features and labels of the first ten hits; see native/store/relevance.h."""
    above = (query.cosine - query.mean) / max(query.deviation, 0.02)
    coverage = query.bm25 / query.limit if query.limit > 0 else np.zeros(len(query.bm25))
    dense, lexical = query.dense_scores(), query.lexical_scores()
    if mode == "dense":
        hits, columns = query.order(query.by_meaning()), (above, dense)
    elif mode == "lexical":
        hits, columns = query.order(query.by_words()), (coverage, lexical)
        hits = hits[query.bm25[hits] > 0]
    else:
        hits, columns = query.order(query.by_scores(share, SLOPE)), (above, coverage, dense, lexical)
    return np.stack(columns, 1)[hits], query.gain[hits] > 0


def hits_of(queries, mode, share):
    parts = [features(query, mode, share) for query in queries]
    return np.concatenate([x for x, _ in parts]), np.concatenate([y for _, y in parts])


def regress(sets):
    """Logistic regression in which every collection with answers weighs the same."""
    x = np.concatenate([one for one, _ in sets])
    y = np.concatenate([one for _, one in sets])
    weight = np.concatenate([np.full(len(one), (1 if one.any() else WITHOUT_ANSWERS) / len(one)) for _, one in sets])
    weight /= weight.sum()
    x = np.c_[np.ones(len(x)), x]

    def loss(theta):
        z = x @ theta
        return float((weight * (np.logaddexp(0, z) - y * z)).sum()), x.T @ (weight * (expit(z) - y))

    return minimize(loss, np.zeros(x.shape[1]), jac=True, method="L-BFGS-B").x


def auroc(scores, labels):
    _, inverse, counts = np.unique(scores, return_inverse=True, return_counts=True)
    rank = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    positive = labels.sum()
    return (rank[labels].sum() - positive * (positive + 1) / 2) / (positive * (len(labels) - positive))


def bins(probability, labels, count=10):
    place = np.minimum((probability * count).astype(int), count - 1)
    for k in range(count):
        if (place == k).any():
            yield (place == k).sum(), probability[place == k].mean(), labels[place == k].mean()


def calibration_error(probability, labels):
    return sum(n * abs(p - y) for n, p, y in bins(probability, labels)) / len(labels)


def report_relevance(models, shares, mode):
    data = {}
    for model, collections in models.items():
        for name, queries in collections.items():
            data[model, name] = hits_of(queries, mode, shares[model])
    training = {key: sets for key, sets in data.items() if usable_by(key[0])(key[1]) and key[1] in JUDGED}
    theta = regress(list(training.values()))
    print(f"\n{mode}: constant and coefficients {np.round(theta, 3).tolist()}\n")
    print("| model | collection | hits | relevant | AUROC | calibration error | mean relevance of the first hit |")
    print("|---|---|---|---|---|---|---|")
    pooled = []
    for (model, name), (x, y) in data.items():
        own = theta
        if (model, name) in training:
            own = regress([s for (_, other), s in training.items() if family(other) != family(name)])
        elif is_training(name):
            continue
        probability = expit(np.c_[np.ones(len(x)), x] @ own)
        firsts = [expit(np.r_[1, features(q, mode, shares[model])[0][0]] @ own) for q in models[model][name] if len(features(q, mode, shares[model])[0])]
        area = f"{auroc(probability, y):.3f}" if y.any() else "-"
        label = f"{name} (training, left out)" if is_training(name) else name
        print(f"| {model} | {label} | {len(y)} | {y.mean():.3f} | {area} | {calibration_error(probability, y):.3f} | {np.mean(firsts):.3f} |")
        if not is_training(name):
            pooled.append((probability, y))
    probability, labels = (np.concatenate(one) for one in zip(*pooled))
    print(f"\npooled, without training collections: AUROC {auroc(probability, labels):.3f}, calibration error {calibration_error(probability, labels):.3f}\n")
    print("| hits | mean relevance | share of relevant |\n|---|---|---|")
    for n, p, y in bins(probability, labels):
        print(f"| {n} | {p:.3f} | {y:.3f} |")


def usable_by(model):
    seen = SEEN_BY_MINI if "mini" == model else ()
    return lambda name: is_training(name) and not name.startswith(seen)


def main():
    models = {os.path.basename(os.path.normpath(folder)): read(folder) for folder in sys.argv[1:]}
    shares = {}
    for model, collections in models.items():
        shares[model] = report_fusion(model, collections, usable_by(model))
    for mode in ("hybrid", "dense", "lexical"):
        report_relevance(models, shares, mode)


main()
