"""Writes GGUF version 3: metadata, tensor table, tensors. The same input gives the same bytes."""

import struct

import numpy as np

from quantise import from_iq4_nl, from_q4_0, from_q8_0, iq4_nl, q4_0, q8_0

ALIGNMENT = 32
_U32, _I32, _FLOAT, _BOOL, _STRING, _ARRAY = 4, 5, 6, 7, 8, 9


def _string(text):
    data = text.encode('utf-8')
    return struct.pack('<Q', len(data)) + data


def _value(value):
    if isinstance(value, bool):
        return struct.pack('<I?', _BOOL, value)
    if isinstance(value, int):
        return struct.pack('<II', _U32, value)
    if isinstance(value, float):
        return struct.pack('<If', _FLOAT, value)
    if isinstance(value, str):
        return struct.pack('<I', _STRING) + _string(value)
    if isinstance(value[0], str):
        return struct.pack('<IIQ', _ARRAY, _STRING, len(value)) + b''.join(map(_string, value))
    return struct.pack('<IIQ', _ARRAY, _I32, len(value)) + np.array(value, '<i4').tobytes()


def _plain(dtype):
    """(encode, decode) of numbers as they are."""
    return (lambda array: array.astype(dtype).tobytes(),
            lambda data, shape: np.frombuffer(data, dtype).astype(np.float32).reshape(shape))


# Per kind of tensor: its number, array -> bytes, (bytes, shape) -> array.
_KINDS = {'f32': (0, *_plain('<f4')), 'f16': (1, *_plain('<f2')), 'q4_0': (2, q4_0, from_q4_0),
          'q8_0': (8, q8_0, from_q8_0), 'iq4_nl': (20, iq4_nl, from_iq4_nl)}


def kept(array, kind):
    """What a kind of tensor keeps of an array."""
    _, encode, decode = _KINDS[kind]
    return decode(encode(array), array.shape)


def write(path, metadata, tensors):
    """`tensors`: {name: (array [out, in], kind)}. Returns the bytes written."""
    head = [b'GGUF', struct.pack('<IQQ', 3, len(tensors), len(metadata))]
    head += [_string(key) + _value(value) for key, value in metadata.items()]
    blobs, offset = [], 0
    for name, (array, kind) in tensors.items():
        number, encode, _ = _KINDS[kind]
        blob = encode(array)
        shape = array.shape[::-1]
        head.append(_string(name) + struct.pack(f'<I{len(shape)}QIQ', len(shape), *shape, number, offset))
        blob += b'\0' * (-len(blob) % ALIGNMENT)
        blobs.append(blob)
        offset += len(blob)
    data = b''.join(head)
    data += b'\0' * (-len(data) % ALIGNMENT) + b''.join(blobs)
    with open(path, 'wb') as file:
        file.write(data)
    return len(data)
