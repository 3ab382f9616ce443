"""Learns from the teacher what each piece means: the normalised sum of a text's rows points where the teacher does.

Minimises the mean of 1 - cos(sum of saturated rows, teacher's vector) over the groups of texts.py, by Adam.
"""

from collections import Counter

import numpy as np
import scipy.sparse as sparse

from objective import Adam, saturate
from texts import SHARES

BATCH = 2048
RATE = 0.005
WARM_UP = 50
SMOOTHING = 5.0


def unit(rows):
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


def basis(vectors, width):
    """[teacher's width, width]: the directions that hold the most of the teacher's vectors, strongest first."""
    sample = np.concatenate([rows[:20_000] for rows in vectors.values()])
    return np.linalg.eigh(sample.T @ sample)[1][:, ::-1][:, :width].astype(np.float32)


def bags(wordpiece, texts):
    """CSR matrix [texts, pieces] of saturated counts."""
    starts, columns, counts = [0], [], []
    for text in texts:
        counted = Counter(wordpiece.encode(text))
        columns += counted.keys()
        counts += counted.values()
        starts.append(len(columns))
    shape = (len(texts), len(wordpiece.pieces))
    return saturate(sparse.csr_matrix((np.array(counts, np.float32), np.array(columns, np.int32), np.array(starts)), shape))


def alignment(batch, wanted, table):
    """(mean of 1 - cosine, gradient of the table)."""
    raw = batch @ table
    norms = np.linalg.norm(raw, axis=1, keepdims=True) + 1e-6
    rows = raw / norms
    cosine = (rows * wanted).sum(axis=1, keepdims=True)
    return 1 - cosine.mean(), batch.T @ ((rows * cosine - wanted) / (norms * len(wanted)))


def start(batches, vectors):
    """Per piece the mean of the teacher's vectors of the texts that have it, shorter the more frequent it is."""
    count = sum(np.asarray(batches[name].sum(axis=0)).ravel() for name in batches)
    total = sum(batches[name].T @ vectors[name] for name in batches)
    rows = unit(total / (count[:, None] + SMOOTHING)) / np.sqrt(1 + np.log1p(count))[:, None]
    return rows.astype(np.float32)


class Teacher:
    """Texts as bags of pieces, with the teacher's vectors in the given basis."""

    def __init__(self, bags_by_group, vectors, directions, seed):
        self.bags = bags_by_group
        self.vectors = {name: unit(rows @ directions) for name, rows in vectors.items()}
        self.names = list(SHARES)
        self.shares = np.array([SHARES[name] for name in self.names]) / sum(SHARES.values())
        self.random = np.random.default_rng(seed)

    def batch(self):
        name = self.names[self.random.choice(len(self.names), p=self.shares)]
        chosen = self.random.integers(0, len(self.vectors[name]), BATCH)
        return self.bags[name][chosen], self.vectors[name][chosen]


def learn(teacher, steps, say):
    table = start(teacher.bags, teacher.vectors)
    adam, losses = Adam(table.shape), []
    for step in range(1, steps + 1):
        loss, gradient = alignment(*teacher.batch(), table)
        losses.append(loss)
        adam.step(table, gradient * 100, RATE * min(1, step / WARM_UP) * (1 - step / (steps + 1)))
        if step % 100 == 0:
            say(f'meaning, step {step}: 1 - cosine {np.mean(losses[-100:]):.3f}')
    return table
