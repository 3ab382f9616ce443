#include "lm/session/prefix_tree.h"

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <tuple>
#include <vector>

#include "harness.h"

using lorekeep::lm::PrefixTree;
using lorekeep::lm::Token;

namespace {

using Tokens = std::vector<Token>;

std::size_t common_prefix(const Tokens& a, const Tokens& b) {
  std::size_t length = 0;
  while (length < a.size() && length < b.size() && a[length] == b[length]) ++length;
  return length;
}

Tokens random_tokens(std::mt19937_64& random, std::size_t most) {
  Tokens tokens(random() % (most + 1));
  for (Token& token : tokens) token = static_cast<Token>(random() % 3);
  return tokens;
}

/// Tokens that the tree stores; shared prefixes count once.
std::size_t stored_tokens(const PrefixTree& tree) {
  std::size_t sum = 0;
  tree.walk([&sum](std::size_t, std::size_t tokens, const std::set<PrefixTree::Entry>&) { sum += tokens; });
  return sum;
}

}  // namespace

TEST("the longest common prefix is found inside an edge too") {
  PrefixTree tree;
  tree.set(1, Tokens{1, 2, 3, 4, 5});
  tree.set(2, Tokens{1, 2, 9});
  const PrefixTree::Match match = tree.longest(Tokens{1, 2, 3, 4, 7});
  CHECK_EQ(match.entry, 1u);
  CHECK_EQ(match.tokens, 4u);
  CHECK_EQ(tree.longest(Tokens{8}).tokens, 0u);
  CHECK_EQ(stored_tokens(tree), 6u);
}

TEST("a whole match ends at the end of an entry") {
  PrefixTree tree;
  tree.set(1, Tokens{1, 2, 3, 4});
  tree.set(2, Tokens{1, 2});
  CHECK_EQ(tree.longest_whole(Tokens{1, 2, 3}).entry, 2u);
  CHECK_EQ(tree.longest_whole(Tokens{1, 2, 3}).tokens, 2u);
  CHECK_EQ(tree.longest_whole(Tokens{1, 2, 3, 4, 5}).tokens, 4u);
  CHECK_EQ(tree.longest_whole(Tokens{1}).tokens, 0u);
}

TEST("a walk visits each part of the tree once, parents first") {
  PrefixTree tree;
  tree.set(1, Tokens{1, 2, 3, 4, 5});
  tree.set(2, Tokens{1, 2, 9});
  tree.set(3, Tokens{1, 2, 9});
  tree.set(4, Tokens{1, 2});
  tree.set(5, Tokens{7});
  using Part = std::tuple<std::size_t, std::size_t, std::set<PrefixTree::Entry>>;
  std::vector<Part> parts;
  tree.walk([&parts](std::size_t depth, std::size_t tokens, const std::set<PrefixTree::Entry>& entries) {
    parts.emplace_back(depth, tokens, entries);
  });
  CHECK(parts == (std::vector<Part>{{0, 2, {4}}, {1, 3, {1}}, {1, 1, {2, 3}}, {0, 1, {5}}}));
  tree.clear();
  tree.walk([](std::size_t, std::size_t, const std::set<PrefixTree::Entry>&) { CHECK(false); });
}

TEST("a walk of a deep tree needs no deep stack") {
  PrefixTree tree;
  Tokens tokens;
  constexpr std::size_t kDepth = 20000;
  for (PrefixTree::Entry entry = 0; entry < kDepth; ++entry) {
    tokens.push_back(static_cast<Token>(entry));
    tree.set(entry, tokens);
  }
  std::size_t parts = 0;
  tree.walk([&parts](std::size_t depth, std::size_t own, const std::set<PrefixTree::Entry>& entries) {
    CHECK(entries.contains(depth));
    CHECK_EQ(own, 1u);
    ++parts;
  });
  CHECK_EQ(parts, kDepth);
}

TEST("a prefix of a thousand entries is stored once") {
  PrefixTree tree;
  Tokens tokens(500, 7);
  for (PrefixTree::Entry entry = 0; entry < 1000; ++entry) {
    tokens.resize(500);
    tokens.push_back(static_cast<Token>(entry + 100));
    tree.set(entry, tokens);
  }
  CHECK_EQ(stored_tokens(tree), 1500u);
  for (PrefixTree::Entry entry = 0; entry < 1000; ++entry) tree.erase(entry);
  CHECK_EQ(stored_tokens(tree), 0u);
  CHECK_EQ(tree.entries(), 0u);
}

TEST("random operations agree with a list of all entries") {
  std::mt19937_64 random(lorekeep::test::seed());
  for (int round = 0; round < 60; ++round) {
    PrefixTree tree;
    std::map<PrefixTree::Entry, Tokens> naive;
    for (int step = 0; step < 120; ++step) {
      const PrefixTree::Entry entry = random() % 8;
      if (random() % 4 == 0) {
        tree.erase(entry);
        naive.erase(entry);
      } else {
        naive[entry] = random_tokens(random, 12);
        tree.set(entry, naive[entry]);
      }
      for (const auto& [id, tokens] : naive) CHECK(tree.tokens(id) == tokens);
      const Tokens prompt = random_tokens(random, 12);
      std::size_t longest = 0;
      std::size_t whole = 0;
      for (const auto& [id, tokens] : naive) {
        const std::size_t common = common_prefix(tokens, prompt);
        longest = std::max(longest, common);
        if (common == tokens.size()) whole = std::max(whole, common);
      }
      const PrefixTree::Match match = tree.longest(prompt);
      CHECK_EQ(match.tokens, longest);
      if (longest > 0) CHECK_EQ(common_prefix(naive[match.entry], prompt), longest);
      const PrefixTree::Match whole_match = tree.longest_whole(prompt);
      CHECK_EQ(whole_match.tokens, whole);
      if (whole > 0) CHECK_EQ(naive[whole_match.entry].size(), whole);
    }
    for (PrefixTree::Entry entry = 0; entry < 8; ++entry) tree.erase(entry);
    CHECK_EQ(stored_tokens(tree), 0u);
  }
}
