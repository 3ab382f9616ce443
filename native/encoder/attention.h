// Attention of one head, in blocks of queries. Every query sees every key.
#pragma once

#include <cstddef>
#include <cstdint>

#include "encoder/kernels.h"

namespace lorekeep::encoder {

/// Queries per block of scores: 48 x 512 scores are 96 KiB and 48 x 1,536 are 288 KiB, which fit a second-level cache.
inline constexpr std::size_t kQueries = 48;

/// Keys as the kernels read them: panels of kLanes keys, `size` x kLanes values each.
constexpr std::size_t packed_keys(std::size_t tokens, std::size_t size) noexcept {
  return (tokens + kLanes - 1) / kLanes * kLanes * size;
}

/// Writes the keys of tokens `first` to `first + count`, which are `stride` apart in `keys`, into `packed`.
void pack_keys(const float* keys, std::size_t stride, std::size_t first, std::size_t count, std::size_t size,
               float* packed) noexcept;

struct Head {
  const float* keys;         // packed_keys(tokens, size) values; those beyond the last token are zeros
  const float* values;       // tokens x size
  std::size_t value_stride;  // at least size
  std::size_t tokens;
  std::size_t size;  // a multiple of kLanes
};

/// out = softmax(Q K' / sqrt(size)) V for `count` queries, at most kQueries. `scores` holds kQueries rows of the
/// tokens, rounded up to whole panels.
void attend(const EncoderKernels& kernels, const Head& head, const float* queries, std::size_t query_stride,
            std::size_t count, float* out, std::size_t out_stride, float* scores);

/// The same in bf16, for processors with tiles. Queries and keys are split into two bf16 numbers, the rounded value and
/// the remainder, so that scores are nearly as exact as in f32. Weights and values are only rounded: their errors
/// average out.
inline constexpr std::size_t kKeyParts = 3;  // products of a score: upper x upper, upper x rest, rest x upper

void pack_keys(const float* keys, std::size_t stride, std::size_t first, std::size_t count, std::size_t size,
               std::uint16_t* packed) noexcept;
/// `tokens`: that there is room for in `packed`, which is tokens x size.
void pack_values(const float* values, std::size_t stride, std::size_t first, std::size_t count, std::size_t size,
                 std::size_t tokens, std::uint16_t* packed) noexcept;

struct Bf16Head {
  const std::uint16_t* keys;    // kKeyParts x packed_keys(tokens, size)
  const std::uint16_t* values;  // tokens x size
  std::size_t tokens;           // a multiple of kLanes
  std::size_t size;
};

/// As attend(). `rounded` holds kQueries rows of the tokens, or of kKeyParts x size.
void attend(const EncoderKernels& kernels, const Bf16Head& head, const float* queries, std::size_t query_stride,
            std::size_t count, float* out, std::size_t out_stride, float* scores, std::uint16_t* rounded);

}  // namespace lorekeep::encoder
