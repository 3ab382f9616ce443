#include "core/cpu/amx_permission.h"

#include "core/cpu/amx_tiles.h"
#if LOREKEEP_AMX
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#endif

namespace lorekeep {
#if LOREKEEP_AMX
namespace {

constexpr long kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM
constexpr long kTileData = 18;               // XFEATURE_XTILEDATA
constexpr int kTrialMs = 2000;               // a child that takes longer is taken to hang

bool request() noexcept {
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

// Allocates no memory and takes no lock between fork() and _exit(), because another thread may have held the lock.
[[noreturn]] void try_in_child(bool (*product_is_right)() noexcept, int to) noexcept {
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

bool works_in_child(bool (*product_is_right)() noexcept) noexcept {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return false;
  const pid_t child = fork();
  if (child == 0) try_in_child(product_is_right, ends[1]);
  close(ends[1]);
  const bool works = child > 0 && await(child, ends[0]);
  close(ends[0]);
  return works;
}

}  // namespace

bool amx_permitted(bool (*product_is_right)() noexcept) noexcept {
  return works_in_child(product_is_right) && request();
}
#else
bool amx_permitted(bool (*)() noexcept) noexcept {
  return false;
}
#endif

}  // namespace lorekeep
