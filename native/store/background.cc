#include "store/background.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "vector/flat_index.h"

namespace lorekeep::store {
namespace {

constexpr std::size_t kQuarter = 4;

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
  std::sort(distances.begin(), distances.end(), std::greater<>());
  const auto mean_of = [&distances](std::size_t count) {
    const auto end = distances.begin() + static_cast<std::ptrdiff_t>(count);
    return 1.0 - std::accumulate(distances.begin(), end, 0.0) / static_cast<double>(count);
  };
  return {mean_of(distances.size()), mean_of(std::max<std::size_t>(1, distances.size() / kQuarter))};
}

}  // namespace lorekeep::store
