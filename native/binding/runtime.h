#pragma once

#include <memory>

#include "core/thread_pool.h"

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
  /// For parallel_for inside a task; the task's own thread takes part.
  ThreadPool& compute() noexcept { return compute_; }
  /// Waits, for a bounded time, until no thread has work.
  void wait_idle();

 private:
  // Destroyed in reverse order: tasks of the lanes use `compute_`, so it goes last.
  ThreadPool compute_;
  ThreadPool quick_;
  ThreadPool long_;
};

/// 0 means all that the process may use; more than that is cut.
std::size_t worker_count(std::size_t requested) noexcept;

}  // namespace lorekeep::binding
