#include "crash/forced_crash.h"

#include <cstddef>
#include <cstdlib>
#include <stdexcept>

namespace lorekeep::crash {
namespace {

#if defined(_MSC_VER)
#define LOREKEEP_NOT_INLINED __declspec(noinline)
#else
#define LOREKEEP_NOT_INLINED __attribute__((noinline))
#endif

LOREKEEP_NOT_INLINED void write_to_nowhere() {
  volatile int* volatile nowhere = nullptr;
  *nowhere = 1;
}

// The volatile array keeps the compiler from making a loop of it.
LOREKEEP_NOT_INLINED int overflow_stack(int depth) {  // NOLINT(misc-no-recursion)
  volatile char frame[4096];
  frame[static_cast<std::size_t>(depth) % sizeof(frame)] = static_cast<char>(depth);
  const int below = overflow_stack(depth + 1);
  return below + frame[0];
}

LOREKEEP_NOT_INLINED void throw_uncaught() noexcept {
  throw std::runtime_error("an uncaught exception, asked for");
}

}  // namespace

void force_crash(CrashKind kind) {
  switch (kind) {
    case CrashKind::kSegmentationFault: write_to_nowhere(); break;
    case CrashKind::kStackOverflow: overflow_stack(0); break;
    case CrashKind::kException: throw_uncaught(); break;
    case CrashKind::kAbort: break;
  }
  std::abort();
}

}  // namespace lorekeep::crash
