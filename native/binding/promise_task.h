// The template of all asynchronous calls: the worker handles plain data; JavaScript values exist only at both ends.
#pragma once

#include <napi.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <source_location>
#include <type_traits>
#include <utility>
#include <variant>

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
  std::shared_ptr<CancelToken> cancel = nullptr;  // null: only the end of the environment cancels
  HandleBase* owner = nullptr;                    // its close() waits for this task
  Napi::Function progress = {};                   // empty: not reported
};

/// The arguments of execute().
struct TaskContext {
  const CancelToken& cancel;
  Progress* progress;  // null without a callback
  Runtime& runtime;

  Work work(std::size_t threads = 0) const noexcept { return runtime.work(cancel, threads); }
  void report(double fraction) const noexcept {
    if (progress != nullptr) progress->report(fraction);
  }
};

/// A task that settles a promise.
class PromisedTask : public Task {
 public:
  Napi::Promise promise() const { return deferred_.Promise(); }

 protected:
  /// `owner`: its close() waits for this task; may be null.
  PromisedTask(Napi::Env env, std::shared_ptr<CancelToken> cancel, HandleBase* owner)
      : Task(std::move(cancel)), deferred_(Napi::Promise::Deferred::New(env)), use_(owner) {}

  void end_use() { use_.end(); }
  /// Settles the promise with the result of `body`, or its exception.
  template <class Body>
  void settle_with(Napi::Env env, Body&& body) {
    try {
      deferred_.Resolve(guarded(env, body));
    } catch (const Napi::Error& error) {
      deferred_.Reject(error.Value());
    }
  }

 private:
  Napi::Promise::Deferred deferred_;
  HandleUse use_;
};

/// Output: std::monostate for tasks without a result.
template <class Output>
class PromiseTask final : public PromisedTask {
 public:
  using Execute = std::function<Output(const TaskContext&)>;
  using Convert = std::function<Napi::Value(Napi::Env, Output&&)>;

  PromiseTask(Napi::Env env, const TaskOptions& options, Execute execute, Convert convert)
      : PromisedTask(env, options.cancel ? options.cancel : std::make_shared<CancelToken>(), options.owner),
        runtime_(Environment::of(env).shared_runtime()),
        execute_(std::move(execute)),
        convert_(std::move(convert)) {
    if (!options.progress.IsEmpty()) {
      progress_ = std::make_unique<Progress>(Environment::of(env), options.progress);
    }
  }

  void execute() noexcept override {
    try {
      cancel_->check();
      output_.emplace(execute_(TaskContext{*cancel_, progress_.get(), *runtime_}));
    } catch (...) {
      failure_ = std::current_exception();
    }
    execute_ = nullptr;  // frees its captures, which may be large
  }

  void report_progress(Napi::Env env) override {
    if (!progress_ || callback_error_) return;
    Napi::HandleScope scope(env);
    guard_callback([&] { progress_->deliver(env); });
  }

  void settle(Napi::Env env) override {
    end_use();
    if (output_ && progress_) guard_callback([&] { progress_->call(env, 1.0); });
    settle_with(env, [&]() -> Napi::Value {
      if (callback_error_) throw *callback_error_;
      if (failure_) std::rethrow_exception(failure_);
      return convert_(env, std::move(*output_));
    });
  }

 private:
  // An exception of the progress callback rejects the call.
  template <class Body>
  void guard_callback(Body&& body) {
    try {
      body();
    } catch (const Napi::Error& error) {
      callback_error_ = error;
      cancel_->cancel();
    }
  }

  std::shared_ptr<Runtime> runtime_;
  Execute execute_;
  Convert convert_;
  std::unique_ptr<Progress> progress_;
  std::optional<Napi::Error> callback_error_;
  std::optional<Output> output_;
  std::exception_ptr failure_;
};

/// Runs `execute` on a worker thread and returns a promise of `convert` of its result.
template <class Execute, class Convert>
Napi::Promise promise_task(Napi::Env env, const TaskOptions& options, Execute&& execute, Convert&& convert,
                           const std::source_location& where = std::source_location::current()) {
  using Output = std::invoke_result_t<Execute&, const TaskContext&>;
  auto task = std::make_unique<PromiseTask<Output>>(env, options, std::forward<Execute>(execute),
                                                    std::forward<Convert>(convert));
  Napi::Promise promise = task->promise();
  Environment::of(env).start(std::move(task), options.lane, where);
  return promise;
}

/// The same for `execute` without a result.
template <class Execute>
Napi::Promise promise_task(Napi::Env env, const TaskOptions& options, Execute&& execute,
                           const std::source_location& where = std::source_location::current()) {
  const auto run = [execute = std::forward<Execute>(execute)](const TaskContext& task) {
    execute(task);
    return std::monostate{};
  };
  const auto convert = [](Napi::Env env, std::monostate) { return env.Undefined(); };
  return promise_task(env, options, run, convert, where);
}

}  // namespace lorekeep::binding
