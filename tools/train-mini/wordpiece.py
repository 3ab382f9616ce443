"""The WordPiece tokenizer of the runtime, in Python: what a word is, and how it is cut into pieces.

It mirrors what a BERT-architecture GGUF gets at run time: lower case, canonical decomposition without accent marks,
words ended by white space, every punctuation mark and CJK character a word of its own, then the longest piece first.
A word with any part that no piece covers becomes one [UNK].
"""

import unicodedata

START = '\u2581'  # marks a piece that begins a word, as GGUF spells it
SPECIAL = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]']
PAD, UNK, CLS, SEP = 0, 1, 2, 3

_CJK = [(0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F),
        (0x2B920, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F)]

_kinds = {}


def _kind(ch):
    """What a decomposed character does: ' ' ends a word, '' vanishes, '|' is a word of its own, 'a' belongs to one."""
    category, code = unicodedata.category(ch), ord(ch)
    if ch.isspace():
        return ' '
    if code in (0, 0xFFFD) or category == 'Cc' or category == 'Mn':
        return ''
    if category[0] == 'P' or (code < 0x7F and category[0] == 'S') or any(a <= code <= b for a, b in _CJK):
        return '|'
    return 'a'


def words(text):
    """The words of a text, normalised."""
    out, current = [], []
    for ch in unicodedata.normalize('NFD', text):
        kind = _kinds.get(ch)
        if kind is None:
            kind = _kinds[ch] = _kind(ch)
        if kind == 'a':
            current.append(ch.lower())
        elif kind != '':
            if current:
                out.append(''.join(current))
                current = []
            if kind == '|':
                out.append(ch.lower())
    if current:
        out.append(''.join(current))
    return out


class WordPiece:
    """A vocabulary (pieces in GGUF spelling, position = id) and the greedy cut over it; words are cached."""

    def __init__(self, pieces):
        self.pieces = list(pieces)
        self.ids = {piece: i for i, piece in enumerate(self.pieces)}
        self.longest = max(len(piece) for piece in self.pieces)
        self._cache = {}

    def cut(self, word):
        """The ids of one word's pieces."""
        known = self._cache.get(word)
        if known is None:
            known = self._cache[word] = self._cut(START + word)
        return known

    def _cut(self, rest):
        ids, at = [], 0
        while at < len(rest):
            for end in range(min(len(rest), at + self.longest), at, -1):
                piece = self.ids.get(rest[at:end])
                if piece is not None:
                    ids.append(piece)
                    at = end
                    break
            else:
                return (UNK,)
        return tuple(ids)

    def encode(self, text, limit=510):
        """The ids of a text without [CLS] and [SEP], cut off after `limit`."""
        ids = []
        for word in words(text):
            ids.extend(self.cut(word))
            if len(ids) >= limit:
                return ids[:limit]
        return ids
