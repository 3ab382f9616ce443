#include "lm/grammar/grammar_machine.h"

#include <algorithm>
#include <utility>

#include "core/values/error.h"

namespace lorekeep::lm {

using Kind = GrammarState::Kind;

namespace {

// Approximate bytes beside the positions: of a set with its entry in a table, of a kernel, and of a frame.
constexpr std::size_t kSetBytes = 160;
constexpr std::size_t kFrameBytes = 64;

std::uint64_t hash_of(const std::vector<GrammarPosition>& positions, bool accepts) noexcept {
  std::uint64_t hash = accepts ? 0x9E3779B97F4A7C15u : 0;
  for (const GrammarPosition& position : positions) {
    for (const std::uint64_t part : {position.state, position.node, position.stack}) {
      hash = (hash ^ part) * 0x100000001B3u;
      hash ^= hash >> 29;
    }
  }
  return hash;
}

void sort_once(std::vector<GrammarPosition>& positions) {
  std::sort(positions.begin(), positions.end());
  positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
}

}  // namespace

GrammarMachine::GrammarMachine(std::shared_ptr<const Grammar> grammar)
    : grammar_(std::move(grammar)), program_(grammar_->program()) {
  frames_.push_back({0, 0, 0});  // kBottom
}

GrammarMachine::State GrammarMachine::start(Allowance& work) {
  return reach({{program_.rules[program_.root], 0, kBottom}}, work);
}

bool GrammarMachine::step(State from, std::uint8_t byte, State& to, Allowance& work) {
  const std::size_t byte_class = program_.byte_class[byte];
  Set& set = sets_[static_cast<std::size_t>(from)];
  if (set.next.empty()) {
    set.next.assign(program_.class_bytes.size(), kUnknown);
    ++rows_;
  }
  State target = set.next[byte_class];
  if (target == kUnknown) {
    target = compute(from, byte, work);
    sets_[static_cast<std::size_t>(from)].next[byte_class] = target;
  }
  to = target;
  return target >= 0;
}

GrammarMachine::State GrammarMachine::compute(State from, std::uint8_t byte, Allowance& work) {
  Positions kernel;
  const Positions& positions = sets_[static_cast<std::size_t>(from)].positions;
  work.spend(positions.size());
  for (const Position& position : positions) {
    const GrammarState& state = program_.states[position.state];
    const CharacterNodes::Edge* edge = program_.nodes.find(position.node != 0 ? position.node : state.operand, byte);
    if (edge == nullptr) continue;
    const bool read = edge->target == CharacterNodes::kRead;
    kernel.push_back({read ? state.next : position.state, read ? 0 : edge->target, position.stack});
  }
  return kernel.empty() ? kDead : reach(std::move(kernel), work);
}

/// Returns the state of the positions that a kernel leads to.
GrammarMachine::State GrammarMachine::reach(Positions kernel, Allowance& work) {
  sort_once(kernel);
  const std::uint64_t hash = hash_of(kernel, false);
  const auto [begin, end] = kernels_.equal_range(hash);
  for (auto it = begin; it != end; ++it) {
    if (it->second.positions == kernel) return it->second.state;
  }
  const State state = intern(follow(kernel, work));
  kept_ += kernel.size();
  kernel.shrink_to_fit();
  kernels_.emplace(hash, Kernel{std::move(kernel), state});
  return state;
}

/// Follows calls, ends and choices to the positions before a character.
GrammarMachine::Set GrammarMachine::follow(const Positions& kernel, Allowance& work) {
  Set set;
  seen_.clear();
  open_.clear();
  for (const Position& position : kernel) (position.node == 0 ? open_ : set.positions).push_back(position);
  while (!open_.empty()) {
    const Position position = open_.back();
    open_.pop_back();
    if (!seen_.insert(position)) continue;
    if (seen_.size() > kMaxPositions) {
      fail(Code::kInvalidArgument, "grammar: the text can be read in more than " + std::to_string(kMaxPositions) +
                                       " ways; make it less ambiguous");
    }
    const GrammarState& state = program_.states[position.state];
    switch (state.kind) {
      case Kind::kSet: set.positions.push_back(position); break;
      case Kind::kSplit:
        open_.push_back({state.next, 0, position.stack});
        open_.push_back({state.operand, 0, position.stack});
        break;
      case Kind::kCall: {
        // A call at the end of a rule returns to the rule's caller: lists written by recursion need no stack.
        const bool last = state.next == GrammarProgram::kEnd;
        open_.push_back({program_.rules[state.operand], 0, last ? position.stack : push(state.next, position.stack)});
        break;
      }
      case Kind::kEnd:
        if (position.stack == kBottom)
          set.accepts = true;
        else
          open_.push_back({frames_[position.stack].resume, 0, frames_[position.stack].below});
        break;
    }
  }
  work.spend(kernel.size() + 2 * seen_.size());
  return set;
}

std::uint32_t GrammarMachine::push(std::uint32_t resume, std::uint32_t below) {
  const std::uint64_t key = (std::uint64_t{resume} << 32) | below;
  const auto [it, added] = frame_ids_.try_emplace(key, static_cast<std::uint32_t>(frames_.size()));
  if (added) frames_.push_back({resume, below, frames_[below].depth + 1});
  return it->second;
}

GrammarMachine::State GrammarMachine::intern(Set set) {
  sort_once(set.positions);
  const std::uint64_t hash = hash_of(set.positions, set.accepts);
  const auto [begin, end] = by_hash_.equal_range(hash);
  for (auto it = begin; it != end; ++it) {
    const Set& other = sets_[static_cast<std::size_t>(it->second)];
    if (other.accepts == set.accepts && other.positions == set.positions) return it->second;
  }
  set.positions.shrink_to_fit();
  kept_ += set.positions.size();
  sets_.push_back(std::move(set));
  const auto id = static_cast<State>(sets_.size() - 1);
  by_hash_.emplace(hash, id);
  return id;
}

/// Returns the longest stack that all positions have at the bottom; kBottom if finding it takes kMaxCommonWork.
std::uint32_t GrammarMachine::common_stack(const Positions& positions, Allowance& work) const {
  std::uint32_t common = positions.front().stack;
  std::uint64_t looks = positions.size();
  for (const Position& position : positions) {
    for (std::uint32_t other = position.stack; common != other; ++looks) {
      std::uint32_t& deeper = frames_[common].depth >= frames_[other].depth ? common : other;
      deeper = frames_[deeper].below;
      if (looks > kMaxCommonWork) common = other = kBottom;
    }
    if (common == kBottom) break;
  }
  work.spend(looks);
  return common;
}

GrammarMachine::Local GrammarMachine::local(State state, Allowance& work) {
  const Set& set = sets_[static_cast<std::size_t>(state)];
  if (set.local != kUnknown) return {set.local, set.whole};
  const std::uint32_t base = set.accepts || set.positions.empty() ? kBottom : common_stack(set.positions, work);
  State local = state;
  if (base != kBottom) {
    Set copy;
    copy.positions = set.positions;
    std::unordered_map<std::uint32_t, std::uint32_t> moved{{base, kBottom}};
    std::vector<std::uint32_t> way;
    for (Position& position : copy.positions) {
      for (std::uint32_t at = position.stack; !moved.contains(at); at = frames_[at].below) way.push_back(at);
      work.spend(1 + way.size());
      for (; !way.empty(); way.pop_back()) {
        const Frame frame = frames_[way.back()];
        moved[way.back()] = push(frame.resume, moved[frame.below]);
      }
      position.stack = moved[position.stack];
    }
    local = intern(std::move(copy));
  }
  Set& known = sets_[static_cast<std::size_t>(state)];
  known.local = local;
  known.whole = base == kBottom;
  return {known.local, known.whole};
}

void GrammarMachine::compact(std::span<State* const> live) {
  std::vector<Set> sets = std::exchange(sets_, {});
  const std::vector<Frame> frames = std::exchange(frames_, {});
  by_hash_.clear();
  kernels_.clear();
  frame_ids_.clear();
  frames_.push_back({0, 0, 0});
  kept_ = 0;
  rows_ = 0;
  std::unordered_map<std::uint32_t, std::uint32_t> moved{{kBottom, kBottom}};
  const auto move_stack = [&](std::uint32_t stack) {
    std::vector<std::uint32_t> way;
    for (std::uint32_t at = stack; !moved.contains(at); at = frames[at].below) way.push_back(at);
    for (; !way.empty(); way.pop_back()) {
      moved[way.back()] = push(frames[way.back()].resume, moved[frames[way.back()].below]);
    }
    return moved[stack];
  };
  std::unordered_map<State, State> renamed;
  for (State* state : live) {
    const auto [known, added] = renamed.try_emplace(*state, 0);
    if (added) {
      Set& old = sets[static_cast<std::size_t>(*state)];
      Set kept;
      kept.accepts = old.accepts;
      kept.positions = std::move(old.positions);
      for (Position& position : kept.positions) position.stack = move_stack(position.stack);
      known->second = intern(std::move(kept));
    }
    *state = known->second;
  }
}

std::size_t GrammarMachine::bytes() const noexcept {
  return kept_ * sizeof(Position) + (sets_.size() + kernels_.size()) * kSetBytes + frames_.size() * kFrameBytes +
         rows_ * program_.class_bytes.size() * sizeof(State);
}

}  // namespace lorekeep::lm
