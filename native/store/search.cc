// Storage::search(): checks a request, runs its legs and returns the hits.
#include "store/search.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/values/error.h"
#include "store/fusion.h"
#include "store/lexical_search.h"
#include "store/prepared_filter.h"
#include "store/relevance.h"
#include "store/score_fusion.h"
#include "store/storage.h"
#include "text/extended_syntax.h"

namespace lorekeep::store {
namespace {

constexpr std::size_t kMinCandidates = 50;
constexpr std::size_t kCandidatesPerHit = 4;
/// Largest difference between the scores of copies of a text.
constexpr float kSameScore = 1e-5f;

[[noreturn]] void refuse(const char* field, const std::string& reason) {
  fail(Code::kInvalidArgument, std::string(field) + ": " + reason, {{"field", std::string(field)}, {"reason", reason}});
}

void check_weight(const char* field, double value) {
  if (!(std::isfinite(value) && value >= 0)) refuse(field, "a finite number from 0 up is expected");
}

void check(const Storage& storage, const SearchRequest& request) {
  if (request.top_k == 0) refuse("top_k", "at least 1 is expected");
  if (request.threshold && !(*request.threshold >= 0 && *request.threshold <= 2)) {
    refuse("threshold", "a cosine distance from 0 to 2 is expected");
  }
  if (request.mode != Mode::kLexical) {
    if (storage.vectors() == nullptr) refuse("mode", "the storage has no vectors");
    if (request.query.empty()) refuse("query", "a vector is expected");
  }
  if (request.mode != Mode::kDense && storage.text_index() == nullptr) refuse("mode", "the storage has no text index");
  if (request.min_score && !(*request.min_score >= 0 && *request.min_score <= 1)) {
    refuse("min_score", "a number from 0 to 1 is expected");
  }
  if (!std::isfinite(request.calibration.offset)) refuse("calibration.offset", "a number is expected");
  if (!(request.calibration.slope > 0 && std::isfinite(request.calibration.slope))) {
    refuse("calibration.slope", "a number above 0 is expected");
  }
  if (request.mode == Mode::kHybrid && request.fusion == Fusion::kScores) {
    if (!(request.dense_weight >= 0 && request.dense_weight <= 1)) {
      refuse("dense_weight", "a number from 0 to 1 is expected");
    }
  } else if (request.mode == Mode::kHybrid) {
    check_weight("rrf.k", request.rrf.k);
    check_weight("rrf.dense_weight", request.rrf.dense_weight);
    check_weight("rrf.lexical_weight", request.rrf.lexical_weight);
    if (request.rrf.dense_weight == 0 && request.rrf.lexical_weight == 0) refuse("rrf", "both weights are 0");
  }
}

using Ordinals = std::span<const std::uint32_t>;
using Scores = std::span<float>;

/// Adds the time until its end to a number of milliseconds.
class Stopwatch {
 public:
  explicit Stopwatch(double& milliseconds) : milliseconds_(milliseconds) {}
  ~Stopwatch() { milliseconds_ += std::chrono::duration<double, std::milli>(Clock::now() - start_).count(); }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  double& milliseconds_;
  Clock::time_point start_ = Clock::now();
};

class Search {
 public:
  Search(const Storage& storage, const SearchRequest& request) : storage_(storage), request_(request) {
    check(storage, request);
    result_.plan.mode = request.mode;
  }

  SearchResult run() && {
    select();
    if (request_.lexical != nullptr && request_.mode != Mode::kDense) read_query();
    switch (request_.mode) {
      case Mode::kDense: find_dense(); break;
      case Mode::kLexical: find_lexical(); break;
      case Mode::kHybrid: find_hybrid(); break;
    }
    judge();
    return std::move(result_);
  }

 private:
  /// Evaluates the filter before the search.
  void select() {
    if (request_.filter == nullptr) return;
    const Stopwatch stopwatch(result_.times.filter);
    result_.matching = matching_rows(*request_.filter, storage_, request_.work.cancel);
    selected_ = &result_.matching->rows;
    result_.plan.matched = selected_->count();
  }

  /// Resolves a query with operators. Its required and excluded clauses restrict both legs.
  void read_query() {
    const LexicalOptions& options = *request_.lexical;
    texts_.emplace(storage_, options, request_.work);
    extended_.emplace(texts_->texts(), request_.text, options.query, selected_, request_.work);
  }

  std::vector<Scored> dense_leg(std::size_t depth) {
    const Stopwatch stopwatch(result_.times.dense);
    vector::SearchOptions options;
    options.k = std::min(depth, storage_.size());
    options.ef = request_.ef;
    options.usual_ef = usual_ef(depth);
    options.filter = selected_;
    if (selected_ != nullptr) options.filter_in_cell_order = &result_.matching->rows_in_cell_order;
    if (extended_ && extended_->allowed() != nullptr) {
      options.filter = extended_->allowed();
      options.filter_in_cell_order = nullptr;
    }
    options.path = request_.exact ? vector::SearchPath::kExact : vector::SearchPath::kAuto;
    options.work = request_.work;
    vector::SearchResult found = storage_.vectors()->search(request_.query, options);
    StoragePlan& plan = result_.plan;
    plan.dense = true;
    plan.dense_path = found.plan.path;
    plan.dense_exact = found.plan.exact;
    plan.dense_visited = found.plan.visited;
    if (request_.threshold) {
      std::erase_if(found.hits, [this](const Scored& hit) { return hit.score > *request_.threshold; });
    }
    return std::move(found.hits);
  }

  /// Returns a width that finds the first top_k as well as a dense search does. Below top_k, ranks hardly matter in the
  /// fusion, and the graph search takes half of the time, so the depth is wide enough. With a filter 0, the index's
  /// own.
  std::size_t usual_ef(std::size_t depth) const noexcept {
    if (selected_ != nullptr || (extended_ && extended_->allowed() != nullptr)) return 0;
    return std::max(vector::default_ef(request_.top_k), std::min(depth, vector::kMaxEf));
  }

  std::vector<Scored> extended_leg(std::size_t depth) {
    StoragePlan& plan = result_.plan;
    plan.lexical = true;
    plan.lexical_tokens = extended_->tokens();
    plan.lexical_terms = extended_->terms();
    plan.lexical_scored = extended_->scored();
    return extended_->search(depth);
  }

  std::vector<Scored> lexical_leg(std::size_t depth) {
    const Stopwatch stopwatch(result_.times.lexical);
    if (extended_) return extended_leg(depth);
    const text::TextQuery& query = text_query();
    text::TextSearchPlan found;
    std::vector<Scored> hits = query.search({std::min(depth, storage_.size()), selected_, request_.work.cancel}, found);
    StoragePlan& plan = result_.plan;
    plan.lexical = true;
    for (const text::QueryTerm& term : query.terms()) {
      plan.lexical_tokens += term.occurrences;
      plan.lexical_terms += term.documents > 0 ? 1 : 0;
    }
    plan.lexical_scored = static_cast<std::size_t>(found.documents_scored);
    return hits;
  }

  const text::TextQuery& text_query() {
    if (!text_query_) text_query_.emplace(*storage_.text_index(), request_.text, request_.work.cancel);
    return *text_query_;
  }

  /// Reduces text_query() to the words without operators and excluded clauses.
  void read_plain_text() {
    text_query_.emplace(*storage_.text_index(), text::plain_text(request_.text), request_.work.cancel);
  }

  void find_dense() {
    std::uint32_t rank = 0;
    for (const Scored& found : dense_leg(request_.top_k)) {
      Hit hit{};
      hit.ordinal = found.ordinal;
      hit.score = 1.0 - static_cast<double>(found.score);
      hit.distance = found.score;
      hit.dense_rank = ++rank;
      result_.hits.push_back(hit);
    }
    if (!result_.hits.empty()) best_cosine_ = result_.hits.front().score;
  }

  void find_lexical() {
    std::uint32_t rank = 0;
    for (const Scored& found : lexical_leg(request_.top_k)) {
      Hit hit{};
      hit.ordinal = found.ordinal;
      hit.score = found.score;
      hit.bm25_score = found.score;
      hit.lexical_rank = ++rank;
      result_.hits.push_back(hit);
    }
    if (!result_.hits.empty()) best_bm25_ = result_.hits.front().score;
  }

  void find_hybrid() {
    const std::size_t depth = leg_depth(request_);
    const bool by_scores = request_.fusion == Fusion::kScores;
    std::vector<Scored> dense;
    std::vector<Scored> lexical;
    std::vector<std::function<void()>> legs;
    if ((by_scores ? request_.dense_weight : request_.rrf.dense_weight) > 0) {
      legs.push_back([&] { dense = dense_leg(depth); });
    }
    if (by_scores ? request_.dense_weight < 1 : request_.rrf.lexical_weight > 0) {
      legs.push_back([&] { lexical = lexical_leg(depth); });
    }
    // Runs the legs in parallel if a thread is available; they write different fields of the result.
    parallel_for(request_.work, legs.size(), 1, [&](std::size_t leg, std::size_t, std::size_t) { legs[leg](); });
    const Stopwatch stopwatch(result_.times.fusion);
    if (!dense.empty()) best_cosine_ = 1.0 - static_cast<double>(dense.front().score);
    if (!lexical.empty()) best_bm25_ = static_cast<double>(lexical.front().score);
    next_cosine_ = 1.0 - static_cast<double>(first_other(dense, 2));
    next_bm25_ = static_cast<double>(first_other(lexical, 0));
    if (by_scores) {
      fuse_scores(dense, lexical, depth);
    } else {
      fuse_ranks(dense, lexical);
    }
    complete(&Hit::distance, &Search::score_distances);
    complete(&Hit::bm25_score, &Search::score_words);
  }

  /// Returns the first score of a leg that differs from its best score, or `none`.
  static float first_other(std::span<const Scored> leg, float none) noexcept {
    for (const Scored& found : leg) {
      if (std::fabs(found.score - leg.front().score) > kSameScore) return found.score;
    }
    return none;
  }

  void fuse_ranks(std::span<const Scored> dense, std::span<const Scored> lexical) {
    for (const Fused& fused : fuse(dense, lexical, request_.rrf, request_.top_k)) {
      Hit hit{};
      hit.ordinal = fused.ordinal;
      hit.score = fused.score;
      hit.dense_rank = fused.dense_rank;
      hit.lexical_rank = fused.lexical_rank;
      if (fused.dense_rank) hit.distance = dense[*fused.dense_rank - 1].score;
      if (fused.lexical_rank) hit.bm25_score = lexical[*fused.lexical_rank - 1].score;
      result_.hits.push_back(hit);
    }
  }

  void fuse_scores(std::span<const Scored> dense, std::span<const Scored> lexical, std::size_t depth) {
    const ScoredLeg by_meaning{dense, [this](Ordinals ordinals, Scores scores) { score_distances(ordinals, scores); }};
    const ScoredLeg by_words{lexical, [this](Ordinals ordinals, Scores scores) { score_words(ordinals, scores); }};
    ScoreFusion fusion;
    const double weight = request_.dense_weight;
    fusion.dense_weight = request_.adapt_weight && weight > 0 && weight < 1 ? adapted_weight(weight, dense) : weight;
    if (fusion.dense_weight > 0) fusion.background = background().mean;
    // A leg that found fewer records than it may has found every record with a word of the query.
    if (lexical.size() >= depth) fusion.lexical_bound = static_cast<double>(lexical.back().score);
    // A phrase or a sign excludes records from the leg, whatever their scores.
    if (extended_) fusion.lexical_bound = std::numeric_limits<double>::infinity();
    result_.plan.dense_weight = fusion.dense_weight;
    for (const FusedByScore& fused : fuse_by_score(by_meaning, by_words, fusion, request_.top_k)) {
      Hit hit{};
      hit.ordinal = fused.ordinal;
      hit.score = fused.score;
      hit.dense_rank = fused.dense_rank;
      hit.lexical_rank = fused.lexical_rank;
      if (!std::isnan(fused.distance)) hit.distance = fused.distance;
      if (!std::isnan(fused.bm25)) hit.bm25_score = fused.bm25;
      hit.dense_score = fused.dense;
      hit.lexical_score = fused.lexical;
      result_.hits.push_back(hit);
    }
  }

  void score_distances(Ordinals ordinals, Scores distances) {
    storage_.vectors()->score(request_.query, ordinals, distances);
  }

  void score_words(Ordinals ordinals, Scores scores) {
    if (extended_) return extended_->score(ordinals, scores);
    text_query().score(ordinals, scores);
  }

  const Background& background() {
    if (!background_) background_ = storage_.background().of(request_.query);
    return *background_;
  }

  /// Sets the hits' relevance and drops those below min_score.
  void judge() {
    if (result_.hits.empty()) return;
    RelevanceScale scale;
    scale.mode = request_.mode;
    scale.calibration = request_.calibration;
    if (request_.mode != Mode::kLexical) {
      scale.background = background();
      result_.floor = scale.background.floor;
    }
    const bool has_text = request_.mode != Mode::kDense || (!request_.text.empty() && storage_.text_index() != nullptr);
    if (has_text) {
      if (extended_ && request_.lexical->query.syntax) read_plain_text();
      scale.bm25_limit = text_query().limit();
      scale.words = text_query().terms().size();
    }
    scale.best_cosine = best_cosine_;
    scale.best_bm25 = best_bm25_;
    for (const Hit& hit : result_.hits) {
      if (hit.distance) scale.best_cosine = std::max(scale.best_cosine, 1.0 - static_cast<double>(*hit.distance));
      if (hit.bm25_score) scale.best_bm25 = std::max(scale.best_bm25, static_cast<double>(*hit.bm25_score));
    }
    scale.next_cosine = std::max(next_cosine_, scale.background.mean);
    scale.next_bm25 = next_bm25_;
    const bool apart = has_text && request_.mode == Mode::kDense;
    const std::vector<float> bm25 = apart ? word_scores() : std::vector<float>(result_.hits.size());
    for (std::size_t i = 0; i < result_.hits.size(); ++i) {
      Hit& hit = result_.hits[i];
      hit.relevance = relevance_of(scale, hit.distance.value_or(2), hit.bm25_score.value_or(bm25[i]));
    }
    if (!request_.min_score) return;
    std::erase_if(result_.hits, [this](const Hit& hit) { return hit.relevance < *request_.min_score; });
  }

  /// Returns the BM25 scores of the hits.
  std::vector<float> word_scores() {
    std::vector<std::uint32_t> ordinals;
    for (const Hit& hit : result_.hits) ordinals.push_back(hit.ordinal);
    std::vector<float> scores(ordinals.size());
    text_query().score(ordinals, scores);
    return scores;
  }

  /// Adds the raw score of a leg to hits that only the other leg found.
  void complete(std::optional<float> Hit::* value, void (Search::*score)(Ordinals, Scores)) {
    std::vector<std::uint32_t> ordinals;
    for (const Hit& hit : result_.hits) {
      if (!(hit.*value)) ordinals.push_back(hit.ordinal);
    }
    if (ordinals.empty()) return;
    std::vector<float> scores(ordinals.size());
    (this->*score)(ordinals, scores);
    auto next = scores.begin();
    for (Hit& hit : result_.hits) {
      if (!(hit.*value)) hit.*value = *next++;
    }
  }

  const Storage& storage_;
  const SearchRequest& request_;
  const Bitmap* selected_ = nullptr;  // the matching records; null: all
  std::optional<text::TextQuery> text_query_;
  std::optional<LexicalTexts> texts_;  // of extended_
  std::optional<text::ExtendedSearch> extended_;
  std::optional<Background> background_;
  double best_cosine_ = -1;  // of the dense leg
  double best_bm25_ = 0;     // of the lexical leg
  double next_cosine_ = -1;  // of a hybrid search: the greatest below the best, so that copies of a record do not count
  double next_bm25_ = 0;
  SearchResult result_;
};

}  // namespace

std::size_t leg_depth(const SearchRequest& request) noexcept {
  const std::size_t wanted = request.rrf.candidates;
  return std::max(request.top_k, wanted != 0 ? wanted : std::max(kMinCandidates, kCandidatesPerHit * request.top_k));
}

SearchResult Storage::search(const SearchRequest& request) const {
  return Search(*this, request).run();
}

}  // namespace lorekeep::store
