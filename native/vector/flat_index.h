#pragma once

#include <memory>

#include "vector/codes.h"
#include "vector/vector_index.h"
#include "vector/vector_matrix.h"

namespace lorekeep::vector {

/// Exact search without an index structure: the reference for the graph index, and the index for small sets.
class FlatIndex final : public VectorIndex {
 public:
  /// `rows`: row-major, any lengths; the index normalises its own copy. Throws Error(kInvalidArgument) naming the row
  /// for NaN and infinity, kOutOfMemory, kCancelled. Grain of cancellation: 256 rows.
  static std::shared_ptr<const FlatIndex> build(std::span<const float> rows, std::size_t dimension,
                                                VectorType type = VectorType::kF32, const Work& work = {});
  explicit FlatIndex(VectorMatrix rows) : rows_(std::move(rows)) {}
  /// Searches faster than without codes, with the same results, and takes a quarter more memory. Grain of cancellation:
  /// 256 rows.
  static std::shared_ptr<const FlatIndex> with_codes(VectorMatrix rows, const Work& work = {});

  std::size_t size() const noexcept override { return rows_.size(); }
  std::size_t dimension() const noexcept override { return rows_.dimension(); }
  VectorType type() const noexcept override { return rows_.type(); }
  std::size_t memory_bytes() const noexcept override { return rows_.bytes() + codes_bytes(); }
  std::size_t heap_bytes() const noexcept override { return rows_.heap_bytes() + codes_.matrix.heap_bytes(); }
  std::vector<float> row(std::size_t ordinal) const override;
  /// Throws Error(kUnsupported) for SearchPath::kGraph.
  SearchResult search(std::span<const float> query, const SearchOptions& options) const override;
  void wipe() const noexcept override {
    rows_.wipe();
    codes_.matrix.wipe();
  }
  const VectorMatrix& matrix() const noexcept override { return rows_; }

 private:
  /// The codes of i10 rows are part of these.
  std::size_t codes_bytes() const noexcept { return type() == VectorType::kI10 ? 0 : codes_.matrix.bytes(); }

  VectorMatrix rows_;
  Codes codes_;  // may be empty
};

}  // namespace lorekeep::vector
