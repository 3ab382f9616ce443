#include "text/index_check.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/threads/cancel_token.h"
#include "core/values/error.h"
#include "text/index_data.h"

namespace lorekeep::text {
namespace {

constexpr std::uint32_t kBodiesPerCancelCheck = 128;

/// Proves that the builder could have written the dictionary buckets of untrusted index data.
///
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

// The buckets are checked in parts of equal numbers.
constexpr std::size_t kBucketParts = 64;
constexpr std::size_t kMaxCheckers = 4;
constexpr std::uint32_t kUncounted = std::numeric_limits<std::uint32_t>::max();

// Postings of extra tokens do not add to the length of a document.
bool has_extra_tokens(const IndexData& data) noexcept {
  return data.tokenizer == Tokenizer::kMultilingual;
}

// Counts the tokens of all documents; one per thread.
class CountedDocuments {
 public:
  explicit CountedDocuments(const IndexData& data) : data_(data), documents_(data.lengths.size()) {
    const Bm25Norm norm = data.norm();
    for (std::size_t i = 0; i < documents_.size(); ++i) {
      documents_[i] = {norm.of(data.lengths[i]), has_extra_tokens(data) ? kUncounted : data.lengths[i]};
    }
  }

  float norm(std::uint32_t document) const noexcept { return documents_[document].norm; }
  bool account(std::uint32_t document, std::uint32_t frequency) {
    if (frequency > documents_[document].missing) return false;
    documents_[document].missing -= frequency;
    if (frequency == kMaxTermFrequency) saturated_.push_back(document);
    return true;
  }

  /// Returns how many tokens of the document were found in postings.
  std::uint64_t tokens_seen(std::uint32_t document) const noexcept {
    return data_.lengths[document] - documents_[document].missing;
  }
  /// Documents with a capped term frequency: not all of their tokens are in postings.
  const std::vector<std::uint32_t>& saturated() const noexcept { return saturated_; }

 private:
  struct Document {
    float norm;
    std::uint32_t missing;  // tokens that no posting has accounted for yet
  };

  const IndexData& data_;
  std::vector<Document> documents_;
  std::vector<std::uint32_t> saturated_;
};

// Checks one term at a time: it cannot occur more often than the document has tokens.
class LoneDocuments {
 public:
  explicit LoneDocuments(const IndexData& data)
      : lengths_(data.lengths), norm_(data.norm()), uncounted_(has_extra_tokens(data)) {}

  float norm(std::uint32_t document) const noexcept { return norm_.of(lengths_[document]); }
  bool account(std::uint32_t document, std::uint32_t frequency) const noexcept {
    return uncounted_ || frequency <= lengths_[document];
  }

 private:
  std::span<const std::uint32_t> lengths_;
  Bm25Norm norm_;
  bool uncounted_;
};

struct Worker {
  CountedDocuments documents;
  EntryChecker<CountedDocuments> entries;

  Worker(const IndexData& data, const std::string& name) : documents(data), entries(data, name, documents) {}
};

// Checks that every token of every document is counted by exactly one posting. Not possible with extra tokens.
void check_lengths(const IndexData& data, const std::vector<std::optional<Worker>>& workers, const std::string& name) {
  if (has_extra_tokens(data)) return;
  std::vector<std::uint32_t> saturated;
  for (const auto& worker : workers) {
    if (!worker) continue;
    const auto& some = worker->documents.saturated();
    saturated.insert(saturated.end(), some.begin(), some.end());
  }
  std::sort(saturated.begin(), saturated.end());
  for (std::uint32_t document = 0; document < data.documents; ++document) {
    std::uint64_t seen = 0;
    for (const auto& worker : workers) seen += worker ? worker->documents.tokens_seen(document) : 0;
    if (seen == data.lengths[document]) continue;
    if (seen < data.lengths[document] && std::binary_search(saturated.begin(), saturated.end(), document)) continue;
    fail_file(Code::kCorrupt, name,
              "the length of document " + std::to_string(document) + " does not match its postings");
  }
}

const char* broken_table(const IndexData& data) {
  if (data.documents > kMaxDocuments) return "the number of documents is too large";
  if (data.lengths.size() != data.documents) return "the lengths are not one per document";
  if (std::accumulate(data.lengths.begin(), data.lengths.end(), std::uint64_t{0}) != data.tokens) {
    return "the number of tokens is wrong";
  }
  if (data.terms > data.entries.size() || data.buckets.size() != bucket_count(data.terms) + 1 ||
      data.buckets.size() > std::uint64_t{1} << 32) {
    return "the dictionary's size is wrong";
  }
  if (data.buckets.front() != 0 || data.buckets.back() != data.entries.size() ||
      !std::is_sorted(data.buckets.begin(), data.buckets.end())) {
    return "the dictionary's buckets are wrong";
  }
  return nullptr;
}

}  // namespace

void check_tables(const IndexData& data, const std::string& name) {
  const char* reason = broken_table(data);
  if (reason != nullptr) fail_file(Code::kCorrupt, name, reason);
}

void check_index(const IndexData& data, const std::string& name, const Work& work) {
  check_tables(data, name);
  const std::uint64_t buckets = data.buckets.size() - 1;
  std::vector<std::optional<Worker>> used(std::clamp<std::size_t>(work.workers, 1, kMaxCheckers));
  parallel_for({work.pool, used.size(), work.cancel}, kBucketParts, 1,
               [&](std::size_t begin, std::size_t end, std::size_t number) {
                 if (!used[number]) used[number].emplace(data, name);
                 for (std::size_t part = begin; part < end; ++part) {
                   used[number]->entries.check(buckets * part / kBucketParts, buckets * (part + 1) / kBucketParts,
                                               work.cancel);
                 }
               });
  std::uint64_t terms = 0;
  for (const auto& worker : used) terms += worker ? worker->entries.terms() : 0;
  if (terms != data.terms) fail_file(Code::kCorrupt, name, "the number of terms is wrong");
  check_lengths(data, used, name);
}

FirstUseCheck::FirstUseCheck(const IndexData& data, std::string name)
    : data_(data), name_(std::move(name)), sound_((data.buckets.size() - 1 + kBitsPerWord - 1) / kBitsPerWord) {}

void FirstUseCheck::check(std::uint64_t bucket, const CancelToken* cancel) const {
  LoneDocuments documents(data_);
  EntryChecker(data_, name_, documents).check(bucket, bucket + 1, cancel);
  sound_[bucket / kBitsPerWord].fetch_or(bit_of(bucket), std::memory_order_relaxed);
}

}  // namespace lorekeep::text
