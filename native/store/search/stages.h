// The stages of a search. Each returns a value that the next one takes: Query, Legs, Ranking, relevance. They name
// records by their rows. Internal to native/store.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/values/top_k.h"
#include "store/lexical_search.h"
#include "store/prepared_filter.h"
#include "store/search.h"
#include "store/storage.h"
#include "text/extended_search.h"

namespace lorekeep::store {

using Ordinals = std::span<const std::uint32_t>;
using Scores = std::span<float>;

class Stopwatch {
 public:
  double ms() const noexcept { return std::chrono::duration<double, std::milli>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start_ = Clock::now();
};

struct DenseLeg {
  std::vector<Scored> hits;  // best first, within the threshold
  vector::VectorPlan plan;
  double ms = 0;
};

struct LexicalLeg {
  std::vector<Scored> hits;  // best first
  std::size_t tokens = 0;    // as in StoragePlan
  std::size_t terms = 0;
  std::size_t scored = 0;
  double ms = 0;
};

/// The legs that ran.
struct Legs {
  std::optional<DenseLeg> dense;
  std::optional<LexicalLeg> lexical;
};

/// A vector that records are compared with. Keeps its background; for one thread.
class Meaning {
 public:
  /// Storage and vector must outlive it. Precondition: the storage has vectors.
  Meaning(const Storage& storage, std::span<const float> vector) : storage_(storage), vector_(vector) {}

  std::span<const float> vector() const noexcept { return vector_; }
  /// Sets distances[i] to the distance of record ordinals[i].
  void score(Ordinals ordinals, Scores distances) const { storage_.score(vector_, ordinals, distances); }
  const Background& background() {
    if (!background_) background_ = storage_.background().of(vector_);
    return *background_;
  }

 private:
  const Storage& storage_;
  std::span<const float> vector_;
  std::optional<Background> background_;
};

/// A request whose filter is evaluated and whose query is read. Keeps the results of lazy parts; for one thread, except
/// that dense_leg() may run beside lexical_leg(). Storage and request must outlive it.
class Query {
 public:
  Query(const Storage& storage, const SearchRequest& request);

  const Storage& storage() const noexcept { return storage_; }
  const SearchRequest& request() const noexcept { return request_; }
  /// Null without a filter.
  const std::shared_ptr<const MatchingRows>& matching() const noexcept { return matching_; }
  double filter_ms() const noexcept { return filter_ms_; }

  /// Runs the legs of the request's mode, in parallel if a thread is available.
  Legs run();

  /// Sets scores[i] to the BM25 score of record ordinals[i].
  void score_words(Ordinals ordinals, Scores scores);
  /// Whether a clause can exclude records from the lexical leg, whatever their scores.
  bool has_clauses() const noexcept { return extended_.has_value(); }
  /// The words of the query text, without operators and excluded clauses. Precondition: the storage has a text index.
  const text::TextQuery& plain_words();
  /// The request's vector. Precondition: it has one.
  Meaning& meaning() noexcept { return meaning_; }

 private:
  DenseLeg dense_leg(std::size_t depth) const;
  LexicalLeg lexical_leg(std::size_t depth);
  Legs hybrid_legs();
  const text::TextQuery& words();
  void restrict(const Bitmap& rows);
  vector::SearchResult search_parts(vector::SearchOptions options) const;
  vector::SearchResult search_part(std::size_t part, vector::SearchOptions options) const;
  /// The rows of a part that may be found: matching and allowed ones, or those that are not removed; null: all.
  const Bitmap* selected(std::size_t part) const noexcept;
  bool filtered() const noexcept { return matching_ != nullptr || !allowed_.empty(); }
  std::size_t usual_ef(std::size_t depth) const noexcept;

  const Storage& storage_;
  const SearchRequest& request_;
  std::shared_ptr<const MatchingRows> matching_;
  double filter_ms_ = 0;
  std::optional<LexicalTexts> texts_;  // of extended_
  std::optional<Bitmap> candidates_;   // of extended_: matching_ of all parts in one, if there are several
  std::optional<text::ExtendedSearch> extended_;
  std::vector<Bitmap> allowed_;  // per part, by required and excluded clauses; empty: no such clauses
  std::optional<text::TextQuery> words_;
  std::optional<text::TextQuery> plain_words_;  // of a query with operators
  Meaning meaning_;
};

/// The best scores of the legs, for the relevance of hits.
struct BestScores {
  double cosine = -1;
  double bm25 = 0;
  double next_cosine = -1;  // of a hybrid search: the greatest below the best, so that copies of a record do not count
  double next_bm25 = 0;
};

/// Hits without their relevance, best first.
struct Ranking {
  std::vector<Hit> hits;
  BestScores best;
  std::optional<double> dense_weight;  // as in StoragePlan
  double ms = 0;                       // of the fusion of two legs
};

/// Makes one list of the best `count` hits of the legs.
Ranking fuse(Query& query, const Legs& legs, std::size_t count);

/// Fuses the legs of a hybrid search again, the dense one in the order of another vector. The hits' distances stay
/// those of the request's vector. `first`: what fuse() returned for the same legs.
Ranking fuse_again(Query& query, const Legs& legs, const Ranking& first, Meaning& by);

/// Sets the hits' relevance. Returns Background::floor of the query; nothing in lexical mode and without hits.
std::optional<double> judge(Query& query, std::vector<Hit>& hits, const BestScores& best);

/// Whether a leg of a hybrid search alone finds one of the hits relevant enough: SearchRequest::min_dense, min_lexical.
bool found_by_a_leg(Query& query, std::span<const Hit> hits, const BestScores& best);

/// Feedback: see docs/concepts/search.md.
struct Feedback {
  double weight = 0;
  std::size_t added = 0;  // as in StoragePlan
};

/// Number of hits that the query is moved towards.
inline constexpr std::size_t kFeedbackHits = 2;

/// Whether the request asks for feedback and the legs allow it.
bool wants_feedback(const SearchRequest& request, const Legs& legs) noexcept;

/// Ranks the candidates of the legs by a query that is moved towards the best hits of `ranking`, which are judged and
/// at least one. Sets `ranking` to the new hits, without their relevance.
Feedback feed_back(Query& query, const Legs& legs, Ranking& ranking);

}  // namespace lorekeep::store
