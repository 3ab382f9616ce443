#include "naive_search.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace lorekeep::store {
namespace {

NaiveLeg make_leg(const std::vector<Scored>& ranking, std::size_t depth,
                  const std::function<bool(const Scored&)>& keep) {
  NaiveLeg leg;
  for (const Scored& scored : ranking) {
    if (leg.size() < depth && keep(scored))
      leg[scored.ordinal] = {static_cast<std::uint32_t>(leg.size() + 1), scored.score};
  }
  return leg;
}

double share(const NaiveLeg& leg, std::uint32_t ordinal, double weight, double k) {
  const auto found = leg.find(ordinal);
  return found == leg.end() ? 0 : weight / (k + found->second.first);
}

/// Scores every candidate by the formula of score_fusion.h, with all raw scores. `distances`: of the candidates.
void fuse_scores(const SearchRequest& request, double background, const std::map<std::uint32_t, float>& distances,
                 std::vector<Hit>& hits) {
  const auto cosine_of = [&](const Hit& hit) { return 1.0 - static_cast<double>(distances.at(hit.ordinal)); };
  double best_cosine = -1;
  double best_bm25 = 0;
  for (const Hit& hit : hits) {
    best_cosine = std::max(best_cosine, cosine_of(hit));
    best_bm25 = std::max(best_bm25, static_cast<double>(*hit.bm25_score));
  }
  const double weight = request.dense_weight;
  for (Hit& hit : hits) {
    const double fall = best_cosine - cosine_of(hit);
    const double dense = 1 - fall / std::max(1 - background, 0.05);
    hit.dense_score = weight == 0 ? 0 : std::clamp(dense, 0.0, 1.0);
    hit.lexical_score = weight == 1 || best_bm25 == 0 ? 0 : static_cast<double>(*hit.bm25_score) / best_bm25;
    hit.score = weight * *hit.dense_score + (1 - weight) * *hit.lexical_score;
  }
}

void sort_by_score(std::vector<Hit>& hits) {
  std::stable_sort(hits.begin(), hits.end(), [](const Hit& a, const Hit& b) { return a.score > b.score; });
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
  NaiveLeg dense;
  NaiveLeg lexical;
  const bool hybrid = request.mode == Mode::kHybrid;
  const bool by_scores = hybrid && request.fusion == Fusion::kScores;
  double background = 0;
  if (request.mode != Mode::kLexical) {
    const auto ranking = vectors_->search(request.query, all).hits;
    for (const Scored& scored : ranking) distances[scored.ordinal] = scored.score;
    background = background_of(distances);
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
  if (by_scores) fuse_scores(request, background, distances, hits);
  sort_by_score(hits);
  if (hybrid && request.feedback > 0 && !hits.empty() && (!by_scores || request.dense_weight > 0)) {
    feed_back(request, hits, dense, lexical);
  }
  hits.resize(std::min(hits.size(), request.top_k));
  return hits;
}

double NaiveSearch::background_of(const std::map<std::uint32_t, float>& distances) const {
  const std::size_t sampled = std::min<std::size_t>(size_, 64);
  double sum = 0;
  for (std::size_t i = 0; i < sampled; ++i) {
    sum += 1.0 - static_cast<double>(distances.at(static_cast<std::uint32_t>(i * size_ / sampled)));
  }
  return sum / static_cast<double>(sampled);
}

void NaiveSearch::feed_back(const SearchRequest& request, std::vector<Hit>& hits, const NaiveLeg& dense,
                            const NaiveLeg& lexical) const {
  double square = 0;
  for (const float value : request.query) square += static_cast<double>(value) * static_cast<double>(value);
  double scores = 0;
  const std::size_t used = std::min<std::size_t>(2, hits.size());
  for (std::size_t i = 0; i < used; ++i) scores += hits[i].score;
  std::vector<float> moved;
  for (std::size_t at = 0; at < request.query.size(); ++at) {
    double value = static_cast<double>(request.query[at]) / (square > 0 ? std::sqrt(square) : 1);
    for (std::size_t i = 0; i < used; ++i) {
      const double share = scores > 0 ? hits[i].score / scores : 1.0 / static_cast<double>(used);
      value += request.feedback * share * static_cast<double>(vectors_->row(hits[i].ordinal)[at]);
    }
    moved.push_back(static_cast<float>(value));
  }
  vector::SearchOptions all;
  all.k = size_;
  std::map<std::uint32_t, float> distances;
  NaiveLeg reordered;
  for (const Scored& scored : vectors_->search(moved, all).hits) {
    distances[scored.ordinal] = scored.score;
    if (dense.contains(scored.ordinal)) {
      reordered[scored.ordinal] = {static_cast<std::uint32_t>(reordered.size() + 1), scored.score};
    }
  }
  for (Hit& hit : hits) {
    if (hit.dense_rank) hit.dense_rank = reordered.at(hit.ordinal).first;
    hit.score = share(reordered, hit.ordinal, request.rrf.dense_weight, request.rrf.k) +
                share(lexical, hit.ordinal, request.rrf.lexical_weight, request.rrf.k);
  }
  std::ranges::sort(hits, {}, &Hit::ordinal);
  if (request.fusion == Fusion::kScores) fuse_scores(request, background_of(distances), distances, hits);
  sort_by_score(hits);
}

}  // namespace lorekeep::store
