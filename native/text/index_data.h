// The arrays of a text index, in place: in memory it owns or in a mapped file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/values/checksum.h"
#include "text/bm25.h"
#include "text/postings.h"
#include "text/tokenizer.h"

namespace lorekeep::text {

struct IndexData {
  Tokenizer tokenizer = Tokenizer::kBasic;
  std::uint32_t documents = 0;
  std::uint64_t terms = 0;
  std::uint64_t tokens = 0;                // sum of lengths
  std::span<const std::uint32_t> lengths;  // tokens of each document
  std::span<const std::uint64_t> buckets;  // dictionary: bucket -> offset of its first entry; one more: the end
  std::span<const std::byte> entries;      // in order of (hash of the term, term); see postings.h

  std::uint32_t blocks() const noexcept { return blocks_of(documents); }
  Bm25Norm norm() const noexcept { return {documents, tokens}; }
  /// Bytes of the three arrays.
  std::size_t bytes() const noexcept { return lengths.size_bytes() + buckets.size_bytes() + entries.size_bytes(); }

  /// Returns the dictionary bucket of a term, whether or not the index contains it.
  std::uint64_t bucket(std::string_view term) const noexcept;
};

inline std::uint64_t term_hash(std::string_view term) noexcept {
  return checksum(std::as_bytes(std::span(term.data(), term.size())));
}

/// About two terms per bucket.
inline std::uint64_t bucket_count(std::uint64_t terms) noexcept {
  return terms / 2 + 1;
}
/// Ascends with the hash, so that entries sorted by hash are grouped by bucket. `buckets` < 2^32.
inline std::uint64_t bucket_of(std::uint64_t hash, std::uint64_t buckets) noexcept {
  return ((hash >> 32) * buckets) >> 32;
}

inline std::uint64_t IndexData::bucket(std::string_view term) const noexcept {
  return bucket_of(term_hash(term), buckets.size() - 1);
}

}  // namespace lorekeep::text
