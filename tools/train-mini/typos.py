"""Typing errors, so that the pieces of a misspelt word come to stand near the word."""

import numpy as np

from wordpiece import START

# Neighbours on the keyboard, and letters that sound alike.
_NEAR = {'a': 'sqz', 'b': 'vn', 'c': 'xvk', 'd': 'sf', 'e': 'wra', 'f': 'dg', 'g': 'fh', 'h': 'gj', 'i': 'uoe',
         'j': 'hk', 'k': 'jlc', 'l': 'k', 'm': 'n', 'n': 'mb', 'o': 'ipa', 'p': 'o', 'q': 'w', 'r': 'et', 's': 'adzc',
         't': 'ry', 'u': 'iy', 'v': 'bc', 'w': 'eq', 'x': 'zc', 'y': 'uti', 'z': 'xs'}
SHORTEST = 5


class Typist:
    """Misspells one word of a token sequence: a letter left out, doubled, replaced by a neighbour or swapped."""

    def __init__(self, wordpiece, seed):
        self.wordpiece = wordpiece
        self.starts = np.array([piece.startswith(START) for piece in wordpiece.pieces])
        self.random = np.random.default_rng(seed + 1000)

    def misspell(self, tokens):
        begins = np.flatnonzero(self.starts[tokens])
        if len(begins) == 0:
            return tokens
        which = self.random.integers(len(begins))
        begin = begins[which]
        end = begins[which + 1] if which + 1 < len(begins) else len(tokens)
        word = ''.join(self.wordpiece.pieces[t] for t in tokens[begin:end])[1:]
        if len(word) < SHORTEST or not (word.isascii() and word.isalpha()):
            return tokens
        wrong = np.array(self.wordpiece.cut(self._edit(word)), dtype=tokens.dtype)
        return np.concatenate([tokens[:begin], wrong, tokens[end:]])

    def _edit(self, word):
        at = int(self.random.integers(1, len(word) - 1))
        kind = self.random.integers(4)
        if kind == 0:
            return word[:at] + word[at + 1:]
        if kind == 1:
            return word[:at] + word[at] + word[at:]
        if kind == 2:
            near = _NEAR[word[at]]
            return word[:at] + near[int(self.random.integers(len(near)))] + word[at + 1:]
        return word[:at] + word[at + 1] + word[at] + word[at + 2:]
