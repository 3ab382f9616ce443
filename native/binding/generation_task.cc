#include "binding/generation_task.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "binding/arguments.h"
#include "binding/error_translator.h"
#include "binding/promise_task.h"
#include "binding/value_conversion.h"

namespace lorekeep::binding {
namespace {

constexpr std::uint64_t kMostTokens = 1 << 24;
constexpr std::uint64_t kMostAlternatives = 100;
constexpr double kMostSeconds = 1e7;

using Messages = std::vector<lm::ChatMessage>;

/// The prompt as it arrives: text, tokens, or a conversation.
using PromptArgument = std::variant<std::string, std::vector<lm::Token>, Messages>;

/// What the reply must obey, as texts.
struct ReplyArgument {
  lm::ReplyOptions options;
  std::string grammar;                // GBNF; empty: none
  std::vector<lm::PromptPart> parts;  // of a rendered prompt
};

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

std::vector<std::string> texts_argument(const Napi::Value& value, const char* name) {
  if (!value.IsArray()) fail(Code::kInvalidArgument, std::string(name) + ": an array of strings is expected");
  const auto array = value.As<Napi::Array>();
  std::vector<std::string> texts;
  for (std::uint32_t i = 0; i < array.Length(); ++i) texts.push_back(string_argument(array.Get(i), name));
  return texts;
}

lm::SamplingOptions sampling_argument(const Napi::Object& request) {
  const auto number = [&request](const char* name) { return number_argument(request.Get(name), name); };
  lm::SamplingOptions sampling;
  sampling.temperature = number("temperature");
  sampling.top_k = static_cast<std::int32_t>(integer_argument(request.Get("topK"), "topK", 0, kMostTokens));
  sampling.top_p = number("topP");
  sampling.min_p = number("minP");
  sampling.repeat_penalty = number("repeatPenalty");
  sampling.frequency_penalty = number("frequencyPenalty");
  sampling.presence_penalty = number("presencePenalty");
  sampling.penalty_last_n =
      static_cast<std::int32_t>(integer_argument(request.Get("penaltyLastN"), "penaltyLastN", 0, kMostTokens));
  const std::vector<lm::Token> tokens = tokens_argument(request.Get("biasTokens"), "logitBias");
  const std::vector<float> values = floats_argument(request.Get("biasValues"), "logitBias");
  if (tokens.size() != values.size()) fail(Code::kInvalidArgument, "logitBias: one value per token is expected");
  for (std::size_t i = 0; i < tokens.size(); ++i) sampling.biases.emplace_back(tokens[i], values[i]);
  return sampling;
}

lm::GenerationInput input_argument(const Napi::Object& request) {
  lm::GenerationInput input;
  input.consumer_class = static_cast<scheduler::ConsumerClass>(integer_argument(request.Get("class"), "class", 0, 2));
  input.max_tokens =
      static_cast<std::uint32_t>(integer_argument(request.Get("maxTokens"), "maxTokens", 0, kMostTokens));
  input.sampling = sampling_argument(request);
  input.seed = integer_argument(request.Get("seed"), "seed", 0, kMostExactInteger);
  input.text.stops = texts_argument(request.Get("stop"), "stop");
  input.drafts = request.Get("drafts").ToBoolean();
  if (!request.Get("logprobs").IsUndefined()) {
    input.log_probabilities =
        static_cast<std::uint32_t>(integer_argument(request.Get("logprobs"), "logprobs", 0, kMostAlternatives));
  }
  if (!request.Get("deadlineMs").IsUndefined()) {
    const double ms = std::min<double>(number_argument(request.Get("deadlineMs"), "deadlineMs"), kMostSeconds * 1000);
    input.deadline = lm::Clock::now() + std::chrono::duration_cast<lm::Clock::duration>(
                                            std::chrono::duration<double, std::milli>(std::max(0.0, ms)));
  }
  return input;
}

lm::Thinking thinking_argument(const Napi::Value& value) {
  return static_cast<lm::Thinking>(integer_argument(value, "thinking", 0, 2));
}

Messages messages_argument(const Napi::Value& value) {
  if (!value.IsArray()) fail(Code::kInvalidArgument, "messages: an array is expected");
  const auto array = value.As<Napi::Array>();
  Messages messages;
  for (std::uint32_t i = 0; i < array.Length(); ++i) {
    Napi::HandleScope scope(value.Env());
    const Napi::Object message = object_argument(array.Get(i), "messages");
    messages.push_back({static_cast<lm::Role>(integer_argument(message.Get("role"), "role", 0, 2)),
                        string_argument(message.Get("content"), "content")});
  }
  return messages;
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

ReplyArgument reply_argument(const Napi::Object& request) {
  ReplyArgument reply;
  reply.options.thinking = thinking_argument(request.Get("thinking"));
  if (!request.Get("thinkingBudget").IsUndefined()) {
    reply.options.thinking_budget =
        static_cast<std::uint32_t>(integer_argument(request.Get("thinkingBudget"), "thinking.budget", 0, kMostTokens));
  }
  if (!request.Get("grammar").IsUndefined()) reply.grammar = string_argument(request.Get("grammar"), "grammar");
  if (!request.Get("quotes").IsUndefined()) {
    const Napi::Object quotes = object_argument(request.Get("quotes"), "quotes");
    reply.options.quotes = {string_argument(quotes.Get("open"), "quotes.open"),
                            string_argument(quotes.Get("close"), "quotes.close"),
                            texts_argument(quotes.Get("texts"), "quotes.texts")};
  }
  reply.parts = parts_argument(request.Get("parts"));
  return reply;
}

PromptArgument prompt_argument(const Napi::Object& request) {
  if (!request.Get("messages").IsUndefined()) return messages_argument(request.Get("messages"));
  const Napi::Value value = request.Get("prompt");
  if (value.IsString()) return string_argument(value, "prompt");
  return tokens_argument(value, "prompt");
}

Napi::Value to_js_tokens(Napi::Env env, const std::vector<lm::Token>& tokens) {
  auto array = Napi::Int32Array::New(env, tokens.size());
  std::copy(tokens.begin(), tokens.end(), array.Data());
  return array;
}

Napi::Array to_js_log_probabilities(Napi::Env env, const std::vector<std::vector<lm::LogProbability>>& tokens) {
  Napi::Array array = Napi::Array::New(env, tokens.size());
  for (std::uint32_t i = 0; i < tokens.size(); ++i) {
    Napi::HandleScope scope(env);
    Napi::Array values = Napi::Array::New(env, tokens[i].size());
    for (std::uint32_t k = 0; k < tokens[i].size(); ++k) {
      Napi::Object one = Napi::Object::New(env);
      one.Set("token", tokens[i][k].token);
      one.Set("logprob", tokens[i][k].value);
      values.Set(k, one);
    }
    array.Set(i, values);
  }
  return array;
}

Napi::Object to_js_numbers(Napi::Env env, const lm::GenerationNumbers& numbers) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("promptTokens", numbers.prompt_tokens);
  object.Set("cachedTokens", numbers.cached_tokens);
  object.Set("draftedTokens", numbers.drafted_tokens);
  object.Set("acceptedTokens", numbers.accepted_tokens);
  object.Set("prefillChunks", numbers.prefill_chunks);
  object.Set("queuedMs", numbers.queued_ms);
  object.Set("prefillMs", numbers.prefill_ms);
  object.Set("firstMs", numbers.first_ms);
  object.Set("decodeMs", numbers.decode_ms);
  object.Set("longestGapMs", numbers.longest_gap_ms);
  object.Set("pausedMs", numbers.paused_ms);
  return object;
}

Napi::Value to_js_result(Napi::Env env, const lm::GenerationResult& result) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("finish", std::string(lm::finish_name(result.finish)));
  object.Set("text", to_js_text(env, result.text));
  object.Set("thinking", to_js_text(env, result.thinking));
  object.Set("tokens", to_js_tokens(env, result.tokens));
  object.Set("seed", static_cast<double>(result.seed));
  object.Set("numbers", to_js_numbers(env, result.numbers));
  object.Set("logprobs", to_js_log_probabilities(env, result.log_probabilities));
  return object;
}

using ConvertResult = std::function<Napi::Value(Napi::Env, lm::GenerationResult&&)>;

// Between the JavaScript promise and the request on the inference thread. No lane executes it.
class GenerationTask final : public Task {
 public:
  GenerationTask(Napi::Env env, HandleBase* owner, std::shared_ptr<lm::GenerationRequest> request,
                 Napi::Function on_piece, ConvertResult convert)
      : Task(std::make_shared<CancelToken>()),
        deferred_(Napi::Promise::Deferred::New(env)),
        request_(std::move(request)),
        on_piece_(Napi::Persistent(on_piece)),
        convert_(std::move(convert)),
        use_(owner) {}

  Napi::Promise promise() const { return deferred_.Promise(); }

  void execute() noexcept override {}

  void report_progress(Napi::Env env) override {
    Napi::HandleScope scope(env);
    for (const lm::Piece& piece : request_->take())
      on_piece_.Call({to_js_text(env, piece.text), Napi::Boolean::New(env, piece.thinking)});
  }

  void settle(Napi::Env env) override {
    use_.end();
    try {
      deferred_.Resolve(convert_(env, request_->result()));
    } catch (const Napi::Error& error) {
      deferred_.Reject(error.Value());
    } catch (...) {
      deferred_.Reject(to_js_error(env, std::current_exception()).Value());
    }
  }

  void detach() noexcept override {
    request_->listen(nullptr);
    request_->cancel();
  }

 private:
  Napi::Promise::Deferred deferred_;
  std::shared_ptr<lm::GenerationRequest> request_;
  Napi::FunctionReference on_piece_;
  ConvertResult convert_;
  HandleUse use_;
};

struct Started {
  std::shared_ptr<lm::GenerationModel> model;
  std::shared_ptr<lm::GenerationRequest> request;
  lm::GenerationInput input;
  PromptArgument prompt;
  ReplyArgument reply;
};

// Fills the prompt and returns its parts, if it was rendered.
std::vector<lm::PromptPart> fill_prompt(Started& started) {
  if (const auto* text = std::get_if<std::string>(&started.prompt)) {
    started.input.prompt = started.model->model().tokenize_prompt(*text);
    return {};
  }
  if (auto* tokens = std::get_if<std::vector<lm::Token>>(&started.prompt)) {
    started.input.prompt = std::move(*tokens);
    return std::move(started.reply.parts);
  }
  lm::RenderedPrompt rendered =
      started.model->text().render(std::get<Messages>(started.prompt), {true, started.reply.options.thinking});
  started.input.prompt = std::move(rendered.tokens);
  return std::move(rendered.parts);
}

// On a pool thread: tokenizes the prompt and hands the request to the inference thread.
void submit(Started& started) {
  const auto& request = started.request;
  try {
    if (request->ended()) return;
    const std::vector<lm::PromptPart> parts = fill_prompt(started);
    if (!started.reply.grammar.empty()) started.reply.options.grammar = lm::Grammar::parse(started.reply.grammar);
    started.model->text().prepare(started.input, started.reply.options, parts);
    if (started.input.max_tokens == 0) started.input.pin = std::make_shared<lm::PinnedPrefix>(started.input.prompt);
    request->set_pin(started.input.pin);
    started.model->submit(request, std::move(started.input));
  } catch (...) {
    request->fail(std::current_exception());
  }
}

// Returns [promise, cancel()].
Napi::Array start(const Napi::CallbackInfo& info, HandleBase* owner, std::shared_ptr<Started> started,
                  ConvertResult convert) {
  const Napi::Env env = info.Env();
  if (!info[1].IsFunction()) fail(Code::kInvalidArgument, "onPiece: a function is expected");
  const auto& request = started->request;
  auto task = std::make_unique<GenerationTask>(env, owner, request, info[1].As<Napi::Function>(), std::move(convert));
  const Napi::Promise promise = task->promise();
  Environment& environment = Environment::of(env);
  const auto ticket = environment.adopt(std::move(task));
  request->listen([&environment, ticket](bool ended) {
    if (ended) {
      environment.complete(ticket);
    } else {
      environment.wake();
    }
  });
  const auto cancel = [request, thread = started->model->shared_thread()](const Napi::CallbackInfo&) {
    request->cancel();
    thread->poke();
  };
  environment.runtime().lane(Lane::kQuick).submit([started] { submit(*started); });
  Napi::Array pair = Napi::Array::New(env, 2);
  pair.Set(0u, promise);
  pair.Set(1u, Napi::Function::New(env, cancel, "cancel"));
  return pair;
}

std::shared_ptr<Started> started_argument(const Napi::Value& value, std::shared_ptr<lm::GenerationModel> model) {
  const Napi::Object given = object_argument(value, "request");
  return std::make_shared<Started>(Started{std::move(model), std::make_shared<lm::GenerationRequest>(),
                                           input_argument(given), prompt_argument(given), reply_argument(given)});
}

Napi::Object to_js_rendered(Napi::Env env, const lm::RenderedPrompt& rendered) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("tokens", to_js_tokens(env, rendered.tokens));
  Napi::Array parts = Napi::Array::New(env, rendered.parts.size());
  for (std::uint32_t i = 0; i < rendered.parts.size(); ++i) {
    Napi::Object part = Napi::Object::New(env);
    part.Set("text", to_js_text(env, rendered.parts[i].text));
    part.Set("input", rendered.parts[i].input);
    if (rendered.parts[i].message >= 0) part.Set("message", rendered.parts[i].message);
    parts.Set(i, part);
  }
  object.Set("parts", parts);
  Napi::Array messages = Napi::Array::New(env, rendered.message_tokens.size());
  for (std::uint32_t i = 0; i < rendered.message_tokens.size(); ++i) messages.Set(i, rendered.message_tokens[i]);
  object.Set("messageTokens", messages);
  return object;
}

Napi::Value to_js_prefix(Napi::Env env, std::shared_ptr<PrefixHolder> holder) {
  const std::size_t bytes = holder->prefix->tokens().size() * sizeof(lm::Token);
  return PrefixBinding::wrap(env, Environment::of(env).constructors.prefix, std::move(holder), bytes);
}

}  // namespace

Napi::Value start_generation(const Napi::CallbackInfo& info, HandleBase* owner,
                             std::shared_ptr<lm::GenerationModel> model) {
  return start(info, owner, started_argument(info[0], std::move(model)), to_js_result);
}

Napi::Value start_prefix(const Napi::CallbackInfo& info, HandleBase* owner,
                         std::shared_ptr<lm::GenerationModel> model) {
  auto started = started_argument(info[0], model);
  return start(info, owner, started,
               [model = std::weak_ptr(model), request = started->request](
                   Napi::Env env, lm::GenerationResult&& result) -> Napi::Value {
                 auto holder = std::make_shared<PrefixHolder>(model, request->pin());  // unpins if this throws
                 if (result.finish != lm::Finish::kLength) fail(Code::kCancelled, "the operation was aborted");
                 return to_js_prefix(env, std::move(holder));
               });
}

Napi::Value render_messages(const Napi::CallbackInfo& info, HandleBase* owner,
                            std::shared_ptr<lm::GenerationModel> model) {
  return promise_task<lm::RenderedPrompt>(
      info.Env(), {Lane::kQuick, nullptr, owner, {}},
      [model, messages = messages_argument(info[0]), thinking = thinking_argument(info[1]),
       reply = info[2].ToBoolean().Value()](const TaskContext&) {
        return model->text().render(messages, {reply, thinking});
      },
      [](Napi::Env env, lm::RenderedPrompt&& rendered) { return to_js_rendered(env, rendered); });
}

Napi::Value load_prefix(const Napi::CallbackInfo& info, HandleBase* owner, std::shared_ptr<lm::GenerationModel> model) {
  using Loaded = std::shared_ptr<PrefixHolder>;
  return promise_task<Loaded>(
      info.Env(), {Lane::kLong, cancel_argument(info[1]), owner, {}},
      [model, path = path_argument(info[0])](const TaskContext& task) {
        return std::make_shared<PrefixHolder>(model, model->load_prefix(path, &task.cancel));
      },
      [](Napi::Env env, Loaded&& holder) { return to_js_prefix(env, std::move(holder)); });
}

Napi::Function PrefixBinding::define(Napi::Env env) {
  return DefineClass(env, kName,
                     with_handle_members({
                         InstanceMethod("save", &PrefixBinding::save),
                         InstanceAccessor("tokens", &PrefixBinding::tokens, nullptr),
                     }));
}

void PrefixBinding::drop(Napi::Env env) noexcept {
  try {
    if (peek().prefix) peek().prefix->release();
  } catch (const Error&) {
    // Made by JavaScript, or closed before: it holds nothing.
  }
  Handle::drop(env);
}

Napi::Value PrefixBinding::save(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    auto holder = use();
    return promise_task<Nothing>(
        info.Env(), {Lane::kLong, cancel_argument(info[1]), this, {}},
        [holder, path = path_argument(info[0])](const TaskContext& task) {
          const auto model = holder->model.lock();
          if (!model) fail(Code::kClosed, "Prefix: used after close() of its model");
          model->save(*holder->prefix, path, &task.cancel);
          return Nothing{};
        },
        to_undefined);
  });
}

Napi::Value PrefixBinding::tokens(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value { return to_js_tokens(info.Env(), peek().prefix->tokens()); });
}

}  // namespace lorekeep::binding
