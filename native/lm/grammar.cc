#include "lm/grammar.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/utf8.h"
#include "lm/grammar_program.h"

namespace lorekeep::lm {
namespace {

using Kind = GrammarState::Kind;
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

/// What a part of a rule compiles to: given the state that follows, its first state. Parts are kept as a tree, because
/// repetitions compile them more than once.
struct Part {
  enum class Type { kSet, kRule, kSequence, kChoice, kRepeat } type;
  std::uint32_t index = 0;  // of the set or the rule
  std::uint32_t least = 0;
  std::optional<std::uint32_t> most = {};
  std::vector<Part> parts = {};
};

class Parser {
 public:
  Parser(std::string_view text, GrammarProgram& program) : text_(text), program_(program) {}

  struct Rule {
    std::string name;
    std::optional<Part> body;
    std::size_t mentioned;  // offset
  };

  std::vector<Rule> parse() {
    skip_space(true);
    while (at_ < text_.size()) {
      const std::size_t begin = at_;
      const std::uint32_t rule = rule_index(name(), begin);
      skip_space(false);
      if (text_.substr(at_, 3) != "::=") refuse("`::=` is expected after the name of a rule");
      at_ += 3;
      skip_space(true);
      if (rules_[rule].body) refuse("the rule " + rules_[rule].name + " is defined twice", begin);
      Part body = choice(0);
      rules_[rule].body = std::move(body);
      if (at_ < text_.size() && text_[at_] != '\n' && text_[at_] != '\r')
        refuse("the rule has something after its end");
      skip_space(true);
    }
    return std::move(rules_);
  }

  [[noreturn]] void refuse(const std::string& reason) const { refuse(reason, at_); }
  [[noreturn]] void refuse(const std::string& reason, std::size_t at) const {
    const std::string_view before = text_.substr(0, at);
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const std::size_t begin = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
    fail(Code::kInvalidArgument,
         "grammar, line " + std::to_string(line) + ", column " + std::to_string(at - begin + 1) + ": " + reason,
         {{"line", static_cast<std::int64_t>(line)}, {"column", static_cast<std::int64_t>(at - begin + 1)}});
  }

 private:
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
    const auto [it, added] = sets_.try_emplace(all, static_cast<std::uint32_t>(program_.sets.size()));
    if (added) {
      std::vector<ByteRun> runs;
      for (const auto& [first, last] : all) append_byte_runs(first, last, runs);
      if (runs.empty()) refuse("the character class has no characters");
      program_.sets.push_back(std::move(runs));
    }
    return {Part::Type::kSet, it->second};
  }

  void literal(std::vector<Part>& parts) {
    const std::size_t begin = at_++;
    Part text{Part::Type::kSequence};
    while (at_ < text_.size() && text_[at_] != '"') {
      const char32_t c = character();
      text.parts.push_back(set({{c, c}}));
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

  std::string_view text_;
  GrammarProgram& program_;
  std::size_t at_ = 0;
  std::vector<Rule> rules_;
  std::map<std::string, std::uint32_t> names_;
  std::map<Ranges, std::uint32_t> sets_;
};

class Compiler {
 public:
  Compiler(const Parser& parser, const std::vector<Parser::Rule>& rules, GrammarProgram& program)
      : parser_(parser), rules_(rules), program_(program) {}

  void compile() {
    program_.states.push_back({Kind::kEnd, 0, 0});
    bool has_root = false;
    for (std::size_t i = 0; i < rules_.size(); ++i) {
      const Parser::Rule& rule = rules_[i];
      if (!rule.body) parser_.refuse("the rule " + rule.name + " is not defined", rule.mentioned);
      if (rule.name == "root") {
        program_.root = static_cast<std::uint32_t>(i);
        has_root = true;
      }
      program_.rules.push_back(part(*rule.body, GrammarProgram::kEnd));
    }
    if (!has_root) fail(Code::kInvalidArgument, "grammar: the rule root is missing");
    check_ends();
    check_left_recursion();
  }

 private:
  std::uint32_t add(Kind kind, std::uint32_t operand, std::uint32_t next) {
    if (program_.states.size() >= kMaxGrammarStates) {
      fail(Code::kInvalidArgument, "grammar: it has more than " + std::to_string(kMaxGrammarStates) +
                                       " states after repetitions; use smaller bounds");
    }
    program_.states.push_back({kind, operand, next});
    return static_cast<std::uint32_t>(program_.states.size() - 1);
  }

  std::uint32_t part(const Part& p, std::uint32_t next) {
    switch (p.type) {
      case Part::Type::kSet: return add(Kind::kSet, p.index, next);
      case Part::Type::kRule: return add(Kind::kCall, p.index, next);
      case Part::Type::kSequence:
        for (std::size_t i = p.parts.size(); i-- > 0;) next = part(p.parts[i], next);
        return next;
      case Part::Type::kChoice: {
        std::uint32_t first = part(p.parts.back(), next);
        for (std::size_t i = p.parts.size() - 1; i-- > 0;) first = add(Kind::kSplit, first, part(p.parts[i], next));
        return first;
      }
      case Part::Type::kRepeat: return repeat(p, next);
    }
    return next;
  }

  std::uint32_t repeat(const Part& p, std::uint32_t next) {
    const Part& body = p.parts[0];
    std::uint32_t first = next;
    if (!p.most) {
      first = add(Kind::kSplit, next, 0);
      program_.states[first].next = part(body, first);
    } else {
      for (std::uint32_t i = p.least; i < *p.most; ++i) first = add(Kind::kSplit, next, part(body, first));
    }
    for (std::uint32_t i = 0; i < p.least; ++i) {
      const std::uint32_t before = first;
      first = part(body, first);
      if (first == before) break;  // an empty body
    }
    return first;
  }

  /// Calls `visit` for the states reachable from a rule's first state without passing one where `stops` returns true.
  template <class Stops, class Visit>
  void walk(std::uint32_t rule, Stops stops, Visit visit) {
    seen_.resize(program_.states.size(), 0);
    ++round_;
    std::vector<std::uint32_t> open{program_.rules[rule]};
    while (!open.empty()) {
      const std::uint32_t at = open.back();
      open.pop_back();
      if (std::exchange(seen_[at], round_) == round_) continue;
      const GrammarState& state = program_.states[at];
      visit(at, state);
      if (state.kind == Kind::kEnd || stops(state)) continue;
      open.push_back(state.next);
      if (state.kind == Kind::kSplit) open.push_back(state.operand);
    }
  }

  /// Marks the rules for which `passes` lets a walk reach the end, until nothing changes. A worklist over the callers
  /// of a rule keeps this near linear.
  template <class Blocks>
  std::vector<bool> rules_that_reach_end(Blocks blocks) {
    std::vector<std::vector<std::uint32_t>> callers(rules_.size());
    for (std::uint32_t rule = 0; rule < rules_.size(); ++rule) {
      walk(
          rule, [](const GrammarState&) { return false; },
          [&](std::uint32_t, const GrammarState& state) {
            if (state.kind == Kind::kCall) callers[state.operand].push_back(rule);
          });
    }
    std::vector<bool> reach(rules_.size(), false);
    std::vector<std::uint32_t> open(rules_.size());
    for (std::uint32_t i = 0; i < open.size(); ++i) open[i] = i;
    std::uint64_t work = 0;
    while (!open.empty()) {
      const std::uint32_t rule = open.back();
      open.pop_back();
      if (reach[rule]) continue;
      bool ends = false;
      walk(
          rule, [&](const GrammarState& state) { return blocks(state, reach); },
          [&](std::uint32_t, const GrammarState& state) {
            ends = ends || state.kind == Kind::kEnd;
            ++work;
          });
      if (work > kMaxWork) fail(Code::kInvalidArgument, "grammar: its rules refer to each other in too many ways");
      if (!ends) continue;
      reach[rule] = true;
      for (const std::uint32_t caller : callers[rule]) {
        if (!reach[caller]) open.push_back(caller);
      }
    }
    return reach;
  }

  void check_ends() {
    const std::vector<bool> ends = rules_that_reach_end([](const GrammarState& state, const std::vector<bool>& reach) {
      return state.kind == Kind::kCall && !reach[state.operand];
    });
    for (std::size_t i = 0; i < rules_.size(); ++i) {
      if (!ends[i]) parser_.refuse("the rule " + rules_[i].name + " never ends", rules_[i].mentioned);
    }
  }

  /// A rule must not reach itself without a character in between: it would be called for ever.
  void check_left_recursion() {
    const std::vector<bool> empty = rules_that_reach_end([](const GrammarState& state, const std::vector<bool>& reach) {
      return state.kind == Kind::kSet || (state.kind == Kind::kCall && !reach[state.operand]);
    });
    std::vector<std::vector<std::uint32_t>> first(rules_.size());
    for (std::uint32_t rule = 0; rule < rules_.size(); ++rule) {
      walk(
          rule,
          [&](const GrammarState& state) {
            return state.kind == Kind::kSet || (state.kind == Kind::kCall && !empty[state.operand]);
          },
          [&](std::uint32_t, const GrammarState& state) {
            if (state.kind == Kind::kCall) first[rule].push_back(state.operand);
          });
    }
    // Depth-first search for a cycle, without recursion: rules may be chained by thousands.
    std::vector<std::uint8_t> colour(rules_.size(), 0);
    for (std::uint32_t start = 0; start < rules_.size(); ++start) {
      std::vector<std::pair<std::uint32_t, std::size_t>> way;
      if (colour[start] == 0) way.emplace_back(start, 0), colour[start] = 1;
      while (!way.empty()) {
        auto& [rule, next] = way.back();
        if (next == first[rule].size()) {
          colour[rule] = 2;
          way.pop_back();
          continue;
        }
        const std::uint32_t callee = first[rule][next++];
        if (colour[callee] == 1) {
          parser_.refuse("the rule " + rules_[callee].name + " is left-recursive; write it with a repetition",
                         rules_[callee].mentioned);
        }
        if (colour[callee] == 0) colour[callee] = 1, way.emplace_back(callee, 0);
      }
    }
  }

  static constexpr std::uint64_t kMaxWork = 20'000'000;

  const Parser& parser_;
  const std::vector<Parser::Rule>& rules_;
  GrammarProgram& program_;
  std::vector<std::uint32_t> seen_;
  std::uint32_t round_ = 0;
};

}  // namespace

void append_byte_runs(char32_t first, char32_t last, std::vector<ByteRun>& runs) {
  if (first <= 0xDFFF && last >= 0xD800) {
    if (first < 0xD800) append_byte_runs(first, 0xD7FF, runs);
    if (last > 0xDFFF) append_byte_runs(0xE000, last, runs);
    return;
  }
  // Split at the borders between lengths, then until each run is a product of byte ranges.
  for (const char32_t border : {char32_t{0x7F}, char32_t{0x7FF}, char32_t{0xFFFF}}) {
    if (first <= border && last > border) {
      append_byte_runs(first, border, runs);
      append_byte_runs(border + 1, last, runs);
      return;
    }
  }
  for (int bits = 6; bits <= 18; bits += 6) {
    const char32_t mask = (char32_t{1} << bits) - 1;
    if ((first & ~mask) == (last & ~mask)) continue;
    if ((first & mask) != 0) {
      append_byte_runs(first, first | mask, runs);
      append_byte_runs((first | mask) + 1, last, runs);
      return;
    }
    if ((last & mask) != mask) {
      append_byte_runs(first, (last & ~mask) - 1, runs);
      append_byte_runs(last & ~mask, last, runs);
      return;
    }
  }
  char low[kMaxUtf8Bytes], high[kMaxUtf8Bytes];
  ByteRun run{static_cast<std::uint8_t>(encode_utf8(first, low)), {}, {}};
  encode_utf8(last, high);
  for (std::size_t i = 0; i < run.length; ++i) {
    run.low[i] = static_cast<std::uint8_t>(low[i]);
    run.high[i] = static_cast<std::uint8_t>(high[i]);
  }
  runs.push_back(run);
}

std::shared_ptr<const Grammar> Grammar::parse(std::string_view text) {
  if (text.size() > kMaxGrammarBytes) {
    fail(Code::kInvalidArgument,
         "grammar: it has " + std::to_string(text.size()) + " bytes, more than " + std::to_string(kMaxGrammarBytes));
  }
  auto program = std::make_unique<GrammarProgram>();
  Parser parser(text, *program);
  const std::vector<Parser::Rule> rules = parser.parse();
  Compiler(parser, rules, *program).compile();
  return std::shared_ptr<const Grammar>(new Grammar(std::move(program)));
}

Grammar::Grammar(std::unique_ptr<GrammarProgram> program) : program_(std::move(program)) {}
Grammar::~Grammar() = default;

}  // namespace lorekeep::lm
