#include "binding/environment.h"

#include "core/values/error.h"

namespace lorekeep::binding {

Environment::Environment(Napi::Env env)
    : env_(env), runtime_(Runtime::acquire()), wake_(wake_up(env, this)), wake_again_(wake_up(env, this)) {
  // Added after the thread-safe functions: hooks run last in, first out, so ours runs while the functions still work.
  napi_add_env_cleanup_hook(env, &Environment::on_cleanup, this);
}

napi_threadsafe_function Environment::wake_up(Napi::Env env, Environment* self) {
  napi_threadsafe_function created = nullptr;
  const napi_status status =
      napi_create_threadsafe_function(env, nullptr, nullptr, Napi::String::New(env, "lorekeep"), 0, 1, nullptr, nullptr,
                                      self, &Environment::on_wake, &created);
  if (status != napi_ok) throw Napi::Error::New(env, "lorekeep: cannot create a thread-safe function");
  napi_unref_threadsafe_function(env, created);
  return created;
}

Environment::~Environment() {
  if (!ended_) {
    napi_remove_env_cleanup_hook(env_, &Environment::on_cleanup, this);
    shut_down();
  }
}

Environment& Environment::of(Napi::Env env) {
  return *env.GetInstanceData<Environment>();
}

void Environment::start(std::unique_ptr<Task> task, Lane lane, const std::source_location& where) {
  if (ended_) throw Napi::Error::New(env_, "lorekeep: the environment is shutting down");
  auto ticket = std::make_shared<Ticket>();
  ticket->environment = this;
  ticket->task = std::move(task);
  if (pending_.empty()) napi_ref_threadsafe_function(env_, wake_);
  ticket->position = pending_.insert(pending_.end(), ticket);
  {
    std::lock_guard lock(mutex_);
    ++outstanding_;
  }
  const auto run = [ticket] {
    int expected = Ticket::kWaiting;
    if (ticket->state.compare_exchange_strong(expected, Ticket::kRunning)) ticket->environment->run(ticket);
  };
  runtime_->lane(lane).submit(run, where);
}

std::shared_ptr<Environment::Ticket> Environment::adopt(std::unique_ptr<Task> task) {
  if (ended_) throw Napi::Error::New(env_, "lorekeep: the environment is shutting down");
  auto ticket = std::make_shared<Ticket>();
  ticket->environment = this;
  ticket->task = std::move(task);
  ticket->state = Ticket::kRunning;
  if (pending_.empty()) napi_ref_threadsafe_function(env_, wake_);
  ticket->position = pending_.insert(pending_.end(), ticket);
  return ticket;
}

void Environment::complete(const std::shared_ptr<Ticket>& ticket) noexcept {
  std::lock_guard lock(mutex_);
  completed_.push_back(ticket);
  if (!ended_) wake();
}

void Environment::run(const std::shared_ptr<Ticket>& ticket) noexcept {
  ticket->task->execute();
  {
    std::lock_guard lock(mutex_);
    completed_.push_back(ticket);
  }
  // Not under the lock: the JavaScript thread wakes at once, may take this thread's processor, and asks for the lock.
  if (!ended_) wake();
  std::lock_guard lock(mutex_);
  if (--outstanding_ == 0) idle_.notify_all();
}

void Environment::wake() noexcept {
  if (awake_.exchange(true)) return;
  napi_call_threadsafe_function(wake_, &wake_again_, napi_tsfn_nonblocking);
}

/// Settles completed tasks and reports progress. Returns whether a task was settled.
bool Environment::drain() {
  Napi::Env env(env_);
  std::vector<std::shared_ptr<Ticket>> completed;
  {
    std::lock_guard lock(mutex_);
    completed.swap(completed_);
  }
  for (const auto& ticket : pending_) ticket->task->report_progress(env);
  for (const auto& ticket : completed) {
    Napi::HandleScope scope(env);
    pending_.erase(ticket->position);
    if (pending_.empty()) napi_unref_threadsafe_function(env_, wake_);
    const std::unique_ptr<Task> task = std::move(ticket->task);
    try {
      task->settle(env);
    } catch (const Napi::Error&) {
      // Settling fails only in a terminating worker thread, where nobody waits for the promise any more.
    }
  }
  return !completed.empty();
}

/// Settles completed tasks. Tasks that complete later are settled when `next` is called.
void Environment::next_turn(napi_threadsafe_function& next) {
  if (!drain()) {
    awake_.store(false);
    // Threads may have completed tasks without a wake-up between drain() and here.
    if (!drain() || awake_.exchange(true)) return;
  }
  napi_threadsafe_function& after = &next == &wake_ ? wake_again_ : wake_;
  napi_call_threadsafe_function(next, &after, napi_tsfn_nonblocking);
}

void Environment::on_wake(napi_env env, napi_value, void* context, void* next) {
  if (env == nullptr) return;
  try {
    static_cast<Environment*>(context)->next_turn(*static_cast<napi_threadsafe_function*>(next));
  } catch (const Napi::Error&) {
    // Calls fail only in an environment that is being torn down; its hook settles the remaining tasks.
  }
}

void Environment::on_cleanup(void* self) {
  static_cast<Environment*>(self)->shut_down();
}

void Environment::stop() noexcept {
  ended_ = true;
  std::size_t forgotten = 0;
  for (const auto& ticket : pending_) {
    if (ticket->task) {
      ticket->task->cancel().cancel();
      ticket->task->detach();
    }
    int expected = Ticket::kWaiting;
    if (ticket->state.compare_exchange_strong(expected, Ticket::kForgotten)) ++forgotten;
  }
  std::unique_lock lock(mutex_);
  outstanding_ -= forgotten;
  idle_.wait(lock, [this] { return outstanding_ == 0; });
}

void Environment::shut_down() noexcept {
  stop();
  completed_.clear();
  for (const auto& ticket : pending_) ticket->task.reset();
  pending_.clear();
}

}  // namespace lorekeep::binding
