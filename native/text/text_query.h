// One query against a collection of indexes. Its terms are looked up once, for any number of searches and scorings.
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
#include "text/text_collection.h"

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

/// Immutable once made; the collection or index must outlive it.
class TextQuery {
 public:
  /// Throws Error(kCancelled), and Error(kCorrupt) as TextIndex::search(). `cancel` is polled once per term.
  TextQuery(const TextCollection& collection, std::string_view query, const CancelToken* cancel = nullptr);
  TextQuery(const TextIndex& index, std::string_view query, const CancelToken* cancel = nullptr);

  /// The words, in order of first appearance; empty: the query holds none.
  const std::vector<QueryTerm>& terms() const& noexcept { return terms_; }
  std::vector<QueryTerm> terms() && noexcept { return std::move(terms_); }

  /// Returns the limit of the score of a document in which all words of the query, unknown ones included, and all
  /// compounds that any document has occur very often; 0 without words.
  double limit() const noexcept;

  /// Estimates the cost of a search for k hits, in a unit common to all queries of an index; it grows with the root of
  /// k. Measured on 1,000 to 100,000 texts and 10 to 200 hits, 90 of 100 searches took 0.5 to 2 times the median time
  /// per unit; per byte of the query, 0.2 to 3.8 times.
  double work(std::size_t k) const noexcept;

  /// See TextIndex::search(). Throws Error(kInvalidArgument) if the filter's size differs from the index's documents(),
  /// kCancelled. Precondition: the collection is one index.
  std::vector<Scored> search(const TextSearchOptions& options, TextSearchPlan& plan) const;

  /// Searches all parts of the collection. `filters`: of each part, its candidates among the remaining documents; null:
  /// all of these. An ordinal in a result is a row.
  std::vector<Scored> search(std::size_t k, std::span<const Bitmap* const> filters, const CancelToken* cancel,
                             TextSearchPlan& plan) const;

  /// Sets scores[i] to the score of row ordinals[i], identical to the bit to search(); 0 if no term matches.
  /// Precondition: the rows are of documents, as many scores as rows.
  void score(std::span<const std::uint32_t> ordinals, std::span<float> scores) const noexcept;

  /// Whether the row holds every word of the query, or a variant of it; false without words. Costs as scoring one row.
  bool all_words_in(std::uint32_t ordinal) const;

 private:
  using Postings = std::vector<QueryTermPostings>;

  const TextCollection& collection_;
  std::vector<QueryTerm> terms_;
  std::vector<QueryTerm> compounds_;
  std::vector<Postings> postings_;  // per part: of the terms in it, in the order in which bm25.h adds them up
  std::vector<std::vector<std::size_t>>
      words_;  // per part and posting: the number of its word; terms_.size(): a compound
};

}  // namespace lorekeep::text
