#include "naive_search.h"

#include <algorithm>
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

}  // namespace

NaiveSearch::NaiveSearch(const Sample& sample)
    : size_(sample.size()),
      vectors_(vector::FlatIndex::build(sample.rows, sample.dimension)),
      words_(std::vector<std::string_view>(sample.texts.begin(), sample.texts.end()), text::Tokenizer::kBasic) {}

std::vector<Hit> NaiveSearch::search(const SearchRequest& request,
                                     const std::function<bool(std::uint32_t)>& matches) const {
  vector::SearchOptions all;
  all.k = size_;
  std::map<std::uint32_t, float> distances;
  std::map<std::uint32_t, float> scores;
  Leg dense;
  Leg lexical;
  const bool hybrid = request.mode == Mode::kHybrid;
  const std::size_t candidates =
      request.rrf.candidates != 0 ? request.rrf.candidates : std::max<std::size_t>(50, 4 * request.top_k);
  const std::size_t depth = hybrid ? std::max(candidates, request.top_k) : request.top_k;
  if (request.mode != Mode::kLexical) {
    const auto ranking = vectors_->search(request.query, all).hits;
    for (const Scored& scored : ranking) distances[scored.ordinal] = scored.score;
    dense = make_leg(ranking, depth, [&](const Scored& scored) {
      return matches(scored.ordinal) && (!request.threshold || scored.score <= *request.threshold);
    });
  }
  if (request.mode != Mode::kDense) {
    const auto ranking = words_.search(request.text, size_);
    for (const Scored& scored : ranking) scores[scored.ordinal] = scored.score;
    lexical = make_leg(ranking, depth, [&](const Scored& scored) { return matches(scored.ordinal); });
  }

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
  std::stable_sort(hits.begin(), hits.end(), [](const Hit& a, const Hit& b) { return a.score > b.score; });
  hits.resize(std::min(hits.size(), request.top_k));
  return hits;
}

}  // namespace lorekeep::store
