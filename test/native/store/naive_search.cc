#include "naive_search.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace lorekeep::store {
namespace {

using Leg = std::map<std::uint32_t, std::pair<std::uint32_t, float>>;  // ordinal -> rank from 1, raw score

Leg make_leg(const std::vector<Scored>& ranking, std::size_t depth, const std::function<bool(const Scored&)>& keep) {
  Leg leg;
  for (const Scored& scored : ranking) {
    if (leg.size() < depth && keep(scored))
      leg[scored.ordinal] = {static_cast<std::uint32_t>(leg.size() + 1), scored.score};
  }
  return leg;
}

double share(const Leg& leg, std::uint32_t ordinal, double weight, double k) {
  const auto found = leg.find(ordinal);
  return found == leg.end() ? 0 : weight / (k + found->second.first);
}

/// Scores every candidate by the formula of score_fusion.h, with all raw scores.
void fuse_scores(const SearchRequest& request, double background, std::vector<Hit>& hits) {
  double best_cosine = -1;
  double best_bm25 = 0;
  for (const Hit& hit : hits) {
    best_cosine = std::max(best_cosine, 1.0 - static_cast<double>(*hit.distance));
    best_bm25 = std::max(best_bm25, static_cast<double>(*hit.bm25_score));
  }
  const double weight = request.dense_weight;
  for (Hit& hit : hits) {
    const double fall = best_cosine - (1.0 - static_cast<double>(*hit.distance));
    const double dense = 1 - fall / std::max(1 - background, 0.05);
    hit.dense_score = weight == 0 ? 0 : std::clamp(dense, 0.0, 1.0);
    hit.lexical_score = weight == 1 || best_bm25 == 0 ? 0 : static_cast<double>(*hit.bm25_score) / best_bm25;
    hit.score = weight * *hit.dense_score + (1 - weight) * *hit.lexical_score;
  }
}

}  // namespace

NaiveSearch::NaiveSearch(const Sample& sample)
    : size_(sample.size()),
      vectors_(vector::FlatIndex::build(sample.rows, sample.dimension)),
      words_(std::vector<std::string_view>(sample.texts.begin(), sample.texts.end()), text::Tokenizer::kBasic) {}

std::vector<Hit> NaiveSearch::search(const SearchRequest& request,
                                     const std::function<bool(std::uint32_t)>& matches) const {
  const std::size_t candidates =
      request.rrf.candidates != 0 ? request.rrf.candidates : std::max<std::size_t>(50, 4 * request.top_k);
  const bool hybrid = request.mode == Mode::kHybrid;
  return search_to_depth(request, hybrid ? std::max(candidates, request.top_k) : request.top_k, matches);
}

std::vector<Hit> NaiveSearch::search_to_depth(const SearchRequest& request, std::size_t depth,
                                              const std::function<bool(std::uint32_t)>& matches) const {
  vector::SearchOptions all;
  all.k = size_;
  std::map<std::uint32_t, float> distances;
  std::map<std::uint32_t, float> scores;
  Leg dense;
  Leg lexical;
  const bool hybrid = request.mode == Mode::kHybrid;
  const bool by_scores = hybrid && request.fusion == Fusion::kScores;
  double background = 0;
  if (request.mode != Mode::kLexical) {
    const std::size_t sampled = std::min<std::size_t>(size_, 64);
    const auto ranking = vectors_->search(request.query, all).hits;
    for (const Scored& scored : ranking) distances[scored.ordinal] = scored.score;
    for (std::size_t i = 0; i < sampled; ++i) {
      background += (1.0 - static_cast<double>(distances[static_cast<std::uint32_t>(i * size_ / sampled)]));
    }
    background /= static_cast<double>(sampled);
    dense = make_leg(ranking, depth, [&](const Scored& scored) {
      return matches(scored.ordinal) && (!request.threshold || scored.score <= *request.threshold);
    });
  }
  if (request.mode != Mode::kDense) {
    const auto ranking = words_.search(request.text, size_);
    for (const Scored& scored : ranking) scores[scored.ordinal] = scored.score;
    lexical = make_leg(ranking, depth, [&](const Scored& scored) { return matches(scored.ordinal); });
  }

  if (by_scores && request.dense_weight == 0) dense.clear();
  if (by_scores && request.dense_weight == 1) lexical.clear();
  std::vector<Hit> hits;
  for (std::uint32_t ordinal = 0; ordinal < size_; ++ordinal) {
    if (!dense.contains(ordinal) && !lexical.contains(ordinal)) continue;
    Hit hit{};
    hit.ordinal = ordinal;
    if (dense.contains(ordinal)) hit.dense_rank = dense[ordinal].first;
    if (lexical.contains(ordinal)) hit.lexical_rank = lexical[ordinal].first;
    if (request.mode != Mode::kLexical) hit.distance = distances[ordinal];
    if (request.mode != Mode::kDense) hit.bm25_score = scores[ordinal];
    hit.score = request.mode == Mode::kDense ? 1.0 - *hit.distance
                : request.mode == Mode::kLexical
                    ? *hit.bm25_score
                    : share(dense, ordinal, request.rrf.dense_weight, request.rrf.k) +
                          share(lexical, ordinal, request.rrf.lexical_weight, request.rrf.k);
    hits.push_back(hit);
  }
  if (by_scores) fuse_scores(request, background, hits);
  std::stable_sort(hits.begin(), hits.end(), [](const Hit& a, const Hit& b) { return a.score > b.score; });
  hits.resize(std::min(hits.size(), request.top_k));
  return hits;
}

}  // namespace lorekeep::store
