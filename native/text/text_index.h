#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/threads/cancel_token.h"
#include "core/values/top_k.h"
#include "text/index_builder.h"
#include "text/index_check.h"
#include "text/index_data.h"
#include "text/sorted_terms.h"
#include "text/term_buckets.h"
#include "text/text_collection.h"
#include "text/text_query.h"

namespace lorekeep::text {

struct TextSearchResult {
  std::vector<Scored> hits;      // HighestFirst; only documents that hold a query term
  std::vector<QueryTerm> terms;  // in order of first appearance; empty: the query holds no tokens
  TextSearchPlan plan;
};

/// An immutable inverted index with Okapi BM25 scores (bm25.h). Stores terms, not texts. Searches may run concurrently.
class TextIndex {
 public:
  /// Indexes documents 0 .. documents-1. Empty and equal texts are fine. Throws as build_index().
  static std::shared_ptr<const TextIndex> build(std::size_t documents, const TextOf& text_of,
                                                const TextBuildOptions& options);
  static std::shared_ptr<const TextIndex> build(std::span<const std::string_view> texts,
                                                const TextBuildOptions& options);

  explicit TextIndex(std::shared_ptr<BuiltIndex> built) : data_(built->data), built_(std::move(built)) {}
  /// `owner` keeps the arrays of `data` alive, in memory that wipe() may write to. `check` checks entries on first use;
  /// null if this program built or checked the data.
  TextIndex(const IndexData& data, std::shared_ptr<const void> owner, std::unique_ptr<FirstUseCheck> check = nullptr)
      : data_(data), owner_(std::move(owner)), check_(std::move(check)) {}

  Tokenizer tokenizer() const noexcept { return data_.tokenizer; }
  std::uint32_t documents() const noexcept { return data_.documents; }
  /// Distinct terms.
  std::uint64_t terms() const noexcept { return data_.terms; }
  /// Tokens of all documents.
  std::uint64_t tokens() const noexcept { return data_.tokens; }
  /// Bytes of the index's arrays.
  std::size_t memory_bytes() const noexcept { return data_.bytes(); }

  /// Returns the k best documents for the tokens of `query` in HighestFirst order, exactly as if every document were
  /// scored. A token that occurs twice in the query counts twice. Throws Error(kInvalidArgument) if the filter's size
  /// differs from documents(), Error(kCancelled), and Error(kCorrupt) if the check of a term on first use fails.
  TextSearchResult search(std::string_view query, const TextSearchOptions& options) const;

  /// Returns the first `count` terms of the dictionary, or all if there are fewer. They are a fair sample, because the
  /// dictionary is sorted by hash. Throws Error(kCorrupt) as search() does.
  std::vector<std::string_view> sample_terms(std::size_t count, const CancelToken* cancel = nullptr) const;

  /// Returns the term's postings if the index contains it. Throws Error(kCorrupt) as search() does.
  std::optional<TermEntry> find(std::string_view term, const CancelToken* cancel = nullptr) const;

  /// Returns all words, sorted. The first call makes the list: about 0.2 s for a million terms. Throws Error(kCorrupt)
  /// as search() does, kCancelled.
  const SortedTerms& sorted_terms(const CancelToken* cancel = nullptr) const { return sorted_terms_.of(*this, cancel); }

  /// Overwrites the words. Nothing else may be called afterwards.
  void wipe() const noexcept;

  const IndexData& data() const noexcept { return data_; }
  /// The index as a collection.
  const TextCollection& alone() const noexcept { return alone_; }

 private:
  IndexData data_;
  std::shared_ptr<const void> owner_;
  std::shared_ptr<BuiltIndex> built_;  // null: the data are in a file
  std::unique_ptr<FirstUseCheck> check_;
  TermBuckets buckets_;
  mutable SortedTermsCache sorted_terms_;
  TextCollection alone_{*this};
};

}  // namespace lorekeep::text
