"""Reports how well any relevance made of the scores could tell relevant hits of a collection from others.

    python tools/fusion/ceiling.py MODEL=SHARE=DUMPS [...]        as for relevance.py

Each judged collection of the dumps gets a regression of its own, over the features of relevance.py and others that were
tried, learned on four fifths of its own queries and judged on the rest. No estimate that is the same for all collections
can be expected to do better: its AUROC is a ceiling for one that has not seen the collection. Hits 1 to 10 of hybrid mode.
"""

import sys

import numpy as np

from dumps import read
from relevance import FEATURES, auroc, columns, first_ten, regress

FOLDS = 5


def all_columns(query):
    """Those of hybrid and dense mode, the cosine by itself, ranks in both legs, and how the scores of the query's candidates lie."""
    own = np.concatenate([columns(query, "hybrid"), columns(query, "dense")[:, 2:]], 1)
    above = own[:, 1 + FEATURES["hybrid"].index("above")]
    ordered = np.sort(above)[::-1]
    both = (query.dense_rank > 0) & (query.dense_rank <= 10) & (query.lexical_rank > 0) & (query.lexical_rank <= 10)
    of_query = [ordered[min(rank, len(ordered) - 1)] for rank in (0, 9, 49)] + [both.sum(), np.log(max(query.words, 1))]
    ranks = [-np.log(np.where(rank > 0, rank, 51)) for rank in (query.dense_rank, query.lexical_rank)]
    return np.column_stack([own, query.cosine, query.cosine - query.mean, *ranks, np.tile(of_query, (len(above), 1))])


class FoldHits:
    """The hits of every FOLDS-th query, or of all others."""

    def __init__(self, queries, share, keep):
        found = [(q, hits) for n, q in enumerate(queries) if keep(n % FOLDS) and len(hits := first_ten(q, "hybrid", share))]
        self.x = np.concatenate([all_columns(query)[hits] for query, hits in found])
        self.y = np.concatenate([query.gain[hits] > 0 for query, hits in found])


def ceiling(queries, share):
    """Returns relevances of the hits of all folds, each learned on the other folds, and their labels."""
    scores, labels = [], []
    for fold in range(FOLDS):
        theta = regress([(FoldHits(queries, share, lambda n: n != fold), 1.0)], least=None)
        held_back = FoldHits(queries, share, lambda n: n == fold)
        scores.append(held_back.x @ theta)
        labels.append(held_back.y)
    return np.concatenate(scores), np.concatenate(labels)


def main():
    print("| model | collection | relevant among the ten | best single feature: AUROC | learned on the collection itself: AUROC |")
    print("|---|---|--:|--:|--:|")
    for argument in sys.argv[1:]:
        model, share, folder = argument.split("=", 2)
        for name, queries in read(folder).items():
            everything = FoldHits(queries, float(share), lambda _: True)
            if everything.y.all() or not everything.y.any():
                continue
            single = max(auroc(column, everything.y) for column in everything.x.T[1:])
            print(f"| {model} | {name} | {everything.y.mean():.3f} | {single:.3f} | {auroc(*ceiling(queries, float(share))):.3f} |")


if __name__ == "__main__":
    main()
