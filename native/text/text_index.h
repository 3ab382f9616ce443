#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/cancel_token.h"
#include "core/top_k.h"
#include "text/index_builder.h"
#include "text/index_check.h"
#include "text/index_data.h"
#include "text/text_query.h"

namespace lorekeep::text {

struct TextSearchResult {
  std::vector<Scored> hits;      // HighestFirst; only documents that hold a query term
  std::vector<QueryTerm> terms;  // in order of first appearance; empty: the query holds no tokens
  TextSearchPlan plan;
};

/// An immutable inverted index with Okapi BM25 scores (bm25.h). Holds words, not texts. Searches may run concurrently.
class TextIndex {
 public:
  /// Indexes documents 0 .. documents-1. Empty and equal texts are fine. Throws as build_index().
  static std::shared_ptr<const TextIndex> build(std::size_t documents, const TextOf& text_of,
                                                const TextBuildOptions& options);
  static std::shared_ptr<const TextIndex> build(std::span<const std::string_view> texts,
                                                const TextBuildOptions& options);

  /// `owner` keeps what the data point to alive. `check` proves what a search needs; null: the data were built or
  /// checked by this program.
  TextIndex(const IndexData& data, std::shared_ptr<const void> owner, std::unique_ptr<FirstUseCheck> check = nullptr)
      : data_(data), owner_(std::move(owner)), check_(std::move(check)) {}

  Tokenizer tokenizer() const noexcept { return data_.tokenizer; }
  std::uint32_t documents() const noexcept { return data_.documents; }
  /// Distinct terms.
  std::uint64_t terms() const noexcept { return data_.terms; }
  /// Tokens of all documents.
  std::uint64_t tokens() const noexcept { return data_.tokens; }
  /// Bytes held, those of a mapped file included.
  std::size_t memory_bytes() const noexcept { return data_.bytes(); }

  /// The k best documents for the tokens of `query`: equal, hit for hit, to scoring every document, in HighestFirst
  /// order. A token that occurs twice in the query counts twice. Throws Error(kInvalidArgument) when the filter has
  /// another size than the index, Error(kCancelled), and Error(kCorrupt) when a loaded index contradicts itself about a
  /// word that is asked for the first time.
  TextSearchResult search(std::string_view query, const TextSearchOptions& options) const;

  /// The first `count` terms of the dictionary, or all when there are fewer: a fair sample, since it is in order of
  /// hashes. Throws Error(kCorrupt) as search() does.
  std::vector<std::string_view> sample_terms(std::size_t count, const CancelToken* cancel = nullptr) const;

  /// The term's postings, if any document holds it. Throws Error(kCorrupt) as search() does.
  std::optional<TermEntry> find(std::string_view term, const CancelToken* cancel = nullptr) const;

  const IndexData& data() const noexcept { return data_; }

 private:
  IndexData data_;
  std::shared_ptr<const void> owner_;
  std::unique_ptr<FirstUseCheck> check_;
};

}  // namespace lorekeep::text
