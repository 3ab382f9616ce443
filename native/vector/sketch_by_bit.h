// Shared code of the sketch kernels without mask registers (AVX2, NEON). They test sixteen bytes of a row at once for
// their lowest bits, then for their second, and so on, against a query whose values are in this order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "vector/distance.h"
#include "vector/vector_type.h"

namespace lorekeep::vector {

/// Dimensions in sixteen bytes of a row.
inline constexpr std::size_t kSketchGroup = 128;
/// A byte of a sum adds two bits from each of this many groups.
inline constexpr std::size_t kGroupsPerSum = 3;
static_assert(2 * kGroupsPerSum * kLargestOfSketchQuery < 128);

/// The query's values of each group, beginning with those of the lowest bits of its sixteen bytes. Zeros pad the last
/// group of a row with an odd number of words.
class QueryByBit {
 public:
  explicit QueryByBit(const SketchTask& task) noexcept {
    for (std::size_t begin = 0; begin < 64 * task.words; begin += kSketchGroup) {
      const std::size_t bytes = std::min(kSketchGroup, 64 * task.words - begin) / 8;
      std::int8_t* const to = values_ + begin;
      if (bytes < 16) std::fill(to, to + kSketchGroup, std::int8_t{0});
      for (std::size_t bit = 0; bit < 8; ++bit) {
        for (std::size_t byte = 0; byte < bytes; ++byte) to[16 * bit + byte] = task.query[begin + 8 * byte + bit];
      }
    }
  }

  std::int8_t* of_group(std::size_t group) noexcept { return values_ + group * kSketchGroup; }
  const std::int8_t* of_group(std::size_t group) const noexcept { return values_ + group * kSketchGroup; }

 private:
  alignas(32) std::int8_t values_[kMaxDimension];  // only the part for the dimension is used
};

/// Returns the number of groups for `words` words. If `words` is odd, the last group includes the first eight bytes of
/// SketchNumbers, which are multiplied by zeros.
constexpr std::size_t sketch_groups(std::size_t words) noexcept {
  return (words + 1) / 2;
}

/// Implements DistanceKernels::estimate_sketches with an `estimator` of four rows: estimator(rows, centre_distances,
/// likely, lower_bounds). Inlined into its caller, to use the caller's instruction set.
template <class Estimator>
[[gnu::always_inline]] inline void estimate_in_fours(const Estimator& estimator, const SketchTask& task,
                                                     const std::uint32_t* places, const float* centre_distances,
                                                     std::size_t count, float* likely, float* lower_bounds) noexcept {
  // Rows to prefetch ahead: a row takes 5 ns and may come from memory.
  constexpr std::size_t kRowsAhead = 24;
  const auto row = [rows = task.rows, stride = task.stride](std::size_t place) { return rows + place * stride; };
  std::size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    const std::size_t ahead = std::min(i + kRowsAhead, count - 4);
    for (std::size_t r = 0; r < 4; ++r) __builtin_prefetch(row(places[ahead + r]));
    const std::byte* const rows[4] = {row(places[i]), row(places[i + 1]), row(places[i + 2]), row(places[i + 3])};
    estimator(rows, centre_distances + i, likely + i, lower_bounds + i);
  }
  if (i == count) return;
  const std::byte* rows[4];
  float results[3][4] =
      {};  // centre_distances, likely, lower bounds: the caller's arrays may have fewer than four left
  for (std::size_t r = 0; r < 4; ++r) rows[r] = row(places[std::min(i + r, count - 1)]);
  std::copy(centre_distances + i, centre_distances + count, results[0]);
  estimator(rows, results[0], results[1], results[2]);
  std::copy(results[1], results[1] + (count - i), likely + i);
  std::copy(results[2], results[2] + (count - i), lower_bounds + i);
}

}  // namespace lorekeep::vector
