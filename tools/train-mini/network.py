"""Turns a trained table (a direction and a weight per token) into the weights of a one-layer BERT.

The model is a bag of tokens with BM25's saturation: a text is the sum over its tokens of weight * f(count) * direction.
An ordinary BERT layer computes exactly that, because each of its parts is given one task:

  rows       direction (length cos a) and, in a control pair, the weight as an angle a. LayerNorm keeps unit rows as
             they are, up to a constant, so the weight survives it as the value of the control pair.
  attention  one head compares identity blocks (the first IDENTITY numbers, of equal length in every row): a token
             attends to its own repetitions, each with score SHARPNESS, and to [CLS], which weighs as much as SINK
             of them. What it gets from [CLS] is m = SINK / (count + SINK): the count, in a number.
  LayerNorm  is divided by a large constant that the attention bias adds: it changes nothing.
  FFN        a function of two numbers, the weight's angle and m, fitted by least squares: what must stand in the last
             control pair, so that
  LayerNorm  divides the token by just what makes its length weight / (count + SATURATION).

[CLS] and [SEP] end as zero vectors, and mean pooling sums the rest. Pairs are (x, -x), because LayerNorm subtracts the
mean.
"""

import numpy as np

from objective import SATURATION

WIDTH = 512
CONTROL = 8
FREE = WIDTH - CONTROL  # numbers of a direction: what a piece is, then what it means
LEXICAL = 248
MEANING = FREE - LEXICAL
LEXICAL_SHARE = 0.15  # of a row's squared length
IDENTITY = 127  # of the lexical numbers, those that the attention compares
HEAD = 128
HIDDEN = 64
CONTEXT = 512
SHARPNESS = 12.0
SINK = 4.0
EPSILON = 1e-12
ANGLE, FLAG, COUNT, DIVISOR = FREE, FREE + 2, FREE + 4, FREE + 6  # where each control pair begins
MAX_SINE = 0.25
BALLAST = 100.0  # the constant that makes the second LayerNorm neutral
COUNT_GAIN = 4.0  # m's value in its pair
LARGEST = 0.5  # the largest share of a token's length that the last LayerNorm leaves
ROOT = np.sqrt(WIDTH)
IDENTITY_SHARE = LEXICAL_SHARE * IDENTITY / LEXICAL
_BLOCKS = ((slice(0, IDENTITY), IDENTITY_SHARE), (slice(IDENTITY, LEXICAL), LEXICAL_SHARE - IDENTITY_SHARE),
           (slice(LEXICAL, FREE), 1 - LEXICAL_SHARE))


def balance(table):
    """Rows of mean 0, as long as before, whose blocks hold the same shares of the squared length in all."""
    length = np.linalg.norm(table, axis=1, keepdims=True)
    out = table.astype(np.float32, copy=True)
    for _ in range(3):
        out -= out.mean(axis=1, keepdims=True)
        for block, share in _BLOCKS:
            size = np.linalg.norm(out[:, block], axis=1, keepdims=True)
            out[:, block] *= np.sqrt(share) * length / np.maximum(size, 1e-9)
    return out


class WeightCode:
    """The angle that stands for a weight: linear in the logarithm between the least and the largest weight."""

    def __init__(self, weights, least_share=0.03):
        self.high = float(np.log(weights.max()))
        self.low = self.high + float(np.log(least_share))

    def sine(self, weights):
        share = (np.log(np.maximum(weights, 1e-9)) - self.low) / (self.high - self.low)
        return MAX_SINE * (2 * np.clip(share, 0, 1) - 1)

    def weight(self, sine):
        return np.exp(self.low + (sine / MAX_SINE + 1) / 2 * (self.high - self.low))

    def divisor(self, sine, count):
        """What the last control pair must hold for this weight and count; solves the last LayerNorm's formula."""
        wanted = self.weight(sine) / (count + SATURATION)
        share = LARGEST * wanted / (np.exp(self.high) / (1 + SATURATION))
        return np.sqrt(np.maximum(WIDTH * (1 - sine**2) / share**2 - WIDTH, 0) / 2)


def attended(sine, count):
    """m: what a token with this angle, said `count` times, gets from [CLS]."""
    return SINK / (SINK + count * np.exp(-SHARPNESS * sine**2))


def _gelu(x):
    return 0.5 * x * (1 + np.tanh(0.7978845608028654 * x * (1 + 0.044715 * x * x)))


def fit_divisor(code, seed=7, samples=6000):
    """(up [HIDDEN, 2], up bias, down [HIDDEN], down bias): the FFN from (angle value, m value) to the divisor.

    Hidden units are random ridges over the domain, kept from many draws by greedy choice; the output weights are
    ridge regression on relative errors. Returns also the root mean square relative error.
    """
    random = np.random.default_rng(seed)
    sine = random.uniform(-MAX_SINE, MAX_SINE, samples)
    count = np.exp(random.exponential(0.9, samples)).clip(1, 40)
    inputs = np.stack([sine * ROOT / np.sqrt(2), COUNT_GAIN * attended(sine, count)], axis=1)
    target = code.divisor(sine, count)
    low, high = inputs.min(axis=0), inputs.max(axis=0)
    best = None
    for _ in range(40):
        direction = random.standard_normal((HIDDEN, 2)) / (high - low) * random.uniform(1, 14, (HIDDEN, 1))
        centre = low + random.uniform(size=(HIDDEN, 2)) * (high - low)
        bias = -(direction * centre).sum(axis=1)
        features = np.concatenate([_gelu(inputs @ direction.T + bias), np.ones((samples, 1))], axis=1) / target[:, None]
        normal = features.T @ features
        normal[np.diag_indices_from(normal)] *= 1 + 1e-6
        down = np.linalg.solve(normal, features.T @ np.ones(samples))
        error = float(np.sqrt(np.mean((features @ down - 1) ** 2)))
        if best is None or error < best[-1]:
            best = (direction, bias, down[:-1], down[-1], error)
    return best


def build(table, cls=2):
    """(tensors, facts) of the BERT: numpy arrays in the order [out, in], named as in GGUF."""
    table = balance(table)
    weights = np.linalg.norm(table, axis=1)
    code = WeightCode(weights)
    sine = code.sine(weights)
    rows = np.zeros((len(table), WIDTH), np.float32)
    known = weights > 1e-6
    rows[known, :FREE] = (table[known] / weights[known, None]) * np.sqrt(1 - sine[known, None] ** 2)
    rows[known, ANGLE] = sine[known] / np.sqrt(2)
    rows[known, ANGLE + 1] = -rows[known, ANGLE]
    rows[cls, FLAG], rows[cls, FLAG + 1] = np.sqrt(0.5), -np.sqrt(0.5)

    zeros = lambda *shape: np.zeros(shape, np.float32)
    ones = lambda n: np.ones(n, np.float32)
    query, query_bias, out = zeros(WIDTH, WIDTH), zeros(WIDTH), zeros(WIDTH, WIDTH)
    key, value = zeros(HEAD, WIDTH), zeros(HEAD, WIDTH)
    gain = np.sqrt(SHARPNESS * np.sqrt(HEAD) / (WIDTH * IDENTITY_SHARE))
    each = np.arange(IDENTITY)
    query[each, each] = key[each, each] = gain
    flag = ROOT * np.sqrt(0.5)
    query_bias[IDENTITY] = 8.0
    key[IDENTITY, FLAG] = (SHARPNESS + np.log(SINK)) * np.sqrt(HEAD) / 8.0 / flag
    value[0, FLAG] = 1 / flag
    out[COUNT, 0], out[COUNT + 1, 0] = COUNT_GAIN, -COUNT_GAIN
    out_bias = zeros(WIDTH)
    out_bias[DIVISOR], out_bias[DIVISOR + 1] = BALLAST, -BALLAST
    neutral = ones(WIDTH) * np.float32(np.sqrt((2 * BALLAST**2 + WIDTH) / WIDTH))
    neutral[DIVISOR:] = 0

    direction, bias, down, offset, error = fit_divisor(code)
    up, lower, lower_bias = zeros(HIDDEN, WIDTH), zeros(WIDTH, HIDDEN), zeros(WIDTH)
    up[:, ANGLE], up[:, ANGLE + 1] = direction[:, 0] / 2, -direction[:, 0] / 2
    up[:, COUNT], up[:, COUNT + 1] = direction[:, 1] / 2, -direction[:, 1] / 2
    lower[DIVISOR], lower[DIVISOR + 1] = down, -down
    lower_bias[DIVISOR], lower_bias[DIVISOR + 1] = offset, -offset
    last = ones(WIDTH)
    last[FREE:] = 0
    tensors = {
        'token_embd.weight': rows,
        'position_embd.weight': zeros(CONTEXT, WIDTH),
        'token_types.weight': zeros(2, WIDTH),
        'token_embd_norm.weight': ones(WIDTH), 'token_embd_norm.bias': zeros(WIDTH),
        'blk.0.attn_q.weight': query, 'blk.0.attn_q.bias': query_bias,
        'blk.0.attn_k.weight': key, 'blk.0.attn_k.bias': zeros(HEAD),
        'blk.0.attn_v.weight': value, 'blk.0.attn_v.bias': zeros(HEAD),
        'blk.0.attn_output.weight': out, 'blk.0.attn_output.bias': out_bias,
        'blk.0.attn_output_norm.weight': neutral, 'blk.0.attn_output_norm.bias': zeros(WIDTH),
        'blk.0.ffn_up.weight': up, 'blk.0.ffn_up.bias': bias.astype(np.float32),
        'blk.0.ffn_down.weight': lower, 'blk.0.ffn_down.bias': lower_bias,
        'blk.0.layer_output_norm.weight': last, 'blk.0.layer_output_norm.bias': zeros(WIDTH),
    }
    return tensors, {'divisor_error': error}


def _norm(x, weight, bias):
    x = x - x.mean(axis=1, keepdims=True)
    return x / np.sqrt((x * x).mean(axis=1, keepdims=True) + EPSILON) * weight + bias


def forward(tensors, ids):
    """The layer over one text's ids ([CLS] ... [SEP]), as the runtime computes it; returns the unit vector."""
    t = tensors
    x = t['token_embd.weight'][ids] + t['position_embd.weight'][:len(ids)] + t['token_types.weight'][0]
    x = _norm(x, t['token_embd_norm.weight'], t['token_embd_norm.bias'])
    b = 'blk.0.'
    q = (x @ t[b + 'attn_q.weight'].T + t[b + 'attn_q.bias']).reshape(len(ids), -1, HEAD)
    k = x @ t[b + 'attn_k.weight'].T + t[b + 'attn_k.bias']
    v = x @ t[b + 'attn_v.weight'].T + t[b + 'attn_v.bias']
    heads = []
    for head in range(q.shape[1]):
        scores = q[:, head] @ k.T / np.sqrt(HEAD)
        scores = np.exp(scores - scores.max(axis=1, keepdims=True))
        heads.append(scores / scores.sum(axis=1, keepdims=True) @ v)
    a = np.concatenate(heads, axis=1) @ t[b + 'attn_output.weight'].T + t[b + 'attn_output.bias']
    x = _norm(x + a, t[b + 'attn_output_norm.weight'], t[b + 'attn_output_norm.bias'])
    f = _gelu(x @ t[b + 'ffn_up.weight'].T + t[b + 'ffn_up.bias']) @ t[b + 'ffn_down.weight'].T + t[b + 'ffn_down.bias']
    x = _norm(x + f, t[b + 'layer_output_norm.weight'], t[b + 'layer_output_norm.bias'])
    pooled = x.mean(axis=0)
    return pooled / (np.linalg.norm(pooled) + 1e-12)
