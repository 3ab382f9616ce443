#include "store/search/stages.h"

#include <cmath>
#include <limits>

#include "store/fusion.h"
#include "store/score_fusion.h"

namespace lorekeep::store {
namespace {

/// Largest difference between the scores of copies of a text.
constexpr float kSameScore = 1e-5f;

double cosine_of(const Scored& hit) noexcept {
  return 1.0 - static_cast<double>(hit.score);
}

Hit hit_of(std::uint32_t ordinal, double score) {
  Hit hit{};
  hit.ordinal = ordinal;
  hit.score = score;
  return hit;
}

Ranking rank_dense(const DenseLeg& leg) {
  Ranking ranking;
  for (const Scored& found : leg.hits) {
    Hit& hit = ranking.hits.emplace_back(hit_of(found.ordinal, cosine_of(found)));
    hit.distance = found.score;
    hit.dense_rank = static_cast<std::uint32_t>(ranking.hits.size());
  }
  if (!ranking.hits.empty()) ranking.best.cosine = ranking.hits.front().score;
  return ranking;
}

Ranking rank_lexical(const LexicalLeg& leg) {
  Ranking ranking;
  for (const Scored& found : leg.hits) {
    Hit& hit = ranking.hits.emplace_back(hit_of(found.ordinal, found.score));
    hit.bm25_score = found.score;
    hit.lexical_rank = static_cast<std::uint32_t>(ranking.hits.size());
  }
  if (!ranking.hits.empty()) ranking.best.bm25 = ranking.hits.front().score;
  return ranking;
}

/// `fused`: a Fused or a FusedByScore.
Hit fused_hit(const auto& fused) {
  Hit hit = hit_of(fused.ordinal, fused.score);
  hit.dense_rank = fused.dense_rank;
  hit.lexical_rank = fused.lexical_rank;
  return hit;
}

std::vector<Hit> fuse_ranks(const SearchRequest& request, std::span<const Scored> dense,
                            std::span<const Scored> lexical) {
  std::vector<Hit> hits;
  for (const Fused& fused : fuse(dense, lexical, request.rrf, request.top_k)) {
    Hit hit = fused_hit(fused);
    if (fused.dense_rank) hit.distance = dense[*fused.dense_rank - 1].score;
    if (fused.lexical_rank) hit.bm25_score = lexical[*fused.lexical_rank - 1].score;
    hits.push_back(hit);
  }
  return hits;
}

ScoreFusion score_fusion(Query& query, std::span<const Scored> dense, std::span<const Scored> lexical) {
  const SearchRequest& request = query.request();
  ScoreFusion fusion;
  const double weight = request.dense_weight;
  fusion.dense_weight = request.adapt_weight && weight > 0 && weight < 1 ? adapted_weight(weight, dense) : weight;
  if (fusion.dense_weight > 0) fusion.background = query.background().mean;
  // A leg that found fewer records than it may has found every record with a word of the query.
  if (lexical.size() >= leg_depth(request)) fusion.lexical_bound = static_cast<double>(lexical.back().score);
  if (query.has_clauses()) fusion.lexical_bound = std::numeric_limits<double>::infinity();
  return fusion;
}

std::vector<Hit> fuse_scores(Query& query, std::span<const Scored> dense, std::span<const Scored> lexical,
                             const ScoreFusion& fusion) {
  const ScoredLeg by_meaning{dense, [&](Ordinals ordinals, Scores out) { query.score_distances(ordinals, out); }};
  const ScoredLeg by_words{lexical, [&](Ordinals ordinals, Scores out) { query.score_words(ordinals, out); }};
  std::vector<Hit> hits;
  for (const FusedByScore& fused : fuse_by_score(by_meaning, by_words, fusion, query.request().top_k)) {
    Hit hit = fused_hit(fused);
    if (!std::isnan(fused.distance)) hit.distance = fused.distance;
    if (!std::isnan(fused.bm25)) hit.bm25_score = fused.bm25;
    hit.dense_score = fused.dense;
    hit.lexical_score = fused.lexical;
    hits.push_back(hit);
  }
  return hits;
}

/// Adds the raw score of a leg to hits that only the other leg found.
template <class Score>
void complete(std::vector<Hit>& hits, std::optional<float> Hit::* value, Score score) {
  std::vector<std::uint32_t> ordinals;
  for (const Hit& hit : hits) {
    if (!(hit.*value)) ordinals.push_back(hit.ordinal);
  }
  if (ordinals.empty()) return;
  std::vector<float> scores(ordinals.size());
  score(ordinals, scores);
  auto next = scores.begin();
  for (Hit& hit : hits) {
    if (!(hit.*value)) hit.*value = *next++;
  }
}

/// Returns the first score of a leg that differs from its best score, or `none`.
float first_other(std::span<const Scored> leg, float none) noexcept {
  for (const Scored& found : leg) {
    if (std::fabs(found.score - leg.front().score) > kSameScore) return found.score;
  }
  return none;
}

BestScores best_scores(std::span<const Scored> dense, std::span<const Scored> lexical) noexcept {
  BestScores best;
  if (!dense.empty()) best.cosine = cosine_of(dense.front());
  if (!lexical.empty()) best.bm25 = static_cast<double>(lexical.front().score);
  best.next_cosine = 1.0 - static_cast<double>(first_other(dense, 2));
  best.next_bm25 = static_cast<double>(first_other(lexical, 0));
  return best;
}

Ranking fuse_both(Query& query, std::span<const Scored> dense, std::span<const Scored> lexical) {
  Ranking ranking;
  const Stopwatch stopwatch;
  ranking.best = best_scores(dense, lexical);
  if (query.request().fusion == Fusion::kScores) {
    const ScoreFusion fusion = score_fusion(query, dense, lexical);
    ranking.dense_weight = fusion.dense_weight;
    ranking.hits = fuse_scores(query, dense, lexical, fusion);
  } else {
    ranking.hits = fuse_ranks(query.request(), dense, lexical);
  }
  complete(ranking.hits, &Hit::distance, [&](Ordinals of, Scores out) { query.score_distances(of, out); });
  complete(ranking.hits, &Hit::bm25_score, [&](Ordinals of, Scores out) { query.score_words(of, out); });
  ranking.ms = stopwatch.ms();
  return ranking;
}

}  // namespace

Ranking fuse(Query& query, const Legs& legs) {
  const Mode mode = query.request().mode;
  if (mode == Mode::kDense) return rank_dense(*legs.dense);
  if (mode == Mode::kLexical) return rank_lexical(*legs.lexical);
  return fuse_both(query, legs.dense ? legs.dense->hits : std::span<const Scored>(),
                   legs.lexical ? legs.lexical->hits : std::span<const Scored>());
}

}  // namespace lorekeep::store
