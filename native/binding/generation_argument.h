// Parses requests to language models, as lib/generation/generation-request.ts makes them. All functions throw
// Error(kInvalidArgument).
#pragma once

#include <napi.h>

#include <vector>

#include "lm/session/generation_call.h"

namespace lorekeep::binding {

lm::GenerationCall generation_argument(const Napi::Value& value);
std::vector<lm::ChatMessage> messages_argument(const Napi::Value& value);
lm::Thinking thinking_argument(const Napi::Value& value);

}  // namespace lorekeep::binding
