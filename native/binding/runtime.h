#pragma once

#include <memory>
#include <mutex>

#include "core/threads/work.h"

namespace lorekeep::binding {

/// The queue of a task, so that a search does not wait for an index build, nor the text of speech.
enum class Lane { kQuick, kLong, kSpeech };

/// The threads of the process, shared by all JavaScript environments: created by the first, joined after the last.
/// libuv's pool is not used, because four builds in it would stall every file read of the program.
class Runtime {
 public:
  static std::shared_ptr<Runtime> acquire();
  Runtime();

  ThreadPool& lane(Lane lane);
  ThreadPool& compute() noexcept { return compute_; }
  /// Returns the Work for a task on up to `threads` threads, its own included; 0: all that the process may use, which
  /// is also the upper limit. The threads have the priority of the calling one.
  Work work(const CancelToken& cancel, std::size_t threads = 0) noexcept;
  /// Waits, for a limited time, until no thread has work.
  void wait_idle();

 private:
  // Destroyed in reverse order: tasks of the lanes use the pools for parallel work, so those go last.
  ThreadPool compute_;
  ThreadPool build_;  // as `compute_`, for tasks of the long lane
  ThreadPool quick_;
  ThreadPool long_;
  std::mutex speech_mutex_;
  std::unique_ptr<ThreadPool> speech_;  // null before the first text of speech
};

}  // namespace lorekeep::binding
