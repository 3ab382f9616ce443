#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "text/term_table.h"

namespace lorekeep::text {

/// Numbers the distinct tokens of a query. The words of texts are looked up in it. A query has few tokens, so most
/// words are known by their first byte and size to be none.
class TokenNumbers {
 public:
  static constexpr std::uint32_t kNone = TermTable::kNone;

  /// Returns the token's number; a new token gets the next one. Tokens are not empty.
  std::uint32_t add(std::string_view token) {
    sizes_[first_byte(token)] |= size_bit(token);
    return tokens_.find_or_add(tokens_.begin(token), token);
  }

  /// Returns the token's number, or kNone.
  std::uint32_t find(std::string_view token) const noexcept {
    if ((sizes_[first_byte(token)] & size_bit(token)) == 0) return kNone;
    return tokens_.find(tokens_.begin(token), token);
  }

  std::size_t size() const noexcept { return tokens_.size(); }
  std::string_view operator[](std::uint32_t number) const noexcept { return tokens_[number].text; }

 private:
  static std::size_t first_byte(std::string_view token) noexcept { return static_cast<unsigned char>(token.front()); }
  static std::uint64_t size_bit(std::string_view token) noexcept { return std::uint64_t{1} << token.size() % 64; }

  std::array<std::uint64_t, 256> sizes_{};  // by first byte: the sizes of tokens, modulo 64
  TermTable tokens_{nullptr};
};

}  // namespace lorekeep::text
