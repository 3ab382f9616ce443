#include "engine/unigram_file.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace lorekeep::engine {
namespace {

constexpr std::string_view kTokenizerKeys = "tokenizer.ggml.";
constexpr float kUnknownPenalty = 10;  // SentencePiece's kUnkPenalty

/// Kinds of tokens, as SentencePiece numbers them.
enum class TokenKind : std::int32_t { kNormal = 1, kUnknown = 2, kControl = 3, kUserDefined = 4, kUnused = 5 };

std::string tokenizer_key(std::string_view name) {
  return std::string(kTokenizerKeys) + std::string(name);
}

/// Returns an array of 4-byte numbers with one for each token; empty if the file has none.
std::span<const std::byte> array_of(const GgufFile& file, std::string_view name, GgufType type, std::size_t tokens) {
  const std::string key = tokenizer_key(name);
  const GgufValue* value = file.find(key);
  if (value == nullptr) return {};
  if (!value->array || value->type != type || value->count < tokens)
    file.refuse("the key '" + key + "' does not have a number for each token");
  return value->bytes;
}

template <class Number>
Number at(std::span<const std::byte> numbers, std::size_t index, Number otherwise) noexcept {
  if (numbers.empty()) return otherwise;
  return load_number<Number>(numbers.subspan(index * sizeof(Number)));
}

bool flag(const GgufFile& file, std::string_view name, bool otherwise) {
  return file.integer(tokenizer_key(name)).value_or(otherwise ? 1 : 0) != 0;
}

/// Ids outside the vocabulary are ignored, as by llama.cpp.
std::optional<std::int32_t> special(const GgufFile& file, std::string_view name, std::size_t tokens,
                                    std::optional<std::int32_t> otherwise) {
  const auto id = file.integer(tokenizer_key(name));
  if (id && *id < tokens) return static_cast<std::int32_t>(*id);
  return otherwise && static_cast<std::size_t>(*otherwise) < tokens ? otherwise : std::nullopt;
}

void add_special(const GgufFile& file, std::vector<std::int32_t>& to, std::optional<std::int32_t> token,
                 const char* what) {
  if (!token) file.refuse(std::string("the vocabulary has no ") + what + " token, which every text of this model gets");
  to.push_back(*token);
}

CharacterMap read_map(const GgufFile& file) {
  const std::string key = tokenizer_key("precompiled_charsmap");
  const GgufValue* value = file.find(key);
  if (value == nullptr) return {};
  if (!value->array || (value->type != GgufType::kUint8 && value->type != GgufType::kInt8))
    file.refuse("the key '" + key + "' does not hold bytes");
  return CharacterMap(value->bytes);
}

struct Pieces {
  std::vector<Piece> all;
  std::vector<Piece> verbatim;
  float least = std::numeric_limits<float>::max();  // score of a normal token
};

Pieces read_pieces(const GgufFile& file, const std::vector<std::string_view>& texts) {
  const auto scores = array_of(file, "scores", GgufType::kFloat32, texts.size());
  const auto kinds = array_of(file, "token_type", GgufType::kInt32, texts.size());
  Pieces pieces;
  pieces.all.reserve(texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto kind = static_cast<TokenKind>(at(kinds, i, static_cast<std::int32_t>(TokenKind::kNormal)));
    const float score = at(scores, i, 0.0f);
    if (!std::isfinite(score)) file.refuse("damaged: the score of token " + std::to_string(i) + " is not a number");
    if (kind == TokenKind::kNormal) pieces.least = std::min(pieces.least, score);
    const std::string_view text = texts[i].substr(0, texts[i].find('\0'));
    if (text.empty() || kind == TokenKind::kUnknown || kind == TokenKind::kControl) continue;
    const bool verbatim = kind == TokenKind::kUserDefined;
    const Piece piece{text, static_cast<std::int32_t>(i), verbatim ? 0 : score};
    pieces.all.push_back(piece);
    if (verbatim) pieces.verbatim.push_back(piece);
  }
  return pieces;
}

}  // namespace

std::unique_ptr<const UnigramVocabulary> read_unigram(const GgufFile& file) {
  if (file.string(tokenizer_key("model")) != "t5") return nullptr;
  const auto texts = file.strings(tokenizer_key("tokens"));
  if (!texts) return nullptr;
  const std::size_t size = texts->size();
  const Pieces pieces = read_pieces(file, *texts);
  UnigramOptions options;
  options.blank_first = flag(file, "add_space_prefix", false);
  options.merge_blanks = flag(file, "remove_extra_whitespaces", false);
  const auto unknown = special(file, "unknown_token_id", size, 2);
  if (!unknown) file.refuse("the vocabulary has no token for unknown words");
  options.unknown = *unknown;
  options.unknown_score = pieces.least - kUnknownPenalty;
  std::vector<std::int32_t> before;
  std::vector<std::int32_t> after;
  if (flag(file, "add_bos_token", false))
    add_special(file, before, special(file, "bos_token_id", size, std::nullopt), "first (BOS, CLS)");
  if (flag(file, "add_eos_token", true)) add_special(file, after, special(file, "eos_token_id", size, 1), "last (EOS)");
  return std::make_unique<const UnigramVocabulary>(
      UnigramVocabulary{Unigram(read_map(file), pieces.all, pieces.verbatim, options), std::move(before),
                        std::move(after), static_cast<std::uint32_t>(size)});
}

}  // namespace lorekeep::engine
