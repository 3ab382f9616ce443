// Storage::search(): checks a request, runs its legs and returns the hits.
#include "store/search.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

#include "core/values/error.h"
#include "store/search/stages.h"
#include "store/storage.h"

namespace lorekeep::store {
namespace {

constexpr std::size_t kMinCandidates = 50;
constexpr std::size_t kCandidatesPerHit = 4;
constexpr double kMaxFeedback = 2;

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
  if (request.min_best && !(*request.min_best >= 0 && *request.min_best <= 1)) {
    refuse("min_best", "a number from 0 to 1 is expected");
  }
  for (const std::optional<double>& least : {request.min_dense, request.min_lexical}) {
    if (least && !(*least >= 0 && *least <= 1)) refuse("min_by_leg", "numbers from 0 to 1 are expected");
  }
  if (!(request.feedback >= 0 && request.feedback <= kMaxFeedback))
    refuse("feedback", "a number from 0 to 2 is expected");
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

/// Whether a lexical search found all that it asked for, however long the record is in which the words stand.
bool has_all_words(Query& query, std::span<const Hit> hits) {
  constexpr std::size_t kMostHits = 10;
  if (query.request().mode != Mode::kLexical) return false;
  const auto first = hits.first(std::min(hits.size(), kMostHits));
  return std::ranges::any_of(first, [&](const Hit& hit) { return query.plain_words().all_words_in(hit.ordinal); });
}

/// Whether none of the first `top_k` hits, which are judged, is as relevant as the request wants the best one to be.
bool nothing_relevant(Query& query, std::span<const Hit> hits, const BestScores& best) {
  const SearchRequest& request = query.request();
  const auto shown = hits.first(std::min(hits.size(), request.top_k));
  const bool by_legs = request.mode == Mode::kHybrid && (request.min_dense || request.min_lexical);
  if (by_legs && !found_by_a_leg(query, shown, best)) return true;
  return request.min_best &&
         std::ranges::none_of(shown, [&](const Hit& hit) { return hit.relevance >= *request.min_best; }) &&
         !has_all_words(query, shown);
}

StoragePlan plan_of(const Query& query, const Legs& legs, const Ranking& ranking) {
  StoragePlan plan;
  plan.mode = query.request().mode;
  if (query.matching()) plan.matched = query.matching()->count();
  if (legs.dense) {
    plan.dense = true;
    plan.dense_path = legs.dense->plan.path;
    plan.dense_exact = legs.dense->plan.exact;
    plan.dense_visited = legs.dense->plan.visited;
  }
  if (legs.lexical) {
    plan.lexical = true;
    plan.lexical_tokens = legs.lexical->tokens;
    plan.lexical_terms = legs.lexical->terms;
    plan.lexical_scored = legs.lexical->scored;
  }
  plan.dense_weight = ranking.dense_weight;
  return plan;
}

SearchResult search_stages(const Storage& storage, const SearchRequest& request) {
  check(storage, request);
  Query query(storage, request);
  const Legs legs = query.run();
  const bool fed = wants_feedback(request, legs);
  Ranking ranking = fuse(query, legs, fed ? std::max(request.top_k, kFeedbackHits) : request.top_k);
  SearchResult result;
  result.floor = judge(query, ranking.hits, ranking.best);
  std::optional<Feedback> feedback;
  // Feedback changes the order of hits, not whether there are any.
  if (nothing_relevant(query, ranking.hits, ranking.best)) {
    ranking.hits.clear();
  } else if (fed && !ranking.hits.empty()) {
    feedback = feed_back(query, legs, ranking);
    judge(query, ranking.hits, ranking.best);
  }
  if (request.min_score) {
    std::erase_if(ranking.hits, [&](const Hit& hit) { return hit.relevance < *request.min_score; });
  }
  result.plan = plan_of(query, legs, ranking);
  if (feedback) {
    result.plan.feedback = feedback->weight;
    result.plan.feedback_added = feedback->added;
  }
  result.times = {query.filter_ms(), legs.dense ? legs.dense->ms : 0, legs.lexical ? legs.lexical->ms : 0, ranking.ms};
  result.matching = query.matching();
  result.hits = std::move(ranking.hits);
  for (Hit& hit : result.hits) {
    hit.row = hit.ordinal;
    hit.ordinal = storage.ordinal_of(hit.row);
  }
  return result;
}

}  // namespace

std::size_t leg_depth(const SearchRequest& request) noexcept {
  const std::size_t wanted = request.rrf.candidates;
  return std::max(request.top_k, wanted != 0 ? wanted : std::max(kMinCandidates, kCandidatesPerHit * request.top_k));
}

SearchResult Storage::search(const SearchRequest& request) const {
  return blaming([this] { check_files(); }, [&] { return search_stages(*this, request); });
}

}  // namespace lorekeep::store
