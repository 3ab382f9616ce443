// A question that the inference thread answers between two steps. No thread of a lane waits for it: a step can take
// longer than many searches.
#pragma once

#include <napi.h>

#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include "binding/environment.h"
#include "binding/error_translator.h"
#include "binding/handle.h"

namespace lorekeep::binding {

/// The state of a question that both threads share.
template <class Output>
struct InferenceAnswer {
  std::mutex mutex;
  Environment* environment = nullptr;  // null: nobody waits
  std::shared_ptr<Environment::Ticket> ticket;
  Output output{};  // of its initial value if the inference thread has ended

  void complete() noexcept {
    std::lock_guard lock(mutex);
    if (environment != nullptr) environment->complete(ticket);
    environment = nullptr;
  }
  void forget() noexcept {
    std::lock_guard lock(mutex);
    environment = nullptr;
  }
};

template <class Output>
class InferenceQuestion final : public Task {
 public:
  using Answer = std::shared_ptr<InferenceAnswer<Output>>;
  using Convert = std::function<Napi::Value(Napi::Env, Output&&)>;

  InferenceQuestion(Napi::Env env, HandleBase* owner, Answer answer, Convert convert)
      : Task(std::make_shared<CancelToken>()),
        deferred_(Napi::Promise::Deferred::New(env)),
        answer_(std::move(answer)),
        convert_(std::move(convert)),
        use_(owner) {}

  Napi::Promise promise() const { return deferred_.Promise(); }

  void execute() noexcept override {}

  void settle(Napi::Env env) override {
    use_.end();
    try {
      deferred_.Resolve(convert_(env, std::move(answer_->output)));
    } catch (const Napi::Error& error) {
      deferred_.Reject(error.Value());
    } catch (...) {
      deferred_.Reject(to_js_error(env, std::current_exception()).Value());
    }
  }

  void detach() noexcept override { answer_->forget(); }

 private:
  Napi::Promise::Deferred deferred_;
  Answer answer_;
  Convert convert_;
  HandleUse use_;
};

/// Calls `ask` with a function that takes the answer on the inference thread, and returns a promise of `convert` of it.
/// The promise also settles if the function is dropped.
template <class Output, class Ask, class Convert>
Napi::Promise ask_inference(Napi::Env env, HandleBase* owner, Ask&& ask, Convert&& convert) {
  auto answer = std::make_shared<InferenceAnswer<Output>>();
  auto question = std::make_unique<InferenceQuestion<Output>>(env, owner, answer, std::forward<Convert>(convert));
  const Napi::Promise promise = question->promise();
  Environment& environment = Environment::of(env);
  answer->ticket = environment.adopt(std::move(question));
  answer->environment = &environment;
  // The last copy of the function completes the question.
  InferenceAnswer<Output>* const place = answer.get();
  const std::shared_ptr<InferenceAnswer<Output>> asked(place,
                                                       [answer](InferenceAnswer<Output>*) { answer->complete(); });
  ask([asked](Output output) { asked->output = std::move(output); });
  return promise;
}

}  // namespace lorekeep::binding
