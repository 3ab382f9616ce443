// The state of one JavaScript environment (the main thread or a worker thread). Its tasks run on the process's threads
// and return through one thread-safe function. When the environment ends, its hook cancels running tasks, drops waiting
// ones, and returns once no thread can touch the environment any more.
#pragma once

#include <napi.h>

#include <atomic>
#include <condition_variable>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <source_location>
#include <vector>

#include "binding/runtime.h"
#include "core/system/alternate_stack.h"
#include "core/system/free_memory.h"
#include "core/threads/cancel_token.h"

namespace lorekeep::binding {

/// One asynchronous call. Created, settled and destroyed on the JavaScript thread; executed on another thread.
class Task {
 public:
  virtual ~Task() = default;
  /// Runs on a worker thread, without access to the environment.
  virtual void execute() noexcept = 0;
  /// Resolves or rejects the promise.
  virtual void settle(Napi::Env env) = 0;
  /// Called on the JavaScript thread after execute() called Environment::wake().
  virtual void report_progress(Napi::Env) {}
  /// Called on the JavaScript thread when the environment ends. When it returns, no thread will touch the environment
  /// for the sake of an adopted task.
  virtual void detach() noexcept {}

  CancelToken& cancel() noexcept { return *cancel_; }

 protected:
  explicit Task(std::shared_ptr<CancelToken> cancel) : cancel_(std::move(cancel)) {}
  std::shared_ptr<CancelToken> cancel_;
};

class Environment {
 public:
  explicit Environment(Napi::Env env);
  ~Environment();
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

  /// Returns the environment's state, which the addon's entry point creates.
  static Environment& of(Napi::Env env);

  // A task's entry in the queue of a lane. If the environment ends first, the lane finds `kForgotten`.
  struct Ticket;
  using Pending = std::list<std::shared_ptr<Ticket>>;
  struct Ticket {
    enum State { kWaiting, kRunning, kForgotten };
    std::atomic<int> state{kWaiting};
    Environment* environment;
    std::unique_ptr<Task> task;  // emptied on the JavaScript thread
    Pending::iterator position;
  };

  /// Whether tasks are refused. JavaScript thread only.
  bool ended() const noexcept { return ended_; }
  /// `where`: as in ThreadPool::submit().
  void start(std::unique_ptr<Task> task, Lane lane,
             const std::source_location& where = std::source_location::current());
  /// Takes a task that no lane executes: complete() settles it, unless the environment ends before.
  std::shared_ptr<Ticket> adopt(std::unique_ptr<Task> task);
  /// Schedules settling an adopted task. Any thread, once, and not after the task's detach().
  void complete(const std::shared_ptr<Ticket>& ticket) noexcept;
  /// Schedules settling completed tasks and reporting progress. Any thread, inside Task::execute(), or before
  /// Task::detach() returns.
  void wake() noexcept;

  /// Cancels running tasks, drops waiting ones, and returns once no thread will touch this object. Refuses later tasks.
  /// Must be called on the main thread before the process exits: process.exit() runs static destructors without
  /// environment hooks, and computing threads would use the destroyed objects.
  void stop() noexcept;

  Runtime& runtime() noexcept { return *runtime_; }
  std::shared_ptr<Runtime> shared_runtime() const noexcept { return runtime_; }

  std::map<const napi_type_tag*, Napi::FunctionReference> constructors;  // by the tags of the exported classes

  std::unique_ptr<FreePages> free_pages;  // while steps of it are left

 private:
  static napi_threadsafe_function wake_up(Napi::Env env, Environment* self);
  static void on_wake(napi_env env, napi_value callback, void* context, void* data);
  static void on_cleanup(void* self);
  void run(const std::shared_ptr<Ticket>& ticket) noexcept;
  bool drain();
  void next_turn(napi_threadsafe_function& next);
  void shut_down() noexcept;

  const AlternateStack stack_;  // of the JavaScript thread
  napi_env env_;
  std::shared_ptr<Runtime> runtime_;
  // A thread-safe function is called for up to 1,000 wake-ups in a row. Settled tasks start others that end meanwhile,
  // so the event loop would not come to its timers and sockets. Two that call each other are called once per turn.
  napi_threadsafe_function wake_ = nullptr;
  napi_threadsafe_function wake_again_ = nullptr;
  std::atomic<bool> awake_{false};  // one of them will be called
  Pending pending_;                 // JavaScript thread only
  std::atomic<bool> ended_{false};

  std::mutex mutex_;
  std::condition_variable idle_;
  std::size_t outstanding_ = 0;                     // tickets whose thread may still touch this object
  std::vector<std::shared_ptr<Ticket>> completed_;  // executed, but not settled
};

}  // namespace lorekeep::binding
