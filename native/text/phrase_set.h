// The phrases of a query, which are looked for in a text together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/threads/cancel_token.h"
#include "core/values/seeded_hash.h"
#include "text/prefix_set.h"
#include "text/query_analysis.h"
#include "text/token_numbers.h"
#include "text/tokenizer.h"

namespace lorekeep::text {

/// A tree of the phrases' tokens, in which each node knows the longest other node that its last tokens lead to (Aho and
/// Corasick, 1975). A text is read once, whatever the number of phrases. Immutable; may be shared between threads.
class PhraseSet {
 public:
  /// `clauses`: with a phrase and a sign. They must outlive the set.
  PhraseSet(std::span<const QueryClause* const> clauses, Tokenizer tokenizer);

 private:
  friend class PhraseReader;

  static constexpr std::uint32_t kRoot = 0;
  static constexpr std::uint32_t kNone = ~0u;

  struct Node {
    std::uint32_t token = 0;
    std::uint32_t parent = kRoot;
    std::uint32_t depth = 0;
    std::uint32_t first_token = kNone;  // of its first child; further ones are in edges_
    std::uint32_t first_child = kRoot;
    bool branches = false;
    std::uint32_t shorter = kRoot;     // the longest other node that the last tokens lead to
    std::uint32_t group = kNone;       // of the phrases that end here
    std::uint32_t ends = kNone;        // of the phrases that a prefix after this node ends
    std::uint32_t with_group = kRoot;  // first node with a group: this one, or on the way along `shorter`
    std::uint32_t with_ends = kRoot;
  };
  /// Prefixes that end phrases with the same tokens before.
  struct Ends {
    std::vector<std::pair<std::string, std::uint32_t>> added;  // prefix and phrase
    PrefixSet prefixes = {};
    std::vector<std::uint32_t> groups = {};  // by prefix
  };

  void add(std::uint32_t phrase);
  void finish();
  std::uint32_t child(std::uint32_t node, std::string_view token);
  std::uint32_t child_of(std::uint32_t node, std::uint32_t token) const noexcept;
  std::uint32_t path_of(std::span<const std::string> tokens);
  void add_to_group(std::uint32_t& group, std::uint32_t phrase);
  /// Returns where a token leads from a node.
  std::uint32_t next(std::uint32_t node, std::uint32_t token) const noexcept;

  std::vector<const QueryClause*> clauses_;
  Tokenizer tokenizer_;
  bool reads_words_ = false;  // with their stems: for prefixes
  std::size_t required_ = 0;
  TokenNumbers tokens_;
  std::vector<Node> nodes_ = std::vector<Node>(1);
  std::unordered_map<std::uint64_t, std::uint32_t, SeededHash> edges_;  // by node and token: see Node
  std::vector<std::uint32_t> first_;                                    // by token: the root's child
  std::vector<std::vector<std::uint32_t>> groups_;                      // phrases that are found together
  std::vector<Ends> ends_;
};

/// Looks for the phrases in the texts of one document after another. Per token: a hash, steps along the tree (two on
/// average, as each leads back by a token or more), and a binary search for each way in which the tokens before may be
/// continued by a prefix.
class PhraseReader {
 public:
  explicit PhraseReader(const PhraseSet& set);

  /// Begins a document.
  void begin() noexcept;
  /// Reads a text of the document, unless allowed() is known. Polls as for_each_token().
  void read(std::string_view text, const CancelToken* cancel);
  /// Returns whether the texts since begin() contain each required phrase and no excluded one.
  bool allowed() const noexcept { return missing_ == 0 && !excluded_; }

 private:
  void step(std::string_view word, std::string_view token);
  void find_ends(const PhraseSet::Ends& ends, std::string_view word);
  bool find_group(std::uint32_t group);

  const PhraseSet& set_;
  std::uint32_t node_ = PhraseSet::kRoot;
  // Numbers of the last document with them. A group of which a document is known to have one had its shorter ones then.
  std::vector<std::uint32_t> phrases_;
  std::vector<std::uint32_t> groups_;
  std::uint32_t document_ = 0;
  std::size_t missing_ = 0;  // required phrases
  bool excluded_ = false;
  bool decided_ = false;  // no further token changes allowed()
};

}  // namespace lorekeep::text
