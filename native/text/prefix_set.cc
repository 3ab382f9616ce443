#include "text/prefix_set.h"

#include <algorithm>
#include <utility>

namespace lorekeep::text {

PrefixSet::PrefixSet(std::vector<std::string> prefixes) : prefixes_(std::move(prefixes)) {
  std::sort(prefixes_.begin(), prefixes_.end());
  prefixes_.erase(std::unique(prefixes_.begin(), prefixes_.end()), prefixes_.end());
  shorter_.reserve(prefixes_.size());
  for (std::uint32_t i = 0; i < prefixes_.size(); ++i) {
    std::uint32_t shorter = i == 0 ? kNone : i - 1;
    while (shorter != kNone && !prefixes_[i].starts_with(prefixes_[shorter])) shorter = shorter_[shorter];
    shorter_.push_back(shorter);
  }
}

std::uint32_t PrefixSet::position_of(std::string_view prefix) const noexcept {
  return static_cast<std::uint32_t>(std::lower_bound(prefixes_.begin(), prefixes_.end(), prefix) - prefixes_.begin());
}

// The last member that is not after the word begins with every member that the word begins with.
std::uint32_t PrefixSet::longest_of(std::string_view word) const noexcept {
  const auto after = std::upper_bound(prefixes_.begin(), prefixes_.end(), word);
  if (after == prefixes_.begin()) return kNone;
  auto at = static_cast<std::uint32_t>(after - prefixes_.begin() - 1);
  const std::string& last = prefixes_[at];
  const std::string_view::iterator end = word.begin() + static_cast<std::ptrdiff_t>(std::min(last.size(), word.size()));
  const auto common = static_cast<std::size_t>(std::mismatch(word.begin(), end, last.begin()).first - word.begin());
  while (at != kNone && prefixes_[at].size() > common) at = shorter_[at];
  return at;
}

}  // namespace lorekeep::text
