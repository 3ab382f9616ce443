#include "encoder/amx_permission.h"

#include "encoder/kernel_sets.h"
#if LOREKEEP_AMX_ENCODER
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "core/bf16.h"
#include "core/cpu.h"
#endif

namespace lorekeep::encoder {
#if LOREKEEP_AMX_ENCODER
namespace {

constexpr long kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM
constexpr long kTileData = 18;               // XFEATURE_XTILEDATA
constexpr int kTrialMs = 2000;               // a child that takes longer is taken to hang

bool request() noexcept {
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

// Checks a product that uses every kind of tile: two of rows, the second partial; two panels; a partial last step.
bool product_is_right() noexcept {
  constexpr std::size_t kRows = 19;
  constexpr std::size_t kDepth = 48;
  constexpr std::size_t kWidth = 3 * kLanes;
  std::uint16_t a[kRows * kDepth];
  std::uint16_t b[kWidth * kDepth];
  float found[kRows * kWidth] = {};
  float expected[kRows * kWidth] = {};
  for (std::size_t i = 0; i < kRows * kDepth; ++i) a[i] = to_bf16(static_cast<float>(i % 7) - 3);
  for (std::size_t i = 0; i < kWidth * kDepth; ++i) b[i] = to_bf16(static_cast<float>(i % 11) - 5);
  Gemm<std::uint16_t> gemm{a,     kDepth, b,     kDepth * kLanes, 2 * kLanes,      nullptr,
                           found, kWidth, kRows, kDepth,          kWidth / kLanes, false};
  gemm_bf16_amx(gemm);
  gemm.c = expected;
  kScalarKernels.gemm_bf16(gemm);
  for (std::size_t i = 0; i < kRows * kWidth; ++i) {
    if (found[i] != expected[i]) return false;  // small integers: exact
  }
  return true;
}

// Allocates no memory and takes no lock between fork() and _exit(), because another thread may have held the lock.
[[noreturn]] void try_in_child(int to) noexcept {
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  signal(SIGILL, SIG_DFL);
  signal(SIGSEGV, SIG_DFL);
  const char done = 1;
  const bool right = request() && product_is_right();
  _exit(right && write(to, &done, 1) == 1 ? 0 : 1);
}

// Returns whether the child reported success. Kills a child that hangs.
bool await(pid_t child, int from) noexcept {
  pollfd wanted{from, POLLIN, 0};
  int ready = -1;
  do {
    ready = poll(&wanted, 1, kTrialMs);
  } while (ready < 0 && errno == EINTR);
  char done = 0;
  const bool works = ready == 1 && read(from, &done, 1) == 1;
  if (ready == 0) kill(child, SIGKILL);
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) continue;
  return works;
}

bool works_in_child() noexcept {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return false;
  const pid_t child = fork();
  if (child == 0) try_in_child(ends[1]);
  close(ends[1]);
  const bool works = child > 0 && await(child, ends[0]);
  close(ends[0]);
  return works;
}

}  // namespace

bool amx_permitted() noexcept {
  static const bool permitted = (usable_features() & kAmxBf16) != 0 && works_in_child() && request();
  return permitted;
}
#else
bool amx_permitted() noexcept {
  return false;
}
#endif

}  // namespace lorekeep::encoder
