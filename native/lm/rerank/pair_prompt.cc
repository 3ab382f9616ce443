#include "lm/rerank/pair_prompt.h"

#include <algorithm>
#include <array>

#include "core/values/error.h"
#include "core/values/utf8.h"

namespace lorekeep::lm {
namespace {

constexpr std::size_t kMaxPairTemplateBytes = 64 * 1024;
// Messages of a PromptPart. Tokens of no message are then the beginning that the vocabulary adds.
constexpr int kTemplateMessage = 0;
constexpr int kQueryMessage = 1;
constexpr int kDocumentMessage = 2;

[[noreturn]] void refuse_query(std::size_t tokens, std::uint32_t limit) {
  fail(Code::kTextTooLong,
       "the query takes at least " + std::to_string(tokens) +
           " tokens and leaves no room for a document; the model takes " + std::to_string(limit),
       {{"tokens", static_cast<std::int64_t>(tokens)}, {"limit", static_cast<std::int64_t>(limit)}});
}

}  // namespace

PairPrompt::PairPrompt(const Tokens& tokens, std::string rerank_template) : tokens_(tokens) {
  if (!rerank_template.empty()) {
    read_template(rerank_template);
    prompt_.emplace(tokens);
    return;
  }
  const llama_vocab* const vocabulary = tokens.vocabulary();
  const auto special = [&](bool wanted, Token token, const char* what, std::vector<Token>& place) {
    if (!wanted) return;
    if (token < 0 || static_cast<std::uint32_t>(token) >= tokens.size())
      fail(Code::kModelInvalid, std::string("the vocabulary has no ") + what + " token, which every pair gets");
    place.push_back(token);
  };
  const Token sep = llama_vocab_sep(vocabulary);
  const Token eos = llama_vocab_eos(vocabulary) == LLAMA_TOKEN_NULL ? sep : llama_vocab_eos(vocabulary);
  special(llama_vocab_get_add_bos(vocabulary), llama_vocab_bos(vocabulary), "first (BOS, CLS)", before_);
  special(llama_vocab_get_add_eos(vocabulary), eos, "last (EOS)", between_);
  special(llama_vocab_get_add_sep(vocabulary), sep, "separator (SEP)", between_);
  special(llama_vocab_get_add_eos(vocabulary), eos, "last (EOS)", after_);
}

void PairPrompt::read_template(std::string_view text) {
  if (text.size() > kMaxPairTemplateBytes) fail(Code::kModelInvalid, "the template 'rerank' is too long");
  constexpr std::array<std::pair<std::string_view, Slot>, 2> kSlots{
      {{"{query}", Slot::kQuery}, {"{document}", Slot::kDocument}}};
  std::array<int, 2> found{};
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto* const slot = std::find_if(kSlots.begin(), kSlots.end(),
                                          [&](const auto& one) { return text.substr(at).starts_with(one.first); });
    if (slot == kSlots.end()) {
      ++at;
      continue;
    }
    if (at > begin) parts_.push_back({Slot::kText, std::string(text.substr(begin, at - begin))});
    parts_.push_back({slot->second, {}});
    ++found[static_cast<std::size_t>(slot - kSlots.begin())];
    begin = at += slot->first.size();
  }
  if (begin < text.size()) parts_.push_back({Slot::kText, std::string(text.substr(begin))});
  if (found[0] == 0 || found[1] != 1)
    fail(Code::kModelInvalid, "the template 'rerank' needs {query}, and {document} once");
}

PairPrompt::Query PairPrompt::query(std::string_view text, std::uint32_t limit, const CancelToken* cancel) const {
  if (text.find_first_not_of(" \t\r\n\v\f") == std::string_view::npos)
    fail(Code::kInvalidArgument, "the query is empty");
  Query query{text, {}};
  // Tokens at the ends may merge with those of a template: a query is refused here only if it cannot fit.
  const std::size_t most = has_template() ? 2 * std::size_t{limit} : limit;
  query.tokens = tokens_.tokenize(text, false, cancel, most);
  if (query.tokens.size() > most) refuse_query(query.tokens.size(), limit);
  if (has_template()) return query;
  if (query.tokens.empty()) fail(Code::kInvalidArgument, "the query has no token that the model knows");
  return query;
}

Pair PairPrompt::pair(const Query& query, std::string_view document, std::uint32_t limit,
                      const CancelToken* cancel) const {
  if (has_template()) return rendered_pair(query, document, limit, cancel);
  const std::size_t around = before_.size() + query.tokens.size() + between_.size() + after_.size();
  if (around >= limit) refuse_query(around, limit);
  std::vector<Token> tokens = tokens_.tokenize(document, false, cancel, limit);
  Pair pair;
  pair.truncated = tokens.size() > limit - around;
  if (pair.truncated) tokens.resize(limit - around);
  pair.tokens.reserve(around + tokens.size());
  for (const std::vector<Token>* part : {&before_, &query.tokens, &between_, &std::as_const(tokens), &after_})
    pair.tokens.insert(pair.tokens.end(), part->begin(), part->end());
  return pair;
}

std::vector<Token> PairPrompt::render(std::string_view query, std::string_view document,
                                      const CancelToken* cancel) const {
  std::vector<PromptPart> parts;
  for (const Part& part : parts_) {
    switch (part.slot) {
      case Slot::kText: parts.push_back({part.text, false, kTemplateMessage}); break;
      case Slot::kQuery: parts.push_back({std::string(query), true, kQueryMessage}); break;
      case Slot::kDocument: parts.push_back({std::string(document), true, kDocumentMessage}); break;
    }
  }
  Prompt prompt = prompt_->tokenize(parts, cancel);
  // llama-server adds no beginning to a template.
  prompt.tokens.erase(prompt.tokens.begin(), prompt.tokens.begin() + prompt.other);
  return std::move(prompt.tokens);
}

// Tokens at the document's ends may merge with the template's, so that a truncated document is rendered again and
// counted.
Pair PairPrompt::rendered_pair(const Query& query, std::string_view document, std::uint32_t limit,
                               const CancelToken* cancel) const {
  Pair pair;
  if (document.size() <= tokens_.longest() * limit) {  // else it cannot fit
    pair.tokens = render(query.text, document, cancel);
    if (pair.tokens.size() <= limit) return pair;
  }
  const std::size_t around = render(query.text, "", cancel).size();
  if (around >= limit) refuse_query(around, limit);
  pair.truncated = true;
  const std::vector<Token> whole = tokens_.tokenize(document, false, cancel, limit);
  std::size_t kept = std::min<std::size_t>(whole.size(), limit - around);
  for (;;) {
    std::string text;
    for (std::size_t i = 0; i < kept; ++i) tokens_.append_piece(whole[i], text);
    const std::string_view prefix = utf8_prefix(text, text.size());
    pair.tokens = render(query.text, prefix, cancel);
    if (pair.tokens.size() <= limit) return pair;
    const std::size_t excess = pair.tokens.size() - limit;
    kept = kept > excess ? kept - excess : 0;
  }
}

}  // namespace lorekeep::lm
