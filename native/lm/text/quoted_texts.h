// Finds texts in other texts, whatever their blanks and the case of ASCII letters. The time grows with the text that is
// searched, not with the number of texts: the inference thread searches the prompts of all clients.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/values/seeded_hash.h"

namespace lorekeep::lm {

class QuotedTexts {
 public:
  /// Texts of blanks are left out.
  explicit QuotedTexts(std::span<const std::string> texts);
  ~QuotedTexts();
  QuotedTexts(const QuotedTexts&) = delete;
  QuotedTexts& operator=(const QuotedTexts&) = delete;

  /// Whether the text has one of them. A text that has to be compared with very many of them at very many places, which
  /// are all alike for long, counts as one that does.
  bool within(std::string_view text) const;

  /// Texts are found by a hash of so many bytes at their beginning, shorter ones by one of all their bytes.
  static constexpr std::size_t kLongestWindow = 16;

 private:
  /// The texts whose window has one length, by the hash of their beginning.
  struct Window {
    std::unordered_map<std::uint64_t, std::vector<std::uint32_t>, SeededHash> texts;
    std::bitset<65536> known;  // by the upper bits of the hash
  };
  bool found(const Window& window, std::size_t length, std::string_view given, std::size_t& left) const;

  std::vector<std::string> folded_;
  std::array<std::unique_ptr<Window>, kLongestWindow + 1> windows_;  // by length; null: no such texts
};

}  // namespace lorekeep::lm
