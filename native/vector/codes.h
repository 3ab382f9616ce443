// i8 copies of the rows. Memory bandwidth bounds graph searches, scans and builds, and codes have a quarter of the
// bytes. Results are scored again on the rows.
#pragma once

#include <cstddef>
#include <span>

#include "core/threads/work.h"
#include "vector/scorer.h"
#include "vector/vector_matrix.h"

namespace lorekeep::vector {

/// With fewer dimensions codes are too coarse (in two dimensions they resolve 1/127, more than the difference between
/// neighbours in a large set) and rows are short anyway. i10 rows always have codes.
inline constexpr std::size_t kMinCodedDimension = 64;

struct Codes {
  VectorMatrix matrix;  // i8; empty if the index has no codes; a view for i10 rows
  float row_error = 0;  // the largest length of (row - its code)

  bool empty() const noexcept { return matrix.size() == 0; }

  /// Returns the largest difference between a distance from `query` (a scorer of the codes) and the codes' distance:
  /// |q r - q' r'| <= |q - q'| |r| + |q'| |r - r'|, and the rounding of f32 sums.
  float distance_error(const Scorer& query) const noexcept {
    const float rounding = 1e-6f + 1.2e-7f * static_cast<float>(matrix.dimension());
    return query.code_error() * 1.001f + (1 + query.code_error()) * row_error + rounding;
  }
};

/// Encodes f32 or f16 rows, or views the codes in i10 rows, which must outlive them. Grain of cancellation: 256 rows.
Codes encode_codes(const VectorMatrix& rows, const Work& work);

}  // namespace lorekeep::vector
