#include "binding/generation_task.h"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "binding/arguments.h"
#include "binding/error_translator.h"
#include "binding/generation_argument.h"
#include "binding/promise_task.h"
#include "binding/value_conversion.h"
#include "lm/session/inference_thread.h"

namespace lorekeep::binding {
namespace {

// Numbers of all tokens in arrays: an object for each of thousands of alternatives would hold the event loop.
Napi::Value to_js_log_probabilities(Napi::Env env, const std::vector<lm::TokenLogProbabilities>& tokens) {
  if (tokens.empty()) return env.Undefined();
  std::size_t count = 0;
  std::size_t size = 0;
  for (const auto& values : tokens) {
    count += values.size();
    for (const lm::LogProbability& value : values) size += value.bytes.size();
  }
  auto counts = Napi::Uint32Array::New(env, tokens.size());
  auto ids = Napi::Int32Array::New(env, count);
  auto logs = Napi::Float32Array::New(env, count);
  auto ends = Napi::Uint32Array::New(env, count);
  auto bytes = Napi::Uint8Array::New(env, size);
  std::size_t at = 0;
  std::size_t end = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    counts[i] = static_cast<std::uint32_t>(tokens[i].size());
    for (const lm::LogProbability& value : tokens[i]) {
      std::copy(value.bytes.begin(), value.bytes.end(), bytes.Data() + end);
      end += value.bytes.size();
      ids[at] = value.token;
      logs[at] = value.value;
      ends[at++] = static_cast<std::uint32_t>(end);
    }
  }
  Napi::Object object = Napi::Object::New(env);
  object.Set("counts", counts);
  object.Set("tokens", ids);
  object.Set("values", logs);
  object.Set("ends", ends);
  object.Set("bytes", bytes);
  return object;
}

Napi::Object to_js_numbers(Napi::Env env, const lm::GenerationNumbers& numbers) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("promptTokens", numbers.prompt_tokens);
  object.Set("cachedTokens", numbers.cached_tokens);
  object.Set("computedTokens", numbers.computed_tokens);
  object.Set("draftedTokens", numbers.drafted_tokens);
  object.Set("acceptedTokens", numbers.accepted_tokens);
  object.Set("prefillChunks", numbers.prefill_chunks);
  object.Set("queuedMs", numbers.queued_ms);
  object.Set("prefillMs", numbers.prefill_ms);
  object.Set("firstMs", numbers.first_ms);
  object.Set("decodeMs", numbers.decode_ms);
  object.Set("longestGapMs", numbers.longest_gap_ms);
  object.Set("pausedMs", numbers.paused_ms);
  object.Set("constraintWaits", numbers.constraint_waits);
  object.Set("constraintMs", numbers.constraint_ms);
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
class GenerationTask final : public PromisedTask {
 public:
  GenerationTask(Napi::Env env, HandleBase* owner, std::shared_ptr<lm::GenerationRequest> request,
                 Napi::Function on_piece, ConvertResult convert)
      : PromisedTask(env, std::make_shared<CancelToken>(), owner),
        request_(std::move(request)),
        on_piece_(Napi::Persistent(on_piece)),
        convert_(std::move(convert)) {}

  void execute() noexcept override {}

  void report_progress(Napi::Env env) override {
    Napi::HandleScope scope(env);
    for (const lm::Piece& piece : request_->take())
      on_piece_.Call({to_js_text(env, piece.text), Napi::Boolean::New(env, piece.thinking),
                      to_js_log_probabilities(env, piece.log_probabilities)});
  }

  void settle(Napi::Env env) override {
    end_use();
    settle_with(env, [&] { return convert_(env, request_->result()); });
  }

  void detach() noexcept override {
    request_->listen(nullptr);
    request_->cancel();
  }

 private:
  std::shared_ptr<lm::GenerationRequest> request_;
  Napi::FunctionReference on_piece_;
  ConvertResult convert_;
};

struct Started {
  std::shared_ptr<lm::GenerationModel> model;
  std::shared_ptr<lm::GenerationRequest> request;
  lm::GenerationCall call;
};

// Hands a request to the inference thread. close() waits for it, even if the request has ended before: it holds the
// model.
class StartTask final : public Task {
 public:
  StartTask(HandleBase* owner, std::shared_ptr<Started> started, std::shared_ptr<CancelToken> cancel)
      : Task(std::move(cancel)), started_(std::move(started)), use_(owner) {}

  void execute() noexcept override {
    const CheckedPart checked;
    started_->model->start(started_->request, std::move(started_->call), cancel_.get());
    started_.reset();
  }
  void settle(Napi::Env) override { use_.end(); }

 private:
  std::shared_ptr<Started> started_;
  HandleUse use_;
};

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
  const auto token = std::make_shared<CancelToken>();
  const auto cancel = [request, token, thread = started->model->shared_thread()](const Napi::CallbackInfo&) {
    token->cancel();
    request->cancel();
    thread->poke();
  };
  environment.start(std::make_unique<StartTask>(owner, std::move(started), token), Lane::kQuick);
  Napi::Array pair = Napi::Array::New(env, 2);
  pair.Set(0u, promise);
  pair.Set(1u, Napi::Function::New(env, cancel, "cancel"));
  return pair;
}

std::shared_ptr<Started> started_argument(const Napi::Value& value, std::shared_ptr<lm::GenerationModel> model) {
  return std::make_shared<Started>(
      Started{std::move(model), std::make_shared<lm::GenerationRequest>(), generation_argument(value)});
}

Napi::Object to_js_rendered(Napi::Env env, const lm::RenderedPrompt& rendered) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("tokens", to_js_tokens(env, rendered.tokens));
  const auto to_js_part = [&](const lm::PromptPart& part) {
    Napi::Object one = Napi::Object::New(env);
    one.Set("text", to_js_text(env, part.text));
    one.Set("input", part.input);
    if (part.message >= 0) one.Set("message", part.message);
    return one;
  };
  object.Set("parts", to_js_list(env, rendered.parts, to_js_part));
  object.Set("messageTokens", to_js_list(env, rendered.message_tokens));
  return object;
}

Napi::Value to_js_prefix(Napi::Env env, std::shared_ptr<PrefixHolder> holder) {
  const std::size_t bytes = holder->prefix->tokens().size() * sizeof(lm::Token);
  return PrefixBinding::wrap(env, std::move(holder), bytes);
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
  return promise_task(
      info.Env(), {Lane::kQuick, cancel_argument(info[3]), owner},
      [model, messages = messages_argument(info[0]), thinking = thinking_argument(info[1]),
       reply = info[2].ToBoolean().Value()](const TaskContext& task) {
        const CheckedPart checked;
        return model->text().render(messages, {reply, thinking}, &task.cancel);
      },
      [](Napi::Env env, lm::RenderedPrompt&& rendered) { return to_js_rendered(env, rendered); });
}

Napi::Value load_prefix(const Napi::CallbackInfo& info, HandleBase* owner, std::shared_ptr<lm::GenerationModel> model) {
  using Loaded = std::shared_ptr<PrefixHolder>;
  return promise_task(
      info.Env(), {Lane::kLong, cancel_argument(info[1]), owner},
      [model, path = path_argument(info[0])](const TaskContext& task) {
        return std::make_shared<PrefixHolder>(model, model->load_prefix(path, &task.cancel));
      },
      [](Napi::Env env, Loaded&& holder) { return to_js_prefix(env, std::move(holder)); });
}

PrefixBinding::Members PrefixBinding::members() {
  return {
      method<&PrefixBinding::save>("save"),
      getter<&PrefixBinding::tokens>("tokens"),
  };
}

Napi::Value PrefixBinding::save(const Napi::CallbackInfo& info) {
  auto holder = use();
  return promise_task(info.Env(), {Lane::kLong, cancel_argument(info[1]), this},
                      [holder, path = path_argument(info[0])](const TaskContext& task) {
                        const auto model = holder->model.lock();
                        if (!model) fail(Code::kClosed, "Prefix: used after close() of its model");
                        model->save(*holder->prefix, path, &task.cancel);
                      });
}

Napi::Value PrefixBinding::tokens(const Napi::CallbackInfo& info) {
  return to_js_tokens(info.Env(), peek().prefix->tokens());
}

}  // namespace lorekeep::binding
