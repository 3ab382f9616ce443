"""Builds the WordPiece vocabulary: stems, endings, and byte-pair pieces for what is rare.

A word is cut into stem and ending before pieces are merged, and no merge crosses that cut. The longest-piece-first
tokenizer then splits `resetting` into `reset` + `ting` and `resets` into `reset` + `s`, so that the forms of a word
share the row that carries its meaning, and no rows are spent on inflected forms.
"""

import heapq
from collections import Counter, defaultdict

from wordpiece import SPECIAL, START

# Longest first; an ending is only cut where a stem of MIN_STEM letters with a vowel is left.
ENDINGS = sorted(['s', 'es', 'e', 'ed', 'ing', 'ings', 'y', 'ies', 'ied', 'ly', 'ely', 'edly', 'ation', 'ations',
                  'ational', 'ment', 'ments', 'ness', 'ion', 'ions', 'ive', 'al', 'ally', 'ity', 'ities', 'ate',
                  'ated', 'ates', 'ating', 'ic', 'ical', 'ous'], key=lambda e: (-len(e), e))
MIN_STEM = 4
_VOWELS = set('aeiouy')
_DOUBLES = set('bdgmnprt')


def split_ending(word):
    """(stem, ending); the ending is '' where none is cut."""
    if word.isascii() and word.isalpha():
        for ending in ENDINGS:
            stem = word[: -len(ending)]
            if not word.endswith(ending) or len(stem) < MIN_STEM or _VOWELS.isdisjoint(stem):
                continue
            if ending == 's' and stem[-1] in 'su':
                continue
            if len(ending) > 1 and ending[0] in 'aeio' and stem[-1] == stem[-2] and stem[-1] in _DOUBLES:
                stem = stem[:-1]
            return stem, word[len(stem):]
    return word, ''


def root(word):
    """(root, endings): endings cut one after the other, outermost last."""
    endings = []
    while True:
        stem, ending = split_ending(word)
        if not ending:
            return word, endings[::-1]
        endings.append(ending)
        word = stem


def _alphabet(counts, least):
    """Every character that starts or continues a word often enough, ASCII in any case."""
    starts, insides = Counter(), Counter()
    for word, count in counts.items():
        starts[word[0]] += count
        for ch in word[1:]:
            insides[ch] += count
    ascii_words = [chr(c) for c in range(33, 127) if not chr(c).isupper()]
    ascii_inside = [c for c in ascii_words if c.isalnum()]
    first = set(ascii_words) | {c for c, n in starts.items() if n >= least}
    inside = set(ascii_inside) | {c for c, n in insides.items() if n >= least}
    return [START + c for c in sorted(first)] + sorted(inside)


def _merges(weighted, wanted, taken):
    """Byte-pair merging over {tuple of symbols: weight}; the merged symbols in the order of their making."""
    parts = [list(symbols) for symbols in weighted]
    weights = list(weighted.values())
    pairs, where = defaultdict(float), defaultdict(set)
    for i, symbols in enumerate(parts):
        for pair in zip(symbols, symbols[1:]):
            pairs[pair] += weights[i]
            where[pair].add(i)
    heap = [(-value, pair) for pair, value in pairs.items()]
    heapq.heapify(heap)
    made = []
    while heap and len(made) < wanted:
        value, pair = heapq.heappop(heap)
        if pair not in pairs or abs(-value - pairs[pair]) > 1e-6:
            continue
        merged = pair[0] + pair[1]
        if merged not in taken:
            taken.add(merged)
            made.append(merged)
        changed = set()
        for i in sorted(where.pop(pair)):
            symbols, weight = parts[i], weights[i]
            for old in zip(symbols, symbols[1:]):
                pairs[old] -= weight
                changed.add(old)
            at, new = 0, []
            while at < len(symbols):
                if at + 1 < len(symbols) and symbols[at] == pair[0] and symbols[at + 1] == pair[1]:
                    new.append(merged)
                    at += 2
                else:
                    new.append(symbols[at])
                    at += 1
            parts[i] = new
            for fresh in zip(new, new[1:]):
                pairs[fresh] += weight
                where[fresh].add(i)
                changed.add(fresh)
        pairs.pop(pair, None)
        for other in sorted(changed):
            if other in pairs:
                if pairs[other] > 1e-6:
                    heapq.heappush(heap, (-pairs[other], other))
                else:
                    del pairs[other]
    return made


def build_vocabulary(counts, size, power=0.5, least=3, alphabet_least=200):
    """The pieces of a vocabulary of `size`, from word counts.

    Frequent stems win first, rare words are left to share pieces: a stem weighs its count to the `power`. Words seen
    fewer than `least` times have no say.
    """
    stems, endings = Counter(), Counter()
    for word, count in counts.items():
        if count < least:
            continue
        stem, cut = root(word)
        stems[stem] += count
        endings.update(dict.fromkeys(cut, count))
    pieces = list(SPECIAL) + _alphabet(counts, alphabet_least)
    taken = set(pieces)
    for ending, count in sorted(endings.items(), key=lambda e: (-e[1], e[0])):
        if ending not in taken and count >= 500:
            taken.add(ending)
            pieces.append(ending)
    weighted = {}
    for stem, count in sorted(stems.items()):
        symbols = (START + stem[0], *stem[1:])
        if all(symbol in taken for symbol in symbols):
            weighted[symbols] = count**power
    merged = _merges(weighted, size + size // 4, taken)
    kept = [piece for piece in merged if not _is_inflected(piece, taken)]
    return (pieces + kept)[:size]


def _is_inflected(piece, taken):
    """Whether a start piece is a stem of the vocabulary with an ending, so that it would hide the stem."""
    if piece[0] != START:
        return False
    stem, ending = split_ending(piece[1:])
    return bool(ending) and START + stem in taken and ending in taken
