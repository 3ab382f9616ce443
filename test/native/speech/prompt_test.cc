#include "speech/prompt.h"

#include <algorithm>
#include <string>

#include "harness.h"

namespace lorekeep::speech {
namespace {

std::size_t longest_word(const std::string& text) {
  std::size_t longest = 0;
  std::size_t word = 0;
  for (const char byte : text) {
    word = byte == ' ' ? 0 : word + 1;
    longest = std::max(longest, word);
  }
  return longest;
}

TEST("ordinary text stays as it is, but for its spaces") {
  CHECK_EQ(tidy_prompt(""), "");
  CHECK_EQ(tidy_prompt(" Vardo, Ibsen."), " Vardo, Ibsen.");
  CHECK_EQ(tidy_prompt("a \n\t b\x01"
                       "c"),
           "a b c");
}

TEST("words are short, the end of a long text is kept, and characters stay whole") {
  CHECK(longest_word(tidy_prompt(std::string(16'000, 'a'))) <= kLongestPromptWord);
  CHECK_EQ(tidy_prompt(std::string(16'000, ' ')), " ");
  std::string umlauts = "x";
  for (int i = 0; i < 8000; ++i) umlauts += "\xc3\xbc";
  std::string tidy = tidy_prompt(umlauts + "end");
  CHECK(tidy.size() <= kUsedPromptBytes + kUsedPromptBytes / 100 && longest_word(tidy) <= kLongestPromptWord);
  CHECK(
      tidy.ends_with("\xbc"
                     "end"));
  std::erase(tidy, ' ');
  for (std::size_t i = 0; i + 3 < tidy.size(); i += 2) CHECK_EQ(tidy.substr(i, 2), "\xc3\xbc");
}

}  // namespace
}  // namespace lorekeep::speech
