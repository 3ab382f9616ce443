"""Writes the trained table and its vocabulary as the GGUF file that ships."""

import numpy as np

import gguf
from network import CONTEXT, EPSILON, HEAD, HIDDEN, WIDTH, build
from wordpiece import CLS, PAD, SEP, SPECIAL, UNK

# Everything else stays f32, biases must. The attention's matrices have at most one number per block, which four bits hold
# exactly, and their product is the fastest that llama.cpp has.
_KINDS = {
    'token_embd.weight': 'iq4_nl',
    'position_embd.weight': 'q4_0',
    'blk.0.attn_q.weight': 'q4_0', 'blk.0.attn_k.weight': 'q4_0', 'blk.0.attn_v.weight': 'q4_0',
    'blk.0.attn_output.weight': 'q4_0',
    'blk.0.ffn_up.weight': 'f16', 'blk.0.ffn_down.weight': 'f16',
}


def metadata(pieces):
    return {
        'general.architecture': 'bert',
        'general.type': 'model',
        'general.name': 'lorekeep-mini',
        'general.version': '2',
        'general.license': 'apache-2.0',
        'general.description': 'A small English text embedding model: a saturated bag of tokens in one BERT layer, distilled from all-MiniLM-L6-v2.',
        'general.file_type': 25,
        'general.quantization_version': 2,
        'bert.block_count': 1,
        'bert.context_length': CONTEXT,
        'bert.embedding_length': WIDTH,
        'bert.feed_forward_length': HIDDEN,
        'bert.attention.head_count': WIDTH // HEAD,
        'bert.attention.head_count_kv': 1,
        'bert.attention.layer_norm_epsilon': float(EPSILON),
        'bert.attention.causal': False,
        'bert.pooling_type': 1,
        'tokenizer.ggml.model': 'bert',
        'tokenizer.ggml.token_type_count': 2,
        'tokenizer.ggml.tokens': list(pieces),
        'tokenizer.ggml.token_type': [3 if i < len(SPECIAL) else 1 for i in range(len(pieces))],
        'tokenizer.ggml.padding_token_id': PAD,
        'tokenizer.ggml.unknown_token_id': UNK,
        'tokenizer.ggml.bos_token_id': CLS,
        'tokenizer.ggml.seperator_token_id': SEP,
        'tokenizer.ggml.mask_token_id': SPECIAL.index('[MASK]'),
    }


def export(path, table, pieces):
    """Writes the file; returns its size in bytes and the tensors as the runtime will see them."""
    tensors, facts = build(table)
    kinds = {name: _KINDS.get(name, 'f32') for name in tensors}
    size = gguf.write(path, metadata(pieces), {name: (array, kinds[name]) for name, array in tensors.items()})
    return size, {name: gguf.kept(array, kinds[name]) for name, array in tensors.items()}, facts
