"""Reads the training text once: tokenised sentences of every chunk, with its title and heading, as flat arrays.

Chunks under a share-alike licence are left out, so that the model carries attribution duties only.
"""

import gzip
import json
import re
from collections import Counter

import numpy as np

from wordpiece import words

_SENTENCE = re.compile(r'(?<=[.!?])["\u201d\u2019)]*\s+(?=["\u201c\u2018(]*[A-Z0-9])')


def chunks(path):
    """The usable rows of the corpus file, in file order."""
    with gzip.open(path, 'rt', encoding='utf-8') as lines:
        for line in lines:
            row = json.loads(line)
            if 'SA' not in row['licence'].split('-'):
                yield row


def sentences(text):
    """The sentences of a chunk; short ones are joined to their successor."""
    out = []
    for part in _SENTENCE.split(text):
        if out and len(out[-1]) < 40:
            out[-1] += ' ' + part
        else:
            out.append(part)
    return out


def count_words(path):
    """How often each normalised word occurs."""
    counts = Counter()
    for row in chunks(path):
        counts.update(words(f"{row['title']} . {row['heading']} . {row['text']}"))
    return counts


class Corpus:
    """Token ids of all chunks.

    `tokens` is flat; `sentence[i] : sentence[i + 1]` bounds sentence i; `chunk[c] : chunk[c + 1]` bounds chunk c's
    sentences, of which the first is its title and the second its heading (empty where it repeats the title).
    `source[c]` numbers where chunk c comes from.
    """

    def __init__(self, tokens, sentence, chunk, source):
        self.tokens, self.sentence, self.chunk, self.source = tokens, sentence, chunk, source

    def __len__(self):
        return len(self.source)

    @classmethod
    def read(cls, path, wordpiece):
        tokens, sentence, chunk, source, names = [], [0], [0], [], {}
        length = 0
        for row in chunks(path):
            heading = row['heading'] if row['heading'] != row['title'] else ''
            for text in (row['title'], heading, *sentences(row['text'])):
                ids = np.array(wordpiece.encode(text), dtype=np.uint16)
                tokens.append(ids)
                length += len(ids)
                sentence.append(length)
            chunk.append(len(sentence) - 1)
            source.append(names.setdefault(row['source'], len(names)))
        return cls(np.concatenate(tokens), np.array(sentence), np.array(chunk), np.array(source))

    def save(self, path):
        np.savez(path, tokens=self.tokens, sentence=self.sentence, chunk=self.chunk, source=self.source)

    @classmethod
    def load(cls, path):
        with np.load(path) as arrays:
            return cls(arrays['tokens'], arrays['sentence'], arrays['chunk'], arrays['source'])
