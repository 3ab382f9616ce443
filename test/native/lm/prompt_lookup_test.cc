#include "lm/sampling/prompt_lookup.h"

#include <algorithm>
#include <random>
#include <vector>

#include "harness.h"

using lorekeep::lm::kLongestMatch;
using lorekeep::lm::kShortestMatch;
using lorekeep::lm::look_up;
using lorekeep::lm::Lookup;
using lorekeep::lm::Token;

namespace {

std::vector<Token> next(const std::vector<Token>& text, std::size_t most = 15) {
  const Lookup found = look_up(text, most);
  return {found.next.begin(), found.next.end()};
}

// The slow twin: compares every pair of spans.
Lookup naive(const std::vector<Token>& text, std::size_t most) {
  const std::span<const Token> all(text);
  for (std::size_t length = std::min(kLongestMatch, text.size()); length >= kShortestMatch; --length) {
    const auto last = all.last(length);
    for (std::size_t end = text.size() - 1; end >= length; --end) {
      if (!std::equal(last.begin(), last.end(), all.begin() + static_cast<std::ptrdiff_t>(end - length))) continue;
      return {all.subspan(end, std::min(most, text.size() - end)), length};
    }
  }
  return {};
}

}  // namespace

TEST("what followed the last tokens before is suggested") {
  CHECK_EQ(next({1, 2, 3, 4, 5, 9, 1, 2}) == (std::vector<Token>{3, 4, 5, 9, 1, 2}), true);
  CHECK_EQ(next({1, 2, 3, 4, 5, 9, 1, 2}, 3) == (std::vector<Token>{3, 4, 5}), true);
}

TEST("the longest match is preferred, then the latest") {
  CHECK_EQ(next({7, 1, 2, 30, 8, 1, 2, 40, 7, 1, 2}, 1) == (std::vector<Token>{30}), true);
  CHECK_EQ(next({1, 2, 30, 1, 2, 40, 1, 2}, 1) == (std::vector<Token>{40}), true);
}

TEST("a match may overlap the last tokens") {
  CHECK_EQ(next({5, 5, 5, 5}) == (std::vector<Token>{5}), true);
}

TEST("nothing is suggested without a match of two tokens, or without room") {
  CHECK_EQ(look_up({}, 5).next.size(), 0u);
  CHECK_EQ(next({1}).size(), 0u);
  CHECK_EQ(next({1, 2, 3, 2}).size(), 0u);
  CHECK_EQ(next({1, 2, 1, 2}, 0).size(), 0u);
}

TEST("random texts give what comparing every span gives") {
  std::mt19937_64 random(lorekeep::test::seed());
  for (int round = 0; round < 2000; ++round) {
    std::vector<Token> text(random() % 60);
    const Token kinds = static_cast<Token>(1 + random() % 6);
    for (Token& token : text) token = static_cast<Token>(random() % static_cast<unsigned>(kinds));
    const std::size_t most = 1 + random() % 10;
    const Lookup found = look_up(text, most);
    const Lookup expected = naive(text, most);
    CHECK_EQ(found.matched, expected.matched);
    CHECK_EQ(found.next.data() == expected.next.data() && found.next.size() == expected.next.size(), true);
  }
}
