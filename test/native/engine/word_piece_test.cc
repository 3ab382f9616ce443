#include "engine/word_piece.h"

#include <random>
#include <string>

#include "harness.h"

namespace lorekeep::engine {
namespace {

std::string joined(std::string_view text, const BertOptions& options = {}) {
  std::string all;
  for (const std::string& word : bert_words(text, options)) all += (all.empty() ? "" : "|") + word;
  return all;
}

TEST("words are lower case, without accents; punctuation and Chinese characters stand alone") {
  CHECK_EQ(joined("The Caf\u00e9's C++\t\u5317\u4eac"), "the|cafe|'|s|c|+|+|\u5317|\u4eac");
  CHECK_EQ(joined("\uac01 a\u00adb \ufffd\u0301"), "\u1100\u1161\u11a8|ab");
}

TEST("case and accents stay if the model says so") {
  CHECK_EQ(joined("Caf\u00e9", {false, false}), "Caf\u00e9");
  CHECK_EQ(joined("Caf\u00e9", {true, false}), "caf\u00e9");
  CHECK_EQ(joined("Caf\u00e9", {false, true}), "Cafe");
}

TEST("pieces are the longest ones, and a word that they do not spell is unknown") {
  const WordPiece pieces({"[UNK]", "\u2581un", "\u2581una", "able", "bl", "e"}, 0, {});
  CHECK(pieces.tokenize("unable UNE unx") == (std::vector<std::int32_t>{2, 4, 5, 1, 5, 0}));
}

TEST("any bytes have tokens") {
  std::mt19937 random(7);
  const WordPiece pieces({"[UNK]", "\u2581a", "b"}, 0, {});
  for (int round = 0; round < 2000; ++round) {
    std::string text(random() % 64, '\0');
    for (char& byte : text) byte = static_cast<char>(random());
    for (const std::int32_t token : pieces.tokenize(text)) CHECK(token >= 0 && token <= 2);
  }
}

}  // namespace
}  // namespace lorekeep::engine
