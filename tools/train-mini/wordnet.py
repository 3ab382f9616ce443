"""Reads WordNet 3.0's data files (Fellbaum 1998; Debian's package wordnet-base): everyday words and short texts."""

import os
import re

PARTS = ('noun', 'verb', 'adj', 'adv')


def read(folder):
    """(definitions, examples, lemmas): lists of texts in file order; lemmas are lower-case, sorted and unique."""
    definitions, examples, lemmas = [], [], set()
    for part in PARTS:
        with open(os.path.join(folder, f'data.{part}'), encoding='latin-1') as lines:
            for line in lines:
                if line.startswith('  '):  # the licence
                    continue
                head, gloss = line.split('|', 1)
                fields = head.split()
                for word in fields[4:4 + 2 * int(fields[3], 16):2]:
                    lemma = re.sub(r'\(.*\)', '', word).replace('_', ' ')
                    if lemma == lemma.lower():
                        lemmas.add(lemma)
                examples += re.findall(r'"([^"]+)"', gloss)
                definitions.append(re.sub(r'"[^"]*"', '', gloss).strip(' ;\n'))
    return definitions, examples, sorted(lemmas)
