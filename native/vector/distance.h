// Dot products, in one set of kernels per instruction set. The set is chosen once, at run time, from what the CPU
// has: one binary is fast everywhere and never meets an instruction that it lacks.
//
// Within a set, dot and dot4 add in the same order: a pair of vectors has one distance, bit for bit, whether an
// exact scan or a graph search asks. Between sets f32 and f16 results differ in the last bits; i8 results never do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace lorekeep::vector {

/// The largest magnitude in SketchTask::query: sums of six of them fit a byte.
inline constexpr std::int32_t kLargestOfSketchQuery = 21;

/// What a query is compared with sketches by (sketch.h).
struct SketchTask {
  const std::int8_t* query;  // 64 * words integers
  const std::byte* rows;     // each: `words` words of bits, then SketchNumbers; `stride` bytes apart
  std::size_t stride;
  std::size_t words;
  std::int32_t sum;  // of the integers
  float step;        // what an integer stands for
  float reach;       // distance = origin - base - factor * step * (2 * sum of the integers whose bit is set - sum)
};

/// Pointers need no alignment beyond their type's. Lengths are in values and may be anything from 0.
struct DistanceKernels {
  const char* name;

  float (*dot_f32)(const float* query, const float* row, std::size_t length);
  void (*dot4_f32)(const float* query, const float* const rows[4], std::size_t length, float out[4]);

  /// The query stays f32: only the row pays for the conversion, and only the row loses precision.
  float (*dot_f16)(const float* query, const std::uint16_t* row, std::size_t length);
  void (*dot4_f16)(const float* query, const std::uint16_t* const rows[4], std::size_t length, float out[4]);

  /// Values in [-127, 127]; length at most kMaxDimension.
  std::int32_t (*dot_i8)(const std::int8_t* query, const std::int8_t* row, std::size_t length);
  void (*dot4_i8)(const std::int8_t* query, const std::int8_t* const rows[4], std::size_t length, std::int32_t out[4]);

  /// Sum of query[i] * n[i], where n is a ten-bit row (ten_bit.h). `length` is a whole number of groups: all three are
  /// padded, the query with zeros.
  float (*dot_ten_bit)(const float* query, const std::int8_t* codes, const std::uint8_t* low, std::size_t length);

  /// likely[i] is the estimated distance of row places[i], whose cell's centre is at the distance origins[i];
  /// nearest[i] the same less `reach` times the row's spread. Null where that would be slower than scoring codes.
  void (*estimate_sketches)(const SketchTask& task, const std::uint32_t* places, const float* origins,
                            std::size_t count, float* likely, float* nearest) noexcept;

  /// Round to nearest even; beyond the largest half: infinity.
  void (*encode_f16)(const float* from, std::uint16_t* to, std::size_t length);
  void (*decode_f16)(const std::uint16_t* from, float* to, std::size_t length);
};

/// The fastest set within usable_features() (core/cpu.h): the one that LOREKEEP_KERNELS names, if this CPU runs it.
const DistanceKernels& kernels() noexcept;

/// The sets that this CPU runs, slowest ("scalar") first.
std::span<const DistanceKernels* const> available_kernels() noexcept;

/// Null when the name is unknown or the CPU cannot run the set.
const DistanceKernels* kernels_named(std::string_view name) noexcept;

/// 1 - dot, held to [0, 2]; a NaN from a damaged file becomes 2, so that orderings stay strict.
inline float cosine_distance(float dot) noexcept {
  const float distance = 1.0f - dot;
  return distance < 2.0f ? (distance > 0.0f ? distance : 0.0f) : 2.0f;
}

}  // namespace lorekeep::vector
