// Requests and results of storage searches: plain data, no ownership.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/threads/work.h"
#include "vector/vector_index.h"

namespace lorekeep::store {

struct LexicalOptions;
struct MatchingRows;
struct PreparedFilter;

enum class Mode {
  kDense,    // by cosine distance to the query vector
  kLexical,  // by BM25 of the query text
  kHybrid,   // both, fused
};

/// How a hybrid search fuses its legs.
enum class Fusion {
  kRrf,     // by ranks: RrfOptions
  kScores,  // by normalised scores: score_fusion.h
};

/// score = dense_weight / (k + dense rank) + lexical_weight / (k + lexical rank), without the term of a leg that did
/// not find the record. Cormack, Clarke, Buettcher: Reciprocal Rank Fusion (SIGIR 2009).
struct RrfOptions {
  double k = 60;            // finite, >= 0; larger flattens the difference between ranks
  double dense_weight = 1;  // finite, >= 0, not both 0; a leg of weight 0 is not run
  double lexical_weight = 1;
  std::size_t candidates = 0;  // hits of each leg; 0: max(50, 4 * top_k); at least top_k
};

/// Corrects relevance: log odds = offset + slope * estimated log odds.
struct Calibration {
  double offset = 0;  // finite
  double slope = 1;   // finite, > 0
};

struct SearchRequest {
  Mode mode = Mode::kDense;
  std::span<const float> query;  // dense, hybrid: `dimension` finite values; need not be normalised
  std::string_view text;         // lexical, hybrid: UTF-8. Dense: may be empty; only relevance depends on it
  std::size_t top_k = 5;         // >= 1
  /// Largest cosine distance of the dense leg's hits, in [0, 2]. Does not apply to hits of the lexical leg.
  std::optional<float> threshold;
  /// Width of a graph search, at most vector::kMaxEf. 0: the index's own; in hybrid mode without a filter the default
  /// for top_k, or the leg's depth if it is larger.
  std::size_t ef = 0;
  Fusion fusion = Fusion::kRrf;
  RrfOptions rrf;             // `candidates` is used by both fusions
  double dense_weight = 0.5;  // of Fusion::kScores, in [0, 1]; a leg of weight 0 is not run
  bool adapt_weight = false;  // the weight follows the query: score_fusion.h. Not if it is 0 or 1
  double feedback = 0;        // hybrid: weight of the best hits' embeddings beside the query's, in [0, 2]; 0: none
  /// Minimum relevance of a hit, in [0, 1].
  std::optional<double> min_score;
  std::optional<double> min_best;
  /// Hybrid: there are hits only if the vectors or the words, as if each searched alone, see this relevance in one.
  std::optional<double> min_dense;
  std::optional<double> min_lexical;
  Calibration calibration;
  const LexicalOptions* lexical = nullptr;  // of the lexical leg; null: words and BM25 of the texts
  const PreparedFilter* filter = nullptr;   // null: all records match
  bool exact = false;                       // dense leg: no graph search
  Work work = {};                           // idle threads run the legs in parallel and share long scans
};

/// Returns the number of hits of each leg of a hybrid search.
std::size_t leg_depth(const SearchRequest& request) noexcept;

struct Hit {
  std::uint32_t ordinal;
  std::uint32_t row;  // the record's place in the storage searched
  double score;       // higher is better. dense: 1 - distance; lexical: the BM25 score; hybrid: the fused score

  /// Rank within each leg, from 1; absent if the leg did not run or did not find the record. With feedback, the dense
  /// leg is in the order of the moved query.
  std::optional<std::uint32_t> dense_rank;
  std::optional<std::uint32_t> lexical_rank;

  /// Cosine distance in [0, 2]: dense and hybrid. In hybrid mode also for hits that only the lexical leg found, where
  /// it may exceed the threshold.
  std::optional<float> distance;
  /// BM25 score: lexical and hybrid. In hybrid mode 0 for a record without any of the query's words.
  std::optional<float> bm25_score;

  /// Normalised scores in [0, 1]: hybrid with Fusion::kScores.
  std::optional<double> dense_score;
  std::optional<double> lexical_score;

  /// Estimated probability that the record is relevant to the query (relevance.h).
  double relevance = 0;
};

/// How the search was executed.
struct StoragePlan {
  Mode mode = Mode::kDense;
  std::optional<std::size_t> matched;  // records that the filter matches; absent without a filter

  bool dense = false;  // whether the dense leg ran
  vector::SearchPath dense_path = vector::SearchPath::kExact;
  bool dense_exact = false;       // the hits are the true nearest matching records
  std::size_t dense_visited = 0;  // distances computed

  bool lexical = false;            // whether the lexical leg ran
  std::size_t lexical_tokens = 0;  // tokens of the query text; 0: no letters or numbers, or only stopwords
  std::size_t lexical_terms = 0;   // distinct tokens that occur in any record; 0: the leg found nothing
  std::size_t lexical_scored = 0;  // records scored

  std::optional<double> dense_weight;  // of Fusion::kScores; the lexical leg's weight is 1 - dense_weight

  std::optional<double> feedback;  // the weight used; absent without feedback
  std::size_t feedback_added = 0;  // hits that would not be among the first top_k without feedback
};

/// Milliseconds of the parts of a search. The legs of a hybrid search may run at the same time.
struct PartTimes {
  double filter = 0;
  double dense = 0;
  double lexical = 0;
  double fusion = 0;  // with the scores that only one leg had computed, and feedback
};

struct SearchResult {
  std::vector<Hit> hits;  // best first, ties by ordinal; at most top_k. Rank in the result: position + 1
  StoragePlan plan;
  PartTimes times;
  std::optional<double> floor;  // Background::floor of the query; absent in lexical mode and without hits
  std::shared_ptr<const MatchingRows> matching;  // of the filter; null without a filter
};

}  // namespace lorekeep::store
