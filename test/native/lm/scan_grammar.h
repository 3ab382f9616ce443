// The slow twin of GrammarMachine and its masks: follows every way to read a text by itself, and remembers nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string_view>
#include <tuple>
#include <vector>

#include "lm/grammar/grammar.h"
#include "lm/grammar/grammar_program.h"

namespace lorekeep::lm {

class ScanGrammar {
 public:
  explicit ScanGrammar(std::shared_ptr<const Grammar> grammar) : grammar_(std::move(grammar)) { begin(); }

  /// Reads the bytes if the grammar allows them; else changes nothing.
  bool read(std::string_view bytes) {
    Ways ways = ways_;
    if (!advance(ways, bytes)) return false;
    ways_ = std::move(ways);
    return true;
  }
  bool allows(std::string_view bytes) const {
    Ways ways = ways_;
    return !bytes.empty() && advance(ways, bytes);
  }
  bool may_end() const {
    for (const Way& way : ways_) {
      if (std::get<0>(way) == GrammarProgram::kEnd && std::get<2>(way).empty()) return true;
    }
    return false;
  }

 private:
  /// A state, the node of the character being read, and the states of the callers, the innermost one last.
  using Way = std::tuple<std::uint32_t, std::uint32_t, std::vector<std::uint32_t>>;
  using Ways = std::set<Way>;

  const GrammarProgram& program() const { return grammar_->program(); }

  void begin() { follow({program().rules[program().root], 0, {}}, ways_); }

  void follow(const Way& way, Ways& ways) const {
    if (!ways.insert(way).second) return;
    const auto& [at, node, callers] = way;
    const GrammarState& state = program().states[at];
    switch (state.kind) {
      case GrammarState::Kind::kSet: return;
      case GrammarState::Kind::kSplit:
        follow({state.next, 0, callers}, ways);
        return follow({state.operand, 0, callers}, ways);
      case GrammarState::Kind::kCall: {
        std::vector<std::uint32_t> deeper = callers;
        if (state.next != GrammarProgram::kEnd) deeper.push_back(state.next);
        return follow({program().rules[state.operand], 0, deeper}, ways);
      }
      case GrammarState::Kind::kEnd: {
        if (callers.empty()) return;
        std::vector<std::uint32_t> outer(callers.begin(), callers.end() - 1);
        return follow({callers.back(), 0, outer}, ways);
      }
    }
  }

  bool advance(Ways& ways, std::string_view bytes) const {
    for (const char byte : bytes) {
      Ways next;
      for (const auto& [at, node, callers] : ways) {
        const GrammarState& state = program().states[at];
        if (state.kind != GrammarState::Kind::kSet) continue;
        for (const CharacterNodes::Edge& edge : program().nodes.edges(node != 0 ? node : state.operand)) {
          const auto b = static_cast<std::uint8_t>(byte);
          if (b < edge.low || b > edge.high) continue;
          if (edge.target == CharacterNodes::kRead)
            follow({state.next, 0, callers}, next);
          else
            next.insert({at, edge.target, callers});
        }
      }
      if (next.empty()) return false;
      ways = std::move(next);
    }
    return true;
  }

  std::shared_ptr<const Grammar> grammar_;
  Ways ways_;
};

}  // namespace lorekeep::lm
