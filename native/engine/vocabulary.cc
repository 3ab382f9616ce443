#include "engine/vocabulary.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <exception>
#include <limits>
#include <string>
#include <utility>

#include "core/values/error.h"
#include "core/values/utf8.h"
#include "engine/abort_guard.h"

namespace lorekeep::engine {
namespace {

void require_known(const llama_vocab& vocabulary, const std::vector<llama_token>& tokens) {
  const std::int32_t size = llama_vocab_n_tokens(&vocabulary);
  for (const llama_token token : tokens) {
    if (token < 0 || token >= size) fail(Code::kModelInvalid, "the vocabulary has no token for unknown words");
  }
}

/// Returns a value of the file's metadata as text; empty if there is none.
std::string metadata(const llama_model& model, const char* key) {
  std::array<char, 32> value{};
  const std::int32_t size = llama_model_meta_val_str(&model, key, value.data(), value.size());
  return size < 0 ? std::string() : std::string(value.data());
}

bool is_true(const llama_model& model, const char* key, bool otherwise) {
  const std::string value = metadata(model, key);
  return value.empty() ? otherwise : value == "true";
}

llama_token unknown_token(const llama_model& model) {
  constexpr llama_token kUsual = 100;  // llama.cpp's, too
  const std::string value = metadata(model, "tokenizer.ggml.unknown_token_id");
  llama_token token = kUsual;
  std::from_chars(value.data(), value.data() + value.size(), token);
  return token;
}

/// Returns the tokenizer of a model with BERT's vocabulary; nullopt for other models.
std::optional<WordPiece> word_piece_of(const llama_model& model) {
  const llama_vocab& vocabulary = *llama_model_get_vocab(&model);
  if (llama_vocab_type(&vocabulary) != LLAMA_VOCAB_TYPE_WPM) return std::nullopt;
  const BertOptions defaults;
  BertOptions options;
  options.lower_case = is_true(model, "tokenizer.ggml.normalizer.lowercase", defaults.lower_case);
  options.strip_accents = is_true(model, "tokenizer.ggml.normalizer.strip_accents", options.lower_case);
  std::vector<std::string_view> pieces(static_cast<std::size_t>(llama_vocab_n_tokens(&vocabulary)));
  for (std::size_t token = 0; token < pieces.size(); ++token) {
    pieces[token] = llama_vocab_get_text(&vocabulary, static_cast<llama_token>(token));
  }
  return WordPiece(pieces, unknown_token(model), options);
}

/// Bytes before the end of a piece in which a blank is looked for.
constexpr std::size_t kLookBack = std::size_t{1} << 10;

bool is_letter(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// Returns the bytes of the first piece of a text. No vocabulary has a token over a blank between two letters, unless
/// its words are phrases.
std::size_t piece_end(std::string_view text) noexcept {
  constexpr std::size_t kMost = TextTokenizer::kPieceBytes;
  if (text.size() <= kMost + 1) return text.size();
  for (std::size_t at = kMost; at > kMost - kLookBack; --at) {
    if (text[at] == ' ' && is_letter(text[at - 1]) && is_letter(text[at + 1])) return at;
  }
  std::size_t at = kMost;
  while (at > kMost - 3 && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80) --at;  // inside a character
  return at;
}

}  // namespace

std::vector<llama_token> tokenize(const llama_vocab& vocabulary, std::string_view text, bool around, bool control) {
  const std::string repaired = is_valid_utf8(text) ? std::string() : repair_utf8(text);
  if (!repaired.empty()) text = repaired;
  constexpr std::size_t kGuess = 16;  // most tokens cover more than one byte; special tokens come on top
  std::vector<llama_token> tokens(text.size() / 2 + kGuess);
  const AbortGuard guard;
  try {
    for (;;) {
      const std::int32_t count =
          llama_tokenize(&vocabulary, text.data(), static_cast<std::int32_t>(text.size()), tokens.data(),
                         static_cast<std::int32_t>(tokens.size()), around, control);
      if (count >= 0) {
        tokens.resize(static_cast<std::size_t>(count));
        break;
      }
      if (count == std::numeric_limits<std::int32_t>::min())
        fail(Code::kTextTooLong, "the text has more than 2^31 tokens");
      tokens.resize(static_cast<std::size_t>(-count));
    }
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    fail(Code::kModelInvalid, std::string("the vocabulary cannot spell a text: ") + error.what());
  }
  require_known(vocabulary, tokens);
  return tokens;
}

TextTokenizer::TextTokenizer(const llama_model& model)
    : vocabulary_(llama_model_get_vocab(&model)), word_piece_(word_piece_of(model)) {
  try {
    for (const llama_token token : engine::tokenize(*vocabulary_, "a", false, false)) {
      std::array<char, 8> spelled{};
      llama_token_to_piece(vocabulary_, token, spelled.data(), spelled.size(), 0, false);
      adds_blank_ = spelled[0] == ' ';
      break;
    }
  } catch (const Error&) {  // a vocabulary without letters
  }
}

std::vector<llama_token> TextTokenizer::tokenize(std::string_view text, bool control, const CancelToken* cancel,
                                                 std::size_t most) const {
  std::vector<llama_token> tokens;
  if (word_piece_) {
    tokens = word_piece_->tokenize(text, cancel, most);
    require_known(*vocabulary_, tokens);
    return tokens;
  }
  for (bool first = true; first || (!text.empty() && tokens.size() <= most); first = false) {
    if (cancel != nullptr) cancel->check();
    const std::size_t end = piece_end(text);
    std::string_view piece = text.substr(0, end);
    if (!first && adds_blank_ && piece.starts_with(' ')) piece.remove_prefix(1);
    const std::vector<llama_token> more = engine::tokenize(*vocabulary_, piece, false, control);
    tokens.insert(tokens.end(), more.begin(), more.end());
    text.remove_prefix(end);
  }
  return tokens;
}

Vocabulary::Vocabulary(const llama_model& model)
    : vocabulary_(llama_model_get_vocab(&model)),
      size_(static_cast<std::uint32_t>(llama_vocab_n_tokens(vocabulary_))),
      texts_(std::in_place, model) {
  const auto need = [](bool needed, llama_token token, const char* what) {
    if (needed && token == LLAMA_TOKEN_NULL) {
      fail(Code::kModelInvalid,
           std::string("the vocabulary has no ") + what + " token, which every text of this model gets");
    }
  };
  const bool wordpiece = llama_vocab_type(vocabulary_) == LLAMA_VOCAB_TYPE_WPM;
  need(wordpiece || llama_vocab_get_add_bos(vocabulary_), llama_vocab_bos(vocabulary_), "first (BOS, CLS)");
  need(llama_vocab_get_add_eos(vocabulary_), llama_vocab_eos(vocabulary_), "last (EOS)");
  need(wordpiece || llama_vocab_get_add_sep(vocabulary_), llama_vocab_sep(vocabulary_), "separator (SEP)");
  around_nothing_ = engine::tokenize(*vocabulary_, "", true, false);
  before_ = wordpiece ? 1 : 0;
  if (!wordpiece) {
    const std::vector<llama_token> one = engine::tokenize(*vocabulary_, "a", true, false);
    while (before_ < std::min(one.size(), around_nothing_.size()) && one[before_] == around_nothing_[before_])
      ++before_;
  }
  special_tokens_ = static_cast<std::uint32_t>(around_nothing_.size());
}

Vocabulary::Vocabulary(std::unique_ptr<const UnigramVocabulary> unigram)
    : size_(unigram->size), around_nothing_(unigram->before), before_(unigram->before.size()) {
  around_nothing_.insert(around_nothing_.end(), unigram->after.begin(), unigram->after.end());
  special_tokens_ = static_cast<std::uint32_t>(around_nothing_.size());
  unigram_ = std::move(unigram);
}

std::vector<llama_token> Vocabulary::inner_tokens(std::string_view text, const CancelToken* cancel,
                                                  std::size_t most) const {
  return unigram_ ? unigram_->texts.tokenize(text, cancel, most) : texts_->tokenize(text, false, cancel, most);
}

std::vector<llama_token> Vocabulary::tokenize(std::string_view text, const CancelToken* cancel,
                                              std::size_t most) const {
  const bool short_enough = text.size() <= TextTokenizer::kPieceBytes + 1;
  if (texts_ && short_enough && !texts_->is_word_piece()) return engine::tokenize(*vocabulary_, text, true, false);
  std::vector<llama_token> tokens = around_nothing_;
  const std::vector<llama_token> inner = inner_tokens(text, cancel, most);
  tokens.insert(tokens.begin() + static_cast<std::ptrdiff_t>(before_), inner.begin(), inner.end());
  return tokens;
}

std::vector<llama_token> Vocabulary::first_window(std::vector<llama_token> tokens, std::size_t limit) const {
  if (tokens.size() <= limit) return tokens;
  const std::size_t after = around_nothing_.size() - before_;
  const std::vector<llama_token> end(tokens.end() - static_cast<std::ptrdiff_t>(after), tokens.end());
  tokens.resize(limit - after);
  tokens.insert(tokens.end(), end.begin(), end.end());
  return tokens;
}

}  // namespace lorekeep::engine
