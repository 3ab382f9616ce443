// Random access to one query term's blocks during one search.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "text/postings.h"

namespace lorekeep::text {

/// A term of the query with its weight (see bm25_weight).
struct WeightedTerm {
  TermEntry entry;
  float weight;
};

class QueryTermPostings {
 public:
  struct Body {
    const std::byte* data = nullptr;
    std::size_t size = 0;  // 0: the term does not occur in the block
    float bound = 0.0f;    // upper bound of this term's score in the block
  };

  /// `blocks` of the index. Decodes the directory of a sparse term. `bound_factor`: see TextCollection::bound_factor().
  QueryTermPostings(const WeightedTerm& term, std::uint32_t blocks, float bound_factor = 1)
      : weight_(term.weight),
        unit_(term.weight / static_cast<float>(kImpactScale) * bound_factor),
        dense_(is_dense(term.entry.blocks, blocks)),
        rows_(dense_ ? dense_rows(blocks) : term.entry.blocks),
        impacts_(reinterpret_cast<const std::uint8_t*>(term.entry.directory)),
        sizes_(impacts_ + rows_),
        starts_(reinterpret_cast<const std::byte*>(sizes_ + rows_)),
        bodies_(starts_ + std::size_t{rows_ / kBlocksPerStart} * sizeof(std::uint32_t)) {
    if (!dense_) decode_directory(blocks);
  }

  float weight() const noexcept { return weight_; }
  /// Rows of the directory: the blocks with the term if it is sparse, all blocks if it is dense.
  std::uint32_t rows() const noexcept { return rows_; }

  /// Adds this term's upper bound to bounds[block] for every block that holds the term. One bound per block of the
  /// index.
  void add_bounds(std::span<float> bounds) const noexcept {
    if (dense_) {
      for (std::size_t block = 0; block < bounds.size(); ++block) bounds[block] += bound_of(impacts_[block]);
    } else {
      for (std::uint32_t i = 0; i < rows_; ++i) bounds[numbers_[i]] += bound_of(impacts_[i]);
    }
  }

  Body find(std::uint32_t block) const noexcept { return dense_ ? find_dense(block) : find_sparse(block); }

 private:
  // A table of all blocks replaces binary search when more than one block in this many holds the term.
  static constexpr std::uint32_t kBlocksPerTableRow = 16;
  static constexpr std::uint32_t kAbsent = ~0u;

  float bound_of(std::uint8_t impact) const noexcept { return unit_ * static_cast<float>(impact); }

  void decode_directory(std::uint32_t blocks) {
    numbers_.resize(rows_);
    body_starts_.resize(rows_);
    if (rows_ > blocks / kBlocksPerTableRow) row_of_.resize(blocks, kAbsent);
    const std::byte* gaps = starts_;
    std::uint32_t next = 0;
    std::uint32_t start = 0;
    for (std::uint32_t row = 0; row < rows_; ++row) {
      const std::uint32_t number = next + static_cast<std::uint32_t>(read_varint(gaps));
      numbers_[row] = number;
      body_starts_[row] = start;
      next = number + 1;
      start += sizes_[row];
    }
    for (std::uint32_t row = 0; row < rows_ && !row_of_.empty(); ++row) row_of_[numbers_[row]] = row;
    bodies_ = gaps;
  }

  Body find_sparse(std::uint32_t block) const noexcept {
    std::uint32_t row = kAbsent;
    if (!row_of_.empty()) {
      row = row_of_[block];
    } else if (const auto at = std::lower_bound(numbers_.begin(), numbers_.end(), block);
               at != numbers_.end() && *at == block) {
      row = static_cast<std::uint32_t>(at - numbers_.begin());
    }
    if (row == kAbsent) return {};
    return {bodies_ + body_starts_[row], sizes_[row], bound_of(impacts_[row])};
  }

  Body find_dense(std::uint32_t block) const noexcept {
    if (sizes_[block] == 0) return {};
    const std::uint32_t group = block / kBlocksPerStart;
    std::uint32_t start;
    std::memcpy(&start, starts_ + std::size_t{group} * sizeof(start), sizeof(start));
    start += sum_of_sizes(sizes_ + std::size_t{group} * kBlocksPerStart, block % kBlocksPerStart);
    return {bodies_ + start, sizes_[block], bound_of(impacts_[block])};
  }

  // Adds up the first `count` of 8 bytes: as four 16-bit sums in one word, then across.
  static std::uint32_t sum_of_sizes(const std::uint8_t* sizes, std::uint32_t count) noexcept {
    static_assert(kBlocksPerStart == 8);
    std::uint64_t word;
    std::memcpy(&word, sizes, sizeof(word));
    word &= (std::uint64_t{1} << (count * 8)) - 1;
    const std::uint64_t pairs = (word & 0x00FF00FF00FF00FF) + (word >> 8 & 0x00FF00FF00FF00FF);
    return static_cast<std::uint32_t>(pairs * 0x0001000100010001 >> 48);
  }

  float weight_;
  float unit_;  // score per impact step
  bool dense_;
  std::uint32_t rows_;  // of the directory
  const std::uint8_t* impacts_;
  const std::uint8_t* sizes_;
  const std::byte* starts_;  // dense: body starts; sparse: gaps
  const std::byte* bodies_;
  // Sparse terms only. Per row: the block's number and its body's start. row_of_: block -> row, for frequent terms.
  std::vector<std::uint32_t> numbers_;
  std::vector<std::uint32_t> body_starts_;
  std::vector<std::uint32_t> row_of_;
};

}  // namespace lorekeep::text
