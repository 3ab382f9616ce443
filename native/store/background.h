// The similarity of a query to records that have nothing to do with it.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "vector/vector_index.h"

namespace lorekeep::store {

class Storage;

/// Statistics of the cosines between a query and sampled records.
struct Background {
  double mean = 0;
  double floor = 0;  // mean of the least quarter: records of other subjects, even if most are about the query's
};

/// Copies of the embeddings of evenly spaced records, at most kRows. Immutable and thread-safe.
class BackgroundSample {
 public:
  static constexpr std::size_t kRows = 64;

  /// Precondition: the storage has vectors.
  explicit BackgroundSample(const Storage& storage);
  /// The same for one index.
  explicit BackgroundSample(const vector::VectorIndex& vectors);

  /// Returns mean and floor of the query's cosines with the sampled rows. Throws as VectorIndex::score().
  Background of(std::span<const float> query) const;
  std::size_t memory_bytes() const noexcept { return rows_->heap_bytes(); }

 private:
  std::shared_ptr<const vector::VectorIndex> rows_;
  std::vector<std::uint32_t> ordinals_;  // 0, 1, 2, ...
};

}  // namespace lorekeep::store
