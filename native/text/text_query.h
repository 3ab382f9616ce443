// One query against one index. Its terms are looked up once, for any number of searches and scorings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/threads/cancel_token.h"
#include "core/values/bitmap.h"
#include "core/values/top_k.h"
#include "text/query_term_postings.h"

namespace lorekeep::text {

class TextIndex;

struct TextSearchOptions {
  std::size_t k = 10;                   // maximum number of hits
  const Bitmap* filter = nullptr;       // candidate ordinals; null: all. Its size is documents()
  const CancelToken* cancel = nullptr;  // grain: 64 blocks of kBlockDocuments documents, or one query term
};

struct QueryTerm {
  std::string text;             // as tokenized
  std::uint32_t occurrences;    // in the query
  std::uint32_t documents = 0;  // with the term, or with its most frequent variant; 0: the term cannot match
};

/// Work done by a search.
struct TextSearchPlan {
  std::uint32_t blocks = 0;            // of the index
  std::uint32_t blocks_scored = 0;     // the others were pruned
  std::uint64_t documents_scored = 0;  // documents for which at least one term was scored
};

/// Immutable once made; the index must outlive it.
class TextQuery {
 public:
  /// Throws Error(kCancelled), and Error(kCorrupt) as TextIndex::search(). `cancel` is polled once per term.
  TextQuery(const TextIndex& index, std::string_view query, const CancelToken* cancel = nullptr);

  /// In order of first appearance; empty: the query holds no tokens.
  const std::vector<QueryTerm>& terms() const& noexcept { return terms_; }
  std::vector<QueryTerm> terms() && noexcept { return std::move(terms_); }

  /// Returns the limit of the score of a document in which all words of the query, unknown ones included, occur very
  /// often; 0 without words.
  double limit() const noexcept;

  /// Estimates the cost of a search for k hits, in a unit common to all queries of an index; it grows with the root of
  /// k. Measured on 1,000 to 100,000 texts and 10 to 200 hits, 90 of 100 searches took 0.5 to 2 times the median time
  /// per unit; per byte of the query, 0.2 to 3.8 times.
  double work(std::size_t k) const noexcept;

  /// See TextIndex::search(). Throws Error(kInvalidArgument) if the filter's size differs from documents(), kCancelled.
  std::vector<Scored> search(const TextSearchOptions& options, TextSearchPlan& plan) const;

  /// Sets scores[i] to the score of document ordinals[i], identical to the bit to search(); 0 if no term matches.
  /// Precondition: ordinals < documents(), as many scores as ordinals.
  void score(std::span<const std::uint32_t> ordinals, std::span<float> scores) const noexcept;

 private:
  const TextIndex& index_;
  std::vector<QueryTerm> terms_;
  std::vector<QueryTermPostings> postings_;  // of the terms in the index, in the order in which bm25.h adds them up
};

}  // namespace lorekeep::text
