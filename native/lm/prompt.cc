#include "lm/prompt.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <utility>

namespace lorekeep::lm {
namespace {

bool is_space(char c) noexcept {
  return std::isspace(static_cast<unsigned char>(c)) != 0;
}

/// Whether the text looks like a marker: <...> or [...], longer than the brackets of programs.
bool is_bracketed(std::string_view text) noexcept {
  return text.size() > 3 &&
         ((text.front() == '<' && text.back() == '>') || (text.front() == '[' && text.back() == ']'));
}

}  // namespace

/// Text between two control tokens, and which message each byte belongs to.
struct PromptTokenizer::Text {
  std::string bytes;
  std::vector<std::pair<std::size_t, int>> messages;  // from this offset on
  std::vector<std::size_t> cuts;                      // offsets that no token may span

  void append(std::string_view more, int message) {
    if (more.empty()) return;
    if (messages.empty() || messages.back().second != message) messages.emplace_back(bytes.size(), message);
    bytes += more;
  }
};

PromptTokenizer::PromptTokenizer(const Tokens& tokens) : tokens_(tokens) {
  const llama_vocab* const vocabulary = tokens.vocabulary();
  for (Token token = 0; token < static_cast<Token>(tokens.size()); ++token) {
    const llama_token_attr attributes = llama_vocab_get_attr(vocabulary, token);
    const bool control = (attributes & (LLAMA_TOKEN_ATTR_CONTROL | LLAMA_TOKEN_ATTR_UNKNOWN)) != 0;
    if (!control && (attributes & LLAMA_TOKEN_ATTR_USER_DEFINED) == 0) continue;
    const char* const raw = llama_vocab_get_text(vocabulary, token);
    const std::string text = raw == nullptr ? "" : raw;
    if (text.empty() || (!control && !is_bracketed(text))) continue;
    (control ? controls_ : markers_)
        .all.push_back(
            {text, token, (attributes & LLAMA_TOKEN_ATTR_LSTRIP) != 0, (attributes & LLAMA_TOKEN_ATTR_RSTRIP) != 0});
  }
  controls_.index();
  markers_.index();
}

void PromptTokenizer::Spellings::index() {
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    by_text.try_emplace(all[i].text, i);
    lengths.push_back(all[i].text.size());
    begins[static_cast<unsigned char>(all[i].text[0])] = true;
  }
  std::sort(lengths.begin(), lengths.end(), std::greater<>());
  lengths.erase(std::unique(lengths.begin(), lengths.end()), lengths.end());
}

const PromptTokenizer::Control* PromptTokenizer::Spellings::at(std::string_view text) const {
  if (!begins[static_cast<unsigned char>(text[0])]) return nullptr;
  for (const std::size_t length : lengths) {
    if (length > text.size()) continue;
    const auto found = by_text.find(text.substr(0, length));
    if (found != by_text.end()) return &all[found->second];
  }
  return nullptr;
}

Prompt PromptTokenizer::tokenize(std::span<const PromptPart> parts) const {
  Prompt prompt;
  int last = -1;
  for (const PromptPart& part : parts) last = std::max(last, part.message);
  prompt.message_tokens.assign(static_cast<std::size_t>(last + 1), 0);
  const auto count = [&](int message) {
    ++(message < 0 ? prompt.other : prompt.message_tokens[static_cast<std::size_t>(message)]);
  };

  Text text;
  bool strips = false;  // the last control token takes the white space after it
  const auto flush = [&](bool strip_right_end) {
    while (strip_right_end && !text.bytes.empty() && is_space(text.bytes.back())) text.bytes.pop_back();
    if (!text.bytes.empty()) {
      // A token belongs to the message of its first byte; tokens that hold other bytes than the text (an added space)
      // move that by a byte or two.
      std::size_t at = 0;
      std::size_t run = 0;
      std::string piece;
      text.cuts.push_back(text.bytes.size());
      std::size_t begin = 0;
      for (const std::size_t cut : text.cuts) {
        for (const Token token : tokens_.tokenize(std::string_view(text.bytes).substr(begin, cut - begin), false)) {
          prompt.tokens.push_back(token);
          while (run + 1 < text.messages.size() && text.messages[run + 1].first <= at) ++run;
          count(text.messages[run].second);
          piece.clear();
          tokens_.append_piece(token, piece);
          at += piece.size();
        }
        begin = at = cut;
      }
    }
    text = Text();
  };
  const auto append = [&](std::string_view more, int message) {
    if (strips && text.bytes.empty()) {
      while (!more.empty() && is_space(more.front())) more.remove_prefix(1);
    }
    if (more.empty()) return;
    strips = false;
    text.append(more, message);
  };
  for (const PromptPart& part : parts) {
    std::string_view rest = part.text;
    if (part.input) {
      for (std::size_t i = 0; i < rest.size();) {
        if (markers_.at(rest.substr(i)) == nullptr) {
          ++i;
          continue;
        }
        append(rest.substr(0, i + 1), part.message);
        text.cuts.push_back(text.bytes.size());
        rest.remove_prefix(i + 1);
        i = 0;
      }
      append(rest, part.message);
      continue;
    }
    std::size_t plain = 0;
    while (plain < rest.size()) {
      const Control* const control = controls_.at(rest.substr(plain));
      if (control == nullptr) {
        ++plain;
        continue;
      }
      append(rest.substr(0, plain), part.message);
      flush(control->strips_left);
      prompt.tokens.push_back(control->token);
      count(part.message);
      strips = control->strips_right;
      rest.remove_prefix(plain + control->text.size());
      plain = 0;
    }
    append(rest, part.message);
  }
  flush(false);
  const std::size_t before = prompt.tokens.size();
  tokens_.add_begin(prompt.tokens);
  prompt.other += static_cast<std::uint32_t>(prompt.tokens.size() - before);
  return prompt;
}

std::shared_ptr<const TokenTable> read_token_table(const Tokens& tokens, const ThinkingTags& tags) {
  std::vector<TokenEntry> entries;
  entries.reserve(tokens.size());
  const llama_vocab* const vocabulary = tokens.vocabulary();
  for (Token token = 0; token < static_cast<Token>(tokens.size()); ++token) {
    TokenEntry entry{{}, TokenKind::kText};
    const llama_token_attr attributes = llama_vocab_get_attr(vocabulary, token);
    const char* const raw = llama_vocab_get_text(vocabulary, token);
    const std::string text = raw == nullptr ? "" : raw;
    if (tokens.ends(token)) {
      entry.kind = TokenKind::kEnd;
    } else if ((attributes & (LLAMA_TOKEN_ATTR_CONTROL | LLAMA_TOKEN_ATTR_UNKNOWN)) != 0) {
      const bool in_tag =
          !text.empty() && (tags.start.find(text) != std::string::npos || tags.end.find(text) != std::string::npos);
      if (in_tag)
        entry.bytes = text;
      else
        entry.kind = TokenKind::kControl;
    } else {
      tokens.append_piece(token, entry.bytes);
    }
    entries.push_back(std::move(entry));
  }
  return std::make_shared<const TokenTable>(entries);
}

std::vector<Token> end_tag_tokens(const Tokens& tokens, const ThinkingTags& tags) {
  return tags.end.empty() ? std::vector<Token>() : tokens.tokenize("\n" + tags.end + "\n\n", true);
}

}  // namespace lorekeep::lm
