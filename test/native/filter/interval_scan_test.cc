// The loop under comparisons agrees with its slow twin and with a test of each value.
#include "filter/interval_scan.h"

#include <limits>
#include <random>
#include <vector>

#include "harness.h"

namespace lorekeep::filter {
namespace {

template <class T>
void compare_scans(const std::vector<T>& some_values, std::mt19937_64& random) {
  for (std::size_t count : {0u, 1u, 63u, 64u, 65u, 128u, 200u, 1000u}) {
    std::vector<T> values(count);
    for (T& value : values) value = some_values[random() % some_values.size()];
    for (int round = 0; round < 20; ++round) {
      const auto low = static_cast<std::uint64_t>(some_values[random() % some_values.size()]);
      const std::uint64_t length =
          round == 0 ? ~std::uint64_t{0} : static_cast<std::uint64_t>(some_values[random() % some_values.size()]) - low;
      const std::uint64_t marked = 0x5555555555555555u;  // what was there before must not stay
      std::vector<std::uint64_t> fast((count + 63) / 64 + 1, marked);
      std::vector<std::uint64_t> slow = fast;
      interval_scan<T>()(values.data(), count, low, length, fast.data());
      scan_interval_plainly(values.data(), count, low, length, slow.data());
      CHECK(fast == slow);
      CHECK_EQ(fast.back(), marked);
      for (std::size_t i = 0; i < (count + 63) / 64 * 64; ++i) {
        const bool within = i < count && static_cast<std::uint64_t>(values[i]) - low <= length;
        CHECK_EQ((fast[i / 64] >> (i % 64)) & 1, within ? 1u : 0u);
      }
    }
  }
}

TEST("filter: intervals of whole numbers are scanned alike by every kernel, at the ends of their types too") {
  std::mt19937_64 random(test::seed());
  using Int = std::numeric_limits<std::int64_t>;
  compare_scans<std::int64_t>({Int::min(), Int::min() + 1, -7, -1, 0, 1, 5, 1000, Int::max() - 1, Int::max()}, random);
  compare_scans<std::uint32_t>({0, 1, 2, 77, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff}, random);
}

}  // namespace
}  // namespace lorekeep::filter
