#include "filter/nearest_name.h"

#include <algorithm>
#include <array>
#include <vector>

namespace lorekeep::filter {
namespace {

constexpr std::size_t kLongestName =
    64;  // longer names are never suggested, because the cost is the product of the lengths

char folded(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// Returns the optimal string alignment distance, using three rows at a time.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::array<std::array<std::size_t, kLongestName + 1>, 3> rows{};
  for (std::size_t j = 0; j <= b.size(); ++j) rows[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    auto& row = rows[i % 3];
    const auto& above = rows[(i - 1) % 3];
    const auto& second = rows[(i + 1) % 3];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = folded(a[i - 1]) == folded(b[j - 1]);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (same ? 0u : 1u)});
      const bool swapped =
          i > 1 && j > 1 && folded(a[i - 1]) == folded(b[j - 2]) && folded(a[i - 2]) == folded(b[j - 1]);
      if (swapped) row[j] = std::min(row[j], second[j - 2] + 1);
    }
  }
  return rows[a.size() % 3][b.size()];
}

}  // namespace

std::string nearest_name(std::string_view wanted, std::span<const std::string> names) {
  if (wanted.size() > kLongestName) return {};
  std::size_t best = kLongestName + 1;
  std::string nearest;
  for (const std::string& name : names) {
    if (name.size() > kLongestName) continue;
    const std::size_t distance = edit_distance(wanted, name);
    const std::size_t allowed = std::max<std::size_t>(1, std::max(wanted.size(), name.size()) / 3);
    if (distance <= allowed && distance < best && distance < name.size()) {
      best = distance;
      nearest = name;
    }
  }
  return nearest;
}

}  // namespace lorekeep::filter
