// The one thread of the process that computes language models: it owns their contexts, caches and samplers, and asks
// the scheduler what to compute next. Requests arrive through an inbox; text leaves through GenerationRequest.
#pragma once

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "lm/generation_call.h"
#include "lm/generation_request.h"
#include "lm/language_model.h"
#include "lm/model_text.h"
#include "lm/session_numbers.h"
#include "scheduler/control.h"
#include "scheduler/scheduler.h"

namespace lorekeep::lm {

class GenerationContext;
class InferenceThread;
class ModelSession;

/// A language model that can generate. Destroying it ends its requests with Error(kClosed) and frees its cache.
/// Thread-safe.
class GenerationModel {
 public:
  /// Allocates the cache on the calling thread. Throws Error(kOutOfMemory), Error(kModelInvalid).
  GenerationModel(std::shared_ptr<InferenceThread> thread, std::shared_ptr<const LanguageModel> model);
  ~GenerationModel();
  GenerationModel(const GenerationModel&) = delete;
  GenerationModel& operator=(const GenerationModel&) = delete;

  const LanguageModel& model() const noexcept { return *model_; }
  const ModelText& text() const noexcept { return text_; }
  const std::shared_ptr<InferenceThread>& shared_thread() const noexcept { return thread_; }

  /// Tokenizes the prompt, prepares the reply's constraints, and hands the request to the inference thread. A call
  /// without tokens to generate pins its prompt: see request->pin(). Errors end the request.
  void start(const std::shared_ptr<GenerationRequest>& request, GenerationCall call);
  /// Writes a pinned prefix to a file. Waits for the inference thread. Throws Error(kClosed), and as write_prefix().
  void save(const PinnedPrefix& prefix, const std::filesystem::path& path, const CancelToken* cancel) const;
  /// Reads a prefix from a file into the cache, pinned. Throws as read_prefix(), and Error(kOutOfMemory).
  std::shared_ptr<PinnedPrefix> load_prefix(const std::filesystem::path& path, const CancelToken* cancel) const;
  /// Passes the numbers of the cache to `receive`, on the inference thread and after the step that it computes. Drops
  /// `receive` if the thread has ended.
  void ask_numbers(std::function<void(SessionNumbers)> receive) const;
  /// The same with the prefixes in the cache.
  void ask_prefixes(std::function<void(PrefixParts)> receive) const;

 private:
  std::vector<PromptPart> take_prompt(GenerationCall& call) const;
  void submit(std::shared_ptr<GenerationRequest> request, GenerationInput input);
  void on_session(const std::function<void(ModelSession&)>& body) const;
  void ask(std::function<void(const ModelSession&)> question) const;

  std::shared_ptr<InferenceThread> thread_;
  std::shared_ptr<const LanguageModel> model_;
  ModelText text_;
  scheduler::ModelId id_;
};

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

 private:
  friend class GenerationModel;
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
  bool drain();
  void reap();
  void step();
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
  bool worked_ = false;  // the last step was not empty

  std::thread thread_;  // last: uses everything above
};

}  // namespace lorekeep::lm
