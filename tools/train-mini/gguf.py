"""Writes GGUF version 3: metadata, tensor table, tensors. The same input gives the same bytes."""

import struct

import numpy as np

ALIGNMENT = 32
_F32, _F16, _Q8_0 = 0, 1, 8
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


def q8_0(array):
    """Blocks of 32 along the last axis: one f16 scale, 32 signed bytes."""
    blocks = np.ascontiguousarray(array, np.float32).reshape(-1, 32)
    scale = np.abs(blocks).max(axis=1) / 127
    inverse = np.where(scale > 0, 1 / np.where(scale > 0, scale, 1), 0)
    out = np.zeros((len(blocks), 34), np.uint8)
    out[:, :2] = scale.astype('<f2').view(np.uint8).reshape(-1, 2)
    out[:, 2:] = np.round(blocks * inverse[:, None]).astype(np.int8).view(np.uint8)
    return out.tobytes()


def from_q8_0(array):
    """What q8_0 keeps of an array."""
    raw = np.frombuffer(q8_0(array), np.uint8).reshape(-1, 34)
    scale = np.ascontiguousarray(raw[:, :2]).view('<f2').astype(np.float32)
    return (raw[:, 2:].view(np.int8).astype(np.float32) * scale).reshape(array.shape)


def write(path, metadata, tensors):
    """`tensors`: {name: (array, 'f32' | 'f16' | 'q8_0')}, arrays [out, in]. Returns the bytes written."""
    encode = {'f32': (_F32, lambda a: a.astype('<f4').tobytes()), 'f16': (_F16, lambda a: a.astype('<f2').tobytes()),
              'q8_0': (_Q8_0, q8_0)}
    head = [b'GGUF', struct.pack('<IQQ', 3, len(tensors), len(metadata))]
    head += [_string(key) + _value(value) for key, value in metadata.items()]
    blobs, offset = [], 0
    for name, (array, kind) in tensors.items():
        number, pack = encode[kind]
        blob = pack(array)
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
