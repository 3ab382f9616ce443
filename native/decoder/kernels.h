// The arithmetic of a decoder's forward pass besides its matrices, one set of functions per kind of processor. Within a
// set, a row's result never depends on the rows computed with it: each sum has one order, given by positions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace lorekeep::decoder {

/// Keys of a block of the KV cache. Within a block, keys are stored by pairs of dimensions: [pair][kBlockKeys][2]
/// integers of 16 bits, then an f32 scale for each key. Values are [kBlockKeys][padded(head)] integers of 16 bits, then
/// an f32 scale for each.
inline constexpr std::size_t kBlockKeys = 32;
constexpr std::size_t pairs(std::size_t head) noexcept {
  return head / 2;
}
/// Numbers of 16 bits of the keys of a block, with their scales.
constexpr std::size_t key_numbers(std::size_t head) noexcept {
  return (pairs(head) + 1) * 2 * kBlockKeys;
}
inline float* key_scales(std::uint16_t* keys, std::size_t head) noexcept {
  return reinterpret_cast<float*>(keys + pairs(head) * 2 * kBlockKeys);
}
inline const float* key_scales(const std::uint16_t* keys, std::size_t head) noexcept {
  return reinterpret_cast<const float*>(keys + pairs(head) * 2 * kBlockKeys);
}
/// A number of a value is at most this, and so are all the integer weights of a query in a segment together: no partial
/// sum of their products leaves 32 bits. Rounding adds at most half a unit per weight: (262,000 + 128) * 8,191 < 2^31.
inline constexpr float kLargestValue = 8191;
inline constexpr float kMaxWeights = 262000;
/// A vector of integers has at most this length. So the product of two has less than 32 bits, and so has every partial
/// sum of it (Cauchy and Schwarz). Rounding may add half the root of the dimensions.
inline constexpr float kLongestVector = 46000;
/// Keys that a softmax covers at once. Segments begin at multiples of this position; their results are merged in order.
inline constexpr std::size_t kSegmentKeys = 256;
inline constexpr std::size_t kSegmentBlocks = kSegmentKeys / kBlockKeys;
/// Queries of a tile.
inline constexpr std::size_t kTileQueries = 12;
/// Rows of values are stored in multiples of this.
inline constexpr std::size_t kLanes = 16;

constexpr std::size_t padded(std::size_t count) noexcept {
  return (count + kLanes - 1) / kLanes * kLanes;
}

/// Numbers of 16 bits of the values of a block, with their scales.
constexpr std::size_t value_numbers(std::size_t head) noexcept {
  return (padded(head) + 2) * kBlockKeys;
}
inline float* value_scales(std::uint16_t* values, std::size_t head) noexcept {
  return reinterpret_cast<float*>(values + padded(head) * kBlockKeys);
}
inline const float* value_scales(const std::uint16_t* values, std::size_t head) noexcept {
  return reinterpret_cast<const float*>(values + padded(head) * kBlockKeys);
}

/// Dimensions of a head that share a scale in a cache of 8 bits.
inline constexpr std::size_t kScaleDimensions = 32;
constexpr std::size_t scale_groups(std::size_t head) noexcept {
  return (head + kScaleDimensions - 1) / kScaleDimensions;
}

/// The queries of a tile and one segment of the keys and values of a key/value head.
struct SegmentAttention {
  std::size_t head;     // dimensions, even
  std::size_t queries;  // 1 to kTileQueries
  /// Integers: dimension d of query q is query[(d / 2 * kTileQueries + q) * 2 + d % 2]; 0 for q >= queries.
  const std::uint16_t* query;
  const float* query_scales;  // a score is the product of the integers, the key's scale and this one
  /// Query q sees keys begin[q] to end[q] of the segment; none if begin[q] >= end[q]. Both are at most kSegmentKeys.
  const std::uint32_t* begin;
  const std::uint32_t* end;
  std::uint32_t most;                  // the largest end
  const std::uint16_t* const* keys;    // the blocks up to `most`
  const std::uint16_t* const* values;  // the same; scales are finite
  float softcap;                       // scores become softcap * tanh(score / softcap); 0: unchanged
  float* scores;                       // scratch: kTileQueries x kSegmentKeys
  std::uint16_t* weights;              // the same, for integers
  float* weight_units;                 // scratch: kTileQueries
  // Results: exp(score - largest), summed, and times the values. A query that sees no key has largest = -infinity.
  float* largest;   // kTileQueries, times log2(e)
  float* sum;       // kTileQueries
  float* weighted;  // kTileQueries x padded(head)
};

/// Results of a segment, or of several merged; as in SegmentAttention.
struct SegmentResults {
  float* largest;
  float* sum;
  float* weighted;
};

struct DecoderKernels {
  const char* name;
  /// to = row / sqrt(mean of squares + epsilon) * weight. `to` may be `row`.
  void (*rms_norm)(const float* row, const float* weight, float* to, std::size_t count, float epsilon);
  /// to += from
  void (*add)(float* to, const float* from, std::size_t count);
  /// to *= factor
  void (*scale)(float* to, float factor, std::size_t count);
  /// Rotates dimensions 2i and 2i + 1 of a head by an angle given by cosines[i] and sines[i].
  void (*rotate_pairs)(float* head, const float* cosines, const float* sines, std::size_t angles);
  /// The same for dimensions i and i + angles.
  void (*rotate_halves)(float* head, const float* cosines, const float* sines, std::size_t angles);
  /// gate = gate / (1 + exp(-gate)) * up
  void (*silu_times)(float* gate, const float* up, std::size_t count);
  /// gate = gelu(gate) * up, GELU in its tanh form.
  void (*gelu_times)(float* gate, const float* up, std::size_t count);
  /// Writes a value as integers up to kLargestValue. Returns the scale. Numbers that f16 cannot hold become its
  /// largest.
  float (*store_value)(const float* from, std::uint16_t* to, std::size_t head);
  /// Writes a key or a query as integers, dimension d to to[d / 2 * stride + d % 2]. Returns the scale. Values that f16
  /// cannot hold become its largest.
  float (*store_pairs)(const float* from, std::uint16_t* to, std::size_t head, std::size_t stride);
  /// Writes a block of keys of 8 bits, [head][kBlockKeys], as one of 16 bits. Scales are [group][kBlockKeys].
  void (*expand_keys)(const std::int8_t* quants, const std::uint16_t* scales, std::uint16_t* to, std::size_t head);
  /// Writes a block of values of 8 bits as one of 16, in the same order.
  void (*expand_values)(const std::int8_t* quants, const std::uint16_t* scales, std::uint16_t* to, std::size_t head);
  void (*attend)(const SegmentAttention& task);
  /// Adds the results of a later segment to the results of earlier ones. Rows of `weighted` have `width` values, a
  /// multiple of kLanes.
  void (*merge)(const SegmentResults& into, const SegmentResults& from, std::size_t queries, std::size_t width);
};

/// Returns the sets within usable_features() (core/cpu/cpu.h), slowest first; always includes "scalar", the reference.
std::span<const DecoderKernels* const> available_kernels() noexcept;

}  // namespace lorekeep::decoder
