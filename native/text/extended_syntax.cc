#include "text/extended_syntax.h"

#include "core/values/error.h"
#include "core/values/utf8.h"

namespace lorekeep::text {
namespace {

/// Returns whether the character is white space in Unicode.
bool is_blank(char32_t c) noexcept {
  return (c >= 0x09 && c <= 0x0D) || c == 0x20 || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

/// Returns the number of bytes before the first character for which `ends` is true.
template <class Ends>
std::size_t bytes_until(std::string_view text, Ends&& ends) noexcept {
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    const char* const begin = at;
    if (ends(decode_utf8(at, end))) return static_cast<std::size_t>(begin - text.data());
  }
  return text.size();
}

std::size_t blank_bytes(std::string_view text) noexcept {
  return bytes_until(text, [](char32_t character) { return !is_blank(character); });
}

/// Removes a sign from the front of the query if a word or a quote follows.
Clause::Sign take_sign(std::string_view& rest) noexcept {
  const bool sign = rest.front() == '+' || rest.front() == '-';
  if (!sign || rest.size() == 1 || blank_bytes(rest.substr(1)) > 0) return Clause::Sign::kNone;
  const Clause::Sign taken = rest.front() == '+' ? Clause::Sign::kRequired : Clause::Sign::kExcluded;
  rest.remove_prefix(1);
  return taken;
}

/// Removes the text before `end` from the front of the query and returns it.
std::string_view take_until(std::string_view& rest, std::size_t end) noexcept {
  const std::string_view taken = rest.substr(0, end);
  rest.remove_prefix(taken.size());
  return taken;
}

Clause take_clause(std::string_view& rest) {
  Clause clause;
  clause.sign = take_sign(rest);
  if (rest.front() == '"') {
    rest.remove_prefix(1);
    clause.phrase = true;
    clause.text = take_until(rest, rest.find('"'));
    if (!rest.empty()) rest.remove_prefix(1);
    return clause;
  }
  std::string_view word =
      take_until(rest, bytes_until(rest, [](char32_t character) { return is_blank(character) || character == '"'; }));
  if (word.ends_with('*')) {
    clause.prefix = true;
    while (word.ends_with('*')) word.remove_suffix(1);
  }
  clause.text = word;
  return clause;
}

}  // namespace

std::vector<Clause> parse_clauses(std::string_view query) {
  std::vector<Clause> clauses;
  while (true) {
    query.remove_prefix(blank_bytes(query));
    if (query.empty()) return clauses;
    Clause clause = take_clause(query);
    if (clause.text.empty()) continue;
    if (clauses.size() == kMaxClauses) {
      const std::string reason = "more than " + std::to_string(kMaxClauses) + " words and phrases in extended syntax";
      fail(Code::kInvalidArgument, "text: " + reason, {{"field", "text"}, {"reason", reason}});
    }
    clauses.push_back(std::move(clause));
  }
}

std::string plain_text(std::string_view query) {
  std::string text;
  for (const Clause& clause : parse_clauses(query)) {
    if (clause.sign == Clause::Sign::kExcluded) continue;
    if (!text.empty()) text += ' ';
    text += clause.text;
  }
  return text;
}

}  // namespace lorekeep::text
