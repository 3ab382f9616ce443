// What is asked of a grammar without a model: whether it is too dear, and whether a text conforms.
#include <algorithm>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "core/values/error.h"
#include "lm/grammar/grammar.h"
#include "lm/grammar/grammar_machine.h"

namespace lorekeep::lm {
namespace {

/// Beginnings of replies that check_grammar() tries, in bytes, and their number.
constexpr std::size_t kCheckedBytes = 32;
constexpr std::size_t kCheckedStates = 4096;
constexpr std::size_t kMaxBytes = std::size_t{8} << 20;

}  // namespace

void check_grammar(std::shared_ptr<const Grammar> grammar, const CancelToken& cancel) {
  const std::vector<std::uint8_t> bytes = grammar->program().class_bytes;
  GrammarMachine machine(std::move(grammar));
  Allowance work(kMaxCheckWork);
  std::deque<std::pair<GrammarMachine::State, std::size_t>> open{{machine.start(work), 0}};
  std::vector<bool> seen;
  std::size_t states = 0;
  while (!open.empty() && open.front().second < kCheckedBytes && states < kCheckedStates) {
    const auto [from, length] = open.front();
    open.pop_front();
    if (seen.size() <= static_cast<std::size_t>(from)) seen.resize(static_cast<std::size_t>(from) + 1);
    if (seen[static_cast<std::size_t>(from)]) continue;
    seen[static_cast<std::size_t>(from)] = true;
    ++states;
    for (const std::uint8_t byte : bytes) {
      cancel.check();
      if (work.over() && length == 0) {
        fail(Code::kInvalidArgument,
             "grammar: finding the characters that a reply may begin with takes too much work; "
             "use fewer alternatives and smaller repetitions of optional parts");
      }
      if (work.over() || machine.bytes() > kMaxBytes) return;
      GrammarMachine::State to = 0;
      try {
        if (machine.step(from, byte, to, work)) open.emplace_back(to, length + 1);
      } catch (const Error& error) {
        fail(error.code(), std::string(error.what()) + " (a reply of " + std::to_string(length + 1) + " bytes)");
      }
    }
  }
}

GrammarMatch match_grammar(std::shared_ptr<const Grammar> grammar, std::string_view text, const CancelToken& cancel) {
  GrammarMachine machine(std::move(grammar));
  Allowance work(kMaxMatchWork);
  GrammarMachine::State state = machine.start(work);
  for (const char byte : text) {
    cancel.check();
    if (work.over())
      fail(Code::kInvalidArgument, "grammar: reading the text takes too much work; make it less ambiguous");
    if (!machine.step(state, static_cast<std::uint8_t>(byte), state, work)) return GrammarMatch::kRefused;
    if (machine.bytes() > kMaxBytes) {
      GrammarMachine::State* const live[] = {&state};
      machine.compact(live);
    }
  }
  return machine.may_end(state) ? GrammarMatch::kConforms : GrammarMatch::kBeginning;
}

}  // namespace lorekeep::lm
