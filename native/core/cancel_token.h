// A flag that one thread raises and long loops poll. Each loop states its grain (rows, hops, blocks, batches).
#pragma once

#include <atomic>

#include "core/error.h"

namespace lorekeep {

class CancelToken {
 public:
  void cancel() noexcept { cancelled_.store(true, std::memory_order_relaxed); }
  bool cancelled() const noexcept { return cancelled_.load(std::memory_order_relaxed); }
  /// Throws Error(kCancelled) once the flag is up.
  void check() const {
    if (cancelled()) fail(Code::kCancelled, "the operation was aborted");
  }

 private:
  std::atomic<bool> cancelled_{false};
};

}  // namespace lorekeep
