#pragma once

#if !defined(__x86_64__) && !defined(__i386__) && !defined(__aarch64__)
#include <thread>
#endif

namespace lorekeep {

/// Tells the CPU that the caller is in a spin loop.
inline void pause_spinning() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb");
#else
  std::this_thread::yield();
#endif
}

}  // namespace lorekeep
