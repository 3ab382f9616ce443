#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lorekeep::text {

/// Distinct prefixes. A binary search finds those that a word begins with, whatever their number.
///
///   for (auto at = prefixes.longest_of(word); at != PrefixSet::kNone; at = prefixes.shorter_than(at)) ...
class PrefixSet {
 public:
  static constexpr std::uint32_t kNone = ~0u;

  PrefixSet() = default;
  /// The prefixes may repeat. None is empty.
  explicit PrefixSet(std::vector<std::string> prefixes);

  std::size_t size() const noexcept { return prefixes_.size(); }
  bool empty() const noexcept { return prefixes_.empty(); }
  const std::string& operator[](std::uint32_t position) const noexcept { return prefixes_[position]; }
  /// Precondition: the prefix is a member.
  std::uint32_t position_of(std::string_view prefix) const noexcept;

  /// Returns the longest member that the word begins with, or kNone.
  std::uint32_t longest_of(std::string_view word) const noexcept;
  /// Returns the longest other member that a member begins with, or kNone.
  std::uint32_t shorter_than(std::uint32_t position) const noexcept { return shorter_[position]; }

 private:
  std::vector<std::string> prefixes_;   // ascending
  std::vector<std::uint32_t> shorter_;  // by position
};

}  // namespace lorekeep::text
