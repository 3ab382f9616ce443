#pragma once

#include <memory>

#include "core/work.h"

namespace lorekeep::binding {

/// Which queue a task waits in: a search must not wait behind somebody's index build.
enum class Lane { kQuick, kLong };

/// The threads of the process, shared by all JavaScript environments in it: made by the first, joined when the last
/// has gone. libuv's own pool is left alone, because four builds in it would stall every file read of the program.
class Runtime {
 public:
  static std::shared_ptr<Runtime> acquire();
  Runtime();

  ThreadPool& lane(Lane lane) noexcept { return lane == Lane::kQuick ? quick_ : long_; }
  ThreadPool& compute() noexcept { return compute_; }
  /// For parallel work inside a task, on up to `threads` threads, the task's own included. 0, and more than the process
  /// may use: all of those. The threads have the priority of the calling one.
  Work work(const CancelToken& cancel, std::size_t threads = 0) noexcept;
  /// Waits, for a bounded time, until no thread has work.
  void wait_idle();

 private:
  // Destroyed in reverse order: tasks of the lanes use the pools for parallel work, so those go last.
  ThreadPool compute_;
  ThreadPool build_;  // as `compute_`, for tasks of the long lane
  ThreadPool quick_;
  ThreadPool long_;
};

}  // namespace lorekeep::binding
