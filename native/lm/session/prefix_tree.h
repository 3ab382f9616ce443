// A radix tree over token ids. It finds the entry that shares the longest prefix with a prompt. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

#include "lm/text/token.h"

namespace lorekeep::lm {

class PrefixTree {
 public:
  using Entry = std::uint64_t;
  struct Match {
    Entry entry = 0;
    std::size_t tokens = 0;  // 0: no entry begins with the prompt's first token
  };

  PrefixTree();
  ~PrefixTree();
  PrefixTree(const PrefixTree&) = delete;
  PrefixTree& operator=(const PrefixTree&) = delete;

  /// Stores the tokens of an entry, replacing its earlier ones.
  void set(Entry entry, std::span<const Token> tokens);
  void erase(Entry entry);
  void clear();
  bool contains(Entry entry) const { return places_.contains(entry); }
  std::size_t entries() const noexcept { return places_.size(); }

  /// Returns an entry with the longest common prefix.
  Match longest(std::span<const Token> prompt) const;
  /// Returns the longest entry that is a prefix of the prompt as a whole.
  Match longest_whole(std::span<const Token> prompt) const;
  /// Visits every part of the tree below the root, parents first: its depth from 0, its own tokens, the entries that
  /// end with it.
  using Visit = std::function<void(std::size_t depth, std::size_t tokens, const std::set<Entry>& entries)>;
  void walk(const Visit& visit) const;
  /// Returns the entry's tokens. Precondition: contains(entry).
  std::vector<Token> tokens(Entry entry) const;

 private:
  struct Node;
  Node* descend(Node* node, std::span<const Token> tokens);
  void prune(Node* node);

  std::unique_ptr<Node> root_;
  std::unordered_map<Entry, Node*> places_;
};

}  // namespace lorekeep::lm
