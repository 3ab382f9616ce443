// What a search of a storage takes and gives: plain data, no ownership.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/work.h"
#include "vector/vector_index.h"

namespace lorekeep::store {

struct MatchingRows;
struct PreparedFilter;

enum class Mode {
  kDense,    // by meaning: cosine distance to the query vector
  kLexical,  // by words: BM25 of the query text
  kHybrid,   // both, fused by reciprocal rank
};

/// score = dense_weight / (k + dense rank) + lexical_weight / (k + lexical rank); a leg that did not find the record
/// adds nothing. Cormack, Clarke, Buettcher: Reciprocal Rank Fusion (SIGIR 2009).
struct RrfOptions {
  double k = 60;            // finite, >= 0; larger flattens the difference between ranks
  double dense_weight = 1;  // finite, >= 0, not both 0; a leg of weight 0 is not run
  double lexical_weight = 1;
  std::size_t candidates = 0;  // how deep each leg goes; 0: max(50, 4 * top_k); never less than top_k
};

struct SearchRequest {
  Mode mode = Mode::kDense;
  std::span<const float> query;  // dense, hybrid: `dimension` finite values; need not be normalised
  std::string_view text;         // lexical, hybrid: UTF-8
  std::size_t top_k = 5;         // >= 1
  /// Largest cosine distance of the dense leg's hits, in [0, 2]. What the lexical leg found is not dropped by it.
  std::optional<float> threshold;
  /// Width of a graph search, at most vector::kMaxEf. 0: the index's own; in hybrid mode without a filter that of a
  /// search for top_k, or the leg's depth where that is more.
  std::size_t ef = 0;
  RrfOptions rrf;
  const PreparedFilter* filter = nullptr;  // the records that may be found; null: all
  bool exact = false;                      // dense leg: no graph search, whatever it costs
  Work work = {};                          // idle threads run the legs side by side and share long scans
};

/// The depth of each leg of a hybrid search.
std::size_t leg_depth(const SearchRequest& request) noexcept;

struct Hit {
  std::uint32_t ordinal;
  double score;  // higher is better. dense: 1 - distance; lexical: the BM25 score; hybrid: the fused score

  /// Ranks within each leg, from 1; absent when the leg did not run or did not find the record among its candidates.
  std::optional<std::uint32_t> dense_rank;
  std::optional<std::uint32_t> lexical_rank;

  /// Cosine distance in [0, 2]: dense and hybrid. In hybrid mode every hit has one, those that only the lexical leg
  /// found too (and theirs may exceed the threshold).
  std::optional<float> distance;
  /// BM25 score: lexical and hybrid. In hybrid mode every hit has one, 0 for a record that holds none of the query's
  /// words.
  std::optional<float> bm25_score;
};

/// How the search was done: every field reports what happened.
struct StoragePlan {
  Mode mode = Mode::kDense;
  std::optional<std::size_t> matched;  // records that the filter matches; absent without one

  bool dense = false;  // whether the dense leg ran
  vector::SearchPath dense_path = vector::SearchPath::kExact;
  bool dense_exact = false;       // no other matching record is nearer than those found
  std::size_t dense_visited = 0;  // distances computed

  bool lexical = false;            // whether the lexical leg ran
  std::size_t lexical_tokens = 0;  // tokens of the query text; 0: it has no letters or numbers (or only stopwords)
  std::size_t lexical_terms = 0;   // distinct ones among them that any record holds; 0: the leg found nothing
  std::size_t lexical_scored = 0;  // records scored
};

struct SearchResult {
  std::vector<Hit> hits;  // best first, ties by ordinal; at most top_k. Rank in the result: position + 1
  StoragePlan plan;
  std::shared_ptr<const MatchingRows> matching;  // of the filter; null without one
};

}  // namespace lorekeep::store
