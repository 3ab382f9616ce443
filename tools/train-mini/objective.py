"""The objective: symmetric InfoNCE over a batch of (query, passage) pairs of saturated bags of tokens.

A text's vector is sum over its tokens of f(count) * row, normalised; f(n) = n / (n + SATURATION) as in BM25, because
a word said five times is not five times as telling. The gradient is written out: nothing but numpy and scipy is needed.
"""

import numpy as np

SATURATION = 3.0


def saturate(counts):
    """f(n) on the stored values of a CSR matrix, in place."""
    counts.data = counts.data / (counts.data + SATURATION)
    return counts


def embed(bags, table):
    """(unit vectors, norms before) of saturated bags."""
    raw = bags @ table
    norms = np.linalg.norm(raw, axis=1, keepdims=True) + 1e-9
    return raw / norms, norms


def _softmax_minus_one_hot(scores):
    scores = np.exp(scores - scores.max(axis=1, keepdims=True))
    scores /= scores.sum(axis=1, keepdims=True)
    diagonal = np.arange(len(scores))
    loss = -np.log(scores[diagonal, diagonal] + 1e-12).mean()
    scores[diagonal, diagonal] -= 1
    return scores, loss


def contrast(queries, passages, table, scale):
    """(loss, gradient of the table): each query must find its passage in the batch, and each passage its query."""
    q, q_norms = embed(queries, table)
    p, p_norms = embed(passages, table)
    scores = (q @ p.T) * np.float32(scale)
    forward, loss_q = _softmax_minus_one_hot(scores)
    backward, loss_p = _softmax_minus_one_hot(scores.T)
    pull = (forward + backward.T) * np.float32(scale / (2 * len(scores)))
    dq, dp = pull @ p, pull.T @ q
    dq = (dq - q * (dq * q).sum(axis=1, keepdims=True)) / q_norms
    dp = (dp - p * (dp * p).sum(axis=1, keepdims=True)) / p_norms
    return (loss_q + loss_p) / 2, queries.T @ dq + passages.T @ dp


class Adam:
    """Kingma, Ba: Adam (2014). `gradient` is used up; everything happens in place, because the table is large."""

    def __init__(self, shape, beta1=0.9, beta2=0.99):
        self.m, self.v, self.spare = (np.zeros(shape, np.float32) for _ in range(3))
        self.beta1, self.beta2, self.t = beta1, beta2, 0

    def step(self, table, gradient, rate):
        self.t += 1
        self.m *= np.float32(self.beta1)
        self.m += np.multiply(gradient, np.float32(1 - self.beta1), out=self.spare)
        self.v *= np.float32(self.beta2)
        gradient *= gradient
        gradient *= np.float32(1 - self.beta2)
        self.v += gradient
        root = np.multiply(self.v, np.float32(1 / (1 - self.beta2**self.t)), out=self.spare)
        np.sqrt(root, out=root)
        root += np.float32(1e-8)
        change = np.divide(self.m, root, out=root)
        change *= np.float32(rate / (1 - self.beta1**self.t))
        table -= change
