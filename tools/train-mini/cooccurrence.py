"""Distributional vectors of tokens: positive pointwise mutual information of neighbours, reduced by a truncated SVD.

Tokens that stand in like surroundings (car, vehicle) get like vectors. Levy, Goldberg, Dagan: Improving Distributional
Similarity with Lessons Learned from Word Embeddings (2015): context smoothing 0.75, singular values to the power 0.5.
"""

import numpy as np
import scipy.sparse as sparse

WINDOW = 5
SMOOTHING = 0.75
LEAST = 4.0  # weighted co-occurrences below this are chance


def counts(tokens, sentence, vocabulary, silent):
    """Symmetric co-occurrence [vocabulary, vocabulary] within WINDOW tokens of a sentence, nearer ones weighing more.

    `silent` tokens (bool per id) are taken out before distances are counted.
    """
    number = np.repeat(np.arange(len(sentence) - 1, dtype=np.int32), np.diff(sentence))
    heard = ~silent[tokens]
    tokens, number = tokens[heard].astype(np.int64), number[heard]
    total = np.zeros(vocabulary * vocabulary, np.float32)
    for distance in range(1, WINDOW + 1):
        same = number[:-distance] == number[distance:]
        keys = tokens[:-distance][same] * vocabulary + tokens[distance:][same]
        keys.sort()
        first = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
        total[keys[first]] += np.diff(np.append(first, len(keys))) * np.float32((WINDOW + 1 - distance) / WINDOW)
    square = total.reshape(vocabulary, vocabulary)
    square += square.T.copy()
    square[square < LEAST] = 0
    return sparse.csr_matrix(square)


def ppmi(matrix):
    rows = np.asarray(matrix.sum(axis=1)).ravel() + 1e-9
    context = rows**SMOOTHING
    context /= context.sum()
    entries = matrix.tocoo()
    values = np.log(entries.data / (rows[entries.row] * context[entries.col]))
    kept = values > 0
    return sparse.csr_matrix((values[kept].astype(np.float32), (entries.row[kept], entries.col[kept])), matrix.shape)


def reduce(matrix, width, rounds=2, spare=32, seed=3):
    """Rows of U * sqrt(S) of the truncated SVD, by randomised subspace iteration."""
    random = np.random.default_rng(seed)
    basis = random.standard_normal((matrix.shape[1], width + spare)).astype(np.float32)
    for _ in range(rounds):
        basis, _ = np.linalg.qr(matrix @ basis)
        basis, _ = np.linalg.qr(matrix.T @ basis)
    u, s, _ = np.linalg.svd(matrix @ basis, full_matrices=False)
    return (u[:, :width] * np.sqrt(s[:width])).astype(np.float32)
