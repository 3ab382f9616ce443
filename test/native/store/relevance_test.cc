#include "store/relevance.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <set>
#include <vector>

#include "harness.h"
#include "store/background.h"
#include "vector/flat_index.h"

namespace {

using namespace lorekeep;
using namespace lorekeep::store;

TEST("relevance rises with both raw scores and tells known words from unknown ones") {
  RelevanceScale scale;
  scale.mode = Mode::kHybrid;
  scale.background = {0.1, 0.1};
  scale.best_cosine = 0.7;
  scale.best_bm25 = 20;
  scale.bm25_limit = 40;
  CHECK(relevance_of(scale, 0.3f, 20) > relevance_of(scale, 0.3f, 10));
  CHECK(relevance_of(scale, 0.3f, 20) > relevance_of(scale, 0.5f, 20));
  CHECK(relevance_of(scale, 0.3f, 20) > 0.5);
  RelevanceScale unrelated = scale;
  unrelated.best_cosine = 0.15;
  unrelated.best_bm25 = 2;
  CHECK(relevance_of(unrelated, 0.85f, 2) < 0.5 * relevance_of(scale, 0.3f, 20));
  scale.bm25_limit = 0;  // a query without words
  scale.best_bm25 = 0;
  RelevanceScale dense = scale;
  dense.mode = Mode::kDense;
  CHECK_EQ(relevance_of(scale, 0.3f, 0), relevance_of(dense, 0.3f, 0));
}

TEST("in dense mode words of the query make a record more relevant, and a near record without them is not dropped") {
  RelevanceScale scale;
  scale.background = {0.1, 0.1};
  scale.best_cosine = 0.7;
  const double without = relevance_of(scale, 0.3f, 0);
  scale.bm25_limit = 40;
  CHECK(relevance_of(scale, 0.3f, 20) > without);
  CHECK(relevance_of(scale, 0.3f, 0) > 0.75 * without);
}

TEST("in hybrid mode the best record is the more relevant, the further it is before the next one") {
  RelevanceScale scale;
  scale.mode = Mode::kHybrid;
  scale.background = {0.1, 0.1};
  scale.best_cosine = 1.0 - static_cast<double>(0.4f);
  scale.best_bm25 = 20;
  scale.bm25_limit = 40;
  scale.next_cosine = 0.59;
  scale.next_bm25 = 19;
  const double among_many = relevance_of(scale, 0.4f, 20);
  scale.next_cosine = 0.3;
  const double ahead_by_meaning = relevance_of(scale, 0.4f, 20);
  scale.next_bm25 = 5;
  CHECK(ahead_by_meaning > among_many);
  CHECK(relevance_of(scale, 0.4f, 20) > ahead_by_meaning);
}

TEST("relevance never falls if a score rises, whatever the scale") {
  std::mt19937_64 random(test::seed());
  std::uniform_real_distribution<double> any(0, 1);
  for (int round = 0; round < 2000; ++round) {
    RelevanceScale scale;
    scale.mode = std::array{Mode::kDense, Mode::kLexical, Mode::kHybrid}[static_cast<std::size_t>(round % 3)];
    scale.background.floor = 1.2 * any(random) - 0.2;
    scale.background.mean = scale.background.floor + 0.2 * any(random);
    scale.best_cosine = any(random);
    scale.best_bm25 = 30 * any(random);
    scale.bm25_limit = scale.best_bm25 * (1 + any(random));
    scale.words = random() % 20;
    scale.next_cosine = scale.best_cosine * any(random);
    scale.next_bm25 = scale.best_bm25 * any(random);
    const auto distance = static_cast<float>(any(random));
    const auto bm25 = static_cast<float>(scale.best_bm25 * any(random));
    const double relevance = relevance_of(scale, distance, bm25);
    CHECK(relevance >= 0 && relevance <= 1);
    CHECK(relevance_of(scale, distance * static_cast<float>(any(random)), bm25) >= relevance);
    CHECK(relevance_of(scale, distance, bm25 * static_cast<float>(1 + any(random))) >= relevance);
  }
}

TEST("a calibration scales the log odds of relevance and then adds to them") {
  RelevanceScale scale;
  scale.background = {0.1, 0.1};
  scale.best_cosine = 0.7;
  const auto odds = [](double relevance) { return std::log(relevance / (1 - relevance)); };
  const double estimated = odds(relevance_of(scale, 0.5f, 0));
  scale.calibration = {1.5, 0.5};
  CHECK_NEAR(odds(relevance_of(scale, 0.5f, 0)), 1.5 + 0.5 * estimated, 1e-9);
}

TEST("the background is the mean of the cosines with sampled rows, the floor the mean of the least quarter") {
  std::mt19937_64 random(test::seed());
  std::normal_distribution<float> normal;
  for (const std::size_t rows : {1u, 3u, 7u, 40u, 500u}) {
    std::vector<float> values(rows * 16);
    for (float& value : values) value = normal(random);
    std::vector<float> query(16);
    for (float& value : query) value = normal(random);
    const auto index = vector::FlatIndex::build(values, 16);
    const std::size_t sampled = std::min<std::size_t>(rows, BackgroundSample::kRows);
    std::vector<std::uint32_t> ordinals;
    for (std::size_t i = 0; i < sampled; ++i) ordinals.push_back(static_cast<std::uint32_t>(i * rows / sampled));
    std::vector<float> distances(sampled);
    index->score(query, ordinals, distances);
    std::multiset<double> cosines;
    for (const float distance : distances) cosines.insert(1.0 - static_cast<double>(distance));
    double all = 0, least = 0;
    std::size_t place = 0;
    const std::size_t quarter = std::max<std::size_t>(1, sampled / 4);
    for (const double cosine : cosines) {
      all += cosine;
      if (place++ < quarter) least += cosine;
    }
    const Background found = BackgroundSample(*index).of(query);
    CHECK_NEAR(found.mean, all / static_cast<double>(sampled), 1e-6);
    CHECK_NEAR(found.floor, least / static_cast<double>(quarter), 1e-6);
  }
}

}  // namespace
