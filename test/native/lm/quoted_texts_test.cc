#include "lm/text/quoted_texts.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "harness.h"

using lorekeep::lm::QuotedTexts;

TEST("quoted texts are found whatever blanks and case") {
  const std::vector<std::string> texts{"The owl hides\tthe key.", "ab", " \n"};
  const QuotedTexts quoted(texts);
  CHECK(quoted.within("said: THE OWL\nhides the key. Go"));
  CHECK(quoted.within("xxA By"));
  CHECK(!quoted.within("the owl hides a key"));
  CHECK(!QuotedTexts({}).within("anything"));
}

TEST("quoted texts agree with find") {
  std::mt19937 random(7);
  const auto text_of = [&random](std::size_t length) {
    std::string text;
    for (std::size_t i = 0; i < length; ++i) text += "abc\xc3"[random() % 4];
    return text;
  };
  std::size_t found = 0;
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::string> texts;
    for (int i = 0; i < 5; ++i) texts.push_back(text_of(1 + random() % 40));
    std::string given = text_of(30);
    if (round % 3 == 0) given += texts[random() % 5];
    given += text_of(20);
    const bool expected =
        std::any_of(texts.begin(), texts.end(), [&](const auto& one) { return given.find(one) != std::string::npos; });
    CHECK_EQ(QuotedTexts(texts).within(given), expected);
    found += expected;
  }
  CHECK(found > 500);
}

// The slow twin would take minutes.
TEST("quoted texts of any number are looked for in the time of the text") {
  std::vector<std::string> texts;
  for (int i = 0; i < 50000; ++i) texts.push_back("the same beginning of every sentence " + std::to_string(i));
  texts.push_back(std::string(1 << 20, 'a') + "b");
  const QuotedTexts quoted(texts);
  CHECK(quoted.within("the same beginning of every sentence 49999"));
  CHECK(!quoted.within(std::string(1 << 20, 'x')));
  std::string alike;
  for (int i = 0; i < 10000; ++i) alike += "the same beginning of every sentence ";
  CHECK(quoted.within(alike));  // it would have to be compared with all at all places
}
