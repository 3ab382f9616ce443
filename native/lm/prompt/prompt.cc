#include "lm/prompt/prompt.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <utility>

namespace lorekeep::lm {
namespace {

/// Tokens of a table read between two looks at the cancel token.
constexpr Token kTokenGrain = 16'384;

bool is_space(char c) noexcept {
  return std::isspace(static_cast<unsigned char>(c)) != 0;
}

/// Whether the text looks like a marker: <...> or [...], longer than the brackets of programs.
bool is_bracketed(std::string_view text) noexcept {
  return text.size() > 3 &&
         ((text.front() == '<' && text.back() == '>') || (text.front() == '[' && text.back() == ']'));
}

}  // namespace

/// Writes the tokens of a prompt, and counts them by message. Collects the text between two control tokens.
class PromptTokenizer::Writer {
 public:
  Writer(const PromptTokenizer& tokenizer, int messages, const CancelToken* cancel)
      : tokenizer_(tokenizer), cancel_(cancel) {
    prompt_.message_tokens.assign(static_cast<std::size_t>(messages), 0);
  }

  /// Adds text of a user or a document, in which control tokens and markers are text.
  void add_input(std::string_view rest, int message) {
    for (std::size_t i = 0; i < rest.size();) {
      look();
      if (tokenizer_.markers_.at(rest.substr(i)) == nullptr) {
        ++i;
        continue;
      }
      append(rest.substr(0, i + 1), message);
      cuts_.push_back(bytes_.size());
      rest.remove_prefix(i + 1);
      i = 0;
    }
    append(rest, message);
  }

  /// Adds text of the template, with its control tokens.
  void add_template(std::string_view rest, int message) {
    for (std::size_t i = 0; i < rest.size();) {
      const Control* const control = tokenizer_.controls_.at(rest.substr(i));
      if (control == nullptr) {
        ++i;
        continue;
      }
      append(rest.substr(0, i), message);
      flush(control->strips_left);
      prompt_.tokens.push_back(control->token);
      count(message);
      strips_ = control->strips_right;
      rest.remove_prefix(i + control->text.size());
      i = 0;
    }
    append(rest, message);
  }

  Prompt finish() && {
    flush(false);
    const std::size_t before = prompt_.tokens.size();
    tokenizer_.tokens_.add_begin(prompt_.tokens);
    prompt_.other += static_cast<std::uint32_t>(prompt_.tokens.size() - before);
    return std::move(prompt_);
  }

 private:
  /// A byte was looked at.
  void look() {
    constexpr std::size_t kGrain = std::size_t{4} << 10;
    if (++looked_ % kGrain == 0 && cancel_ != nullptr) cancel_->check();
  }

  void append(std::string_view more, int message) {
    if (strips_ && bytes_.empty()) {
      while (!more.empty() && is_space(more.front())) more.remove_prefix(1);
    }
    if (more.empty()) return;
    strips_ = false;
    if (messages_.empty() || messages_.back().second != message) messages_.emplace_back(bytes_.size(), message);
    bytes_ += more;
  }

  /// Tokenizes the collected text. A token belongs to the message of its first byte; tokens that contain other bytes
  /// than the text (an added space) move that by a byte or two.
  void flush(bool strip_right_end) {
    while (strip_right_end && !bytes_.empty() && is_space(bytes_.back())) bytes_.pop_back();
    cuts_.push_back(bytes_.size());
    std::size_t run = 0;
    std::string piece;
    std::size_t begin = 0;
    for (const std::size_t cut : cuts_) {
      if (cut <= begin) continue;
      std::size_t at = begin;
      for (const Token token :
           tokenizer_.tokens_.tokenize(std::string_view(bytes_).substr(begin, cut - begin), false, cancel_)) {
        prompt_.tokens.push_back(token);
        while (run + 1 < messages_.size() && messages_[run + 1].first <= at) ++run;
        count(messages_[run].second);
        piece.clear();
        tokenizer_.tokens_.append_piece(token, piece);
        at += piece.size();
      }
      begin = cut;
    }
    bytes_.clear();
    messages_.clear();
    cuts_.clear();
  }

  void count(int message) {
    ++(message < 0 ? prompt_.other : prompt_.message_tokens[static_cast<std::size_t>(message)]);
  }

  const PromptTokenizer& tokenizer_;
  const CancelToken* cancel_;
  std::size_t looked_ = 0;
  Prompt prompt_;
  std::string bytes_;
  std::vector<std::pair<std::size_t, int>> messages_;  // from this offset on
  std::vector<std::size_t> cuts_;                      // offsets that no token may span
  bool strips_ = false;                                // the last control token takes the white space after it
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

Prompt PromptTokenizer::tokenize(std::span<const PromptPart> parts, const CancelToken* cancel) const {
  int last = -1;
  for (const PromptPart& part : parts) last = std::max(last, part.message);
  Writer writer(*this, last + 1, cancel);
  for (const PromptPart& part : parts) {
    if (part.input) {
      writer.add_input(part.text, part.message);
    } else {
      writer.add_template(part.text, part.message);
    }
  }
  return std::move(writer).finish();
}

std::shared_ptr<const TokenTable> read_token_table(const Tokens& tokens, const ThinkingTags& tags,
                                                   const CancelToken* cancel) {
  std::vector<TokenEntry> entries;
  entries.reserve(tokens.size());
  const llama_vocab* const vocabulary = tokens.vocabulary();
  for (Token token = 0; token < static_cast<Token>(tokens.size()); ++token) {
    if (cancel != nullptr && token % kTokenGrain == 0) cancel->check();
    TokenEntry entry{{}, TokenKind::kText};
    const llama_token_attr attributes = llama_vocab_get_attr(vocabulary, token);
    const char* const raw = llama_vocab_get_text(vocabulary, token);
    const std::string text = raw == nullptr ? "" : raw;
    if (tokens.ends(token)) {
      entry.kind = TokenKind::kEnd;
    } else if ((attributes & (LLAMA_TOKEN_ATTR_CONTROL | LLAMA_TOKEN_ATTR_UNKNOWN)) != 0) {
      const bool in_tag =
          !text.empty() && (tags.start + "\n" + tags.end + "\n" + tags.between).find(text) != std::string::npos;
      if (in_tag)
        entry.bytes = text;
      else
        entry.kind = TokenKind::kControl;
    } else {
      tokens.append_piece(token, entry.bytes);
    }
    entries.push_back(std::move(entry));
  }
  return std::make_shared<const TokenTable>(entries, cancel);
}

std::vector<Token> end_tag_tokens(const Tokens& tokens, const ThinkingTags& tags) {
  if (tags.end.empty()) return {};
  return tokens.tokenize(tags.between.empty() ? "\n" + tags.end + "\n\n" : tags.between + tags.end, true);
}

}  // namespace lorekeep::lm
