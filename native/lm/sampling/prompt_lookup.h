// Prompt lookup: the continuation of a text that an earlier part of it suggests. Replies from knowledge repeat spans of
// the prompt. Pure.
#pragma once

#include <cstddef>
#include <span>

#include "lm/text/token.h"

namespace lorekeep::lm {

struct Lookup {
  /// The tokens after the match; empty: the last tokens do not occur elsewhere.
  std::span<const Token> next;
  /// Tokens of the match, at most kLongestMatch.
  std::size_t matched = 0;
};

inline constexpr std::size_t kShortestMatch = 2;
inline constexpr std::size_t kLongestMatch = 8;

/// Finds the longest earlier match of the last tokens of `text`, the latest of several, and returns at most `most`
/// tokens after it.
Lookup look_up(std::span<const Token> text, std::size_t most) noexcept;

}  // namespace lorekeep::lm
