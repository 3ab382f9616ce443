#include "lm/session/model_text.h"

#include <algorithm>
#include <exception>
#include <mutex>
#include <utility>

#include "core/values/error.h"
#include "llama.h"
#include "lm/grammar/mask_store.h"
#include "lm/prompt/prompt.h"
#include "lm/text/tokens.h"

namespace lorekeep::lm {
namespace {

/// Fraction 1/n of the tokens that is left for the reply if the request does not say how many.
constexpr std::uint32_t kReplyShare = 4;

std::string token_text(const llama_vocab* vocabulary, llama_token token) {
  const char* const text = token == LLAMA_TOKEN_NULL ? nullptr : llama_vocab_get_text(vocabulary, token);
  return text == nullptr ? "" : text;
}

}  // namespace

struct ModelText::Impl {
  explicit Impl(std::shared_ptr<const LanguageModel> loaded) : model(std::move(loaded)), prompts(model->tokens()) {}

  std::shared_ptr<const LanguageModel> model;
  PromptTokenizer prompts;
  // Made on first use: a template takes some milliseconds, a table of 150,000 tokens some tens.
  mutable std::once_flag template_once;
  mutable std::optional<ChatTemplate> chat_template;
  mutable std::exception_ptr template_error;
  mutable std::once_flag table_once;
  mutable std::shared_ptr<const TokenTable> table;
  mutable std::vector<Token> end_tag;
  mutable std::size_t tag_tokens = 0;  // that thinking takes besides its own
  mutable std::shared_ptr<const std::vector<Token>> tokens_of_tags;
  mutable std::shared_ptr<MaskStore> masks;

  const ChatTemplate& usable_template() const {
    std::call_once(template_once, [this] {
      const LanguageModelFacts& facts = model->facts();
      const std::string name = facts.name.empty() ? facts.architecture : facts.name;
      try {
        if (facts.chat_template.empty()) {
          fail(Code::kUnsupported, name + " has no chat template; give a prompt instead of messages",
               {{"model", name}});
        }
        const llama_vocab* const vocabulary = model->tokens().vocabulary();
        chat_template.emplace(facts.chat_template, token_text(vocabulary, llama_vocab_bos(vocabulary)),
                              token_text(vocabulary, llama_vocab_eos(vocabulary)), name);
      } catch (...) {
        template_error = std::current_exception();
      }
    });
    if (template_error) std::rethrow_exception(template_error);
    return *chat_template;
  }

  ThinkingTags tags() const {
    try {
      return usable_template().thinking();
    } catch (const Error&) {
      return {};
    }
  }

  /// If the first caller cancels, the next one reads the table.
  const std::shared_ptr<const TokenTable>& tokens(const CancelToken* cancel) const {
    std::call_once(table_once, [this, cancel] {
      table = read_token_table(model->tokens(), tags(), cancel);
      end_tag = end_tag_tokens(model->tokens(), tags());
      tokens_of_tags = std::make_shared<const std::vector<Token>>(lm::tag_tokens(tags(), *table));
      masks = std::make_shared<MaskStore>(table);
      tag_tokens = model->tokens().tokenize(tags().start, true).size() + end_tag.size() + kMaxGapTokens;
    });
    return table;
  }
};

ModelText::ModelText(std::shared_ptr<const LanguageModel> model) : impl_(std::make_unique<Impl>(std::move(model))) {}
ModelText::~ModelText() = default;

RenderedPrompt ModelText::render(std::span<const ChatMessage> messages, const RenderOptions& options,
                                 const CancelToken* cancel) const {
  const std::size_t most = impl_->model->max_text_bytes();
  std::size_t bytes = 0;
  for (const ChatMessage& message : messages) bytes += message.content.size();
  if (bytes > most) {
    fail(Code::kTextTooLong, "the messages have " + std::to_string(bytes) + " bytes; at most " + std::to_string(most) +
                                 " can be tokenized");
  }
  RenderedPrompt rendered;
  rendered.parts = impl_->usable_template().render(messages, options, cancel);
  Prompt prompt = impl_->prompts.tokenize(rendered.parts, cancel);
  rendered.tokens = std::move(prompt.tokens);
  rendered.message_tokens = std::move(prompt.message_tokens);
  rendered.message_tokens.resize(messages.size(), 0);
  return rendered;
}

void ModelText::prepare(GenerationInput& input, const ReplyOptions& options, std::span<const PromptPart> parts,
                        const CancelToken* cancel) const {
  ReplyRules rules;
  if (!parts.empty()) {
    input.text.thinking = impl_->tags();
    input.text.starts_inside = impl_->usable_template().starts_inside_thinking(parts);
    rules.thinking = input.text.thinking;
    rules.starts_inside = input.text.starts_inside;
  }
  rules.quotes = options.quotes;
  const bool thinks = !rules.thinking.end.empty();
  if (!thinks && options.grammar.empty() && !rules.quotes) return;
  const std::shared_ptr<const TokenTable>& table = impl_->tokens(cancel);
  if (!options.grammar.empty()) rules.grammar = impl_->masks->grammar(options.grammar, cancel);
  rules.tag_tokens = impl_->tokens_of_tags;
  if (thinks) {
    rules.end_tag = impl_->end_tag;
    rules.thinking_budget = options.thinking == Thinking::kOff ? 0 : thinking_budget(input, options);
  }
  input.constraint = constrain_reply(std::move(rules), table, impl_->masks, cancel);
}

// The room that the context leaves limits a reply, too.
std::uint32_t ModelText::thinking_budget(const GenerationInput& input, const ReplyOptions& options) const {
  const std::size_t context = impl_->model->facts().context_size;
  const std::size_t room = context - std::min(context, input.prompt.size());
  const auto tokens = static_cast<std::uint32_t>(std::min<std::size_t>(room, input.max_tokens));
  const std::uint32_t reply = input.max_reply_tokens.value_or(tokens / kReplyShare);
  return limit_thinking(options.thinking_budget, tokens, std::max(reply, 1u), impl_->tag_tokens);
}

std::string ModelText::template_note() const {
  if (impl_->model->facts().chat_template.empty()) return "";
  try {
    return note_of(impl_->usable_template().unknown_constructs());
  } catch (const Error& error) {
    return error.what();
  }
}

bool ModelText::thinks() const {
  return !impl_->tags().end.empty();
}

}  // namespace lorekeep::lm
