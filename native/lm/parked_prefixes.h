// States of idle sequences in main memory, found by their tokens. They take a limited number of bytes: what was used
// longest ago goes first. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "lm/prefix_tree.h"
#include "lm/token.h"

namespace lorekeep::lm {

class ParkedPrefixes {
 public:
  using Entry = PrefixTree::Entry;

  /// `partial`: a part of a state can be used, so that a state covers those of its prefixes.
  ParkedPrefixes(std::size_t most_bytes, bool partial) : most_bytes_(most_bytes), partial_(partial) {}

  /// Whether a state of these tokens is worth making: false if one that covers it is there, which counts as its use.
  bool wants(std::span<const Token> tokens);
  /// Adds a state, unless it exceeds the limit alone.
  void add(Entry entry, std::span<const Token> tokens, std::vector<std::byte> state);

  /// Returns the entry with the longest prefix of the prompt that can be used.
  PrefixTree::Match find(std::span<const Token> prompt) const;
  struct State {
    std::span<const std::byte> bytes;
    std::size_t tokens;
  };
  /// Returns a state, valid until the next call of another function. Precondition: the entry is there.
  State use(Entry entry);
  void erase(Entry entry);
  void clear();

  std::size_t size() const noexcept { return parked_.size(); }
  std::size_t bytes() const noexcept { return bytes_; }
  std::size_t most_bytes() const noexcept { return most_bytes_; }

 private:
  struct Parked {
    std::vector<std::byte> state;
    std::size_t tokens;
    std::uint64_t last_use;

    std::size_t bytes() const noexcept { return state.size() + tokens * sizeof(Token); }
  };

  const std::size_t most_bytes_;
  const bool partial_;
  PrefixTree tree_;
  std::map<Entry, Parked> parked_;
  std::size_t bytes_ = 0;
  std::uint64_t uses_ = 0;
};

}  // namespace lorekeep::lm
