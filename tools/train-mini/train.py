"""Trains lorekeep-mini and writes data/models/lorekeep-mini.gguf. See README.md beside this file.

Stages are kept in the --work folder and reused when they are there; delete the folder for a run from nothing.
"""

import argparse
import os
import subprocess
import time

# The same input gives the same file: sums in a fixed order, and the kernels that every x86-64 processor with AVX2 has.
os.environ['OPENBLAS_NUM_THREADS'] = '1'
os.environ['OPENBLAS_CORETYPE'] = 'Haswell'
os.environ['NPY_DISABLE_CPU_FEATURES'] = 'X86_V4 AVX512_ICL AVX512_SPR'

import numpy as np

import distil
import texts
import wordnet
from corpus import Corpus, count_words
from export import export
from network import LEXICAL, LEXICAL_SHARE, MEANING, balance
from objective import Adam, contrast, saturate
from pairs import PairSampler
from typos import Typist
from vocabulary import build_vocabulary
from wordpiece import SPECIAL, WordPiece, words

PIECES = 24000  # what fits in 8 MiB beside the layer
EVERYDAY, EVERYDAY_RANKS = 0.08, 30  # a word counts total * EVERYDAY / (rank + EVERYDAY_RANKS) beside the corpus
WORDNET = 3  # how often each word of WordNet's text counts
TEACHER_WIDTH = 384
MEAN_WEIGHT = 5.0
MEANING_STEPS = 2000
ANCHOR = 15.0  # weight of the teacher beside the pairs
WARM_UP = 30
BALANCE_EVERY = 50
AVERAGE_EVERY = 10
AVERAGE_SHARE = 0.05  # of the newest table in the running average, which is what is kept


def options():
    parser = argparse.ArgumentParser(description='Trains the fast embedding model.')
    parser.add_argument('--data', default='../shared/data/corpus-large.jsonl.gz', help='the training text')
    parser.add_argument('--teacher', default='../shared/models/all-MiniLM-L6-v2-f16.gguf')
    parser.add_argument('--wordnet', default='/usr/share/wordnet', help="WordNet 3.0's data files: Debian's package wordnet-base")
    parser.add_argument('--work', default='.cache/train-mini', help='where stages are kept')
    parser.add_argument('--out', default='data/models/lorekeep-mini.gguf')
    parser.add_argument('--steps', type=int, default=500)
    parser.add_argument('--batch', type=int, default=768)
    parser.add_argument('--rate', type=float, default=3e-3)
    parser.add_argument('--scale', type=float, default=20.0, help='inverse temperature')
    parser.add_argument('--seed', type=int, default=1)
    return parser.parse_args()


class Stages:
    """Files of finished stages."""

    def __init__(self, folder):
        self.folder = folder
        os.makedirs(folder, exist_ok=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def missing(self, name):
        if os.path.exists(self.path(name)):
            return False
        say(f'{name}: computing')
        return True

    def array(self, name, make):
        if self.missing(f'{name}.npy'):
            np.save(self.path(f'{name}.npy'), make())
        return np.load(self.path(f'{name}.npy'))

    def lines(self, name, make):
        if self.missing(name):
            with open(self.path(name), 'w', encoding='utf-8') as file:
                file.write('\n'.join(make()) + '\n')
        with open(self.path(name), encoding='utf-8') as file:
            return file.read().split('\n')[:-1]

    def corpus(self, data, wordpiece):
        if self.missing('corpus.npz'):
            Corpus.read(data, wordpiece).save(self.path('corpus.npz'))
        return Corpus.load(self.path('corpus.npz'))


_begin = time.time()


def say(text):
    print(f'{time.time() - _begin:7.0f} s  {text}', flush=True)


def teach(model, *arguments):
    """Runs teach.mjs, which asks the teacher through the package."""
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'teach.mjs')
    subprocess.run(['node', program, model, *arguments], check=True)


def teacher_pieces(stages, model):
    if stages.missing('teacher-pieces.txt'):
        teach(model, '--pieces', stages.path('teacher-pieces.txt'))
    return stages.lines('teacher-pieces.txt', None)


def all_counts(data, everyday, wordnet_folder):
    """Words of the corpus; everyday words by their rank (Zipf), as a third of English would have them; WordNet's text."""
    counts = count_words(data)
    total = sum(counts.values())
    for rank, word in enumerate(everyday):
        counts[word] += int(total * EVERYDAY / (rank + EVERYDAY_RANKS))
    for group in wordnet.read(wordnet_folder):
        for text in group:
            for word in words(text):
                counts[word] += WORDNET
    return counts


def teacher_of(stages, arguments, everyday, wordpiece):
    """The teacher's vectors of texts.py, and what they are learned with."""
    groups = None
    vectors = {}
    for name in texts.SHARES:
        file = f'texts-{name}.txt'
        if not os.path.exists(stages.path(file)):
            groups = groups or texts.make(everyday, arguments.wordnet, arguments.data)
            stages.lines(file, lambda: groups[name])
        if stages.missing(f'teacher-{name}.f32'):
            teach(arguments.teacher, stages.path(file), stages.path(f'teacher-{name}.f32'))
        vectors[name] = np.fromfile(stages.path(f'teacher-{name}.f32'), np.float32).reshape(-1, TEACHER_WIDTH)
    bags = {name: distil.bags(wordpiece, stages.lines(f'texts-{name}.txt', None)) for name in texts.SHARES}
    directions = stages.array('basis', lambda: distil.basis(vectors, MEANING))
    return lambda seed: distil.Teacher(bags, vectors, directions, seed)


def rarity(corpus):
    """idf of every token over chunks; special tokens have none."""
    lengths = corpus.sentence[corpus.chunk[1:]] - corpus.sentence[corpus.chunk[:-1]]
    keys = np.repeat(np.arange(len(corpus)), lengths) * np.int64(PIECES) + corpus.tokens
    found = np.bincount(np.unique(keys) % PIECES, minlength=PIECES)
    idf = np.log(1 + len(corpus) / (found + 1.0)).astype(np.float32)
    idf[:len(SPECIAL)] = 0
    return idf


def start(meaning, seed):
    """The table before the pairs: random lexical numbers beside the meaning, as long as the meaning was."""
    random = np.random.default_rng(seed)
    lexical = distil.unit(random.standard_normal((PIECES, LEXICAL)).astype(np.float32))
    weight = np.linalg.norm(meaning, axis=1, keepdims=True)
    weight[:len(SPECIAL)] = 0
    weight *= MEAN_WEIGHT / weight[len(SPECIAL):].mean()
    rows = np.concatenate([lexical * np.sqrt(LEXICAL_SHARE), distil.unit(meaning) * np.sqrt(1 - LEXICAL_SHARE)], axis=1)
    return balance((rows * weight).astype(np.float32))


class RunningAverage:
    """The mean of the first tables, then an exponential one: it settles what single steps still move."""

    def __init__(self, table):
        self.table, self.seen = table.copy(), 0

    def add(self, table):
        self.seen += 1
        self.table += np.float32(max(AVERAGE_SHARE, 1 / self.seen)) * (table - self.table)


def learn(table, sampler, teacher, steps, batch, peak, scale):
    """The averaged table after `steps`: pairs move all numbers, and the teacher holds those of meaning."""
    adam, average, losses, distances = Adam(table.shape), RunningAverage(table), [], []
    for step in range(1, steps + 1):
        queries, passages = sampler.batch(batch)
        loss, gradient = contrast(saturate(queries), saturate(passages), table, scale)
        distance, pull = distil.alignment(*teacher.batch(), table[:, LEXICAL:])
        gradient[:, LEXICAL:] += np.float32(ANCHOR) * pull
        adam.step(table, gradient, peak * min(1, step / WARM_UP) * (1 - step / (steps + 1)))
        losses.append(loss)
        distances.append(distance)
        if step % AVERAGE_EVERY == 0:
            average.add(table)
        if step % BALANCE_EVERY == 0:
            table[:] = balance(table)
            last = slice(-BALANCE_EVERY, None)
            say(f'pairs, step {step}: loss {np.mean(losses[last]):.3f}, 1 - cosine {np.mean(distances[last]):.3f}')
    return balance(average.table)


def main():
    arguments = options()
    stages = Stages(arguments.work)
    everyday = texts.everyday_words(teacher_pieces(stages, arguments.teacher))
    pieces = stages.lines('vocabulary.txt', lambda: build_vocabulary(
        all_counts(arguments.data, everyday, arguments.wordnet), PIECES))
    wordpiece = WordPiece(pieces)
    corpus = stages.corpus(arguments.data, wordpiece)
    say(f'{len(corpus)} chunks, {len(corpus.tokens)} tokens, {len(pieces)} pieces')
    idf = stages.array('idf', lambda: rarity(corpus))
    teacher = teacher_of(stages, arguments, everyday, wordpiece)
    meaning = stages.array('meaning', lambda: distil.learn(teacher(arguments.seed + 1), MEANING_STEPS, say))

    def trained():
        sampler = PairSampler(corpus, idf, PIECES, Typist(wordpiece, arguments.seed), seed=arguments.seed)
        return learn(start(meaning, arguments.seed), sampler, teacher(arguments.seed + 2), arguments.steps,
                     arguments.batch, arguments.rate, arguments.scale)

    table = stages.array(f'table-{arguments.steps}', trained)
    os.makedirs(os.path.dirname(arguments.out) or '.', exist_ok=True)
    size, _, facts = export(arguments.out, table, pieces)
    say(f"{arguments.out}: {size} bytes; divisor fitted to {facts['divisor_error']:.4f}")


if __name__ == '__main__':
    main()
