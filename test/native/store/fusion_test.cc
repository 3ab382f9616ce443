#include "store/fusion.h"

#include <map>
#include <random>

#include "harness.h"

namespace {

using namespace lorekeep;
using namespace lorekeep::store;

std::vector<Scored> ranked(const std::vector<std::uint32_t>& ordinals) {
  std::vector<Scored> list;
  for (const std::uint32_t ordinal : ordinals) list.push_back({0.0f, ordinal});
  return list;
}

std::vector<std::uint32_t> ordinals(const std::vector<Fused>& fused) {
  std::vector<std::uint32_t> all;
  for (const Fused& one : fused) all.push_back(one.ordinal);
  return all;
}

TEST("ranks become 1 / (k + rank), summed over the lists") {
  const auto fused = fuse(ranked({7, 3}), ranked({3, 9}), {}, 10);
  REQUIRE(fused.size() == 3);
  CHECK(fused[0] == (Fused{3, 1.0 / 62 + 1.0 / 61, 2, 1}));
  CHECK(fused[1] == (Fused{7, 1.0 / 61, 1, std::nullopt}));
  CHECK(fused[2] == (Fused{9, 1.0 / 62, std::nullopt, 2}));
}

TEST("weights and k come from the request") {
  RrfOptions options;
  options.k = 0;
  options.dense_weight = 3;
  options.lexical_weight = 0.5;
  const auto fused = fuse(ranked({1}), ranked({2, 1}), options, 10);
  REQUIRE(fused.size() == 2);
  CHECK(fused[0] == (Fused{1, 3.25, 1, 2}));
  CHECK(fused[1] == (Fused{2, 0.5, std::nullopt, 1}));
}

TEST("ties go to the lower ordinal, and only top_k are kept") {
  CHECK(ordinals(fuse(ranked({5, 4}), ranked({4, 5}), {}, 10)) == (std::vector<std::uint32_t>{4, 5}));
  CHECK(ordinals(fuse(ranked({9, 8}), ranked({2, 1}), {}, 3)) == (std::vector<std::uint32_t>{2, 9, 1}));
  CHECK(fuse(ranked({1}), ranked({2}), {}, 0).empty());
}

TEST("an empty list leaves the other in its order") {
  CHECK(ordinals(fuse({}, ranked({9, 1, 5}), {}, 10)) == (std::vector<std::uint32_t>{9, 1, 5}));
  CHECK(ordinals(fuse(ranked({9, 1, 5}), {}, {}, 2)) == (std::vector<std::uint32_t>{9, 1}));
  CHECK(fuse({}, {}, {}, 5).empty());
}

TEST("fusion agrees with a map from ordinals to sums on random lists") {
  std::mt19937_64 random(test::seed());
  for (int round = 0; round < 500; ++round) {
    std::vector<std::uint32_t> pool(30);
    for (std::uint32_t i = 0; i < pool.size(); ++i) pool[i] = i;
    std::shuffle(pool.begin(), pool.end(), random);
    const auto dense = ranked({pool.begin(), pool.begin() + static_cast<std::ptrdiff_t>(random() % 20)});
    std::shuffle(pool.begin(), pool.end(), random);
    const auto lexical = ranked({pool.begin(), pool.begin() + static_cast<std::ptrdiff_t>(random() % 20)});
    RrfOptions options;
    options.k = static_cast<double>(random() % 3) * 30;
    options.dense_weight = static_cast<double>(1 + random() % 3);
    const std::size_t top_k = 1 + random() % 40;

    std::map<std::uint32_t, double> sums;
    for (std::size_t i = 0; i < dense.size(); ++i) {
      sums[dense[i].ordinal] += options.dense_weight / (options.k + static_cast<double>(i + 1));
    }
    for (std::size_t i = 0; i < lexical.size(); ++i) {
      sums[lexical[i].ordinal] += options.lexical_weight / (options.k + static_cast<double>(i + 1));
    }
    std::vector<std::pair<double, std::uint32_t>> order;  // negated, so that pairs sort as hits do
    for (const auto& [ordinal, sum] : sums) order.emplace_back(-sum, ordinal);
    std::sort(order.begin(), order.end());
    order.resize(std::min(order.size(), top_k));

    const auto fused = fuse(dense, lexical, options, top_k);
    REQUIRE(fused.size() == order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      CHECK_EQ(fused[i].ordinal, order[i].second);
      CHECK_EQ(fused[i].score, -order[i].first);
    }
  }
}

}  // namespace
