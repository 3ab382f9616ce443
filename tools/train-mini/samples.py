"""Writes sample vectors, computed by network.forward, that the runtime's own are tested against.

    python3 tools/train-mini/samples.py --steps 500 > test/models/lorekeep-mini.samples.jsonl
"""

import argparse
import json
import os
import tempfile

import numpy as np

from export import export
from network import forward
from wordpiece import CLS, SEP, WordPiece

TEXTS = [
    'How do I reset my password?',
    'Resetting your password signs you out of every other device.',
    'The boundary layer over a flat plate becomes turbulent at high Reynolds numbers.',
    'Mitochondria produce most of the energy of a cell; mitochondria have their own DNA. Mitochondria divide.',
    'Crème brûlée, naïve café, Straße: letters with marks – and “quotes”.',
    'cache caching cached caches',
    'x',
]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--work', default='.cache/train-mini')
    parser.add_argument('--steps', type=int, default=500, help='of the training that made the model')
    arguments = parser.parse_args()
    work = arguments.work
    with open(os.path.join(work, 'vocabulary.txt'), encoding='utf-8') as file:
        pieces = file.read().split('\n')[:-1]
    wordpiece = WordPiece(pieces)
    with tempfile.TemporaryDirectory() as folder:
        _, tensors, _ = export(os.path.join(folder, 'model.gguf'), np.load(os.path.join(work, f'table-{arguments.steps}.npy')), pieces)
    for text in TEXTS:
        ids = [CLS, *wordpiece.encode(text), SEP]
        vector = [round(float(number), 4) for number in forward(tensors, ids)]
        print(json.dumps({'text': text, 'tokens': len(ids), 'vector': vector}, ensure_ascii=False))


if __name__ == '__main__':
    main()
