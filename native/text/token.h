#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

namespace lorekeep::text {

/// Longer runs of letters and numbers are cut into tokens of at most this many bytes, between code points. This bounds
/// the cost of a token, and the same run in a query still matches.
inline constexpr std::size_t kMaxTokenBytes = 1024;

/// Long texts are read in steps of this many bytes between two polls of a cancel token.
inline constexpr std::ptrdiff_t kTextBytesPerPoll = 65536;

enum class TokenKind {
  kWord,      // counts for a document's length; queries consist of these
  kCompound,  // several words that are written as one; matches, and queries have it as a term of less weight
  kExtra,     // only matches; see MultilingualScanner
};

/// The token is valid during the call.
using TokenVisitor = std::function<void(std::string_view token, TokenKind kind)>;

}  // namespace lorekeep::text
