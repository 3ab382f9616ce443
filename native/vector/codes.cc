#include "vector/codes.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace lorekeep::vector {
namespace {

/// Returns the squared length of (row - its code).
double lost_by(const VectorMatrix& codes, std::size_t ordinal, std::span<const float> row) {
  double lost = 0;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const double error = row[i] - static_cast<float>(codes.code_row(ordinal)[i]) * codes.scale(ordinal);
    lost += error * error;
  }
  return lost;
}

}  // namespace

Codes encode_codes(const VectorMatrix& rows, const Work& work) {
  constexpr std::size_t kRowsPerPiece = 256;
  const bool within = rows.type() == VectorType::kI10;
  Codes codes;
  std::vector<double> largest(std::max<std::size_t>(1, work.workers), 0.0);  // squared error, per worker
  codes.matrix = within ? rows.codes() : VectorMatrix::allocate(VectorType::kI8, rows.size(), rows.dimension());
  parallel_for(work, rows.size(), kRowsPerPiece, [&](std::size_t begin, std::size_t end, std::size_t worker) {
    std::vector<float> values(rows.dimension());
    for (std::size_t i = begin; i < end; ++i) {
      rows.decode(i, values.data());
      const double lost = within ? lost_by(codes.matrix, i, values) : codes.matrix.set(i, values);
      largest[worker] = std::max(largest[worker], lost);
    }
  });
  codes.row_error = static_cast<float>(std::sqrt(*std::max_element(largest.begin(), largest.end())) * 1.0001);
  return codes;
}

}  // namespace lorekeep::vector
