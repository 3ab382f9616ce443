// Feedback: the best hits move the query's vector. The candidates stay those of the legs, so that thresholds, filters
// and clauses hold.
#include <algorithm>
#include <cmath>

#include "store/search/stages.h"

namespace lorekeep::store {
namespace {

/// Returns the query's vector of length 1, plus `weight` times the mean of the hits' embeddings by their scores.
std::vector<float> moved(const Query& query, std::span<const Hit> towards, double weight) {
  const std::span<const float> asked = query.request().query;
  double square = 0;
  for (const float value : asked) square += static_cast<double>(value) * static_cast<double>(value);
  std::vector<double> sum(asked.begin(), asked.end());
  if (square > 0) {
    for (double& value : sum) value /= std::sqrt(square);
  }
  double scores = 0;
  for (const Hit& hit : towards) scores += hit.score;
  for (const Hit& hit : towards) {
    const double share = scores > 0 ? hit.score / scores : 1.0 / static_cast<double>(towards.size());
    const Place place = query.storage().place_of_row(hit.ordinal);
    const std::vector<float> row = place.segment.vectors()->row(place.row);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += weight * share * static_cast<double>(row[i]);
  }
  return {sum.begin(), sum.end()};
}

std::size_t count_added(std::span<const Hit> hits, std::span<const Hit> before) {
  const auto is_new = [before](const Hit& hit) {
    return std::ranges::find(before, hit.ordinal, &Hit::ordinal) == before.end();
  };
  return static_cast<std::size_t>(std::ranges::count_if(hits, is_new));
}

}  // namespace

bool wants_feedback(const SearchRequest& request, const Legs& legs) noexcept {
  return request.feedback > 0 && request.mode == Mode::kHybrid && legs.dense;
}

Feedback feed_back(Query& query, const Legs& legs, Ranking& ranking) {
  const std::span<const Hit> before(ranking.hits);
  const double weight = query.request().feedback;
  const std::vector<float> vector = moved(query, before.first(std::min(before.size(), kFeedbackHits)), weight);
  Meaning by(query.storage(), vector);
  Ranking after = fuse_again(query, legs, ranking, by);
  const std::size_t shown = std::min(before.size(), query.request().top_k);
  const Feedback feedback{weight, count_added(after.hits, before.first(shown))};
  ranking = std::move(after);
  return feedback;
}

}  // namespace lorekeep::store
