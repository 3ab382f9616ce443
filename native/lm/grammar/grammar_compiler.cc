#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <utility>

#include "core/values/error.h"
#include "lm/grammar/grammar.h"
#include "lm/grammar/grammar_rules.h"

namespace lorekeep::lm {
namespace {

using Kind = GrammarState::Kind;
using Part = GrammarPart;

class RuleCompiler {
 public:
  RuleCompiler(std::string_view text, const std::vector<GrammarRule>& rules, GrammarProgram& program,
               const CancelToken* cancel)
      : text_(text), rules_(rules), program_(program), poll_(cancel) {}

  void compile() {
    program_.states.push_back({Kind::kEnd, 0, 0});
    bool has_root = false;
    for (std::size_t i = 0; i < rules_.size(); ++i) {
      const GrammarRule& rule = rules_[i];
      if (!rule.body) refuse(rule, "is not defined");
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
  [[noreturn]] void refuse(const GrammarRule& rule, const std::string& reason) const {
    refuse_grammar(text_, rule.mentioned, "the rule " + rule.name + " " + reason);
  }

  std::uint32_t add(Kind kind, std::uint32_t operand, std::uint32_t next) {
    poll_.count();
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
        std::vector<Word> words(p.parts.size());
        for (std::size_t i = 0; i < words.size(); ++i) flatten(p.parts[i], words[i]);
        std::vector<const Word*> all;
        for (const Word& word : words) all.push_back(&word);
        return alternatives(all, 0, 0, next);
      }
      case Part::Type::kRepeat: return repeat(p, next);
    }
    return next;
  }

  using Word = std::vector<const Part*>;

  void flatten(const Part& p, Word& word) {
    count_part();
    if (p.type != Part::Type::kSequence) return word.push_back(&p);
    for (const Part& each : p.parts) flatten(each, word);
  }

  void count_part() {
    poll_.count();
    if (++parts_ > kMaxParts) {
      fail(Code::kInvalidArgument, "grammar: its alternatives have more than " + std::to_string(kMaxParts) +
                                       " parts after repetitions; use smaller bounds");
    }
  }

  static const Part* set_at(const Word& word, std::size_t depth) {
    return depth < word.size() && word[depth]->type == Part::Type::kSet ? word[depth] : nullptr;
  }

  /// Compiles what words have from `depth` on. Words that begin with the same character share its state, so that a
  /// list of thousands of words takes one look per byte and not one per word.
  std::uint32_t alternatives(const std::vector<const Word*>& words, std::size_t depth, int nested, std::uint32_t next) {
    std::vector<std::vector<const Word*>> groups;
    std::unordered_map<std::uint32_t, std::size_t> by_set;
    for (const Word* word : words) {
      count_part();
      const Part* set = nested < kMaxSharing ? set_at(*word, depth) : nullptr;
      const auto known = set == nullptr ? by_set.end() : by_set.find(set->index);
      if (known != by_set.end()) {
        groups[known->second].push_back(word);
        continue;
      }
      if (set != nullptr) by_set.emplace(set->index, groups.size());
      groups.push_back({word});
    }
    std::uint32_t first = group(groups.back(), depth, nested, next);
    for (std::size_t i = groups.size() - 1; i-- > 0;)
      first = add(Kind::kSplit, first, group(groups[i], depth, nested, next));
    return first;
  }

  /// Compiles one word, or several with the same character at `depth`.
  std::uint32_t group(const std::vector<const Word*>& words, std::size_t depth, int nested, std::uint32_t next) {
    const Word& word = *words.front();
    std::size_t common = depth;
    if (words.size() == 1) {
      common = word.size();
    } else {
      const auto share = [&](std::size_t at) {
        const Part* set = set_at(word, at);
        return set != nullptr && std::all_of(words.begin(), words.end(), [&](const Word* other) {
                 count_part();
                 const Part* same = set_at(*other, at);
                 return same != nullptr && same->index == set->index;
               });
      };
      while (share(common)) ++common;
      next = alternatives(words, common, nested + 1, next);
    }
    for (std::size_t i = common; i-- > depth;) next = part(*word[i], next);
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
      poll_.count();
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
      if (!ends[i]) refuse(rules_[i], "never ends");
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
        if (colour[callee] == 1) refuse(rules_[callee], "is left-recursive; write it with a repetition");
        if (colour[callee] == 0) colour[callee] = 1, way.emplace_back(callee, 0);
      }
    }
  }

  static constexpr std::uint64_t kMaxWork = 5'000'000;  // of one check of the rules: some 30 ms
  static constexpr std::uint64_t kMaxParts = 5'000'000;
  static constexpr int kMaxSharing = 256;  // branches of shared beginnings within each other

  std::string_view text_;
  const std::vector<GrammarRule>& rules_;
  GrammarProgram& program_;
  GrammarPoll poll_;
  std::vector<std::uint32_t> seen_;
  std::uint32_t round_ = 0;
  std::uint64_t parts_ = 0;
};

}  // namespace

void compile_rules(std::string_view text, const std::vector<GrammarRule>& rules, GrammarProgram& program,
                   const CancelToken* cancel) {
  RuleCompiler(text, rules, program, cancel).compile();
  classify_bytes(program);
}

}  // namespace lorekeep::lm
