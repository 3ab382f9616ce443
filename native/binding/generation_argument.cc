#include "binding/generation_argument.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>
#include <utility>

#include "binding/arguments.h"
#include "binding/layout.gen.h"
#include "binding/options.gen.h"
#include "binding/value_conversion.h"

namespace lorekeep::binding {
namespace {

constexpr std::uint64_t kMaxTokens = 1 << 24;
constexpr std::uint64_t kMaxAlternatives = 100;
constexpr double kMaxSeconds = 1e7;

float number_argument(const Napi::Value& value, const char* name) {
  const double number = value.IsNumber() ? value.As<Napi::Number>().DoubleValue() : std::nan("");
  if (std::isnan(number)) fail(Code::kInvalidArgument, std::string(name) + ": a number is expected");
  return static_cast<float>(number);
}

std::vector<lm::Token> tokens_argument(const Napi::Value& value, const char* name) {
  if (!value.IsTypedArray() || value.As<Napi::TypedArray>().TypedArrayType() != napi_int32_array)
    fail(Code::kInvalidArgument, std::string(name) + ": an Int32Array of tokens is expected");
  const auto array = value.As<Napi::Int32Array>();
  return std::vector<lm::Token>(array.Data(), array.Data() + array.ElementLength());
}

lm::SamplingOptions sampling_argument(const Napi::Object& request) {
  lm::SamplingOptions sampling;
  read_numbers(doubles_argument(request.Get("sampling"), "sampling"), sampling);
  const std::vector<lm::Token> tokens = tokens_argument(request.Get("biasTokens"), "logitBias");
  const std::vector<float> values = floats_argument(request.Get("biasValues"), "logitBias");
  if (tokens.size() != values.size()) fail(Code::kInvalidArgument, "logitBias: one value per token is expected");
  for (std::size_t i = 0; i < tokens.size(); ++i) sampling.biases.emplace_back(tokens[i], values[i]);
  return sampling;
}

lm::GenerationInput input_argument(const Napi::Object& request) {
  lm::GenerationInput input;
  input.consumer_class =
      enumerator_argument<scheduler::ConsumerClass>(request.Get("class"), "class", layout::kConsumerClasses);
  input.max_tokens = static_cast<std::uint32_t>(integer_argument(request.Get("maxTokens"), "maxTokens", 0, kMaxTokens));
  if (!request.Get("maxReplyTokens").IsUndefined()) {
    input.max_reply_tokens =
        static_cast<std::uint32_t>(integer_argument(request.Get("maxReplyTokens"), "maxReplyTokens", 1, kMaxTokens));
  }
  input.sampling = sampling_argument(request);
  input.seed = integer_argument(request.Get("seed"), "seed", 0, kMaxExactInteger);
  input.text.stops = strings_argument(request.Get("stop"), "stop");
  input.drafts = request.Get("drafts").ToBoolean();
  if (!request.Get("logprobs").IsUndefined()) {
    input.log_probabilities =
        static_cast<std::uint32_t>(integer_argument(request.Get("logprobs"), "logprobs", 0, kMaxAlternatives));
  }
  if (!request.Get("deadlineMs").IsUndefined()) {
    const double ms = std::min<double>(number_argument(request.Get("deadlineMs"), "deadlineMs"), kMaxSeconds * 1000);
    input.deadline = lm::Clock::now() + std::chrono::duration_cast<lm::Clock::duration>(
                                            std::chrono::duration<double, std::milli>(std::max(0.0, ms)));
  }
  return input;
}

std::vector<lm::PromptPart> parts_argument(const Napi::Value& value) {
  std::vector<lm::PromptPart> parts;
  if (value.IsUndefined()) return parts;
  if (!value.IsArray()) fail(Code::kInvalidArgument, "parts: an array is expected");
  const auto array = value.As<Napi::Array>();
  for (std::uint32_t i = 0; i < array.Length(); ++i) {
    Napi::HandleScope scope(value.Env());
    const Napi::Object part = object_argument(array.Get(i), "parts");
    parts.push_back({string_argument(part.Get("text"), "text"), part.Get("input").ToBoolean(), -1});
  }
  return parts;
}

lm::ReplyOptions reply_argument(const Napi::Object& request) {
  lm::ReplyOptions reply;
  reply.thinking = thinking_argument(request.Get("thinking"));
  if (!request.Get("thinkingBudget").IsUndefined()) {
    reply.thinking_budget =
        static_cast<std::uint32_t>(integer_argument(request.Get("thinkingBudget"), "thinking.budget", 0, kMaxTokens));
  }
  if (!request.Get("quotes").IsUndefined()) {
    const Napi::Object quotes = object_argument(request.Get("quotes"), "quotes");
    reply.quotes = {string_argument(quotes.Get("marks"), "quotes.marks"),
                    string_argument(quotes.Get("apostrophes"), "quotes.apostrophes"),
                    strings_argument(quotes.Get("texts"), "quotes.texts")};
  }
  return reply;
}

lm::PromptSource prompt_argument(const Napi::Object& request) {
  if (!request.Get("messages").IsUndefined()) return messages_argument(request.Get("messages"));
  const Napi::Value value = request.Get("prompt");
  if (value.IsString()) return string_argument(value, "prompt");
  return tokens_argument(value, "prompt");
}

}  // namespace

lm::Thinking thinking_argument(const Napi::Value& value) {
  return enumerator_argument<lm::Thinking>(value, "thinking", layout::kThinkingModes);
}

std::vector<lm::ChatMessage> messages_argument(const Napi::Value& value) {
  if (!value.IsArray()) fail(Code::kInvalidArgument, "messages: an array is expected");
  const auto array = value.As<Napi::Array>();
  std::vector<lm::ChatMessage> messages;
  for (std::uint32_t i = 0; i < array.Length(); ++i) {
    Napi::HandleScope scope(value.Env());
    const Napi::Object message = object_argument(array.Get(i), "messages");
    messages.push_back({enumerator_argument<lm::Role>(message.Get("role"), "role", layout::kRoles),
                        string_argument(message.Get("content"), "content")});
  }
  return messages;
}

lm::GenerationCall generation_argument(const Napi::Value& value) {
  const Napi::Object request = object_argument(value, "request");
  lm::GenerationCall call;
  call.input = input_argument(request);
  call.prompt = prompt_argument(request);
  call.parts = parts_argument(request.Get("parts"));
  call.reply = reply_argument(request);
  if (!request.Get("grammar").IsUndefined()) call.reply.grammar = string_argument(request.Get("grammar"), "grammar");
  return call;
}

}  // namespace lorekeep::binding
