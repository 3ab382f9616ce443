#include "text/tokenizer.h"

#include <string>
#include <utility>

#include "core/values/utf8.h"
#include "harness.h"
#include "naive_casefold.h"
#include "sample_texts.h"

namespace lorekeep::text {
namespace {

// Tokens joined by '|'.
std::string basic(std::string_view text) {
  std::string joined;
  for (const std::string& token : tokenize(text, Tokenizer::kBasic)) joined += (joined.empty() ? "" : "|") + token;
  return joined;
}

// The definition, word for word: fold the whole text, then split it.
std::vector<std::string> tokenize_by_definition(std::string_view text) {
  const std::string folded = casefold(text);
  std::vector<std::string> tokens;
  std::string token;
  const char* at = folded.data();
  const char* const end = at + folded.size();
  while (at < end) {
    const char* const begin = at;
    if (is_letter_or_number(decode_utf8(at, end))) {
      token.append(begin, at);
    } else if (!token.empty()) {
      tokens.push_back(std::exchange(token, {}));
    }
  }
  if (!token.empty()) tokens.push_back(token);
  return tokens;
}

TEST("words are folded and split on everything that is no letter and no number") {
  CHECK_EQ(basic("Hello, World_2: don't-panic!"), "hello|world|2|don|t|panic");
  CHECK_EQ(basic(""), "");
  CHECK_EQ(basic(" \t\r\n.,;"), "");
  CHECK_EQ(basic(std::string_view("nul\0byte", 8)), "nul|byte");
  CHECK_EQ(basic("x"), "x");
}

TEST("German, Greek, Cyrillic") {
  CHECK_EQ(basic("Die Straße führt GROẞ aus"), "die|strasse|führt|gross|aus");
  CHECK_EQ(basic("ΟΔΟΣ οδος Ὀδυσσεύς"), "οδοσ|οδοσ|ὀδυσσεύσ");
  CHECK_EQ(basic("ПРИВЕТ, мир!"), "привет|мир");
}

// The consequence of full (not Turkic) folding: "I" finds "i" but not "ı"; "İ" folds to i and U+0307, a mark, which
// separates, so "İstanbul" is found by "İSTANBUL" but not by "istanbul".
TEST("Turkish: dotted and dotless i") {
  CHECK_EQ(basic("Isparta ISPARTA ısparta"), "isparta|isparta|ısparta");
  CHECK_EQ(basic("İstanbul"), "i|stanbul");
}

// Precomposed letters whose folding contains marks are split at them, as the definition says.
TEST("polytonic Greek: iota subscript becomes a letter, a folded circumflex separates") {
  CHECK_EQ(basic("τῷ ᾳ ᾷ"), "τω|ι|αι|α|ι");
}

TEST("Arabic and Hindi: marks are neither letters nor numbers, so they separate") {
  CHECK_EQ(basic("السلام عليكم ٢٠٢٤"), "السلام|عليكم|٢٠٢٤");
  CHECK_EQ(basic("مُحمد"), "م|حمد");
  CHECK_EQ(basic("हिन्दी"), "ह|न|द");
}

TEST("Chinese and Japanese: a run without punctuation is one token") {
  CHECK_EQ(basic("我们的世界，你好。"), "我们的世界|你好");
  CHECK_EQ(basic("東京タワー、高い！"), "東京タワー|高い");
}

TEST("emoji, symbols and ligatures") {
  CHECK_EQ(basic("I ❤️ C++ 🎉2024👩‍💻x½"), "i|c|2024|x½");
  CHECK_EQ(basic("ﬁnd oﬀ"), "find|off");
}

TEST("ill-formed UTF-8 separates and never hides what follows") {
  CHECK_EQ(basic("a\xFF"
                 "b\xC3(c\xE2\x82z\xED\xA0\x80y\xF0\x9F\x98"),
           "a|b|c|z|y");
}

TEST("a run longer than the limit is cut between code points and loses nothing") {
  CHECK_EQ(tokenize(std::string(kMaxTokenBytes, 'a'), Tokenizer::kBasic).size(), 1u);
  for (const std::string& letter : {std::string("a"), std::string("é"), std::string("我"), std::string("𐐨")}) {
    std::string text;
    while (text.size() < 3000) text += letter;
    const auto tokens = tokenize(text, Tokenizer::kBasic);
    CHECK_EQ(tokens.size(), 3u);
    std::string joined;
    for (const std::string& token : tokens) {
      CHECK(token.size() <= kMaxTokenBytes && token.size() % letter.size() == 0);
      joined += token;
    }
    CHECK_EQ(joined, text);
  }
  // The folding of the last character does not fit and goes to the next token as a whole.
  const auto tokens = tokenize(std::string(kMaxTokenBytes - 1, 'a') + "ß", Tokenizer::kBasic);
  REQUIRE(tokens.size() == 2);
  CHECK_EQ(tokens[0].size(), kMaxTokenBytes);
  CHECK_EQ(tokens[1], "s");
}

TEST("a token is no longer for a mark that composes at its end, and is cut where composed text is") {
  for (const std::string& marks : {std::string("\u0301"), std::string("\u0302\u0301")}) {
    const std::string apart = std::string(kMaxTokenBytes - 1, 'b') + "a" + marks + "c";
    const auto tokens = tokenize(apart, Tokenizer::kMultilingual);
    REQUIRE(tokens.size() == 2);
    CHECK_EQ(tokens[0], std::string(kMaxTokenBytes - 1, 'b'));
    const std::string composed = std::string(kMaxTokenBytes - 1, 'b') + (marks.size() == 2 ? "\u00e1" : "\u1ea5") + "c";
    CHECK(tokens == tokenize(composed, Tokenizer::kMultilingual));
  }
}

TEST("the stream agrees with folding the whole text and splitting it, on random code points and bytes") {
  test::Random random(test::seed());
  static constexpr char32_t kRanges[] = {0x80, 0x800, 0x2000, 0x10000, 0x33480, 0x110000};
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    for (std::size_t n = test::below(random, 40); n > 0; --n) {
      auto code_point = static_cast<char32_t>(test::below(random, kRanges[test::below(random, std::size(kRanges))]));
      if (code_point >= 0xD800 && code_point <= 0xDFFF) code_point = ' ';
      char bytes[kMaxUtf8Bytes];
      text.append(bytes, encode_utf8(code_point, bytes));
      if (test::below(random, 16) == 0) text += static_cast<char>(random());
    }
    REQUIRE(tokenize(text, Tokenizer::kBasic) == tokenize_by_definition(text));
  }
}

TEST("every code point on its own agrees with the definition") {
  for (char32_t code_point = 0; code_point < 0x110000; ++code_point) {
    if (code_point >= 0xD800 && code_point <= 0xDFFF) continue;
    char bytes[kMaxUtf8Bytes + 1] = {'x'};
    const std::string text(bytes, 1 + encode_utf8(code_point, bytes + 1));
    REQUIRE(tokenize(text, Tokenizer::kBasic) == tokenize_by_definition(text));
  }
}

}  // namespace
}  // namespace lorekeep::text
