// The threads and the cancel token of a long operation, as one value that every layer passes on.
#pragma once

#include <cstddef>
#include <functional>
#include <source_location>

#include "core/threads/cancel_token.h"
#include "core/threads/thread_pool.h"

namespace lorekeep {

struct Work {
  ThreadPool* pool = nullptr;           // null: only the calling thread
  std::size_t workers = 1;              // threads that may take part, the caller included
  const CancelToken* cancel = nullptr;  // null: not cancellable

  /// Throws as CancelToken::check().
  void check() const {
    if (cancel != nullptr) cancel->check();
  }
  /// Returns the same work limited to the calling thread.
  Work alone() const noexcept { return {nullptr, 1, cancel}; }
};

/// Calls body(begin, end, worker) over [0, count) in pieces of `grain`, on the calling thread and up to
/// `work.workers - 1` threads of `work.pool`. `worker` is in [0, work.workers) and names a slot that no two concurrent
/// calls share. Polls `work.cancel` before every piece. Rethrows the first exception after all pieces have stopped.
/// `where`: as in ThreadPool::submit().
void parallel_for(const Work& work, std::size_t count, std::size_t grain,
                  const std::function<void(std::size_t begin, std::size_t end, std::size_t worker)>& body,
                  const std::source_location& where = std::source_location::current());

}  // namespace lorekeep
