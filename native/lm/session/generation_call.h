// A request for a reply as its caller words it, before its prompt is tokenized.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "lm/prompt/chat_template.h"
#include "lm/session/generation_request.h"
#include "lm/session/model_text.h"

namespace lorekeep::lm {

/// Text, tokens, or a conversation.
using PromptSource = std::variant<std::string, std::vector<Token>, std::vector<ChatMessage>>;

struct GenerationCall {
  GenerationInput input;  // without prompt, constraint and pin
  PromptSource prompt;
  std::vector<PromptPart> parts;  // of tokens that this model rendered
  ReplyOptions reply;
};

}  // namespace lorekeep::lm
