#include "store/search/stages.h"

#include <algorithm>
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

/// What two legs found; the distances of the dense leg are those of `by`.
struct BothLegs {
  Meaning& by;
  std::span<const Scored> dense;
  std::span<const Scored> lexical;
};

std::vector<Hit> fuse_ranks(const SearchRequest& request, const BothLegs& legs, std::size_t count) {
  std::vector<Hit> hits;
  for (const Fused& fused : fuse(legs.dense, legs.lexical, request.rrf, count)) {
    Hit hit = fused_hit(fused);
    if (fused.dense_rank) hit.distance = legs.dense[*fused.dense_rank - 1].score;
    if (fused.lexical_rank) hit.bm25_score = legs.lexical[*fused.lexical_rank - 1].score;
    hits.push_back(hit);
  }
  return hits;
}

double weight_of(const SearchRequest& request, std::span<const Scored> dense) noexcept {
  const double weight = request.dense_weight;
  return request.adapt_weight && weight > 0 && weight < 1 ? adapted_weight(weight, dense) : weight;
}

ScoreFusion score_fusion(Query& query, const BothLegs& legs, double weight) {
  ScoreFusion fusion;
  fusion.dense_weight = weight;
  if (weight > 0) fusion.background = legs.by.background().mean;
  // A leg that found fewer records than it may has found every record with a word of the query.
  if (legs.lexical.size() >= leg_depth(query.request())) {
    fusion.lexical_bound = static_cast<double>(legs.lexical.back().score);
  }
  if (query.has_clauses()) fusion.lexical_bound = std::numeric_limits<double>::infinity();
  return fusion;
}

std::vector<Hit> fuse_scores(Query& query, const BothLegs& legs, double weight, std::size_t count) {
  const ScoredLeg by_meaning{legs.dense, [&](Ordinals of, Scores out) { legs.by.score(of, out); }};
  const ScoredLeg by_words{legs.lexical, [&](Ordinals of, Scores out) { query.score_words(of, out); }};
  std::vector<Hit> hits;
  for (const FusedByScore& fused : fuse_by_score(by_meaning, by_words, score_fusion(query, legs, weight), count)) {
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

/// Returns a dense leg in the order of another vector.
std::vector<Scored> rescored(std::span<const Scored> leg, const Meaning& by) {
  std::vector<std::uint32_t> ordinals;
  for (const Scored& hit : leg) ordinals.push_back(hit.ordinal);
  std::vector<float> distances(ordinals.size());
  by.score(ordinals, distances);
  std::vector<Scored> moved;
  for (std::size_t i = 0; i < ordinals.size(); ++i) moved.push_back({distances[i], ordinals[i]});
  std::sort(moved.begin(), moved.end(), NearestFirst());
  return moved;
}

/// Without the best scores. `weight`: of Fusion::kScores.
Ranking fuse_both(Query& query, const BothLegs& legs, std::optional<double> weight, std::size_t count) {
  Ranking ranking;
  ranking.dense_weight = weight;
  ranking.hits = weight ? fuse_scores(query, legs, *weight, count) : fuse_ranks(query.request(), legs, count);
  complete(ranking.hits, &Hit::bm25_score, [&](Ordinals of, Scores out) { query.score_words(of, out); });
  return ranking;
}

void complete_distances(Query& query, std::vector<Hit>& hits) {
  complete(hits, &Hit::distance, [&](Ordinals of, Scores out) { query.meaning().score(of, out); });
}

std::span<const Scored> hits_of(const auto& leg) noexcept {
  return leg ? leg->hits : std::span<const Scored>();
}

}  // namespace

Ranking fuse(Query& query, const Legs& legs, std::size_t count) {
  const SearchRequest& request = query.request();
  if (request.mode == Mode::kDense) return rank_dense(*legs.dense);
  if (request.mode == Mode::kLexical) return rank_lexical(*legs.lexical);
  const Stopwatch stopwatch;
  const BothLegs both{query.meaning(), hits_of(legs.dense), hits_of(legs.lexical)};
  std::optional<double> weight;
  if (request.fusion == Fusion::kScores) weight = weight_of(request, both.dense);
  Ranking ranking = fuse_both(query, both, weight, count);
  complete_distances(query, ranking.hits);
  ranking.best = best_scores(both.dense, both.lexical);
  ranking.ms = stopwatch.ms();
  return ranking;
}

Ranking fuse_again(Query& query, const Legs& legs, const Ranking& first, Meaning& by) {
  const Stopwatch stopwatch;
  const std::vector<Scored> dense = rescored(legs.dense->hits, by);
  const BothLegs both{by, dense, hits_of(legs.lexical)};
  Ranking ranking = fuse_both(query, both, first.dense_weight, query.request().top_k);
  for (Hit& hit : ranking.hits) hit.distance.reset();
  complete_distances(query, ranking.hits);
  ranking.best = first.best;
  ranking.ms = first.ms + stopwatch.ms();
  return ranking;
}

}  // namespace lorekeep::store
