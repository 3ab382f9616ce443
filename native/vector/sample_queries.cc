#include "vector/sample_queries.h"

#include <algorithm>
#include <random>

namespace lorekeep::vector {
namespace {

constexpr std::size_t kNeighbours = 32;
constexpr float kStep = 0.5f;

}  // namespace

std::vector<std::vector<float>> sample_queries(const VectorIndex& index, std::size_t count, const Work& work) {
  std::vector<std::vector<float>> queries(std::min(count, index.size()));
  parallel_for(work, queries.size(), 1, [&](std::size_t i, std::size_t, std::size_t) {
    std::vector<float>& query = queries[i];
    query = index.row(i * index.size() / queries.size());
    const auto near = index.search(query, {.k = kNeighbours, .path = SearchPath::kExact}).hits;
    std::minstd_rand random(static_cast<unsigned>(i + 1));
    const auto one = index.row(near[random() % near.size()].ordinal);
    const auto other = index.row(near[random() % near.size()].ordinal);
    for (std::size_t j = 0; j < query.size(); ++j) query[j] += kStep * (one[j] - other[j]);
  });
  return queries;
}

}  // namespace lorekeep::vector
