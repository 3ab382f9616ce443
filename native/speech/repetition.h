// Finds text that goes round in circles, which Whisper may write for music, noise and long vowels. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace lorekeep::speech {

/// A phrase of `length` tokens that stands `times` times in a row from `begin` on.
struct Repetition {
  std::size_t begin;
  std::size_t length;
  std::size_t times;

  /// People say a phrase this often in a row at most ("no, no, no, no, no, no").
  static constexpr std::size_t kMostTimes = 6;
  static constexpr std::size_t kLongestPhrase = 24;  // tokens

  /// The first token after the kMostTimes-th.
  std::size_t kept_end() const noexcept { return begin + kMostTimes * length; }
  std::size_t end() const noexcept { return begin + times * length; }
};

/// Returns the first phrase of at most kLongestPhrase tokens that stands more than kMostTimes times in a row, the
/// shortest of those that begin there. Takes kLongestPhrase comparisons per token.
std::optional<Repetition> find_repetition(std::span<const std::int32_t> tokens) noexcept;

}  // namespace lorekeep::speech
