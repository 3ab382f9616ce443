#include "lm/grammar/grammar_machine.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "core/values/error.h"

namespace lorekeep::lm {

using Kind = GrammarState::Kind;

GrammarMachine::GrammarMachine(std::shared_ptr<const Grammar> grammar, std::uint64_t max_work)
    : grammar_(std::move(grammar)), program_(grammar_->program()), max_work_(max_work) {
  frames_.push_back({0, 0});  // kBottom
  start_ = initial();
}

GrammarMachine::State GrammarMachine::initial() {
  std::vector<Position> open{{program_.rules[program_.root], 0, kBottom}};
  Set set;
  close(open, set);
  return intern(std::move(set));
}

bool GrammarMachine::step(State from, std::uint8_t byte, State& to) {
  auto& next = sets_[static_cast<std::size_t>(from)].next;
  if (!next) {
    next = std::make_unique<std::array<std::int32_t, 256>>();
    next->fill(kUnknown);
  }
  std::int32_t target = (*next)[byte];
  if (target == kUnknown) {
    target = compute(from, byte);
    (*sets_[static_cast<std::size_t>(from)].next)[byte] = target;
  }
  to = target;
  return target >= 0;
}

std::int32_t GrammarMachine::compute(State from, std::uint8_t byte) {
  std::vector<Position> open;
  Set set;
  for (const Position& position : sets_[static_cast<std::size_t>(from)].positions) {
    const GrammarState& state = program_.states[position.state];
    const std::vector<ByteRun>& runs = program_.sets[state.operand];
    work_ += runs.size();
    const auto advance = [&](std::uint32_t run, std::uint32_t read) {
      const ByteRun& bytes = runs[run];
      if (byte < bytes.low[read] || byte > bytes.high[read]) return;
      if (read + 1 == bytes.length)
        open.push_back({state.next, 0, position.stack});
      else
        set.positions.push_back({position.state, 1 + 4 * run + read + 1, position.stack});
    };
    if (position.run != 0) {
      advance((position.run - 1) / 4, (position.run - 1) % 4);
    } else {
      for (std::uint32_t run = 0; run < runs.size(); ++run) advance(run, 0);
    }
  }
  close(open, set);
  return set.positions.empty() && !set.accepts ? kDead : intern(std::move(set));
}

/// Follows calls, ends and choices from the open positions to those before a character.
void GrammarMachine::close(std::vector<Position>& open, Set& set) {
  std::unordered_set<Position, PositionHash> seen;
  while (!open.empty()) {
    const Position position = open.back();
    open.pop_back();
    if (!seen.insert(position).second) continue;
    if (seen.size() > kMaxPositions) {
      fail(Code::kInvalidArgument, "grammar: the text can be read in more than " + std::to_string(kMaxPositions) +
                                       " ways; make it less ambiguous");
    }
    if (++work_ > max_work_)
      fail(Code::kInvalidArgument, "grammar: reading the text takes too much work; make it less ambiguous");
    const GrammarState& state = program_.states[position.state];
    switch (state.kind) {
      case Kind::kSet: set.positions.push_back(position); break;
      case Kind::kSplit:
        open.push_back({state.next, 0, position.stack});
        open.push_back({state.operand, 0, position.stack});
        break;
      case Kind::kCall: {
        // A call at the end of a rule returns to the rule's caller: lists written by recursion need no stack.
        const bool last = state.next == GrammarProgram::kEnd;
        open.push_back({program_.rules[state.operand], 0, last ? position.stack : push(state.next, position.stack)});
        break;
      }
      case Kind::kEnd:
        if (position.stack == kBottom)
          set.accepts = true;
        else
          open.push_back({frames_[position.stack].resume, 0, frames_[position.stack].below});
        break;
    }
  }
}

std::uint32_t GrammarMachine::push(std::uint32_t resume, std::uint32_t below) {
  const std::uint64_t key = (std::uint64_t{resume} << 32) | below;
  const auto [it, added] = frame_ids_.try_emplace(key, static_cast<std::uint32_t>(frames_.size()));
  if (added) frames_.push_back({resume, below});
  return it->second;
}

GrammarMachine::State GrammarMachine::intern(Set set) {
  std::sort(set.positions.begin(), set.positions.end());
  set.positions.erase(std::unique(set.positions.begin(), set.positions.end()), set.positions.end());
  std::uint64_t hash = set.accepts ? 0x9E3779B97F4A7C15u : 0;
  for (const Position& position : set.positions) {
    for (const std::uint64_t part : {position.state, position.run, position.stack}) {
      hash = (hash ^ part) * 0x100000001B3u;
      hash ^= hash >> 29;
    }
  }
  const auto [begin, end] = by_hash_.equal_range(hash);
  for (auto it = begin; it != end; ++it) {
    const Set& other = sets_[static_cast<std::size_t>(it->second)];
    if (other.accepts == set.accepts && other.positions == set.positions) return it->second;
  }
  kept_ += set.positions.size();
  sets_.push_back(std::move(set));
  const auto id = static_cast<State>(sets_.size() - 1);
  by_hash_.emplace(hash, id);
  return id;
}

void GrammarMachine::compact(std::span<State> live) {
  if (sets_.size() <= kMaxSets && kept_ <= kMaxKept) return;
  kept_ = 0;
  const std::vector<Set> sets = std::exchange(sets_, {});
  const std::vector<Frame> frames = std::exchange(frames_, {});
  by_hash_.clear();
  frame_ids_.clear();
  frames_.push_back({0, 0});
  start_ = initial();
  std::unordered_map<std::uint32_t, std::uint32_t> moved{{kBottom, kBottom}};
  const auto move_stack = [&](std::uint32_t stack) {
    std::vector<std::uint32_t> way;
    for (std::uint32_t at = stack; !moved.contains(at); at = frames[at].below) way.push_back(at);
    for (; !way.empty(); way.pop_back()) {
      moved[way.back()] = push(frames[way.back()].resume, moved[frames[way.back()].below]);
    }
    return moved[stack];
  };
  for (State& state : live) {
    Set copy;
    copy.accepts = sets[static_cast<std::size_t>(state)].accepts;
    copy.positions = sets[static_cast<std::size_t>(state)].positions;
    for (Position& position : copy.positions) position.stack = move_stack(position.stack);
    state = intern(std::move(copy));
  }
}

GrammarMatch match_grammar(std::shared_ptr<const Grammar> grammar, std::string_view text, const CancelToken& cancel) {
  GrammarMachine machine(std::move(grammar), GrammarMachine::kMaxMatchWork);
  GrammarMachine::State state = machine.start();
  for (const char byte : text) {
    cancel.check();
    if (!machine.step(state, static_cast<std::uint8_t>(byte), state)) return GrammarMatch::kRefused;
    machine.compact({&state, 1});
  }
  return machine.may_end(state) ? GrammarMatch::kConforms : GrammarMatch::kBeginning;
}

}  // namespace lorekeep::lm
