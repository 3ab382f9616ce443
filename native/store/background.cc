#include "store/background.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "vector/flat_index.h"

namespace lorekeep::store {
namespace {

std::shared_ptr<const vector::VectorIndex> evenly_spaced(const vector::VectorIndex& vectors) {
  const std::size_t count = std::min(vectors.size(), BackgroundSample::kRows);
  std::vector<float> rows;
  rows.reserve(count * vectors.dimension());
  for (std::size_t i = 0; i < count; ++i) {
    const std::vector<float> row = vectors.row(i * vectors.size() / count);
    rows.insert(rows.end(), row.begin(), row.end());
  }
  return vector::FlatIndex::build(rows, vectors.dimension());
}

}  // namespace

BackgroundSample::BackgroundSample(const vector::VectorIndex& vectors)
    : rows_(evenly_spaced(vectors)), ordinals_(rows_->size()) {
  std::iota(ordinals_.begin(), ordinals_.end(), 0U);
}

Background BackgroundSample::of(std::span<const float> query) const {
  std::vector<float> distances(ordinals_.size());
  rows_->score(query, ordinals_, distances);
  const double count = static_cast<double>(distances.size());
  double sum = 0;
  for (const float distance : distances) sum += 1.0 - static_cast<double>(distance);
  const double mean = sum / count;
  double squares = 0;
  for (const float distance : distances) {
    const double difference = 1.0 - static_cast<double>(distance) - mean;
    squares += difference * difference;
  }
  return {mean, std::sqrt(squares / count)};
}

}  // namespace lorekeep::store
