// Dot products, in one set of kernels per instruction set. The set is chosen once, at run time, for the CPU.
//
// Within a set, dot and dot4 add in the same order, so a pair of vectors has the same distance, to the bit, in an exact
// scan and in a graph search. Between sets, f32 and f16 results differ in the last bits; i8 results never do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace lorekeep::vector {

/// The largest magnitude in SketchTask::query: sums of six of them fit a byte.
inline constexpr std::int32_t kLargestOfSketchQuery = 21;

/// A comparison of a query with sketches (sketch.h): likely = centre distance - base - factor * step * (2 * b - sum),
/// where b is the sum of the integers whose bit is set; lower bound = likely - reach * stddev.
struct SketchTask {
  const std::int8_t* query;  // 64 * words integers
  const std::byte* rows;     // each: `words` words of bits, then SketchNumbers; `stride` bytes apart
  std::size_t stride;
  std::size_t words;
  std::int32_t sum;  // of the integers
  float step;        // value of one unit of the integers
  float reach;       // standard deviations, times the query's length
};

/// Pointers need only the alignment of their type. Lengths are in values, from 0.
struct DistanceKernels {
  const char* name;

  float (*dot_f32)(const float* query, const float* row, std::size_t length);
  void (*dot4_f32)(const float* query, const float* const rows[4], std::size_t length, float out[4]);

  /// The query stays f32: only the row is converted and loses precision.
  float (*dot_f16)(const float* query, const std::uint16_t* row, std::size_t length);
  void (*dot4_f16)(const float* query, const std::uint16_t* const rows[4], std::size_t length, float out[4]);

  /// Values in [-127, 127]; length at most kMaxDimension.
  std::int32_t (*dot_i8)(const std::int8_t* query, const std::int8_t* row, std::size_t length);
  void (*dot4_i8)(const std::int8_t* query, const std::int8_t* const rows[4], std::size_t length, std::int32_t out[4]);

  /// Sum of query[i] * n[i], where n is a ten-bit row (ten_bit.h). `length` is a multiple of kTenBitGroup: all three
  /// arrays are padded, the query with zeros.
  float (*dot_ten_bit)(const float* query, const std::int8_t* codes, const std::uint8_t* low, std::size_t length);

  /// Sets likely[i] to the estimated distance of row places[i], whose cell's centre is at the distance
  /// centre_distances[i], and lower_bounds[i] to a lower bound. Null if scoring codes is faster.
  void (*estimate_sketches)(const SketchTask& task, const std::uint32_t* places, const float* centre_distances,
                            std::size_t count, float* likely, float* lower_bounds) noexcept = nullptr;

  /// Writes the positions of the bounds that do not exceed `furthest`, ascending, NaN (from a damaged file) included.
  /// Returns their number. `picked` has room for `count` positions.
  std::size_t (*pick)(const float* bounds, std::size_t count, float furthest, std::uint32_t* picked) noexcept;

  /// Rounds to nearest even; values beyond the largest half become infinity.
  void (*encode_f16)(const float* from, std::uint16_t* to, std::size_t length);
  void (*decode_f16)(const std::uint16_t* from, float* to, std::size_t length);
};

/// Returns the fastest set within usable_features() (core/cpu/cpu.h): the set of LOREKEEP_KERNELS if the CPU supports
/// it.
const DistanceKernels& kernels() noexcept;

/// Returns the sets that this CPU supports, slowest ("scalar") first.
std::span<const DistanceKernels* const> available_kernels() noexcept;

/// Returns null if the name is unknown or the CPU does not support the set.
const DistanceKernels* kernels_named(std::string_view name) noexcept;

/// Returns 1 - dot, clamped to [0, 2]. NaN from a damaged file becomes 2, so that orderings stay strict.
inline float cosine_distance(float dot) noexcept {
  const float distance = 1.0f - dot;
  return distance < 2.0f ? (distance > 0.0f ? distance : 0.0f) : 2.0f;
}

}  // namespace lorekeep::vector
