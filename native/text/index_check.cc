#include "text/index_check.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include "text/entry_check.h"

namespace lorekeep::text {
namespace {

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
