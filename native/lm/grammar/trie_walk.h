// Walks a vocabulary's trie beside a machine that reads bytes, in parts. Internal to native/lm.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "lm/grammar/allowance.h"
#include "lm/text/token_table.h"

namespace lorekeep::lm {

/// `Machine` has State and step(from, byte, to, work). The states along the way can be dropped between two calls: they
/// are computed again.
template <class Machine>
class TrieWalk {
 public:
  using State = typename Machine::State;

  /// Begins at trie node `first` and ends before `past`; `origin` is the state before any byte.
  void begin(State origin, std::size_t first, std::size_t past) {
    way_.assign(1, std::move(origin));
    path_.clear();
    move(first, past);
  }
  /// Continues elsewhere from the same origin.
  void move(std::size_t first, std::size_t past) noexcept {
    at_ = first;
    past_ = past;
    lost_ = true;
  }

  /// Calls visit(node, state) for each node whose bytes the machine reads. Returns whether the walk ended; if not, no
  /// work is left.
  template <class Visit>
  bool run(Machine& machine, const TokenTable& tokens, Allowance& work, Visit visit) {
    const std::span<const TokenTable::Node> trie = tokens.trie();
    while (at_ < past_) {
      if (work.over()) return false;
      const TokenTable::Node& node = trie[at_];
      if (lost_ && !lead_to(machine, tokens, work)) {
        if (work.over()) return false;
        at_ = node.past;  // the machine does not read the bytes before the node
        continue;
      }
      work.spend(1);
      State to;
      if (!machine.step(way_.back(), node.byte, to, work)) {
        at_ = node.past;
        if (at_ < past_) back_to(trie[at_].depth - std::size_t{1});
        continue;
      }
      visit(at_, to);
      if (node.past > at_ + 1) {
        way_.push_back(std::move(to));
        path_.push_back(static_cast<char>(node.byte));
      }
      ++at_;
      if (at_ < past_) back_to(trie[at_].depth - std::size_t{1});
    }
    return true;
  }

  /// Forgets the states along the way. set_origin() must come before run().
  void drop() noexcept {
    way_.clear();
    path_.clear();
    lost_ = true;
  }
  void set_origin(State origin) { way_.assign(1, std::move(origin)); }
  /// The states along the way, the origin first; empty after drop().
  std::vector<State>& way() noexcept { return way_; }

 private:
  void back_to(std::size_t depth) {
    if (path_.size() <= depth) return;
    path_.resize(depth);
    way_.resize(depth + 1);
  }

  /// Reads the bytes before the current node. Returns false if the machine does not, or no work is left.
  bool lead_to(Machine& machine, const TokenTable& tokens, Allowance& work) {
    const std::string_view path = tokens.path_to(at_).substr(0, tokens.trie()[at_].depth - std::size_t{1});
    std::size_t common = 0;
    while (common < std::min(path.size(), path_.size()) && path[common] == path_[common]) ++common;
    back_to(common);
    while (path_.size() < path.size()) {
      if (work.over()) return false;
      work.spend(1);
      State to;
      const char byte = path[path_.size()];
      if (!machine.step(way_.back(), static_cast<std::uint8_t>(byte), to, work)) return false;
      way_.push_back(std::move(to));
      path_.push_back(byte);
    }
    lost_ = false;
    return true;
  }

  std::size_t at_ = 0;
  std::size_t past_ = 0;
  bool lost_ = true;  // way_ does not lead to the current node
  std::vector<State> way_;
  std::string path_;  // the bytes that way_ read
};

}  // namespace lorekeep::lm
