#include "text/extended_syntax.h"

#include "core/error.h"

namespace lorekeep::text {
namespace {

constexpr std::string_view kBlanks = " \t\r\n\f\v";

bool is_blank(char character) noexcept {
  return kBlanks.find(character) != std::string_view::npos;
}

/// Removes a sign from the front of the query if a word or a quote follows.
Clause::Sign take_sign(std::string_view& rest) noexcept {
  const bool sign = rest.front() == '+' || rest.front() == '-';
  if (!sign || rest.size() == 1 || is_blank(rest[1])) return Clause::Sign::kNone;
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
  std::string_view word = take_until(rest, rest.find_first_of(" \t\r\n\f\v\""));
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
    const std::size_t start = query.find_first_not_of(kBlanks);
    if (start == std::string_view::npos) return clauses;
    query.remove_prefix(start);
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
