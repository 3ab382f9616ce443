"""The texts that the teacher embeds, in groups, drawn once from WordNet, the teacher's vocabulary and the corpus."""

import re

import numpy as np

import wordnet
from corpus import chunks, sentences
from wordpiece import START

SEED = 5
# How often each group is drawn in training.
SHARES = {'words': 0.08, 'phrases': 0.27, 'lemmas': 0.12, 'examples': 0.17, 'titles': 0.12, 'definitions': 0.16,
          'sentences': 0.08}
_COMMON_PHRASES, _RARER_PHRASES = 110_000, 60_000
_DEFINITIONS, _TITLES, _SENTENCES = 50_000, 40_000, 4_096


def everyday_words(teacher_pieces):
    """Words of at least three letters that are one piece of the teacher, the more frequent first."""
    return [piece[1:] for piece in teacher_pieces
            if piece[0] == START and len(piece) > 3 and piece[1:].isascii() and piece[1:].isalpha()]


def make(words, wordnet_folder, data):
    """{group: texts}, each on one line."""
    random = np.random.default_rng(SEED)
    definitions, examples, lemmas = wordnet.read(wordnet_folder)
    known = set(lemmas)
    phrases = (_phrases(random, words, _COMMON_PHRASES, 4, 300.0)
               + _phrases(random, [word for word in words if word in known], _RARER_PHRASES, 3, 2000.0))
    rows = list(chunks(data))
    titles = sorted({text for row in rows for text in (row['title'], row['heading']) if text})
    lone = _sentences(random, rows)
    random.permutation(len(rows))
    titles = [titles[i] for i in random.permutation(len(titles))[:_TITLES]]
    groups = {'words': words, 'phrases': phrases, 'lemmas': lemmas, 'examples': examples, 'titles': titles,
              'definitions': definitions[:_DEFINITIONS], 'sentences': lone[:_SENTENCES]}
    return {name: [re.sub(r'\s+', ' ', text).strip() for text in texts] for name, texts in groups.items()}


def _phrases(random, words, count, longest, flatness):
    """Random phrases of 2 to `longest` words, drawn by 1 / (rank + flatness)."""
    share = 1 / (np.arange(len(words)) + flatness)
    share /= share.sum()
    return [' '.join(random.choice(words, random.integers(2, longest + 1), p=share)) for _ in range(count)]


def _sentences(random, rows):
    """One sentence of medium length of every second row."""
    out = []
    for row in rows:
        fitting = [text for text in sentences(row['text']) if 5 <= len(text.split()) <= 30]
        if fitting and random.random() < 0.5:
            out.append(fitting[random.integers(len(fitting))])
    return out
