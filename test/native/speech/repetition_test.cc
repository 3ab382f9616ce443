#include "speech/repetition.h"

#include <random>
#include <string>
#include <vector>

#include "harness.h"

namespace lorekeep::speech {
namespace {

std::vector<std::int32_t> tokens_of(const std::string& letters) {
  return {letters.begin(), letters.end()};
}

std::string found(const std::string& letters) {
  const auto repetition = find_repetition(tokens_of(letters));
  if (!repetition) return "none";
  return std::to_string(repetition->begin) + " " + std::to_string(repetition->length) + " " +
         std::to_string(repetition->times);
}

TEST("a phrase may stand six times in a row") {
  CHECK_EQ(found(""), "none");
  CHECK_EQ(found("hello there"), "none");
  CHECK_EQ(found("aaaaaa"), "none");
  CHECK_EQ(found("aaaaaaa"), "0 1 7");
  CHECK_EQ(found("xyabababababab"), "none");
  CHECK_EQ(found("xyabababababababz"), "2 2 7");
}

TEST("the first one is found, and the shortest phrase of it") {
  CHECK_EQ(found("abcabcabcabcabcabcabcdddddddddd"), "0 3 7");
  CHECK_EQ(found("aaaaaaaaaaaaaaaa"), "0 1 16");
}

// The definition, letter by letter.
bool repeats(const std::vector<std::int32_t>& tokens) {
  for (std::size_t begin = 0; begin < tokens.size(); ++begin) {
    for (std::size_t length = 1; length <= Repetition::kLongestPhrase; ++length) {
      const std::size_t end = begin + (Repetition::kMostTimes + 1) * length;
      if (end > tokens.size()) continue;
      bool equal = true;
      for (std::size_t i = begin + length; i < end && equal; ++i) equal = tokens[i] == tokens[i - length];
      if (equal) return true;
    }
  }
  return false;
}

TEST("it agrees with the definition") {
  std::mt19937 random(5);
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::int32_t> tokens(random() % 60);
    for (std::int32_t& token : tokens) token = static_cast<std::int32_t>(random() % 2);
    const auto repetition = find_repetition(tokens);
    CHECK_EQ(repetition.has_value(), repeats(tokens));
    if (!repetition) continue;
    CHECK(repetition->times > Repetition::kMostTimes && repetition->end() <= tokens.size());
    for (std::size_t i = repetition->begin + repetition->length; i < repetition->end(); ++i)
      CHECK_EQ(tokens[i], tokens[i - repetition->length]);
  }
}

}  // namespace
}  // namespace lorekeep::speech
