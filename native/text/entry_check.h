// Proves that the builder could have written the dictionary buckets of untrusted index data.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "core/threads/cancel_token.h"
#include "core/values/error.h"
#include "text/index_data.h"

namespace lorekeep::text {

inline constexpr std::uint32_t kBodiesPerCancelCheck = 128;

/// Checks every size, order, count, impact and posting of the given buckets, so that a search of their terms needs no
/// checks. `Documents` describes the documents in postings:
///   float norm(document)                     Bm25Norm::of its length
///   bool account(document, frequency)        counts a posting; false if the document cannot have that many more tokens
template <class Documents>
class EntryChecker {
 public:
  EntryChecker(const IndexData& data, const std::string& name, Documents& documents)
      : data_(data), name_(name), documents_(documents) {}

  /// Throws Error(kCorrupt) naming the file and the place. Precondition: the offsets in data.buckets rise and end with
  /// the size of the entries. Grain of cancellation: 128 blocks of postings.
  void check(std::uint64_t first_bucket, std::uint64_t end_bucket, const CancelToken* cancel);

  /// Terms checked so far.
  std::uint64_t terms() const noexcept { return terms_; }

 private:
  [[noreturn]] void refuse(const char* reason) const;
  void require(bool condition, const char* reason) const {
    if (!condition) [[unlikely]]
      refuse(reason);
  }
  std::uint64_t offset_of(const std::byte* at) const noexcept {
    return static_cast<std::uint64_t>(at - data_.entries.data());
  }

  const std::byte* check_header(const std::byte* end);
  void check_term(std::string_view term);
  void check_postings(const std::byte* end);
  void check_dense(const std::byte* end, std::uint32_t blocks);
  void check_sparse(const std::byte* end, std::uint32_t blocks);
  void check_body(const std::byte* body, std::size_t size, std::uint32_t block, std::uint8_t impact);

  const IndexData& data_;
  const std::string& name_;
  Documents& documents_;
  std::vector<std::uint32_t> blocks_;  // of the current term
  std::uint64_t terms_ = 0;
  const std::byte* entry_ = nullptr;  // being checked
  const std::byte* at_ = nullptr;
  std::uint64_t first_bucket_ = 0;  // of the range being checked
  std::uint64_t next_bucket_ = 0;
  std::uint64_t last_hash_ = 0;
  std::string_view last_term_;  // empty: none yet
  std::uint64_t postings_ = 0;  // of the current term
  const CancelToken* cancel_ = nullptr;
  std::uint32_t bodies_ = 0;  // checked so far
};

template <class Documents>
void EntryChecker<Documents>::refuse(const char* reason) const {
  fail_file(Code::kCorrupt, name_, "entry at " + std::to_string(offset_of(entry_)) + ": " + reason);
}

template <class Documents>
void EntryChecker<Documents>::check(std::uint64_t first_bucket, std::uint64_t end_bucket, const CancelToken* cancel) {
  cancel_ = cancel;
  entry_ = data_.entries.data() + data_.buckets[first_bucket];
  const std::byte* const end = data_.entries.data() + data_.buckets[end_bucket];
  first_bucket_ = next_bucket_ = first_bucket;
  last_term_ = {};
  while (entry_ < end) {
    at_ = entry_;
    const std::byte* const entry_end = check_header(end);
    check_postings(entry_end);
    entry_ = entry_end;
    ++terms_;
  }
  for (; next_bucket_ < end_bucket; ++next_bucket_) {
    require(data_.buckets[next_bucket_] == offset_of(end), "the dictionary's buckets are wrong");
  }
}

// Checks size and term, moves at_ past them and returns the entry's end.
template <class Documents>
const std::byte* EntryChecker<Documents>::check_header(const std::byte* end) {
  std::uint64_t size = 0;
  require(read_varint_checked(at_, end, size) && size <= static_cast<std::uint64_t>(end - at_),
          "it runs past its bucket");
  const std::byte* const entry_end = at_ + size;
  std::uint64_t term_size = 0;
  require(read_varint_checked(at_, entry_end, term_size) && term_size >= 1 && term_size <= kMaxTokenBytes &&
              term_size <= static_cast<std::uint64_t>(entry_end - at_),
          "the term's size is wrong");
  check_term({reinterpret_cast<const char*>(at_), static_cast<std::size_t>(term_size)});
  at_ += term_size;
  return entry_end;
}

// Checks that terms ascend, and that every bucket up to the term's own begins here unless it holds an earlier term.
template <class Documents>
void EntryChecker<Documents>::check_term(std::string_view term) {
  const std::uint64_t hash = term_hash(term);
  require(last_term_.empty() || last_hash_ < hash || (last_hash_ == hash && last_term_ < term),
          "the terms are out of order");
  last_hash_ = hash;
  last_term_ = term;
  const std::uint64_t bucket = bucket_of(hash, data_.buckets.size() - 1);
  require(bucket >= first_bucket_, "the dictionary's buckets are wrong");
  for (; next_bucket_ <= bucket; ++next_bucket_) {
    require(data_.buckets[next_bucket_] == offset_of(entry_), "the dictionary's buckets are wrong");
  }
}

template <class Documents>
void EntryChecker<Documents>::check_postings(const std::byte* end) {
  std::uint64_t documents = 0;
  std::uint64_t blocks = 0;
  require(read_varint_checked(at_, end, documents) && documents >= 1 && documents <= data_.documents,
          "the number of documents is wrong");
  require(read_varint_checked(at_, end, blocks) && blocks >= 1 && blocks <= documents && blocks <= data_.blocks(),
          "the number of blocks is wrong");
  postings_ = 0;
  const auto count = static_cast<std::uint32_t>(blocks);
  if (is_dense(count, data_.blocks())) {
    check_dense(end, count);
  } else {
    check_sparse(end, count);
  }
  require(postings_ == documents, "the number of postings is wrong");
}

template <class Documents>
void EntryChecker<Documents>::check_dense(const std::byte* end, std::uint32_t blocks) {
  const std::uint32_t rows = dense_rows(data_.blocks());
  const std::uint64_t directory = std::uint64_t{rows} * 2 + rows / kBlocksPerStart * sizeof(std::uint32_t);
  require(directory <= static_cast<std::uint64_t>(end - at_), "the directory runs past the end");
  const auto* impacts = reinterpret_cast<const std::uint8_t*>(at_);
  const std::uint8_t* sizes = impacts + rows;
  const std::byte* const starts = at_ + std::size_t{rows} * 2;
  const std::byte* const bodies = at_ + directory;
  const auto total = static_cast<std::uint64_t>(end - bodies);
  std::uint64_t start = 0;
  std::uint32_t present = 0;
  for (std::uint32_t block = 0; block < rows; ++block) {
    if (block % kBlocksPerStart == 0) {
      std::uint32_t stored;
      std::memcpy(&stored, starts + block / kBlocksPerStart * sizeof(stored), sizeof(stored));
      require(stored == start, "a body's start is wrong");
    }
    require((sizes[block] == 0) == (impacts[block] == 0), "a block has an impact and no body, or the reverse");
    if (sizes[block] == 0) continue;
    require(block < data_.blocks(), "a block lies behind the last document");
    require(sizes[block] <= total - start, "a body runs past the end");
    check_body(bodies + start, sizes[block], block, impacts[block]);
    start += sizes[block];
    ++present;
  }
  require(present == blocks && start == total, "the blocks do not fill the entry");
}

template <class Documents>
void EntryChecker<Documents>::check_sparse(const std::byte* end, std::uint32_t blocks) {
  require(std::uint64_t{blocks} * 2 <= static_cast<std::uint64_t>(end - at_), "the directory runs past the end");
  const auto* impacts = reinterpret_cast<const std::uint8_t*>(at_);
  const std::uint8_t* sizes = impacts + blocks;
  at_ += std::size_t{blocks} * 2;
  blocks_.clear();
  std::uint64_t next = 0;
  for (std::uint32_t i = 0; i < blocks; ++i) {
    std::uint64_t gap = 0;
    require(read_varint_checked(at_, end, gap) && gap < data_.blocks() - next, "a block's number is wrong");
    blocks_.push_back(static_cast<std::uint32_t>(next + gap));
    next += gap + 1;
  }
  for (std::uint32_t i = 0; i < blocks; ++i) {
    require(sizes[i] >= 1 && sizes[i] <= static_cast<std::uint64_t>(end - at_), "a body runs past the end");
    check_body(at_, sizes[i], blocks_[i], impacts[i]);
    at_ += sizes[i];
  }
  require(at_ == end, "the blocks do not fill the entry");
}

// `size` >= 1, `block` < data_.blocks().
template <class Documents>
void EntryChecker<Documents>::check_body(const std::byte* body, std::size_t size, std::uint32_t block,
                                         std::uint8_t impact) {
  if (++bodies_ % kBodiesPerCancelCheck == 0 && cancel_ != nullptr) cancel_->check();
  const std::uint32_t first = block * kBlockDocuments;
  const std::uint32_t in_block = std::min(kBlockDocuments, data_.documents - first);
  float best = 0.0f;
  std::uint32_t next = 0;
  std::uint64_t postings = 0;
  const std::byte* const end = body + size;
  do {
    const auto head = std::to_integer<std::uint32_t>(*body++);
    const std::uint32_t local = head >> 2;
    std::uint32_t frequency = (head & 3) + 1;
    require(local >= next && local < in_block, "a document's ordinal is wrong");
    next = local + 1;
    if (frequency == 4) {
      require(end - body >= 2, "a posting runs past its body");
      frequency = std::to_integer<std::uint32_t>(body[0]) | std::to_integer<std::uint32_t>(body[1]) << 8;
      body += 2;
      require(frequency > 3, "a term frequency is not in its shortest form");
    }
    require(documents_.account(first + local, frequency), "a document has more postings than tokens");
    best = std::max(best, bm25_fraction(frequency, documents_.norm(first + local)));
    ++postings;
  } while (body < end);
  postings_ += postings;
  require(impact == impact_of(best), "a block's impact is wrong");
}

}  // namespace lorekeep::text
