#include "text/term_counter.h"

#include <map>
#include <string>

#include "core/values/utf8.h"
#include "harness.h"
#include "sample_texts.h"
#include "text/bm25.h"

namespace lorekeep::text {
namespace {

using Counts = std::map<std::string, std::uint32_t>;

/// What TermCounter counts, without memory of parts: all tokens of the whole text.
Counts plain_counts(std::string_view text, Tokenizer tokenizer, std::uint64_t& length) {
  Counts counts;
  length = 0;
  for_each_token(text, tokenizer, [&](std::string_view token, TokenKind kind) {
    length += kind == TokenKind::kWord;
    auto& count = counts[std::string(token)];
    count += count < kMaxTermFrequency ? 1 : 0;
  });
  return counts;
}

Counts counts_of(const TermCounter& counter) {
  Counts counts;
  for (const auto [term, frequency] : counter.counts()) {
    CHECK(counts.emplace(counter.terms()[term].text, frequency).second);
  }
  return counts;
}

/// Code points that tokenizers treat in different ways, between them all ASCII characters and ill-formed bytes.
std::string nasty_piece(test::Random& random) {
  static constexpr const char* kPieces[] = {"C++",
                                            "c#",
                                            "F#x",
                                            ".NET",
                                            "..a",
                                            "node.js",
                                            "don't",
                                            "AT&T",
                                            "v1.4.2",
                                            "a/b:c@d",
                                            "iPhone",
                                            "HTTPServer",
                                            "parseRecord",
                                            "x_y__z",
                                            "\u00A8",
                                            "\u0301",
                                            "e\u0301",
                                            "\u212B",
                                            "\uFF23\uFF0B\uFF0B",
                                            "\u0130",
                                            "\u1FB3",
                                            "\u0345",
                                            "\u00DF",
                                            "\u0140",
                                            "\u00B7",
                                            "\u200B",
                                            "\u200C",
                                            "\u200D",
                                            "\uFDFA",
                                            "\u0645\u06CC\u200C\u062E",
                                            "\u0627\u0644\u0643\u062A\u0627\u0628",
                                            "\u05E9\u05C1\u05D0",
                                            "\u0E01\u0E34\u0E19",
                                            "\u1780\u17D2\u1780",
                                            "\u6570\u636E",
                                            "\u30AB\u3099",
                                            "\uFF76\uFF9E",
                                            "\uD55C\uAD6D",
                                            "\u1112\u1161\u11AB",
                                            "\u0915\u094D\u0937",
                                            "\u3000",
                                            "\u00A0",
                                            "\u00AD",
                                            "\uFEFF",
                                            "\u2028",
                                            "\xC3",
                                            "\xE2\x82",
                                            "\xF0\x9F\x98\x80",
                                            "\xFF",
                                            "\xED\xA0\x80",
                                            "\u0663\u0664",
                                            "12.5",
                                            "1,000",
                                            "caf\u00E9",
                                            "na\u00EFve",
                                            "\u1D7D8",
                                            "\u2460"};
  switch (test::below(random, 4)) {
    case 0: return std::string(1, static_cast<char>(test::below(random, 0x80)));
    case 1: {
      char bytes[kMaxUtf8Bytes];
      char32_t code_point = static_cast<char32_t>(test::below(random, test::below(random, 4) == 0 ? 0x110000 : 0x3100));
      if (code_point >= 0xD800 && code_point <= 0xDFFF) code_point = 'x';
      return {bytes, encode_utf8(code_point, bytes)};
    }
    default: return kPieces[test::below(random, std::size(kPieces))];
  }
}

std::string nasty_text(test::Random& random, const std::vector<std::string>& words) {
  static constexpr const char* kBetween[] = {" ", "\n", ", ", ".", "", "", "-", "/", "'", "\t"};
  std::string text;
  for (std::size_t i = test::below(random, 60); i > 0; --i) {
    text += test::below(random, 3) == 0 ? nasty_piece(random) : words[test::below(random, words.size())];
    text += kBetween[test::below(random, std::size(kBetween))];
  }
  return text;
}

TEST("a text is counted by its tokens, even if most of its parts occurred in earlier texts") {
  test::Random random(test::seed());
  for (const auto& [tokenizer, name] : kTokenizers) {
    TermCounter counter(tokenizer, nullptr);
    std::vector<std::string> words;
    for (int i = 0; i < 300; ++i) {
      std::string& word = words.emplace_back();
      for (std::size_t left = 1 + test::below(random, 4); left > 0; --left) word += nasty_piece(random);
    }
    for (int i = 0; i < 1000; ++i) {
      const std::string text = nasty_text(random, words);
      std::uint64_t length = 0;
      const Counts expected = plain_counts(text, tokenizer, length);
      CHECK_EQ(counter.count(text), length);
      if (counts_of(counter) == expected) continue;
      CHECK_EQ(std::string(name) + " differs: " + text, "");
      return;
    }
  }
}

TEST("a part is counted as often as it occurs, up to the cap, also one that is too long to be remembered") {
  for (const std::string& part : {std::string("again"), std::string(100, 'x')}) {
    std::string text;
    for (std::uint32_t i = 0; i < kMaxTermFrequency + 10; ++i) text += part + ' ';
    for (const auto& [tokenizer, name] : kTokenizers) {
      TermCounter counter(tokenizer, nullptr);
      for (int times = 0; times < 2; ++times) {
        CHECK_EQ(counter.count(text), std::uint64_t{kMaxTermFrequency} + 10);
        for (const auto [term, frequency] : counter.counts()) CHECK_EQ(frequency, kMaxTermFrequency);
      }
      CHECK_EQ(counter.count(""), 0u);
      CHECK(counter.counts().empty());
    }
  }
}

TEST("more different parts than are remembered are counted") {
  TermCounter counter(Tokenizer::kBasic, nullptr);
  constexpr std::uint32_t kParts = 400'000;
  constexpr std::uint32_t kPartsOfText = 100'000;
  for (std::uint32_t first = 0; first < kParts; first += kPartsOfText) {
    std::string text;
    for (std::uint32_t i = 0; i < kPartsOfText; ++i) text += std::to_string(first + i) + " twice twice ";
    CHECK_EQ(counter.count(text), std::uint64_t{3} * kPartsOfText);
    CHECK_EQ(counter.counts().size(), kPartsOfText + 1);
  }
  CHECK_EQ(counter.terms().size(), kParts + 1);
}

}  // namespace
}  // namespace lorekeep::text
