#include "core/values/top_k.h"

#include <random>

#include "harness.h"

namespace {

using namespace lorekeep;

template <class Before>
void agrees_with_sorting(std::size_t count, std::size_t k, std::mt19937_64& random) {
  std::vector<Scored> all;
  TopK<Before> best(k);
  for (std::uint32_t i = 0; i < count; ++i) {
    const Scored candidate{static_cast<float>(random() % 20),
                           static_cast<std::uint32_t>(random() % 1000)};  // many ties
    all.push_back(candidate);
    best.push(candidate);
  }
  std::sort(all.begin(), all.end(), Before{});
  all.resize(std::min(k, count));
  CHECK_EQ(best.size(), all.size());
  CHECK(best.take_sorted() == all);
}

TEST("the k best equal the head of a full sort, ties by ordinal") {
  std::mt19937_64 random(test::seed());
  for (const std::size_t count : {0u, 1u, 5u, 300u}) {
    for (const std::size_t k : {0u, 1u, 3u, 299u, 300u, 1000u}) {
      agrees_with_sorting<NearestFirst>(count, k, random);
      agrees_with_sorting<HighestFirst>(count, k, random);
    }
  }
}

TEST("push says whether the candidate is a member, worst() what it would displace") {
  TopK<NearestFirst> best(2);
  CHECK(best.push({0.5f, 4}));
  CHECK(!best.full());
  CHECK(best.push({0.7f, 9}));
  CHECK(best.full());
  CHECK(best.worst() == (Scored{0.7f, 9}));
  CHECK(!best.push({0.8f, 1}));
  CHECK(!best.push({0.7f, 10}));  // as far, but later
  CHECK(best.push({0.7f, 8}));    // as far, but earlier
  CHECK(best.worst() == (Scored{0.7f, 8}));
  CHECK_EQ(best.take_sorted().size(), 2u);
  CHECK_EQ(best.size(), 0u);
}

TEST("a collector of nothing takes nothing") {
  TopK<HighestFirst> none(0);
  CHECK(!none.push({1.0f, 1}));
  CHECK(none.full());
  CHECK(none.take_sorted().empty());
}

}  // namespace
