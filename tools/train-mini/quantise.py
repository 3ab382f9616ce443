"""llama.cpp's block formats: 32 numbers along the last axis share one f16 scale."""

import numpy as np

BLOCK = 32


def _inverse(scale):
    return np.where(scale != 0, 1 / np.where(scale != 0, scale, 1), 0)[:, None]


def q8_0(array):
    """Signed bytes: value = scale * byte."""
    blocks = np.ascontiguousarray(array, np.float32).reshape(-1, BLOCK)
    scale = np.abs(blocks).max(axis=1) / 127
    numbers = np.round(blocks * _inverse(scale)).astype(np.int8).view(np.uint8)
    return np.concatenate([_bytes(scale), numbers], axis=1).tobytes()


def from_q8_0(data, shape):
    raw = np.frombuffer(data, np.uint8).reshape(-1, 2 + BLOCK)
    return (_scale(raw) * raw[:, 2:].view(np.int8).astype(np.float32)).reshape(shape)


def q4_0(array):
    """Four bits: value = scale * (bits - 8), so that the number of a block that is farthest from 0 is exact."""
    blocks = np.ascontiguousarray(array, np.float32).reshape(-1, BLOCK)
    farthest = blocks[np.arange(len(blocks)), np.abs(blocks).argmax(axis=1)]
    scale = farthest / -8
    bits = np.clip(np.round(blocks * _inverse(scale)) + 8, 0, 15).astype(np.uint8)
    half = BLOCK // 2
    return np.concatenate([_bytes(scale), bits[:, :half] | bits[:, half:] << 4], axis=1).tobytes()


def from_q4_0(data, shape):
    raw = np.frombuffer(data, np.uint8).reshape(-1, 2 + BLOCK // 2)
    bits = np.concatenate([raw[:, 2:] & 15, raw[:, 2:] >> 4], axis=1)
    return (_scale(raw) * (bits.astype(np.float32) - 8)).reshape(shape)


_CODES = np.array([-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113], np.float32)
_MIDDLES = (_CODES[1:] + _CODES[:-1]) / 2
_SHARES = np.arange(0.7, 1.31, 0.05)  # scales tried around the one that maps a block's largest number to an end of the codes


def iq4_nl(array):
    """Four bits: value = scale * code, with the scale of least squared error among those tried."""
    blocks = np.ascontiguousarray(array, np.float32).reshape(-1, BLOCK)
    farthest = blocks[np.arange(len(blocks)), np.abs(blocks).argmax(axis=1)]
    best, scale = np.zeros(len(blocks)), np.zeros(len(blocks))
    for end in (_CODES[0], _CODES[-1]):
        for share in _SHARES:
            codes = _CODES[_nearest(blocks, farthest / (end * share))]
            product, square = (blocks * codes).sum(axis=1), (codes * codes).sum(axis=1)
            better = product**2 / square > best
            best[better] = (product**2 / square)[better]
            scale[better] = (product / square)[better]
    bits = _nearest(blocks, scale.astype('<f2').astype(np.float32)).astype(np.uint8)
    half = BLOCK // 2
    return np.concatenate([_bytes(scale), bits[:, :half] | bits[:, half:] << 4], axis=1).tobytes()


def from_iq4_nl(data, shape):
    raw = np.frombuffer(data, np.uint8).reshape(-1, 2 + BLOCK // 2)
    bits = np.concatenate([raw[:, 2:] & 15, raw[:, 2:] >> 4], axis=1)
    return (_scale(raw) * _CODES[bits]).reshape(shape)


def _nearest(blocks, scale):
    return np.searchsorted(_MIDDLES, blocks * _inverse(scale))


def _bytes(scale):
    return scale.astype('<f2').view(np.uint8).reshape(-1, 2)


def _scale(raw):
    return np.ascontiguousarray(raw[:, :2]).view('<f2').astype(np.float32)
