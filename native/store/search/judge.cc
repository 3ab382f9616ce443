#include "store/search/stages.h"

#include <algorithm>
#include <cmath>

#include "store/relevance.h"

namespace lorekeep::store {
namespace {

/// Whether the words of the query tell something about the hits.
bool has_words(const Query& query) noexcept {
  const SearchRequest& request = query.request();
  return request.mode != Mode::kDense || (!request.text.empty() && query.storage().text_index() != nullptr);
}

RelevanceScale scale_of(Query& query, std::span<const Hit> hits, const BestScores& best) {
  RelevanceScale scale;
  scale.mode = query.request().mode;
  scale.calibration = query.request().calibration;
  if (scale.mode != Mode::kLexical) scale.background = query.meaning().background();
  if (has_words(query)) {
    scale.bm25_limit = query.plain_words().limit();
    scale.words = query.plain_words().terms().size();
  }
  scale.best_cosine = best.cosine;
  scale.best_bm25 = best.bm25;
  for (const Hit& hit : hits) {
    if (hit.distance) scale.best_cosine = std::max(scale.best_cosine, 1.0 - static_cast<double>(*hit.distance));
    if (hit.bm25_score) scale.best_bm25 = std::max(scale.best_bm25, static_cast<double>(*hit.bm25_score));
  }
  scale.next_cosine = std::max(best.next_cosine, scale.background.mean);
  scale.next_bm25 = best.next_bm25;
  return scale;
}

/// Returns the BM25 scores of the hits of a dense search; 0 for others, which know theirs.
std::vector<float> word_scores(Query& query, const std::vector<Hit>& hits) {
  std::vector<float> scores(hits.size());
  if (query.request().mode != Mode::kDense || !has_words(query)) return scores;
  std::vector<std::uint32_t> ordinals;
  for (const Hit& hit : hits) ordinals.push_back(hit.ordinal);
  query.score_words(ordinals, scores);
  return scores;
}

}  // namespace

std::optional<double> judge(Query& query, std::vector<Hit>& hits, const BestScores& best) {
  if (hits.empty()) return std::nullopt;
  const RelevanceScale scale = scale_of(query, hits, best);
  const std::vector<float> bm25 = word_scores(query, hits);
  for (std::size_t i = 0; i < hits.size(); ++i) {
    hits[i].relevance = relevance_of(scale, hits[i].distance.value_or(2), hits[i].bm25_score.value_or(bm25[i]));
  }
  if (scale.mode == Mode::kLexical) return std::nullopt;
  return scale.background.floor;
}

namespace {

/// A limit that nonsense reaches among all records, for the ones that match a filter: the best of few is less relevant.
/// In collections of 3 to 1,000 records, the odds that nonsense reaches grow by about this power of their number.
double limit_among(double limit, double share_of_records) noexcept {
  constexpr double kGrowth = 0.3;
  const double odds = limit * std::pow(share_of_records, kGrowth);
  return odds / (odds + 1 - limit);
}

}  // namespace

bool found_by_a_leg(Query& query, std::span<const Hit> hits, const BestScores& best) {
  const SearchRequest& request = query.request();
  RelevanceScale scale = scale_of(query, hits, best);
  scale.calibration = {};
  const auto all = static_cast<double>(std::max<std::size_t>(query.storage().size(), 1));
  const double share = query.matching() ? static_cast<double>(query.matching()->count()) / all : 1;
  const auto found = [&](Mode leg, const std::optional<double>& least) {
    scale.mode = leg;
    const double limit = limit_among(least.value_or(1), std::min(share, 1.0));
    return least && std::ranges::any_of(hits, [&](const Hit& hit) {
             const float bm25 = hit.bm25_score.value_or(0);
             // The words alone do not find a record without any of them.
             if (leg == Mode::kLexical && bm25 <= 0) return false;
             return relevance_of(scale, hit.distance.value_or(2), bm25) >= limit;
           });
  };
  return found(Mode::kDense, request.min_dense) || found(Mode::kLexical, request.min_lexical);
}

}  // namespace lorekeep::store
