// i8 copies of the rows: a quarter of the bytes that a walk, a scan or a build must fetch, which is what bounds all
// three. Results are scored on the rows themselves.
#pragma once

#include <cstddef>
#include <span>

#include "core/work.h"
#include "vector/scorer.h"
#include "vector/vector_matrix.h"

namespace lorekeep::vector {

/// Below this many dimensions codes are too coarse (in the plane they tell 1/127 apart, less than neighbours of a
/// large set differ) and rows are short anyway. i10 rows have theirs in any case.
inline constexpr std::size_t kLeastCodedDimension = 64;

struct Codes {
  VectorMatrix matrix;  // i8; empty when the index has no codes; of i10 rows a view
  float row_error = 0;  // the largest length of (row - its code), over all rows

  bool empty() const noexcept { return matrix.size() == 0; }

  /// No distance between `query` (a scorer of the codes) and a row differs from that of their codes by more than this:
  /// |q r - q' r'| <= |q - q'| |r| + |q'| |r - r'|, and the rounding of f32 sums.
  float distance_error(const Scorer& query) const noexcept {
    const float rounding = 1e-6f + 1.2e-7f * static_cast<float>(matrix.dimension());
    return query.code_error() * 1.001f + (1 + query.code_error()) * row_error + rounding;
  }
};

/// Codes of f32 or f16 rows, or those within i10 rows, which must then outlive them. Grain of cancellation: 256 rows.
Codes encode_codes(const VectorMatrix& rows, const Work& work);

}  // namespace lorekeep::vector
