#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

namespace lorekeep::text {

/// A longer run of letters and numbers is cut into tokens of at most this many bytes, between code points; so no text
/// can make a token that costs more than its share, and the same run still finds itself.
inline constexpr std::size_t kMaxTokenBytes = 1024;

enum class TokenKind {
  kWord,   // counts for the length of a document; a query consists of these
  kExtra,  // a document is found by it as well
};

/// The token is valid during the call.
using TokenVisitor = std::function<void(std::string_view token, TokenKind kind)>;

}  // namespace lorekeep::text
