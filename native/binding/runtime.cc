#include "binding/runtime.h"

#include <algorithm>
#include <mutex>

namespace lorekeep::binding {
namespace {

// Long tasks use `build_` for parallel work. Three at a time, so that slow ones do not block all others: while a
// storage is merged and the words of a log are saved, batches have one.
constexpr std::size_t kLongThreads = 3;

// A call holds its thread while it computes, waits for its turn, or rests: up to two calls of each class for every
// recogniser. Somebody waits for the text as for a reply: at the priority of searches, it took twice as long beside
// one.
constexpr std::size_t kSpeechThreads = 8;

// Searches with shared work come in sequences; this is about the time between their shared parts.
constexpr std::chrono::microseconds kLinger{150};

// A build or a load may be long, but not the time until it sees that it is cancelled.
constexpr auto kCheck = WatchedStep::EndsAt::kCheck;

// Cancelled work ends within milliseconds. The limit keeps a defect from hanging the end of the process.
constexpr std::chrono::milliseconds kIdleLimit = std::chrono::seconds(10);

}  // namespace

Runtime::Runtime()
    : compute_(std::max<std::size_t>(1, usable_threads() - 1), kLinger, ThreadPriority::kSearch, {"search pool"}),
      build_(std::max<std::size_t>(1, usable_threads() - 1), {}, ThreadPriority::kBackground, {"build pool", kCheck}),
      quick_(std::max<std::size_t>(2, usable_threads()), {}, ThreadPriority::kSearch, {"quick lane"}),
      long_(kLongThreads, {}, ThreadPriority::kBackground, {"long lane", kCheck}) {}

ThreadPool& Runtime::lane(Lane lane) {
  if (lane == Lane::kQuick) return quick_;
  if (lane == Lane::kLong) return long_;
  std::lock_guard lock(speech_mutex_);
  if (!speech_)
    speech_ = std::make_unique<ThreadPool>(kSpeechThreads, std::chrono::microseconds{}, ThreadPriority::kNormal,
                                           WatchedPool{"speech lane", kCheck});
  return *speech_;
}

std::shared_ptr<Runtime> Runtime::acquire() {
  static std::mutex mutex;
  static std::weak_ptr<Runtime> current;
  std::lock_guard lock(mutex);
  auto runtime = current.lock();
  if (!runtime) {
    runtime = std::make_shared<Runtime>();
    current = runtime;
  }
  return runtime;
}

void Runtime::wait_idle() {
  ThreadPool* speech = nullptr;
  {
    std::lock_guard lock(speech_mutex_);
    speech = speech_.get();
  }
  for (ThreadPool* pool : {speech, &long_, &quick_, &build_, &compute_})
    if (pool != nullptr) pool->wait_idle(kIdleLimit);
}

Work Runtime::work(const CancelToken& cancel, std::size_t threads) noexcept {
  const std::size_t usable = usable_threads();
  return {in_background() ? &build_ : &compute_, threads == 0 ? usable : std::min(threads, usable), &cancel};
}

}  // namespace lorekeep::binding
