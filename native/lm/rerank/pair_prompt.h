// The tokens of a query and a document for a reranker, as llama-server's /rerank has them: the template "rerank" of the
// file, otherwise BOS query EOS SEP document EOS, each special token where the vocabulary wants it. Unlike there, texts
// cannot spell control tokens of the template, nor the place of the document. Internal to native/lm.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lm/prompt/prompt.h"
#include "lm/text/tokens.h"

namespace lorekeep::lm {

struct Pair {
  std::vector<Token> tokens;
  bool truncated = false;  // the end of the document is missing
};

/// Immutable, thread-safe; the tokens must outlive it.
class PairPrompt {
 public:
  /// `rerank_template` may be empty. Throws Error(kModelInvalid) if the template or a special token is unusable.
  PairPrompt(const Tokens& tokens, std::string rerank_template);

  /// A query that is tokenized once for all documents.
  struct Query {
    std::string_view text;
    std::vector<Token> tokens;  // used without a template
  };
  /// Throws Error(kInvalidArgument) for a query without tokens, Error(kTextTooLong) for one that cannot fit into
  /// `limit` tokens. The text must outlive the result. Polls `cancel` as Tokens::tokenize() does; so does pair().
  Query query(std::string_view text, std::uint32_t limit, const CancelToken* cancel) const;

  /// Cuts the end of a document that does not fit. Throws Error(kTextTooLong) if the query leaves no room for one token
  /// of the document.
  Pair pair(const Query& query, std::string_view document, std::uint32_t limit, const CancelToken* cancel) const;

  bool has_template() const noexcept { return !parts_.empty(); }

 private:
  enum class Slot { kText, kQuery, kDocument };
  struct Part {
    Slot slot;
    std::string text;
  };
  void read_template(std::string_view text);
  std::vector<Token> render(std::string_view query, std::string_view document, const CancelToken* cancel) const;
  Pair rendered_pair(const Query& query, std::string_view document, std::uint32_t limit,
                     const CancelToken* cancel) const;

  const Tokens& tokens_;
  std::vector<Part> parts_;  // empty without a template
  std::optional<PromptTokenizer> prompt_;
  std::vector<Token> before_, between_, after_;  // special tokens around query and document
};

}  // namespace lorekeep::lm
