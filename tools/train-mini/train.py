"""Trains lorekeep-mini and writes data/models/lorekeep-mini.gguf. See README.md beside this file.

Stages are kept in the --work folder and reused when they are there; delete the folder for a run from nothing.
"""

import argparse
import os
import time

# The same input gives the same file: sums in a fixed order, and the kernels that every x86-64 processor with AVX2 has.
os.environ['OPENBLAS_NUM_THREADS'] = '1'
os.environ['OPENBLAS_CORETYPE'] = 'Haswell'
os.environ['NPY_DISABLE_CPU_FEATURES'] = 'X86_V4 AVX512_ICL AVX512_SPR'

import numpy as np

import cooccurrence
from corpus import Corpus, count_words
from export import export
from network import FREE, balance
from objective import Adam, contrast, saturate
from pairs import PairSampler
from typos import Typist
from vocabulary import build_vocabulary
from wordpiece import SPECIAL, WordPiece

PIECES = 12800  # what fits in 8 MiB beside the layer
RARITY_POWER = 0.65  # a token weighs idf^0.65 in the query and in the passage before training
NEIGHBOURS = 0.25  # share of the distributional vector beside the random one, before training
SILENT_IDF = 1.3  # tokens more frequent than this are no neighbours
WARM_UP = 30
SLOWING = 500  # the rate is peak / sqrt(1 + step / SLOWING): it does not depend on how many steps follow
BALANCE_EVERY = 50
AVERAGE_EVERY = 10
AVERAGE_SHARE = 0.05  # of the newest table in the running average, which is what is kept
KEEP_EVERY = 500


def options():
    parser = argparse.ArgumentParser(description='Trains the embedded embedding model.')
    parser.add_argument('--data', default='../shared/data/corpus-large.jsonl.gz', help='the training text')
    parser.add_argument('--work', default='.cache/train-mini', help='where stages are kept')
    parser.add_argument('--out', default='data/models/lorekeep-mini.gguf')
    parser.add_argument('--steps', type=int, default=2000)
    parser.add_argument('--batch', type=int, default=1024)
    parser.add_argument('--rate', type=float, default=4e-3)
    parser.add_argument('--scale', type=float, default=20.0, help='inverse temperature')
    parser.add_argument('--seed', type=int, default=1)
    return parser.parse_args()


class Stages:
    """Files of finished stages."""

    def __init__(self, folder):
        self.folder = folder
        os.makedirs(folder, exist_ok=True)

    def array(self, name, make):
        path = self._path(name)
        if not os.path.exists(path):
            say(f'{name}: computing')
            self.save(name, make())
        return np.load(path)

    def save(self, name, array):
        np.save(self._path(name), array)

    def _path(self, name):
        return os.path.join(self.folder, f'{name}.npy')

    def vocabulary(self, data):
        path = os.path.join(self.folder, 'vocabulary.txt')
        if not os.path.exists(path):
            say('vocabulary: counting words')
            pieces = build_vocabulary(count_words(data), PIECES)
            with open(path, 'w', encoding='utf-8') as file:
                file.write('\n'.join(pieces) + '\n')
        with open(path, encoding='utf-8') as file:
            return file.read().split('\n')[:-1]

    def corpus(self, data, wordpiece):
        path = os.path.join(self.folder, 'corpus.npz')
        if not os.path.exists(path):
            say('corpus: tokenising')
            Corpus.read(data, wordpiece).save(path)
        return Corpus.load(path)


_begin = time.time()


def say(text):
    print(f'{time.time() - _begin:7.0f} s  {text}', flush=True)


def rarity(corpus):
    """idf of every token over chunks; special tokens have none."""
    lengths = corpus.sentence[corpus.chunk[1:]] - corpus.sentence[corpus.chunk[:-1]]
    keys = np.repeat(np.arange(len(corpus)), lengths) * np.int64(PIECES) + corpus.tokens
    found = np.bincount(np.unique(keys) % PIECES, minlength=PIECES)
    idf = np.log(1 + len(corpus) / (found + 1.0)).astype(np.float32)
    idf[:len(SPECIAL)] = 0
    return idf


def neighbours(corpus, idf):
    counted = cooccurrence.counts(corpus.tokens, corpus.sentence, PIECES, idf < SILENT_IDF)
    return cooccurrence.reduce(cooccurrence.ppmi(counted), FREE)


def unit(rows):
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


def start(idf, near, seed):
    """The table before training: random directions, leaning towards tokens of like surroundings, as long as rare."""
    random = np.random.default_rng(seed)
    own = unit(random.standard_normal((PIECES, FREE)).astype(np.float32))
    table = unit(own + NEIGHBOURS * unit(near)) * (idf**RARITY_POWER)[:, None]
    return balance(table.astype(np.float32))


class RunningAverage:
    """The mean of the first tables, then an exponential one: it settles what single steps still move."""

    def __init__(self, table):
        self.table, self.seen = table.copy(), 0

    def add(self, table):
        self.seen += 1
        self.table += np.float32(max(AVERAGE_SHARE, 1 / self.seen)) * (table - self.table)


def learn(table, sampler, steps, batch, peak, scale, keep):
    """The averaged table after `steps`; keep(step, table) gets those on the way, which a shorter run would end with."""
    adam, average, losses = Adam(table.shape), RunningAverage(table), []
    for step in range(1, steps + 1):
        queries, passages = sampler.batch(batch)
        loss, gradient = contrast(saturate(queries), saturate(passages), table, scale)
        adam.step(table, gradient, peak * min(1, step / WARM_UP) / np.sqrt(1 + step / SLOWING))
        losses.append(loss)
        if step % AVERAGE_EVERY == 0:
            average.add(table)
        if step % BALANCE_EVERY == 0:
            table[:] = balance(table)
            say(f'step {step}: loss {np.mean(losses[-BALANCE_EVERY:]):.3f}')
        if step % KEEP_EVERY == 0 and step < steps:
            keep(step, average.table)
    return average.table


def main():
    arguments = options()
    stages = Stages(arguments.work)
    pieces = stages.vocabulary(arguments.data)
    wordpiece = WordPiece(pieces)
    corpus = stages.corpus(arguments.data, wordpiece)
    say(f'{len(corpus)} chunks, {len(corpus.tokens)} tokens, {len(pieces)} pieces')
    idf = stages.array('idf', lambda: rarity(corpus))
    near = stages.array('neighbours', lambda: neighbours(corpus, idf))

    def trained():
        sampler = PairSampler(corpus, idf, PIECES, Typist(wordpiece, arguments.seed), seed=arguments.seed)
        return learn(start(idf, near, arguments.seed), sampler, arguments.steps, arguments.batch, arguments.rate,
                     arguments.scale, lambda step, table: stages.save(f'table-{step}', table))

    table = stages.array(f'table-{arguments.steps}', trained)
    os.makedirs(os.path.dirname(arguments.out) or '.', exist_ok=True)
    size, _, facts = export(arguments.out, table, pieces)
    say(f"{arguments.out}: {size} bytes; divisor fitted to {facts['divisor_error']:.4f}")


if __name__ == '__main__':
    main()
