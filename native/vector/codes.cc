#include "vector/codes.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace lorekeep::vector {

Codes encode_codes(const VectorMatrix& rows, ThreadPool* pool, std::size_t workers, const CancelToken* cancel) {
  constexpr std::size_t kRowsPerPiece = 256;
  Codes codes;
  std::vector<double> largest(std::max<std::size_t>(1, workers), 0.0);  // squared error, per worker
  codes.matrix = VectorMatrix::allocate(VectorType::kI8, rows.size(), rows.dimension());
  parallel_for(pool, workers, rows.size(), kRowsPerPiece, cancel,
               [&](std::size_t begin, std::size_t end, std::size_t worker) {
                 std::vector<float> values(rows.dimension());
                 for (std::size_t i = begin; i < end; ++i) {
                   rows.decode(i, values.data());
                   largest[worker] = std::max(largest[worker], codes.matrix.set(i, values));
                 }
               });
  codes.row_error = static_cast<float>(std::sqrt(*std::max_element(largest.begin(), largest.end())) * 1.0001);
  return codes;
}

}  // namespace lorekeep::vector
