// The processor that a thread runs on. Linux only; elsewhere nothing is known, and nothing moves.
#pragma once

#include <cstdint>

#if defined(__linux__)
#include <sched.h>
#include <sys/types.h>
#include <time.h>
#endif

namespace lorekeep::decoder {

class ThreadPlace {
 public:
  /// Makes this the place of the calling thread, which must outlive the use of the functions below.
  void of_this_thread() noexcept;

  /// Returns the processor time that the thread has used, in nanoseconds; -1 if unknown. It stands still while the
  /// thread waits for a processor.
  std::int64_t used() const noexcept;

  /// Moves the thread to the caller's processor. Returns false if it cannot be moved.
  bool pull() noexcept;
  /// After pull(): moves the thread to one of the other processors that it may use, and then lets it use all as before.
  void release() noexcept;

 private:
#if defined(__linux__)
  pid_t thread_ = 0;
  clockid_t clock_{};
  cpu_set_t allowed_{};  // before pull()
#endif
};

}  // namespace lorekeep::decoder
