// The text side of a loaded language model: renders and tokenises prompts, and prepares the constraints of a reply.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lm/grammar/constraint.h"
#include "lm/model/language_model.h"
#include "lm/prompt/chat_template.h"
#include "lm/session/generation_request.h"

namespace lorekeep::lm {

struct RenderedPrompt {
  std::vector<Token> tokens;
  std::vector<PromptPart> parts;
  std::vector<std::uint32_t> message_tokens;  // that each message adds, template text around it included
};

/// Options of a request about its reply. All are optional.
struct ReplyOptions {
  /// The prompt, if this model's template rendered it; decides whether the reply may think.
  Thinking thinking = Thinking::kDefault;
  /// Maximum number of tokens of thinking. Absent: what leaves max_reply_tokens for the reply, or a quarter of all.
  std::optional<std::uint32_t> thinking_budget;
  std::string grammar;  // GBNF; empty: none
  std::optional<QuoteRule> quotes;
};

/// Thread-safe.
class ModelText {
 public:
  explicit ModelText(std::shared_ptr<const LanguageModel> model);
  ~ModelText();
  ModelText(const ModelText&) = delete;
  ModelText& operator=(const ModelText&) = delete;

  /// Renders messages with the model's chat template. Throws Error: kUnsupported (the file has no template),
  /// kModelInvalid (the template is unusable), kInvalidArgument (it refuses these messages), kTextTooLong;
  /// and as CancelToken::check().
  RenderedPrompt render(std::span<const ChatMessage> messages, const RenderOptions& options,
                        const CancelToken* cancel = nullptr) const;

  /// Sets the thinking tags of the text filter and the constraint of a request. `parts` is the rendered prompt; empty
  /// for a plain one, after which the model does not think. Throws Error(kInvalidArgument), and as
  /// CancelToken::check().
  void prepare(GenerationInput& input, const ReplyOptions& options, std::span<const PromptPart> parts,
               const CancelToken* cancel) const;

  /// What the template uses that is not supported, or why it cannot be used; empty: nothing, or there is no template.
  std::string template_note() const;

  /// Whether the template mentions tags of thinking. False if the template is missing or unusable.
  bool thinks() const;

 private:
  std::uint32_t thinking_budget(const GenerationInput& input, const ReplyOptions& options) const;

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lorekeep::lm
