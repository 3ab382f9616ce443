#pragma once

#include <cstddef>

namespace lorekeep {

/// A stack for signal handlers of the calling thread, so that a crash by stack overflow can be handled. Lives and dies
/// on one thread. Does nothing on Windows, in sanitizer builds (which have their own), and where a thread has one
/// already.
class AlternateStack {
 public:
  AlternateStack() noexcept;
  ~AlternateStack();
  AlternateStack(const AlternateStack&) = delete;
  AlternateStack& operator=(const AlternateStack&) = delete;

 private:
  void* memory_ = nullptr;
};

}  // namespace lorekeep
