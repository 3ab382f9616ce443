#include "store/background.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "store/storage.h"
#include "vector/flat_index.h"

namespace lorekeep::store {
namespace {

constexpr std::size_t kQuarter = 4;

/// `row_of(i)`: the embedding of record i of `size`.
std::shared_ptr<const vector::VectorIndex> evenly_spaced(std::size_t size, std::size_t dimension, auto&& row_of) {
  const std::size_t count = std::min(size, BackgroundSample::kRows);
  std::vector<float> rows;
  rows.reserve(count * dimension);
  for (std::size_t i = 0; i < count; ++i) {
    const std::vector<float> row = row_of(static_cast<std::uint32_t>(i * size / count));
    rows.insert(rows.end(), row.begin(), row.end());
  }
  return vector::FlatIndex::build(rows, dimension);
}

}  // namespace

BackgroundSample::BackgroundSample(const Storage& storage)
    : rows_(evenly_spaced(storage.size(), storage.vectors()->dimension(),
                          [&](std::uint32_t ordinal) { return storage.embedding(ordinal); })),
      ordinals_(rows_->size()) {
  std::iota(ordinals_.begin(), ordinals_.end(), 0U);
}

BackgroundSample::BackgroundSample(const vector::VectorIndex& vectors)
    : rows_(evenly_spaced(vectors.size(), vectors.dimension(), [&](std::uint32_t row) { return vectors.row(row); })),
      ordinals_(rows_->size()) {
  std::iota(ordinals_.begin(), ordinals_.end(), 0U);
}

Background BackgroundSample::of(std::span<const float> query) const {
  if (ordinals_.empty()) return {};
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
