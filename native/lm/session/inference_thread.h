// The one thread of the process that computes language models: it owns their contexts, caches and samplers, and asks
// the scheduler what to compute next. Requests arrive through an inbox; text leaves through GenerationRequest.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "lm/session/generation_request.h"
#include "scheduler/control.h"
#include "scheduler/scheduler.h"

namespace lorekeep::lm {

class GenerationContext;
class ModelSession;

class InferenceThread {
 public:
  /// Returns the process's thread, starting it if necessary. It ends with its last owner.
  static std::shared_ptr<InferenceThread> acquire();
  /// Ends the process's thread if it runs, and waits for it. Running requests end as cancelled, and so do later ones.
  static void stop_current();
  InferenceThread();
  ~InferenceThread();
  InferenceThread(const InferenceThread&) = delete;
  InferenceThread& operator=(const InferenceThread&) = delete;

  // Any thread.

  /// Runs a command on the thread, between two steps.
  void run_soon(std::function<void()> command) { post(std::move(command)); }
  /// Makes the thread notice requests that ended.
  void poke() {
    post([] {}, kCancel);
  }
  /// Computes the requests of a model until remove().
  scheduler::ModelId add(std::unique_ptr<GenerationContext> context);
  /// Ends the model's requests with Error(kClosed), frees its cache, and returns.
  void remove(scheduler::ModelId model);
  /// Queues a request of a model. If the thread has ended, it ends as cancelled.
  void submit(scheduler::ModelId model, std::shared_ptr<GenerationRequest> request, GenerationInput input);
  /// Calls `body` on the thread with the session of a model and an unused id, and returns. Throws Error(kClosed), and
  /// as `body`.
  void visit(scheduler::ModelId model, const std::function<void(ModelSession&, scheduler::RequestId)>& body);
  /// Calls `question` on the thread with the session of a model, later. Drops it if the thread has ended.
  void ask(scheduler::ModelId model, std::function<void(ModelSession&)> question);

 private:
  using Command = std::function<void()>;

  // Which pauses a command ends: those after a step whose best class is worse than this.
  static constexpr int kCancel = -1;
  static constexpr int kPatient = static_cast<int>(scheduler::kConsumerClasses);

  /// Runs a command on the thread, between two steps. Returns false if the thread has ended; it may also end before it
  /// runs the command.
  bool post(Command command, int urgency = kPatient);
  /// The same, and waits. Returns whether the command ran. `command` must not throw.
  bool call(const Command& command);

  void run();
  bool turn();
  bool drain();
  void reap();
  void step();
  void compute(const std::vector<scheduler::Request>& states);
  void constrain();
  void admit(ModelSession& session);
  static void publish_active(const std::vector<scheduler::Request>& states);
  void sleep();
  void pause(double ms, const scheduler::Step& step);
  void publish();
  void stop();
  ModelSession* session(scheduler::ModelId id);

  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Command> inbox_;
  int most_urgent_ = kPatient;  // of the inbox
  bool stopping_ = false;
  std::atomic<std::uint32_t> next_model_{1};

  // The thread's own.
  const Clock::time_point epoch_ = Clock::now();
  scheduler::Scheduler scheduler_;
  std::uint64_t settings_version_ = 0;
  scheduler::Report report_;
  std::vector<std::unique_ptr<ModelSession>> sessions_;
  scheduler::RequestId next_request_ = 1;
  bool worked_ = false;          // the last step was not empty, or constraints were computed
  std::size_t constrained_ = 0;  // the session whose constraints came first last time

  std::thread thread_;  // last: uses everything above
};

}  // namespace lorekeep::lm
