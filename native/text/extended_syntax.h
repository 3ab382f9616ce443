// The extended query syntax: words, "phrases", prefixes (word*), +required and -excluded clauses.
#pragma once

#include <compare>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace lorekeep::text {

/// Maximum number of clauses of a query. More are an error.
inline constexpr std::size_t kMaxClauses = 1024;

/// A part of a query between white space, or between quotes.
struct Clause {
  enum class Sign { kNone, kRequired, kExcluded };
  Sign sign = Sign::kNone;
  bool phrase = false;
  bool prefix = false;
  std::string text;  // without sign, quotes and asterisk; not empty

  friend auto operator<=>(const Clause&, const Clause&) = default;
};

/// Parses any text: a sign counts only before a word or a quote, an asterisk only after a word, and a quote that is not
/// closed extends to the end. Throws Error(kInvalidArgument) for more than kMaxClauses.
std::vector<Clause> parse_clauses(std::string_view query);

/// Returns the words of all clauses that are not excluded, in order: the text that an embedding model should see.
std::string plain_text(std::string_view query);

}  // namespace lorekeep::text
