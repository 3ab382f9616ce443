#include "engine/vocabulary.h"

#include <exception>
#include <limits>
#include <string>

#include "core/values/error.h"
#include "core/values/utf8.h"
#include "engine/abort_guard.h"

namespace lorekeep::engine {

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
  const std::int32_t size = llama_vocab_n_tokens(&vocabulary);
  for (llama_token token : tokens) {
    if (token < 0 || token >= size) fail(Code::kModelInvalid, "the vocabulary has no token for unknown words");
  }
  return tokens;
}

Vocabulary::Vocabulary(const llama_model& model) : vocabulary_(llama_model_get_vocab(&model)) {
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
  around_nothing_ = tokenize("");
  special_tokens_ = static_cast<std::uint32_t>(around_nothing_.size());
}

std::vector<llama_token> Vocabulary::first_window(std::vector<llama_token> tokens, std::size_t limit) const {
  if (tokens.size() <= limit) return tokens;
  std::size_t before = 0;
  while (before < around_nothing_.size() && tokens[before] == around_nothing_[before]) ++before;
  const std::size_t after = around_nothing_.size() - before;
  const std::vector<llama_token> end(tokens.end() - static_cast<std::ptrdiff_t>(after), tokens.end());
  tokens.resize(limit - after);
  tokens.insert(tokens.end(), end.begin(), end.end());
  return tokens;
}

}  // namespace lorekeep::engine
