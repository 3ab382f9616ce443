// The tokens that a constraint allows in one state, in the shortest of three forms. Internal to native/lm.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "lm/text/token.h"

namespace lorekeep::lm {

inline constexpr float kRefused = -std::numeric_limits<float>::infinity();

/// A bit per token, while a mask is computed.
class TokenBits {
 public:
  void clear(std::size_t size) {
    size_ = size;
    words_.assign((size + 63) / 64, 0);
  }
  void add(std::span<const Token> tokens) noexcept {
    for (const Token token : tokens) words_[static_cast<std::size_t>(token) / 64] |= bit(token);
  }
  std::size_t size() const noexcept { return size_; }
  std::span<const std::uint64_t> words() const noexcept { return words_; }
  std::span<std::uint64_t> words() noexcept { return words_; }

 private:
  static std::uint64_t bit(Token token) noexcept { return std::uint64_t{1} << (static_cast<std::size_t>(token) % 64); }

  std::size_t size_ = 0;
  std::vector<std::uint64_t> words_;
};

/// Immutable.
class TokenMask {
 public:
  explicit TokenMask(const TokenBits& allowed);

  /// Sets the logits of all tokens that are neither allowed nor in `also` to minus infinity. Precondition:
  /// logits.size() is the vocabulary's size.
  void apply(std::span<float> logits, std::span<const Token> also) const;
  void add_to(TokenBits& allowed) const;
  std::size_t bytes() const noexcept;

 private:
  enum class Form { kAllowed, kRefused, kBits };

  Form form_;
  std::vector<Token> tokens_;
  std::vector<std::uint64_t> words_;
};

}  // namespace lorekeep::lm
