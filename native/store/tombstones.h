// The rows of a segment that later batches removed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/threads/work.h"
#include "core/values/bitmap.h"
#include "text/deleted_terms.h"

namespace lorekeep::store {

class Segment;

/// Immutable and thread-safe. At least one row is removed.
class Tombstones {
 public:
  /// Returns the tombstones of `before` (null: none) and of more rows, distinct and not removed yet. Copies a bit per
  /// row of the segment, and reads the texts of the removed rows. Throws as text::DeletedTerms::with().
  static std::shared_ptr<const Tombstones> with(const Tombstones* before, const Segment& segment,
                                                std::span<const std::uint32_t> rows, const Work& work = {});

  /// One bit per row that is not removed.
  const Bitmap& live() const noexcept { return live_; }
  bool removed(std::uint32_t row) const noexcept { return !live_.test(row); }
  /// Number of rows that are not removed.
  std::size_t live_rows() const noexcept { return live_rows_; }
  /// Number of these before `row`.
  std::uint32_t live_before(std::uint32_t row) const noexcept;
  /// Returns the row with `count` live rows before it. Precondition: count < live_rows().
  std::uint32_t row_of(std::uint32_t count) const noexcept;
  /// Null if the segment has no text index.
  const text::DeletedTerms* terms() const noexcept { return terms_.get(); }
  std::size_t memory_bytes() const noexcept;

 private:
  static constexpr std::size_t kWordsPerCount = 8;

  Bitmap live_;
  std::size_t live_rows_ = 0;
  std::vector<std::uint32_t> counts_;  // live rows before every kWordsPerCount-th word
  std::shared_ptr<const text::DeletedTerms> terms_;
};

}  // namespace lorekeep::store
