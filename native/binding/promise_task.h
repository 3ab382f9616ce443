// The template of all asynchronous calls: the worker handles plain data; JavaScript values exist only at both ends.
#pragma once

#include <napi.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "binding/environment.h"
#include "binding/error_translator.h"
#include "binding/handle.h"

namespace lorekeep::binding {

/// Passes progress from a worker to a JavaScript callback, at most some 20 times a second.
class Progress {
 public:
  Progress(Environment& environment, Napi::Function callback)
      : environment_(environment), callback_(Napi::Persistent(callback)) {}

  /// Any thread, from inside execute(). `fraction` in [0, 1].
  void report(double fraction) noexcept {
    fraction_.store(fraction, std::memory_order_relaxed);
    const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
    auto last = last_wake_.load(std::memory_order_relaxed);
    if (now - last < kInterval.count() || !last_wake_.compare_exchange_strong(last, now)) return;
    due_.store(true);
    environment_.wake();
  }
  /// JavaScript thread.
  void deliver(Napi::Env env) {
    if (due_.exchange(false)) call(env, fraction_.load(std::memory_order_relaxed));
  }
  void call(Napi::Env env, double fraction) { callback_.Call({Napi::Number::New(env, fraction)}); }

 private:
  static constexpr std::chrono::nanoseconds kInterval = std::chrono::milliseconds(50);
  Environment& environment_;
  Napi::FunctionReference callback_;
  std::atomic<double> fraction_{0};
  std::atomic<std::int64_t> last_wake_{0};
  std::atomic<bool> due_{false};
};

struct TaskOptions {
  Lane lane = Lane::kQuick;
  std::shared_ptr<CancelToken> cancel;  // null: only the end of the environment cancels
  HandleBase* owner = nullptr;          // its close() waits for this task
  Napi::Function progress;              // empty: not reported
};

/// The arguments of execute().
struct TaskContext {
  const CancelToken& cancel;
  Progress* progress;  // null without a callback

  void report(double fraction) const noexcept {
    if (progress != nullptr) progress->report(fraction);
  }
};

template <class Output>
class PromiseTask final : public Task {
 public:
  using Execute = std::function<Output(const TaskContext&)>;
  using Convert = std::function<Napi::Value(Napi::Env, Output&&)>;

  PromiseTask(Napi::Env env, const TaskOptions& options, Execute execute, Convert convert)
      : Task(options.cancel ? options.cancel : std::make_shared<CancelToken>()),
        deferred_(Napi::Promise::Deferred::New(env)),
        execute_(std::move(execute)),
        convert_(std::move(convert)),
        use_(options.owner) {
    if (!options.progress.IsEmpty()) {
      progress_ = std::make_unique<Progress>(Environment::of(env), options.progress);
    }
  }

  Napi::Promise promise() const { return deferred_.Promise(); }

  void execute() noexcept override {
    try {
      cancel_->check();
      output_.emplace(execute_(TaskContext{*cancel_, progress_.get()}));
    } catch (...) {
      failure_ = std::current_exception();
    }
    execute_ = nullptr;  // frees its captures, which may be large
  }

  void report_progress(Napi::Env env) override {
    if (!progress_ || !callback_error_.IsEmpty()) return;
    Napi::HandleScope scope(env);
    guard_callback(env, [&] { progress_->deliver(env); });
  }

  void settle(Napi::Env env) override {
    use_.end();
    if (output_ && progress_) guard_callback(env, [&] { progress_->call(env, 1.0); });
    try {
      if (!callback_error_.IsEmpty()) {
        deferred_.Reject(callback_error_.Value());
      } else if (failure_) {
        deferred_.Reject(to_js_error(env, failure_).Value());
      } else {
        deferred_.Resolve(convert_(env, std::move(*output_)));
      }
    } catch (const Napi::Error& error) {
      deferred_.Reject(error.Value());
    } catch (...) {
      deferred_.Reject(to_js_error(env, std::current_exception()).Value());
    }
  }

 private:
  // An exception of the progress callback rejects the call.
  template <class Body>
  void guard_callback(Napi::Env, Body&& body) {
    try {
      body();
    } catch (const Napi::Error& error) {
      callback_error_ = Napi::Persistent(error.Value());
      cancel_->cancel();
    }
  }

  Napi::Promise::Deferred deferred_;
  Execute execute_;
  Convert convert_;
  HandleUse use_;
  std::unique_ptr<Progress> progress_;
  Napi::ObjectReference callback_error_;
  std::optional<Output> output_;
  std::exception_ptr failure_;
};

/// Runs `execute` on a worker thread and returns a promise of `convert` of its result.
template <class Output, class Execute, class Convert>
Napi::Promise promise_task(Napi::Env env, const TaskOptions& options, Execute&& execute, Convert&& convert) {
  auto task = std::make_unique<PromiseTask<Output>>(env, options, std::forward<Execute>(execute),
                                                    std::forward<Convert>(convert));
  Napi::Promise promise = task->promise();
  Environment::of(env).start(std::move(task), options.lane);
  return promise;
}

/// The output of tasks without a result.
struct Nothing {};
inline Napi::Value to_undefined(Napi::Env env, Nothing&&) {
  return env.Undefined();
}

}  // namespace lorekeep::binding
