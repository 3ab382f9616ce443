"""Learns the fusion by scores on training collections, and reports on the others.

    python tools/fusion/fit.py DUMPS [DUMPS ...]        one folder of dump.mjs per model

Prints the share of the dense leg per model, and nDCG@10 of both fusions beside the legs with paired 95 % intervals. Training
collections are scifact's train queries and those of training-sets.mjs; nothing is fitted on the others. Each training
collection is reported with parameters learned without it and without collections of the same documents.
"""

import os
import sys

import numpy as np

from dumps import mean_ndcg, read

SHARES = np.arange(0.3, 0.86, 0.05)
TRAINING = ("scifact-train", "medquad", "aws", "web", "textbook")
# lorekeep-mini was trained on these texts, so that its cosines for them are better than for others.
SEEN_BY_MINI = ("medquad", "textbook")
SLOPE = 1.5  # of the odds per unit of fall
TOLERANCE = 0.001  # of nDCG: the least share within it is taken, because BM25 does not depend on the model


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


def usable_by(model):
    seen = SEEN_BY_MINI if "mini" == model else ()
    return lambda name: is_training(name) and not name.startswith(seen)


def main():
    models = {os.path.basename(os.path.normpath(folder)): read(folder) for folder in sys.argv[1:]}
    for model, collections in models.items():
        report_fusion(model, collections, usable_by(model))


main()
