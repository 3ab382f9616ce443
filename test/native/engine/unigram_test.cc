#include "engine/unigram.h"

#include <algorithm>
#include <cfloat>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "core/values/error.h"
#include "harness.h"

namespace lorekeep::engine {
namespace {

using Tokens = std::vector<std::int32_t>;

const UnigramOptions kUsual{true, true, 0, -20};

/// A map of one character of one byte to a text.
std::vector<std::byte> one_character(char from, std::string_view to) {
  constexpr std::uint32_t kChildren = 256;
  constexpr std::uint32_t kValue = 512;
  const std::uint32_t label = static_cast<unsigned char>(from);
  const std::uint32_t child = kChildren ^ label;
  std::vector<std::uint32_t> units(1024);
  units[0] = kChildren << 10;
  units[child] = label | 1u << 8 | (child ^ kValue) << 10;
  units[kValue] = 1u << 31;  // the first text
  const auto size = static_cast<std::uint32_t>(sizeof(std::uint32_t) * units.size());
  std::vector<std::byte> bytes(sizeof size + size + to.size() + 1);
  std::memcpy(bytes.data(), &size, sizeof size);
  std::memcpy(bytes.data() + sizeof size, units.data(), size);
  std::memcpy(bytes.data() + sizeof size + size, to.data(), to.size());
  return bytes;
}

/// All ways to spell a text, tried at each place with each piece.
Tokens slow_twin(const std::string& text, const std::map<std::string, std::pair<std::int32_t, float>>& pieces,
                 const UnigramOptions& options) {
  struct Way {
    double score = -DBL_MAX;
    std::size_t from = 0;
    std::int32_t token = 0;
  };
  std::vector<Way> ways(text.size() + 1);
  ways[0].score = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if ((static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) continue;
    std::size_t character = 1;
    while (at + character < text.size() && (static_cast<unsigned char>(text[at + character]) & 0xC0) == 0x80)
      ++character;
    bool spelled = false;
    const auto offer = [&](std::size_t end, std::int32_t token, double score) {
      if (ways[at].score + score > ways[end].score) ways[end] = {ways[at].score + score, at, token};
    };
    for (const auto& [piece, value] : pieces) {
      if (text.compare(at, piece.size(), piece) != 0) continue;
      spelled = spelled || piece.size() == character;
      offer(at + piece.size(), value.first, value.second);
    }
    if (!spelled) offer(at + character, options.unknown, options.unknown_score);
  }
  Tokens tokens;
  for (std::size_t at = text.size(); at > 0; at = ways[at].from) {
    if (ways[at].token != options.unknown || tokens.empty() || tokens.back() != options.unknown)
      tokens.push_back(ways[at].token);
  }
  std::ranges::reverse(tokens);
  return tokens;
}

Unigram made_of(const std::vector<Piece>& pieces, const UnigramOptions& options = kUsual, CharacterMap map = {}) {
  return {std::move(map), pieces, {}, options};
}

TEST("the most probable spelling is taken, and blanks are marked") {
  const Unigram unigram = made_of({{"\u2581un", 1, -3}, {"able", 2, -3}, {"\u2581unable", 3, -5}, {"\u2581", 4, -1}});
  CHECK(unigram.tokenize("unable") == (Tokens{3}));
  CHECK(unigram.tokenize("  un   able ") == (Tokens{1, 4, 2}));
  CHECK_EQ(unigram.normalized(" a  b "), std::string("\u2581a\u2581b"));
  CHECK(unigram.tokenize("").empty());
}

TEST("unknown characters in a row are one token") {
  const Unigram unigram = made_of({{"\u2581", 1, -1}, {"a", 2, -1}});
  CHECK(unigram.tokenize("xyaz") == (Tokens{1, 0, 2, 0}));
  CHECK(unigram.tokenize("\u5317\u4eac") == (Tokens{1, 0}));
}

TEST("pieces that are taken verbatim are not normalised") {
  const std::vector<Piece> verbatim{{"AB", 3, 0}};
  const std::vector<Piece> pieces{{"\u2581", 1, -1}, {"a", 2, -1}, {"AB", 3, 0}};
  const Unigram unigram(CharacterMap(one_character('A', "a")), pieces, verbatim, kUsual);
  CHECK(unigram.tokenize("AABA") == (Tokens{1, 2, 3, 2}));
}

TEST("a map of characters replaces them, and a damaged one is refused") {
  const Unigram unigram = made_of({{"\u2581", 1, -1}, {"aa", 2, -1}}, kUsual, CharacterMap(one_character('A', "aa")));
  CHECK(unigram.tokenize("A") == (Tokens{1, 2}));
  std::vector<std::byte> bytes = one_character('A', "aa");
  CHECK_FAILS(Code::kModelInvalid, CharacterMap(std::span(bytes).first(2)));
  CHECK_FAILS(Code::kModelInvalid, CharacterMap(std::span(bytes).first(bytes.size() - 1)));
  CHECK_FAILS(Code::kModelInvalid, CharacterMap(std::span(bytes).first(4096)));
}

TEST("any map and any bytes end") {
  std::mt19937 random(11);
  for (int round = 0; round < 500; ++round) {
    std::vector<std::byte> bytes(4 + 4 * (1 + random() % 64) + 1 + random() % 16);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
    const auto size = static_cast<std::uint32_t>((bytes.size() - 5) / 8 * 4 + 4);
    std::memcpy(bytes.data(), &size, sizeof size);
    bytes.back() = std::byte{0};
    std::string text(random() % 64, '\0');
    for (char& byte : text) byte = static_cast<char>(random());
    try {
      made_of({{"a", 1, -1}}, kUsual, CharacterMap(bytes)).tokenize(text);
    } catch (const Error& error) {
      CHECK(error.code() == Code::kModelInvalid);
    }
  }
}

TEST("tokens are those of the slow twin, also of texts of several blocks") {
  const unsigned seed = std::random_device{}();
  std::mt19937 random(seed);
  std::fprintf(stderr, "seed %u\n", seed);
  const std::vector<std::string> letters{"a", "b", "\u00e9", "\u5317", "\u2581", "\U0001F600"};
  for (int round = 0; round < 60; ++round) {
    std::map<std::string, std::pair<std::int32_t, float>> pieces;
    std::vector<Piece> list;
    for (std::int32_t token = 1; token < 40; ++token) {
      std::string piece;
      for (std::size_t left = 1 + random() % 5; left > 0; --left) piece += letters[random() % letters.size()];
      pieces.try_emplace(piece, token, -1 - static_cast<float>(random() % 97) / 7);
    }
    for (const auto& [piece, value] : pieces) list.push_back({piece, value.first, value.second});
    std::ranges::shuffle(list, random);
    const Unigram unigram = made_of(list);
    std::string text;
    const std::size_t length = round % 20 == 0 ? 40'000 : random() % 60;
    for (std::size_t i = 0; i < length; ++i) text += random() % 7 == 0 ? " " : letters[random() % letters.size()];
    CHECK(unigram.tokenize(text) == slow_twin(unigram.normalized(text), pieces, kUsual));
  }
}

TEST("a cancelled text ends, and so does one with enough tokens") {
  const Unigram unigram = made_of({{"\u2581", 1, -1}, {"a", 2, -1}});
  CancelToken cancel;
  cancel.cancel();
  CHECK_FAILS(Code::kCancelled, unigram.tokenize("a", &cancel));
  const std::string text(1 << 20, 'a');
  CHECK(unigram.tokenize(text, nullptr, 100).size() < 3 * Unigram::kBlock);
  CHECK_EQ(unigram.tokenize(text).size(), text.size() + 1);
}

}  // namespace
}  // namespace lorekeep::engine
