#include "core/values/bitmap.h"

#include <random>
#include <set>

#include "harness.h"

namespace {

using namespace lorekeep;

std::vector<std::uint32_t> members(const Bitmap& bitmap) {
  std::vector<std::uint32_t> found;
  bitmap.for_each([&](std::uint32_t ordinal) { found.push_back(ordinal); });
  return found;
}

TEST("a bitmap of any size starts empty or full, with no bit beyond its size") {
  for (const std::size_t size : {0u, 1u, 63u, 64u, 65u, 127u, 128u, 1000u}) {
    const Bitmap empty(size);
    const Bitmap full(size, true);
    CHECK_EQ(empty.size(), size);
    CHECK_EQ(empty.count(), 0u);
    CHECK_EQ(full.count(), size);
    CHECK_EQ(full.words().size(), (size + 63) / 64);
    CHECK_EQ(members(full).size(), size);
  }
}

TEST("set, reset and for_each agree with a set of numbers") {
  std::mt19937_64 random(test::seed());
  for (const std::size_t size : {1u, 64u, 100u, 700u}) {
    Bitmap bitmap(size);
    std::set<std::uint32_t> twin;
    for (int step = 0; step < 2000; ++step) {
      const auto ordinal = static_cast<std::uint32_t>(random() % size);
      if (random() % 2 == 0) {
        bitmap.set(ordinal);
        twin.insert(ordinal);
      } else {
        bitmap.reset(ordinal);
        twin.erase(ordinal);
      }
    }
    CHECK(members(bitmap) == std::vector<std::uint32_t>(twin.begin(), twin.end()));
    CHECK_EQ(bitmap.count(), twin.size());
    for (std::uint32_t i = 0; i < size; ++i) CHECK_EQ(bitmap.test(i), twin.contains(i));
  }
}

TEST("set operations work bit by bit and keep the tail clear") {
  std::mt19937_64 random(test::seed());
  for (const std::size_t size : {0u, 1u, 64u, 65u, 130u}) {
    Bitmap a(size);
    Bitmap b(size);
    for (std::size_t i = 0; i < size; ++i) {
      if (random() % 2 == 0) a.set(i);
      if (random() % 2 == 0) b.set(i);
    }
    Bitmap both = a;
    both.intersect(b);
    Bitmap either = a;
    either.unite(b);
    Bitmap rest = a;
    rest.complement();
    for (std::size_t i = 0; i < size; ++i) {
      CHECK_EQ(both.test(i), a.test(i) && b.test(i));
      CHECK_EQ(either.test(i), a.test(i) || b.test(i));
      CHECK_EQ(rest.test(i), !a.test(i));
    }
    CHECK_EQ(rest.count(), size - a.count());
    rest.complement();
    CHECK(rest == a);
  }
}

}  // namespace
