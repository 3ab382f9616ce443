#include "core/files/mapping_guard.h"

#include <atomic>
#include <cstdint>
#include <mutex>

#include "core/values/error.h"

#if !defined(_WIN32)
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#endif

namespace lorekeep {

#if defined(_WIN32)

MappingGuard::MappingGuard(const void*, std::size_t) : slot_(0) {}
MappingGuard::~MappingGuard() = default;
bool MappingGuard::broken() const noexcept {
  return false;
}

#else

namespace {

/// A guarded range; free while `end` is 0. Without locks, because a signal handler reads it.
struct Slot {
  std::atomic<std::uintptr_t> begin{0};
  std::atomic<std::uintptr_t> end{0};
  std::atomic<bool> broken{false};
};
static_assert(std::atomic<std::uintptr_t>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

constexpr std::size_t kSlots = 4096;
Slot slots[kSlots];
std::atomic<std::size_t> used_slots{0};  // slots from here on were never used

std::mutex mutex;             // of registration
std::size_t guards = 0;       // live guards
struct sigaction previous{};  // while our handler is in place
std::uintptr_t page_bytes = 4096;

/// Maps zeros from the faulting page to the end of the range: a truncated file has lost all pages from there on.
bool absorb(const siginfo_t* info) noexcept {
  if (info->si_code <= 0) return false;  // sent by a process
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  const std::size_t used = used_slots.load();
  for (std::size_t i = 0; i < used; ++i) {
    const std::uintptr_t end = slots[i].end.load();
    if (address >= end || address < slots[i].begin.load()) continue;
    const std::uintptr_t page = address / page_bytes * page_bytes;
    void* const at = reinterpret_cast<void*>(page);
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
    if (::mmap(at, end - page, PROT_READ, flags, -1, 0) == MAP_FAILED) return false;
    slots[i].broken.store(true);
    return true;
  }
  return false;
}

void on_bus_error(int signal, siginfo_t* info, void* context) {
  const int code = errno;
  if (absorb(info)) {
    errno = code;
    return;
  }
  if ((previous.sa_flags & SA_SIGINFO) != 0) {
    previous.sa_sigaction(signal, info, context);
  } else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
    previous.sa_handler(signal);
  } else {
    // The default action ends the process, when the instruction faults again or the signal is sent again.
    struct sigaction ending{};
    ending.sa_handler = SIG_DFL;
    ::sigaction(signal, &ending, nullptr);
    if (info->si_code <= 0) ::raise(signal);
  }
  errno = code;
}

void install() {
  page_bytes = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  struct sigaction ours{};
  ours.sa_sigaction = on_bus_error;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
  ::sigemptyset(&ours.sa_mask);
  ::sigaction(SIGBUS, &ours, &previous);
}

/// Leaves a handler that was installed after ours in place; it keeps calling ours.
void uninstall() {
  struct sigaction now{};
  ::sigaction(SIGBUS, nullptr, &now);
  if ((now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == on_bus_error) ::sigaction(SIGBUS, &previous, nullptr);
}

}  // namespace

MappingGuard::MappingGuard(const void* data, std::size_t size) : slot_(0) {
  const std::lock_guard lock(mutex);
  while (slot_ < kSlots && slots[slot_].end.load() != 0) ++slot_;
  if (slot_ == kSlots) fail(Code::kIo, "too many files are mapped");
  if (guards++ == 0) install();
  const auto begin = reinterpret_cast<std::uintptr_t>(data);
  slots[slot_].broken.store(false);
  slots[slot_].begin.store(begin);
  slots[slot_].end.store((begin + size + page_bytes - 1) / page_bytes * page_bytes);
  if (used_slots.load() <= slot_) used_slots.store(slot_ + 1);
}

MappingGuard::~MappingGuard() {
  const std::lock_guard lock(mutex);
  slots[slot_].end.store(0);
  if (--guards == 0) uninstall();
}

bool MappingGuard::broken() const noexcept {
  return slots[slot_].broken.load();
}

#endif

}  // namespace lorekeep
