#pragma once

#include <algorithm>
#include <string_view>
#include <utility>

#include "text/english.h"
#include "text/tokenizer.h"

namespace lorekeep::text {

/// Calls visit(word, token) for every token of Tokenizer::kEnhanced: the folded word of the text, and its stem. Polls
/// as for_each_token().
template <class Visit>
void for_each_english_word(std::string_view text, const CancelToken* cancel, Visit&& visit) {
  char token[kMaxTokenBytes];
  for_each_token(
      text, Tokenizer::kBasic,
      [&](std::string_view word, TokenKind) {
        if (is_english_stopword(word)) return;
        std::copy(word.begin(), word.end(), token);
        visit(word, std::string_view(token, strip_english_suffix(token, word.size())));
      },
      cancel);
}

}  // namespace lorekeep::text
