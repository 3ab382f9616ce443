// The functions of a kernel set, written once over a register type. The including file defines, in an anonymous
// namespace of lorekeep::decoder, LOREKEEP_TARGET (attributes of every function), and
//   struct Reg: kLanes; kQueries and kDimensions, the queries and registers of a tile that fit the processor; load,
//   store, set, load_half (f16), load_bytes (signed), add, sub, mul, div, fma, min, max, round,
//   times_two_to (a * 2^b for whole b), less (a < b ? x : y), ordinals (0, 1, ...), sum, largest;
//   Pairs and Sums, kLanes pairs of integers of 16 bits and kLanes sums of 32: load_pairs, same_pair, store_pairs (of
//   floats, rounded), store_integers (rounded), no_sums, add_products (of both numbers of a pair), from_sums;
//   interleave, which pairs the numbers of two rows, over one or two registers, in an order of its own, and in_order,
//   which returns sums of such pairs to the order of the rows.
// Explicit fma everywhere: a row's bits must not depend on the compiler's contractions.
#pragma once

#include <cmath>
#include <cstring>
#include <limits>

#include "decoder/kernels.h"

namespace lorekeep::decoder {
namespace {

using Value = Reg::Value;
constexpr float kLargestHalf = 65504.0f;
constexpr float kLargestInteger = 32767.0f;
constexpr float kLog2E = 1.44269504f;

// exp by 2^(x log2 e) with the polynomial of Cephes' expf (Moshier), accurate to 2 units in the last place; 0 below
// -87.
LOREKEEP_TARGET inline Value exponential(Value x) {
  const Value lowest = Reg::set(-87.0f);
  const Value bounded = Reg::min(Reg::max(x, lowest), Reg::set(88.0f));
  const Value power = Reg::round(Reg::mul(bounded, Reg::set(1.44269504f)));
  Value r = Reg::fma(power, Reg::set(-0.693359375f), bounded);  // ln 2 in two parts
  r = Reg::fma(power, Reg::set(2.12194440e-4f), r);
  Value p = Reg::set(1.9875691500e-4f);
  p = Reg::fma(p, r, Reg::set(1.3981999507e-3f));
  p = Reg::fma(p, r, Reg::set(8.3334519073e-3f));
  p = Reg::fma(p, r, Reg::set(4.1665795894e-2f));
  p = Reg::fma(p, r, Reg::set(1.6666665459e-1f));
  p = Reg::fma(p, r, Reg::set(5.0000001201e-1f));
  p = Reg::fma(p, Reg::mul(r, r), Reg::add(r, Reg::set(1.0f)));
  return Reg::less(x, lowest, Reg::set(0.0f), Reg::times_two_to(p, power));
}

// 2^x by a polynomial for [-0.5, 0.5] with a relative error of 1e-7 (minimax); 0 below -126.
LOREKEEP_TARGET inline Value power_of_two(Value x) {
  const Value lowest = Reg::set(-126.0f);
  const Value bounded = Reg::max(x, lowest);
  const Value power = Reg::round(bounded);
  const Value r = Reg::sub(bounded, power);
  Value p = Reg::set(1.326472606e-3f);
  p = Reg::fma(p, r, Reg::set(9.671513044e-3f));
  p = Reg::fma(p, r, Reg::set(5.550733750e-2f));
  p = Reg::fma(p, r, Reg::set(2.402224208e-1f));
  p = Reg::fma(p, r, Reg::set(6.931469776e-1f));
  p = Reg::fma(p, r, Reg::set(1.0f));
  return Reg::less(x, lowest, Reg::set(0.0f), Reg::times_two_to(p, power));
}

// The last values of a row, padded with zeros.
LOREKEEP_TARGET inline Value load_some(const float* from, std::size_t count) {
  alignas(64) float values[Reg::kLanes] = {};
  std::memcpy(values, from, count * sizeof(float));
  return Reg::load(values);
}

LOREKEEP_TARGET inline void store_some(float* to, Value value, std::size_t count) {
  alignas(64) float values[Reg::kLanes];
  Reg::store(values, value);
  std::memcpy(to, values, count * sizeof(float));
}

LOREKEEP_TARGET void rms_norm(const float* row, const float* weight, float* to, std::size_t count, float epsilon) {
  Value squares = Reg::set(0.0f);
  std::size_t i = 0;
  for (; i + Reg::kLanes <= count; i += Reg::kLanes) {
    const Value value = Reg::load(row + i);
    squares = Reg::fma(value, value, squares);
  }
  const std::size_t rest = count - i;
  if (rest > 0) {
    const Value value = load_some(row + i, rest);
    squares = Reg::fma(value, value, squares);
  }
  const Value scale = Reg::set(1.0f / std::sqrt(Reg::sum(squares) / static_cast<float>(count) + epsilon));
  for (i = 0; i + Reg::kLanes <= count; i += Reg::kLanes)
    Reg::store(to + i, Reg::mul(Reg::mul(Reg::load(row + i), scale), Reg::load(weight + i)));
  if (rest > 0)
    store_some(to + i, Reg::mul(Reg::mul(load_some(row + i, rest), scale), load_some(weight + i, rest)), rest);
}

LOREKEEP_TARGET void add(float* to, const float* from, std::size_t count) {
  std::size_t i = 0;
  for (; i + Reg::kLanes <= count; i += Reg::kLanes)
    Reg::store(to + i, Reg::add(Reg::load(to + i), Reg::load(from + i)));
  for (; i < count; ++i) to[i] += from[i];
}

LOREKEEP_TARGET void scale(float* to, float factor, std::size_t count) {
  std::size_t i = 0;
  for (; i + Reg::kLanes <= count; i += Reg::kLanes) Reg::store(to + i, Reg::mul(Reg::load(to + i), Reg::set(factor)));
  for (; i < count; ++i) to[i] *= factor;
}

LOREKEEP_TARGET void rotate_pairs(float* head, const float* cosines, const float* sines, std::size_t angles) {
  for (std::size_t i = 0; i < angles; ++i) {
    const float x = head[2 * i];
    const float y = head[2 * i + 1];
    head[2 * i] = x * cosines[i] - y * sines[i];
    head[2 * i + 1] = x * sines[i] + y * cosines[i];
  }
}

LOREKEEP_TARGET void rotate_halves(float* head, const float* cosines, const float* sines, std::size_t angles) {
  float* other = head + angles;
  for (std::size_t i = 0; i < angles; ++i) {
    const float x = head[i];
    const float y = other[i];
    head[i] = x * cosines[i] - y * sines[i];
    other[i] = x * sines[i] + y * cosines[i];
  }
}

LOREKEEP_TARGET inline Value silu(Value x) {
  const Value one = Reg::set(1.0f);
  return Reg::div(x, Reg::add(one, exponential(Reg::sub(Reg::set(0.0f), x))));
}

LOREKEEP_TARGET inline Value gelu(Value x) {
  const Value one = Reg::set(1.0f);
  const Value inner = Reg::fma(Reg::mul(x, x), Reg::set(0.044715f), one);
  // -2 sqrt(2 / pi) x (1 + 0.044715 x^2)
  const Value power = Reg::mul(Reg::mul(x, Reg::set(-1.5957691216f)), inner);
  return Reg::div(x, Reg::add(one, exponential(power)));
}

template <Value (*kActivation)(Value)>
LOREKEEP_TARGET void activate(float* gate, const float* up, std::size_t count) {
  std::size_t i = 0;
  for (; i + Reg::kLanes <= count; i += Reg::kLanes)
    Reg::store(gate + i, Reg::mul(kActivation(Reg::load(gate + i)), Reg::load(up + i)));
  const std::size_t rest = count - i;
  if (rest > 0) store_some(gate + i, Reg::mul(kActivation(load_some(gate + i, rest)), load_some(up + i, rest)), rest);
}

LOREKEEP_TARGET inline Value bounded(Value value) {
  // max() and min() return their second argument for a NaN.
  return Reg::max(Reg::min(value, Reg::set(kLargestHalf)), Reg::set(-kLargestHalf));
}

LOREKEEP_TARGET float store_value(const float* from, std::uint16_t* to, std::size_t head) {
  constexpr float kSmallest = 1e-15f;
  Value largest = Reg::set(0.0f);
  for (std::size_t i = 0; i < head; i += Reg::kLanes) {
    const Value value = bounded(head - i < Reg::kLanes ? load_some(from + i, head - i) : Reg::load(from + i));
    largest = Reg::max(largest, Reg::max(value, Reg::sub(Reg::set(0.0f), value)));
  }
  const float found = Reg::largest(largest);
  const bool none = found < kSmallest;
  const Value inverse = Reg::set(none ? 0.0f : kLargestValue / found);
  for (std::size_t i = 0; i < head; i += Reg::kLanes) {
    const std::size_t some = head - i < Reg::kLanes ? head - i : Reg::kLanes;
    const Value value = bounded(some < Reg::kLanes ? load_some(from + i, some) : Reg::load(from + i));
    alignas(64) std::uint16_t integers[Reg::kLanes];
    Reg::store_integers(integers, Reg::mul(value, inverse));
    std::memcpy(to + i, integers, some * sizeof(std::uint16_t));
  }
  return none ? 0.0f : found / kLargestValue;
}

LOREKEEP_TARGET float store_pairs(const float* from, std::uint16_t* to, std::size_t head, std::size_t stride) {
  constexpr float kShortest = 1e-15f;  // whose square is a normal number
  Value squares = Reg::set(0.0f);
  Value largest = Reg::set(0.0f);
  for (std::size_t i = 0; i < head; i += Reg::kLanes) {
    const Value value = bounded(head - i < Reg::kLanes ? load_some(from + i, head - i) : Reg::load(from + i));
    squares = Reg::fma(value, value, squares);
    largest = Reg::max(largest, Reg::max(value, Reg::sub(Reg::set(0.0f), value)));
  }
  const float length = std::sqrt(Reg::sum(squares));
  const float of_length = length / kLongestVector;
  const float of_largest = Reg::largest(largest) / kLargestInteger;
  const bool none = length < kShortest;
  const float scale = none ? 1.0f : of_length > of_largest ? of_length : of_largest;
  const Value inverse = Reg::set(none ? 0.0f : 1.0f / scale);
  for (std::size_t i = 0; i < head; i += Reg::kLanes) {
    const std::size_t some = head - i < Reg::kLanes ? head - i : Reg::kLanes;
    const Value value = bounded(some < Reg::kLanes ? load_some(from + i, some) : Reg::load(from + i));
    alignas(64) float integers[Reg::kLanes];
    Reg::store(integers, Reg::round(Reg::mul(value, inverse)));
    for (std::size_t j = 0; j < some; ++j)
      to[(i + j) / 2 * stride + (i + j) % 2] = static_cast<std::uint16_t>(static_cast<int>(integers[j]));
  }
  return scale;
}

// A key is at most as long as a key whose quants are all the largest.
LOREKEEP_TARGET void expand_keys(const std::int8_t* quants, const std::uint16_t* scales, std::uint16_t* to,
                                 std::size_t head) {
  constexpr float kLargestQuant = 128.0f;
  constexpr float kSmallestScale = 1e-15f;
  alignas(64) float of_keys[kBlockKeys];
  for (std::size_t key = 0; key < kBlockKeys; key += Reg::kLanes) {
    Value squares = Reg::set(kSmallestScale * kSmallestScale);
    for (std::size_t group = 0; group < scale_groups(head); ++group) {
      const Value scale = Reg::load_half(scales + group * kBlockKeys + key);
      squares = Reg::fma(scale, scale, squares);
    }
    Reg::store(of_keys + key, squares);
  }
  const float factor = kLargestQuant * std::sqrt(static_cast<float>(kScaleDimensions)) / kLongestVector;
  for (float& scale : of_keys) scale = factor * std::sqrt(scale);
  for (std::size_t d = 0; d < head; d += 2, quants += 2 * kBlockKeys, to += 2 * kBlockKeys) {
    const std::uint16_t* group = scales + d / kScaleDimensions * kBlockKeys;
    for (std::size_t key = 0; key < kBlockKeys; key += Reg::kLanes) {
      const Value share = Reg::div(Reg::load_half(group + key), Reg::load(of_keys + key));
      const Value even = Reg::mul(Reg::load_bytes(quants + key), share);
      const Value odd = Reg::mul(Reg::load_bytes(quants + kBlockKeys + key), share);
      Reg::store_pairs(to + 2 * key, even, odd);
    }
  }
  std::memcpy(to, of_keys, sizeof of_keys);
}

// The largest scale of a value's groups gives the scale of its integers.
LOREKEEP_TARGET void expand_values(const std::int8_t* quants, const std::uint16_t* scales, std::uint16_t* to,
                                   std::size_t head) {
  constexpr float kLargestQuant = 128.0f;
  constexpr float kSmallestScale = 1e-15f;
  const std::size_t stride = padded(head);
  float* const of_values = value_scales(to, head);
  for (std::size_t key = 0; key < kBlockKeys; key += Reg::kLanes) {
    Value largest = Reg::set(kSmallestScale);
    for (std::size_t group = 0; group < scale_groups(head); ++group)
      largest = Reg::max(largest, Reg::load_half(scales + group * kBlockKeys + key));
    Reg::store(of_values + key, Reg::mul(largest, Reg::set(kLargestQuant / kLargestValue)));
  }
  for (std::size_t first = 0; first < stride; first += kScaleDimensions, scales += kBlockKeys) {
    alignas(64) float shares[kBlockKeys];
    for (std::size_t key = 0; key < kBlockKeys; key += Reg::kLanes)
      Reg::store(shares + key, Reg::div(Reg::load_half(scales + key), Reg::load(of_values + key)));
    const std::size_t last = first + kScaleDimensions < stride ? first + kScaleDimensions : stride;
    for (std::size_t key = 0; key < kBlockKeys; ++key) {
      const Value share = Reg::set(shares[key]);
      for (std::size_t d = first; d < last; d += Reg::kLanes) {
        const std::size_t at = key * stride + d;
        Reg::store_integers(to + at, Reg::mul(Reg::load_bytes(quants + at), share));
      }
    }
  }
}

/// Scores of kRows queries with 2 registers of keys, without the scales of the queries.
template <std::size_t kRows>
LOREKEEP_TARGET void score(const SegmentAttention& task, std::size_t query, std::size_t key) {
  Reg::Sums sums[kRows][2];
#pragma GCC unroll 12
  for (std::size_t q = 0; q < kRows; ++q) sums[q][0] = sums[q][1] = Reg::no_sums();
  const std::uint16_t* queries = task.query + 2 * query;
  const std::uint16_t* block = task.keys[key / kBlockKeys];
  const std::uint16_t* keys = block + 2 * (key % kBlockKeys);
  // A block is far from the next one, where the processor foresees nothing.
  const std::uint16_t* later = key + kBlockKeys < task.most ? task.keys[key / kBlockKeys + 1] : task.values[0];
  const std::size_t count = pairs(task.head);
  for (std::size_t i = 0; i < count; ++i, queries += 2 * kTileQueries, keys += 2 * kBlockKeys) {
    __builtin_prefetch(later + i * 2 * kBlockKeys);
    __builtin_prefetch(later + i * 2 * kBlockKeys + kBlockKeys);
    const Reg::Pairs first = Reg::load_pairs(keys);
    const Reg::Pairs second = Reg::load_pairs(keys + 2 * Reg::kLanes);
#pragma GCC unroll 12
    for (std::size_t q = 0; q < kRows; ++q) {
      const Reg::Pairs pair = Reg::same_pair(queries + 2 * q);
      sums[q][0] = Reg::add_products(sums[q][0], first, pair);
      sums[q][1] = Reg::add_products(sums[q][1], second, pair);
    }
  }
  const float* scales = key_scales(block, task.head) + key % kBlockKeys;
  const Value first = Reg::load(scales);
  const Value second = Reg::load(scales + Reg::kLanes);
  float* scores = task.scores + query * kSegmentKeys + key;
#pragma GCC unroll 12
  for (std::size_t q = 0; q < kRows; ++q) {
    Reg::store(scores + q * kSegmentKeys, Reg::mul(Reg::from_sums(sums[q][0]), first));
    Reg::store(scores + q * kSegmentKeys + Reg::kLanes, Reg::mul(Reg::from_sums(sums[q][1]), second));
  }
}

/// Sums two registers of values, or one, of all keys, times the weights of kRows queries. Two keys are multiplied at
/// once.
template <std::size_t kRows, std::size_t kRegs>
LOREKEEP_TARGET void weigh(const SegmentAttention& task, std::size_t query, std::size_t dimension) {
  const std::size_t stride = padded(task.head);
  Reg::Sums sums[kRows][kRegs];
#pragma GCC unroll 12
  for (std::size_t q = 0; q < kRows; ++q) {
#pragma GCC unroll 2
    for (std::size_t r = 0; r < kRegs; ++r) sums[q][r] = Reg::no_sums();
  }
  const std::uint16_t* weights = task.weights + query * kSegmentKeys;
  for (std::size_t block = 0; block * kBlockKeys < task.most; ++block) {
    const std::uint16_t* values = task.values[block] + dimension;
    const std::uint16_t* later = (block + 1) * kBlockKeys < task.most ? task.values[block + 1] + dimension : values;
    const std::size_t first = block * kBlockKeys;
    const std::size_t last = task.most < first + kBlockKeys ? task.most : first + kBlockKeys;
    for (std::size_t key = first; key < last; key += 2, values += 2 * stride) {
      __builtin_prefetch(later + (key - first) * stride);
      __builtin_prefetch(later + (key - first + 1) * stride);
      Reg::Pairs both[kRegs];
      Reg::interleave(values, values + stride, both);
#pragma GCC unroll 12
      for (std::size_t q = 0; q < kRows; ++q) {
        const Reg::Pairs weight = Reg::same_pair(weights + q * kSegmentKeys + key);
#pragma GCC unroll 2
        for (std::size_t r = 0; r < kRegs; ++r) sums[q][r] = Reg::add_products(sums[q][r], both[r], weight);
      }
    }
  }
#pragma GCC unroll 12
  for (std::size_t q = 0; q < kRows; ++q) {
    float* to = task.weighted + (query + q) * stride + dimension;
    Value found[kRegs];
#pragma GCC unroll 2
    for (std::size_t r = 0; r < kRegs; ++r) found[r] = Reg::from_sums(sums[q][r]);
    Reg::in_order(found);
    const Value unit = Reg::set(task.weight_units[query + q]);
#pragma GCC unroll 2
    for (std::size_t r = 0; r < kRegs; ++r) Reg::store(to + r * Reg::kLanes, Reg::mul(found[r], unit));
  }
}

template <std::size_t kRows>
LOREKEEP_TARGET void weigh_all(const SegmentAttention& task, std::size_t query) {
  std::size_t dimension = 0;
  const std::size_t count = padded(task.head);
  for (; dimension + 2 * Reg::kLanes <= count; dimension += 2 * Reg::kLanes) weigh<kRows, 2>(task, query, dimension);
  for (; dimension < count; dimension += Reg::kLanes) weigh<kRows, 1>(task, query, dimension);
}

// Caps the scores of a query, and sets scores of unseen keys to -infinity. Returns the factor of the scores.
LOREKEEP_TARGET inline float bound_scores(const SegmentAttention& task, std::size_t q, std::size_t count) {
  float* scores = task.scores + q * kSegmentKeys;
  float factor = task.query_scales[q] * kLog2E;
  if (task.softcap > 0) {
    // tanh(x) = 1 - 2 / (1 + exp(2x))
    const Value one = Reg::set(1.0f);
    const Value twice = Reg::set(2.0f * factor / task.softcap);
    for (std::size_t i = 0; i < count; i += Reg::kLanes) {
      const Value power = power_of_two(Reg::min(Reg::mul(Reg::load(scores + i), twice), Reg::set(126.0f)));
      Reg::store(scores + i, Reg::sub(one, Reg::div(Reg::set(2.0f), Reg::add(one, power))));
    }
    factor = task.softcap * kLog2E;
  }
  if (task.begin[q] == 0 && task.end[q] >= count) return factor;
  const Value lowest = Reg::set(-std::numeric_limits<float>::infinity());
  const Value begin = Reg::set(static_cast<float>(task.begin[q]));
  const Value end = Reg::set(static_cast<float>(task.end[q]));
  for (std::size_t i = 0; i < count; i += Reg::kLanes) {
    const Value key = Reg::add(Reg::set(static_cast<float>(i)), Reg::ordinals());
    const Value value = Reg::less(key, end, Reg::load(scores + i), lowest);
    Reg::store(scores + i, Reg::less(key, begin, lowest, value));
  }
  return factor;
}

LOREKEEP_TARGET inline float largest_of(const float* scores, std::size_t count) {
  Value largest = Reg::set(-std::numeric_limits<float>::infinity());
  for (std::size_t i = 0; i < count; i += Reg::kLanes) largest = Reg::max(largest, Reg::load(scores + i));
  return Reg::largest(largest);
}

// Weights become integers. Their unit is the smallest with which neither one of them nor all together are too large.
LOREKEEP_TARGET inline float unit_of(Value largest, Value all) {
  constexpr float kNoWeight = 1e-30f;
  const float of_largest = Reg::largest(largest) / kLargestInteger;
  const float of_all = Reg::sum(all) / kMaxWeights;
  const float unit = of_largest > of_all ? of_largest : of_all;
  return unit < kNoWeight ? 0.0f : unit;
}

// Turns the scores of a query, times `factor` and less its largest, into weights. Sets their sum and their unit.
LOREKEEP_TARGET inline void exponentiate(const SegmentAttention& task, std::size_t q, std::size_t count, float factor) {
  float* scores = task.scores + q * kSegmentKeys;
  const bool none = task.largest[q] == -std::numeric_limits<float>::infinity();
  const Value below = Reg::set(none ? 0.0f : -task.largest[q]);
  const Value factors = Reg::set(factor);
  Value sum = Reg::set(0.0f);
  Value all = Reg::set(0.0f);
  Value largest = Reg::set(0.0f);
  for (std::size_t i = 0; i < count; i += Reg::kLanes) {
    const Value value = power_of_two(Reg::fma(Reg::load(scores + i), factors, below));
    sum = Reg::add(sum, value);
    const float* scales = value_scales(task.values[i / kBlockKeys], task.head) + i % kBlockKeys;
    const Value weight = Reg::mul(value, Reg::load(scales));
    all = Reg::add(all, weight);
    largest = Reg::max(largest, weight);
    Reg::store(scores + i, weight);
  }
  task.sum[q] = Reg::sum(sum);
  task.weight_units[q] = unit_of(largest, all);
}

LOREKEEP_TARGET inline void round_weights(const SegmentAttention& task, std::size_t q, std::size_t count) {
  const float* scores = task.scores + q * kSegmentKeys;
  std::uint16_t* weights = task.weights + q * kSegmentKeys;
  const float unit = task.weight_units[q];
  const Value inverse = Reg::set(unit == 0 ? 0.0f : 1.0f / unit);
  for (std::size_t i = 0; i < count; i += Reg::kLanes)
    Reg::store_integers(weights + i, Reg::mul(Reg::load(scores + i), inverse));
}

// Turns scores into weights, from 0 up to `most` keys rounded up to a register. All queries take each step before the
// next one: a query's sums take as long as its step, and only other queries have work meanwhile.
LOREKEEP_TARGET void soften(const SegmentAttention& task) {
  const std::size_t count = (task.most + Reg::kLanes - 1) / Reg::kLanes * Reg::kLanes;
  float factors[kTileQueries];
  for (std::size_t q = 0; q < task.queries; ++q) factors[q] = bound_scores(task, q, count);
  for (std::size_t q = 0; q < task.queries; ++q)
    task.largest[q] = factors[q] * largest_of(task.scores + q * kSegmentKeys, count);
  for (std::size_t q = 0; q < task.queries; ++q) exponentiate(task, q, count, factors[q]);
  for (std::size_t q = 0; q < task.queries; ++q) round_weights(task, q, count);
}

template <std::size_t kRows>
LOREKEEP_TARGET void score_rows(const SegmentAttention& task, std::size_t query) {
  for (std::size_t key = 0; key < task.most; key += 2 * Reg::kLanes) score<kRows>(task, query, key);
}

LOREKEEP_TARGET void attend(const SegmentAttention& task) {
  const std::size_t queries = task.queries;
  std::size_t q = 0;
  // Bounds a tile by the registers of the processor; a small tile computes some queries of zeros.
  if constexpr (Reg::kQueries == 12) {
    if (queries > 6) score_rows<12>(task, 0), q = 12;
  }
  while (q < queries) {
    const std::size_t left = queries - q;
    if (left > 3) {
      score_rows<6>(task, q), q += 6;
    } else if (left > 1) {
      score_rows<3>(task, q), q += 3;
    } else {
      score_rows<1>(task, q), q += 1;
    }
  }
  soften(task);
  for (q = 0; q < queries;) {
    const std::size_t left = queries - q;
    if (Reg::kQueries == 12 && left > 6) {
      weigh_all<12>(task, q), q += 12;
    } else if (left > 3) {
      weigh_all<6>(task, q), q += 6;
    } else if (left > 1) {
      weigh_all<3>(task, q), q += 3;
    } else {
      weigh_all<1>(task, q), q += 1;
    }
  }
}

LOREKEEP_TARGET void merge(const SegmentResults& into, const SegmentResults& from, std::size_t queries,
                           std::size_t width) {
  constexpr float kNone = -std::numeric_limits<float>::infinity();
  alignas(64) float old_shares[kTileQueries + Reg::kLanes];
  alignas(64) float new_shares[kTileQueries + Reg::kLanes];
  for (std::size_t i = 0; i < queries; i += Reg::kLanes) {
    const std::size_t some = queries - i < Reg::kLanes ? queries - i : Reg::kLanes;
    const Value earlier = load_some(into.largest + i, some);
    const Value later = load_some(from.largest + i, some);
    const Value largest = Reg::max(earlier, later);
    Reg::store(old_shares + i, power_of_two(Reg::sub(earlier, largest)));
    Reg::store(new_shares + i, power_of_two(Reg::sub(later, largest)));
  }
  for (std::size_t i = 0; i < queries; ++i) {
    if (from.largest[i] == kNone) continue;
    into.largest[i] = from.largest[i] > into.largest[i] ? from.largest[i] : into.largest[i];
    into.sum[i] = into.sum[i] * old_shares[i] + from.sum[i] * new_shares[i];
    const Value old_share = Reg::set(old_shares[i]);
    const Value new_share = Reg::set(new_shares[i]);
    float* to = into.weighted + i * width;
    const float* add = from.weighted + i * width;
    for (std::size_t d = 0; d < width; d += Reg::kLanes)
      Reg::store(to + d, Reg::fma(Reg::load(add + d), new_share, Reg::mul(Reg::load(to + d), old_share)));
  }
}

constexpr DecoderKernels kernel_set(const char* name) {
  return {
      .name = name,
      .rms_norm = rms_norm,
      .add = add,
      .scale = scale,
      .rotate_pairs = rotate_pairs,
      .rotate_halves = rotate_halves,
      .silu_times = activate<silu>,
      .gelu_times = activate<gelu>,
      .store_value = store_value,
      .store_pairs = store_pairs,
      .expand_keys = expand_keys,
      .expand_values = expand_values,
      .attend = attend,
      .merge = merge,
  };
}

}  // namespace
}  // namespace lorekeep::decoder
