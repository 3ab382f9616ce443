#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "core/values/error.h"
#include "core/values/utf8.h"
#include "lm/grammar/grammar_rules.h"

namespace lorekeep::lm {
namespace {

using Part = GrammarPart;
using Ranges = std::vector<std::pair<char32_t, char32_t>>;

constexpr int kMaxNesting = 128;
constexpr int kMaxOperators = 4;  // repetitions of one part
constexpr std::uint32_t kMaxRepetition = 1u << 16;
constexpr char32_t kLastCodePoint = 0x10FFFF;

/// Sorted, disjoint ranges.
Ranges normalized(Ranges ranges) {
  std::sort(ranges.begin(), ranges.end());
  Ranges out;
  for (const auto& range : ranges) {
    if (!out.empty() && range.first <= out.back().second + 1)
      out.back().second = std::max(out.back().second, range.second);
    else
      out.push_back(range);
  }
  return out;
}

Ranges complement(const Ranges& ranges) {
  Ranges out;
  char32_t next = 0;
  for (const auto& [first, last] : ranges) {
    if (first > next) out.emplace_back(next, first - 1);
    next = last + 1;
  }
  if (next <= kLastCodePoint) out.emplace_back(next, kLastCodePoint);
  return out;
}

class RuleParser {
 public:
  RuleParser(std::string_view text, GrammarProgram& program, const CancelToken* cancel)
      : text_(text), nodes_(program.nodes), poll_(cancel) {
    ascii_.fill(kUnknown);
  }

  std::vector<GrammarRule> parse() {
    skip_space(true);
    while (at_ < text_.size()) {
      poll_.count();
      const std::size_t begin = at_;
      const std::uint32_t rule = rule_index(name(), begin);
      skip_space(false);
      if (text_.substr(at_, 3) != "::=") refuse("`::=` is expected after the name of a rule");
      at_ += 3;
      skip_space(true);
      if (rules_[rule].body) refuse("the rule " + rules_[rule].name + " is defined twice", begin);
      Part body = choice(0);
      rules_[rule].body = std::move(body);
      if (at_ < text_.size() && text_[at_] != '\n' && text_[at_] != '\r') refuse("the rule has text after its end");
      skip_space(true);
    }
    return std::move(rules_);
  }

 private:
  [[noreturn]] void refuse(const std::string& reason) const { refuse(reason, at_); }
  [[noreturn]] void refuse(const std::string& reason, std::size_t at) const { refuse_grammar(text_, at, reason); }

  static bool is_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  }

  /// Skips white space and comments; line ends only if they do not end a rule.
  void skip_space(bool lines) {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '#') {
        while (at_ < text_.size() && text_[at_] != '\n' && text_[at_] != '\r') ++at_;
      } else if (c == ' ' || c == '\t' || (lines && (c == '\n' || c == '\r'))) {
        ++at_;
      } else {
        return;
      }
    }
  }

  std::string name() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_name(text_[at_])) ++at_;
    if (at_ == begin) refuse("the name of a rule is expected");
    return std::string(text_.substr(begin, at_ - begin));
  }

  std::uint32_t rule_index(const std::string& name, std::size_t mentioned) {
    const auto [it, added] = names_.try_emplace(name, static_cast<std::uint32_t>(rules_.size()));
    if (added) rules_.push_back({name, std::nullopt, mentioned});
    return it->second;
  }

  Part choice(int nesting) {
    if (nesting > kMaxNesting) refuse("groups are nested too deeply");
    Part all{Part::Type::kChoice};
    all.parts.push_back(sequence(nesting));
    while (at_ < text_.size() && text_[at_] == '|') {
      ++at_;
      skip_space(true);
      all.parts.push_back(sequence(nesting));
    }
    return all.parts.size() == 1 ? std::move(all.parts[0]) : all;
  }

  Part sequence(int nesting) {
    Part all{Part::Type::kSequence};
    while (at_ < text_.size()) {
      poll_.count();
      const char c = text_[at_];
      if (c == '"')
        literal(all.parts);
      else if (c == '[')
        all.parts.push_back(set(character_class()));
      else if (c == '.')
        all.parts.push_back(set((++at_, Ranges{{0, kLastCodePoint}})));
      else if (c == '(')
        all.parts.push_back(group(nesting));
      else if (is_name(c))
        all.parts.push_back(reference());
      else if (c == '<')
        refuse("tokens (<...>) are not supported; spell their text");
      else
        break;
      repetition(all.parts);
      skip_space(nesting > 0);
    }
    return all;
  }

  Part reference() {
    const std::size_t begin = at_;
    const std::string rule = name();
    return {Part::Type::kRule, rule_index(rule, begin)};
  }

  Part group(int nesting) {
    const std::size_t begin = at_++;
    skip_space(true);
    Part inside = choice(nesting + 1);
    if (at_ >= text_.size() || text_[at_] != ')') refuse("`)` is missing for this `(`", begin);
    ++at_;
    return inside;
  }

  void repetition(std::vector<Part>& parts) {
    for (int operators = 0; at_ < text_.size() && !parts.empty(); ++operators) {
      const char c = text_[at_];
      if (operators == kMaxOperators && (c == '*' || c == '+' || c == '?' || c == '{')) refuse("too many repetitions");
      Part repeat{Part::Type::kRepeat};
      if (c == '*')
        ++at_;
      else if (c == '+')
        repeat.least = 1, ++at_;
      else if (c == '?')
        repeat.most = 1, ++at_;
      else if (c == '{')
        bounds(repeat);
      else
        return;
      repeat.parts.push_back(std::move(parts.back()));
      parts.back() = std::move(repeat);
    }
  }

  void bounds(Part& repeat) {
    const std::size_t begin = at_++;
    skip_space(false);
    const bool open_below = at_ < text_.size() && text_[at_] == ',';
    if (!open_below) repeat.least = number();
    repeat.most = repeat.least;
    skip_space(false);
    if (at_ < text_.size() && text_[at_] == ',') {
      ++at_;
      skip_space(false);
      if (at_ < text_.size() && text_[at_] == '}')
        repeat.most.reset();
      else
        repeat.most = number();
      skip_space(false);
    }
    if (at_ >= text_.size() || text_[at_] != '}') refuse("`}` is missing for this `{`", begin);
    ++at_;
    if (repeat.most && *repeat.most < repeat.least) refuse("the upper bound is below the lower bound", begin);
  }

  std::uint32_t number() {
    const std::size_t begin = at_;
    std::uint32_t value = 0;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') {
      value = value * 10 + static_cast<std::uint32_t>(text_[at_++] - '0');
      if (value > kMaxRepetition) refuse("more than " + std::to_string(kMaxRepetition) + " repetitions", begin);
    }
    if (at_ == begin) refuse("a number is expected");
    return value;
  }

  Part set(const Ranges& ranges) {
    const Ranges all = normalized(ranges);
    const auto [it, added] = sets_.try_emplace(all, 0);
    if (added) {
      std::vector<ByteRun> runs;
      for (const auto& [first, last] : all) {
        poll_.count();
        append_byte_runs(first, last, runs);
      }
      if (runs.empty()) refuse("the character class has no characters");
      it->second = nodes_.add(runs);
    }
    return {Part::Type::kSet, it->second};
  }

  Part character_set(char32_t c) {
    if (c >= ascii_.size()) return set({{c, c}});
    if (ascii_[c] == kUnknown) ascii_[c] = set({{c, c}}).index;
    return {Part::Type::kSet, ascii_[c]};
  }

  void literal(std::vector<Part>& parts) {
    const std::size_t begin = at_++;
    Part text{Part::Type::kSequence};
    while (at_ < text_.size() && text_[at_] != '"') {
      poll_.count();
      text.parts.push_back(character_set(character()));
    }
    if (at_ >= text_.size()) refuse("the closing `\"` is missing", begin);
    ++at_;
    parts.push_back(std::move(text));
  }

  Ranges character_class() {
    const std::size_t begin = at_++;
    const bool negated = at_ < text_.size() && text_[at_] == '^';
    if (negated) ++at_;
    Ranges ranges;
    while (at_ < text_.size() && text_[at_] != ']') {
      poll_.count();
      const char32_t first = character();
      char32_t last = first;
      if (at_ + 1 < text_.size() && text_[at_] == '-' && text_[at_ + 1] != ']') {
        ++at_;
        last = character();
        if (last < first) refuse("the range of characters is empty");
      }
      ranges.emplace_back(first, last);
    }
    if (at_ >= text_.size()) refuse("`]` is missing for this `[`", begin);
    ++at_;
    return negated ? complement(normalized(ranges)) : ranges;
  }

  char32_t character() {
    if (text_[at_] != '\\') {
      const char* at = text_.data() + at_;
      const char32_t c = decode_utf8(at, text_.data() + text_.size());
      at_ = static_cast<std::size_t>(at - text_.data());
      return c;
    }
    if (++at_ >= text_.size()) refuse("the grammar ends in an escape");
    const char c = text_[at_++];
    switch (c) {
      case 'n': return '\n';
      case 'r': return '\r';
      case 't': return '\t';
      case 'x': return hexadecimal(2);
      case 'u': return hexadecimal(4);
      case 'U': return hexadecimal(8);
      case '\\':
      case '"':
      case '[':
      case ']':
      case '-':
      case '^': return static_cast<char32_t>(c);
      default: refuse(std::string("unknown escape \\") + c, at_ - 2);
    }
  }

  char32_t hexadecimal(int digits) {
    char32_t value = 0;
    for (int i = 0; i < digits; ++i, ++at_) {
      const char c = at_ < text_.size() ? text_[at_] : '\0';
      const int digit = c >= '0' && c <= '9'   ? c - '0'
                        : c >= 'a' && c <= 'f' ? c - 'a' + 10
                        : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                               : -1;
      if (digit < 0) refuse("a hexadecimal digit is expected");
      value = value * 16 + static_cast<char32_t>(digit);
    }
    if (value > kLastCodePoint || (value >= 0xD800 && value <= 0xDFFF)) refuse("no such character");
    return value;
  }

  static constexpr std::uint32_t kUnknown = ~std::uint32_t{0};

  std::string_view text_;
  CharacterNodeBuilder nodes_;
  GrammarPoll poll_;
  std::array<std::uint32_t, 128> ascii_;  // sets of one character
  std::size_t at_ = 0;
  std::vector<GrammarRule> rules_;
  std::map<std::string, std::uint32_t> names_;
  std::map<Ranges, std::uint32_t> sets_;  // their first nodes
};

}  // namespace

std::vector<GrammarRule> parse_rules(std::string_view text, GrammarProgram& program, const CancelToken* cancel) {
  return RuleParser(text, program, cancel).parse();
}

void refuse_grammar(std::string_view text, std::size_t at, const std::string& reason) {
  const std::string_view before = text.substr(0, at);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t begin = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  fail(Code::kInvalidArgument,
       "grammar, line " + std::to_string(line) + ", column " + std::to_string(at - begin + 1) + ": " + reason,
       {{"line", static_cast<std::int64_t>(line)}, {"column", static_cast<std::int64_t>(at - begin + 1)}});
}

}  // namespace lorekeep::lm
