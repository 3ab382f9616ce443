#include "core/system/alternate_stack.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define LOREKEEP_SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LOREKEEP_SANITIZED 1
#endif

#if defined(_WIN32) || defined(LOREKEEP_SANITIZED)
#define LOREKEEP_ALTERNATE_STACKS 0
#else
#define LOREKEEP_ALTERNATE_STACKS 1
#include <sys/mman.h>

#include <csignal>
#endif

namespace lorekeep {

#if LOREKEEP_ALTERNATE_STACKS
namespace {

// A signal frame with the registers of AMX has 11 KiB, and the crash handler needs 16 KiB. Untouched pages cost
// nothing.
constexpr std::size_t kBytes = 64 * 1024;

void* map_stack() noexcept {
  stack_t present{};
  if (sigaltstack(nullptr, &present) != 0 || ((present.ss_flags & SS_DISABLE) == 0 && present.ss_size >= kBytes))
    return nullptr;
  void* memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  stack_t stack{};
  stack.ss_sp = memory;
  stack.ss_size = kBytes;
  if (sigaltstack(&stack, nullptr) == 0) return memory;
  munmap(memory, kBytes);
  return nullptr;
}

}  // namespace

AlternateStack::AlternateStack() noexcept : memory_(map_stack()) {}

AlternateStack::~AlternateStack() {
  if (memory_ == nullptr) return;
  stack_t present{};
  if (sigaltstack(nullptr, &present) == 0 && present.ss_sp == memory_) {
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    sigaltstack(&none, nullptr);
  }
  munmap(memory_, kBytes);
}
#else
AlternateStack::AlternateStack() noexcept = default;
AlternateStack::~AlternateStack() = default;
#endif

}  // namespace lorekeep
