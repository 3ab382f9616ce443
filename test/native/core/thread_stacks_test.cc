#include "core/system/thread_stacks.h"

#include <cstddef>
#include <thread>

#include "harness.h"

namespace {

// Writes to every page of a stack of so many KiB.
std::size_t use_stack(std::size_t kibibytes) {
  volatile char piece[1024];
  piece[0] = static_cast<char>(kibibytes);
  if (kibibytes <= 1) return 1;
  return use_stack(kibibytes - 1) + (piece[0] == static_cast<char>(kibibytes) ? 1 : 0);
}

TEST("threads have stacks for deep recursion, whatever the C library gives them by itself") {
  lorekeep::enlarge_thread_stacks();
  constexpr std::size_t kKibibytes = 1000;
  std::size_t used = 0;
  std::thread thread([&used] { used = use_stack(kKibibytes); });
  thread.join();
  CHECK_EQ(used, kKibibytes);
}

}  // namespace
