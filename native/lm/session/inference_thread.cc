#include "lm/session/inference_thread.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/system/alternate_stack.h"
#include "core/threads/step_watch.h"
#include "core/values/error.h"
#include "lm/model/generation_context.h"
#include "lm/session/model_session.h"

namespace lorekeep::lm {
namespace {

std::mutex& current_mutex() {
  static auto* mutex = new std::mutex;  // leaked: other threads may use it while the process ends
  return *mutex;
}

std::weak_ptr<InferenceThread>& current() {
  static auto* thread = new std::weak_ptr<InferenceThread>;
  return *thread;
}

std::exception_ptr closed() {
  return std::make_exception_ptr(Error(Code::kClosed, "the language model was closed"));
}

double since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

}  // namespace

std::shared_ptr<InferenceThread> InferenceThread::acquire() {
  std::lock_guard lock(current_mutex());
  std::shared_ptr<InferenceThread> thread = current().lock();
  if (!thread) {
    thread = std::make_shared<InferenceThread>();
    current() = thread;
  }
  return thread;
}

void InferenceThread::stop_current() {
  std::shared_ptr<InferenceThread> thread;
  {
    std::lock_guard lock(current_mutex());
    thread = current().lock();
  }
  if (thread) thread->stop();
}

InferenceThread::InferenceThread() : thread_([this] { run(); }) {}

InferenceThread::~InferenceThread() {
  stop();
}

void InferenceThread::stop() {
  static std::mutex joining;  // two callers must not join at once
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  std::lock_guard lock(joining);
  if (thread_.joinable()) thread_.join();
}

bool InferenceThread::post(Command command, int urgency) {
  {
    std::lock_guard lock(mutex_);
    if (stopping_) return false;
    inbox_.push_back(std::move(command));
    most_urgent_ = std::min(most_urgent_, urgency);
  }
  wake_.notify_one();
  return true;
}

bool InferenceThread::call(const Command& command) {
  auto done = std::make_shared<std::promise<bool>>();
  std::future<bool> ran = done->get_future();
  // A dropped command drops the promise.
  const bool posted = post([command, done = std::move(done)] {
    command();
    done->set_value(true);
  });
  if (!posted) return false;
  try {
    return ran.get();
  } catch (const std::future_error&) {
    return false;
  }
}

scheduler::ModelId InferenceThread::add(std::unique_ptr<GenerationContext> context) {
  const scheduler::ModelId id = next_model_++;
  post([this, id, given = std::make_shared<std::unique_ptr<GenerationContext>>(std::move(context))] {
    sessions_.push_back(std::make_unique<ModelSession>(id, std::move(*given)));
    scheduler_.set_model(id, sessions_.back()->limits());
  });
  return id;
}

void InferenceThread::remove(scheduler::ModelId model) {
  call([this, model] {
    ModelSession* found = session(model);
    if (found == nullptr) return;
    found->fail_all(closed());
    scheduler_.remove_model(model);
    std::erase_if(sessions_, [found](const auto& one) { return one.get() == found; });
  });
}

void InferenceThread::submit(scheduler::ModelId model, std::shared_ptr<GenerationRequest> request,
                             GenerationInput input) {
  const auto given = std::make_shared<GenerationInput>(std::move(input));
  const auto command = [this, model, request, given] {
    ModelSession* found = session(model);
    if (found == nullptr) return request->fail(closed());
    found->enqueue(next_request_++, request, std::move(*given));
  };
  if (!post(command, static_cast<int>(given->consumer_class))) request->cancel();
}

void InferenceThread::visit(scheduler::ModelId model,
                            const std::function<void(ModelSession&, scheduler::RequestId)>& body) {
  std::exception_ptr error = closed();
  call([&] {
    reap();
    ModelSession* found = session(model);
    if (found == nullptr) return;
    try {
      body(*found, next_request_++);
      error = nullptr;
    } catch (...) {
      error = std::current_exception();
    }
  });
  if (error) std::rethrow_exception(error);
}

void InferenceThread::ask(scheduler::ModelId model, std::function<void(ModelSession&)> question) {
  post([this, model, question = std::move(question)] {
    reap();
    if (ModelSession* found = session(model)) question(*found);
  });
}

void InferenceThread::run() {
  const AlternateStack stack;
  while (turn()) {
    if (!worked_) sleep();
  }
  for (const auto& session : sessions_) session->cancel_all();
  sessions_.clear();
  publish_active({});
  std::lock_guard lock(mutex_);
  inbox_.clear();
}

// Returns false if the thread must end.
bool InferenceThread::turn() {
  const WatchedStep watched("inference", std::source_location::current());
  if (!drain()) return false;
  reap();
  step();
  return true;
}

// Returns false if the thread must end.
bool InferenceThread::drain() {
  std::vector<Command> commands;
  {
    std::lock_guard lock(mutex_);
    if (stopping_) return false;
    commands.swap(inbox_);
    most_urgent_ = kPatient;
  }
  const NamedPart part("commands");
  for (const Command& command : commands) command();
  return true;
}

void InferenceThread::reap() {
  const NamedPart part("ended requests");
  const Clock::time_point now = Clock::now();
  for (const auto& session : sessions_) session->reap(now);
}

void InferenceThread::step() {
  worked_ = false;
  const scheduler::Control& control = scheduler::Control::of_process();
  if (settings_version_ != control.version()) {
    settings_version_ = control.version();
    scheduler_.configure(control.settings());
  }
  std::vector<scheduler::Request> states;
  for (const auto& session : sessions_) {
    admit(*session);
    session->collect(states, epoch_, ModelSession::Which::kAll);
  }
  publish_active(states);
  if (!states.empty()) compute(states);
  constrain();
}

void InferenceThread::compute(const std::vector<scheduler::Request>& states) {
  const scheduler::Control& control = scheduler::Control::of_process();
  scheduler::Step step = scheduler_.plan(states, since(epoch_));
  if (step.empty()) return;
  worked_ = true;
  ModelSession& computed = *session(step.model);
  const double level = control.throttle();
  computed.throttle(scheduler_.settings(), level);
  const Clock::time_point begin = Clock::now();
  const bool complete = computed.run(step, states.size() == 1);
  scheduler_.finish(step, since(begin), !complete);
  report_.threads = computed.threads();
  report_.thread_reason = computed.thread_reason();
  if (level > 0) pause(scheduler_.pause_after(step, level), step);
  publish();
}

// Computes masks for requests that sit out steps, for a part of a step's time whatever they need: the steps of the
// others go on in between. Sessions take turns.
void InferenceThread::constrain() {
  Allowance work(kStepWork);
  for (std::size_t i = 0; i < sessions_.size() && !work.over(); ++i) {
    ModelSession& one = *sessions_[(constrained_ + i) % sessions_.size()];
    if (!one.constrained()) continue;
    worked_ = true;
    const Clock::time_point begin = Clock::now();
    const auto served = one.constrain(work);
    if (!served) continue;
    scheduler_.charge({one.id(), *served}, since(begin));
    const double level = scheduler::Control::of_process().throttle();
    if (level == 0) continue;
    scheduler::Step masks;
    masks.decode_tokens[scheduler::index_of(*served)] = 1;
    pause(scheduler_.pause_after(masks, level), masks);
  }
  ++constrained_;
}

void InferenceThread::publish_active(const std::vector<scheduler::Request>& states) {
  scheduler::PerClass<bool> active{};
  for (const scheduler::Request& state : states) active[scheduler::index_of(state.consumer_class)] = true;
  scheduler::Control::of_process().set_active(active);
}

// Admits queued requests of one model, best first, until one does not fit.
void InferenceThread::admit(ModelSession& session) {
  const NamedPart part("admission");
  for (;;) {
    std::vector<scheduler::Request> states;
    session.collect(states, epoch_, ModelSession::Which::kAdmissible);
    const std::optional<std::size_t> next = scheduler_.next_to_admit(states, since(epoch_));
    if (!next) return;
    const scheduler::RequestId id = states[*next].id;
    if (!session.admit(id, Clock::now()) && session.lacks_room(id)) return;
  }
}

// Waits for the inbox or the next deadline.
void InferenceThread::sleep() {
  publish();
  std::optional<Clock::time_point> deadline;
  for (const auto& session : sessions_) {
    const auto next = session->next_deadline();
    if (next && (!deadline || *next < *deadline)) deadline = next;
  }
  std::unique_lock lock(mutex_);
  const auto woken = [this] { return stopping_ || !inbox_.empty(); };
  if (deadline) {
    wake_.wait_until(lock, *deadline, woken);
  } else {
    wake_.wait(lock, woken);
  }
}

// Ends early for a cancelled request, and for one of a better class than those in the step.
void InferenceThread::pause(double ms, const scheduler::Step& step) {
  const Clock::time_point begin = Clock::now();
  const scheduler::PerClass<bool> classes = step.classes();
  const auto best = static_cast<int>(std::find(classes.begin(), classes.end(), true) - classes.begin());
  {
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, std::chrono::duration<double, std::milli>(ms),
                   [this, best] { return stopping_ || most_urgent_ < best; });
  }
  const double took = since(begin);
  for (const auto& session : sessions_) session->count_pause(took);
  ++report_.pauses;
  report_.paused_ms += took;
}

void InferenceThread::publish() {
  report_.stats = scheduler_.stats();
  report_.running = {};
  report_.queued = {};
  for (const auto& session : sessions_) session->count_requests(report_);
  scheduler::Control::of_process().publish(report_);
}

ModelSession* InferenceThread::session(scheduler::ModelId id) {
  const auto found =
      std::find_if(sessions_.begin(), sessions_.end(), [id](const auto& one) { return one->id() == id; });
  return found == sessions_.end() ? nullptr : found->get();
}

}  // namespace lorekeep::lm
