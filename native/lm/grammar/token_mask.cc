#include "lm/grammar/token_mask.h"

#include <algorithm>
#include <bit>

namespace lorekeep::lm {
namespace {

// Lists are kept for up to this share of the vocabulary: a token of a list takes as much as 32 bits.
constexpr std::size_t kListShare = 32;

std::vector<Token> tokens_of(const TokenBits& bits, bool allowed) {
  std::vector<Token> tokens;
  const auto words = bits.words();
  for (std::size_t i = 0; i < words.size(); ++i) {
    for (std::uint64_t word = allowed ? words[i] : ~words[i]; word != 0; word &= word - 1) {
      const std::size_t token = 64 * i + static_cast<std::size_t>(std::countr_zero(word));
      if (token < bits.size()) tokens.push_back(static_cast<Token>(token));
    }
  }
  return tokens;
}

}  // namespace

TokenMask::TokenMask(const TokenBits& allowed) {
  std::size_t count = 0;
  for (const std::uint64_t word : allowed.words()) count += static_cast<std::size_t>(std::popcount(word));
  const std::size_t most = allowed.size() / kListShare;
  if (count <= most) {
    form_ = Form::kAllowed;
    tokens_ = tokens_of(allowed, true);
  } else if (allowed.size() - count <= most) {
    form_ = Form::kRefused;
    tokens_ = tokens_of(allowed, false);
  } else {
    form_ = Form::kBits;
    words_.assign(allowed.words().begin(), allowed.words().end());
  }
}

void TokenMask::apply(std::span<float> logits, std::span<const Token> also) const {
  const auto at = [&](Token token) -> float& { return logits[static_cast<std::size_t>(token)]; };
  std::vector<float> kept;
  if (form_ == Form::kAllowed) {
    for (const Token token : tokens_) kept.push_back(at(token));
  }
  for (const Token token : also) kept.push_back(at(token));
  switch (form_) {
    case Form::kAllowed: std::fill(logits.begin(), logits.end(), kRefused); break;
    case Form::kRefused:
      for (const Token token : tokens_) at(token) = kRefused;
      break;
    case Form::kBits:
      for (std::size_t i = 0; i < logits.size(); ++i) {
        if ((words_[i / 64] >> (i % 64) & 1) == 0) logits[i] = kRefused;
      }
      break;
  }
  std::size_t next = 0;
  if (form_ == Form::kAllowed) {
    for (const Token token : tokens_) at(token) = kept[next++];
  }
  for (const Token token : also) at(token) = kept[next++];
}

void TokenMask::add_to(TokenBits& allowed) const {
  const std::span<std::uint64_t> words = allowed.words();
  switch (form_) {
    case Form::kAllowed: allowed.add(tokens_); break;
    case Form::kBits:
      for (std::size_t i = 0; i < words.size(); ++i) words[i] |= words_[i];
      break;
    case Form::kRefused: {
      TokenBits refused;
      refused.clear(allowed.size());
      refused.add(tokens_);
      const std::size_t last = allowed.size() % 64;
      for (std::size_t i = 0; i < words.size(); ++i) words[i] |= ~refused.words()[i];
      if (last != 0) words.back() &= (std::uint64_t{1} << last) - 1;  // bits that are no token
      break;
    }
  }
}

std::size_t TokenMask::bytes() const noexcept {
  return sizeof(*this) + tokens_.size() * sizeof(Token) + words_.size() * sizeof(std::uint64_t);
}

}  // namespace lorekeep::lm
