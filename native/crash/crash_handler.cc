#include "crash/crash_handler.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>

#include "client/linux/handler/exception_handler.h"

namespace google_breakpad {
// Defined in exception_handler.cc and declared in no header.
void SetFirstChanceExceptionHandler(bool (*callback)(int, siginfo_t*, void*));
}  // namespace google_breakpad

namespace lorekeep::crash {
namespace {

// v8::TryHandleWebAssemblyTrapPosix(int, siginfo_t*, void*). V8 uses SIGSEGV for the bounds of WebAssembly memories.
constexpr const char* kTrapHandler = "_ZN2v829TryHandleWebAssemblyTrapPosixEiP9siginfo_tPv";

// Writing a dump takes milliseconds. A process whose dump hangs, as a ban of ptrace can make it, ends after this.
constexpr unsigned kLimitSeconds = 20;

constexpr std::size_t kPathBytes = PATH_MAX;

// Memory of the handler outside the heap, which may be damaged.
struct Paths {
  char folder[kPathBytes];
  char dump[kPathBytes];
  char replaced[kPathBytes];
};
Paths paths;

void say(const char* text) {
  const ssize_t written = ::write(STDERR_FILENO, text, std::strlen(text));
  static_cast<void>(written);
}

// Runs on the crashing thread, first: the process ends even if the dump hangs.
bool begin_dump(void*) {
  struct sigaction ending{};
  ending.sa_handler = SIG_DFL;
  ::sigaction(SIGALRM, &ending, nullptr);
  sigset_t alarm_only;
  ::sigemptyset(&alarm_only);
  ::sigaddset(&alarm_only, SIGALRM);
  ::pthread_sigmask(SIG_UNBLOCK, &alarm_only, nullptr);
  ::alarm(kLimitSeconds);
  return true;
}

// Gives the dump its name, unless a file has it already.
bool name_dump(const char* written) {
  constexpr unsigned kNoReplace = 1;  // RENAME_NOREPLACE
  if (::syscall(SYS_renameat2, AT_FDCWD, written, AT_FDCWD, paths.dump, kNoReplace) == 0) return true;
  if (errno != EINVAL && errno != ENOSYS) return false;  // else: a file system without this flag
  return ::link(written, paths.dump) == 0 && ::unlink(written) == 0;
}

bool end_dump(const google_breakpad::MinidumpDescriptor& descriptor, void*, bool succeeded) {
  if (succeeded) {
    const char* place = name_dump(descriptor.path()) ? paths.dump : descriptor.path();
    if (paths.replaced[0] != '\0') ::unlink(paths.replaced);
    say("lorekeep: crashed; the crash dump is ");
    say(place);
  } else {
    ::unlink(descriptor.path());
    say("lorekeep: crashed; the crash dump could not be written to ");
    say(paths.folder);
  }
  say("\n");
  return succeeded;
}

void copy(char (&to)[kPathBytes], const std::string& from) {
  std::memcpy(to, from.c_str(), from.size() + 1);
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash == 0 ? 1 : slash);
}

}  // namespace

std::string install(const DumpPlace& place) {
  if (place.path.size() >= kPathBytes || place.replaced.size() >= kPathBytes) return "the path is too long";
  const auto trap_handler = reinterpret_cast<bool (*)(int, siginfo_t*, void*)>(::dlsym(RTLD_DEFAULT, kTrapHandler));
  struct sigaction present{};
  ::sigaction(SIGSEGV, nullptr, &present);
  if (trap_handler == nullptr && present.sa_handler != SIG_DFL)
    return "this program handles SIGSEGV and does not export V8's handler of WebAssembly traps";
  const std::string folder = folder_of(place.path);
  copy(paths.folder, folder);
  copy(paths.dump, place.path);
  copy(paths.replaced, place.replaced);
  static google_breakpad::ExceptionHandler* handler = nullptr;  // never freed: a crash may come at any time
  if (handler != nullptr) return "";
  google_breakpad::SetFirstChanceExceptionHandler(trap_handler);
  google_breakpad::MinidumpDescriptor descriptor(folder);
  descriptor.set_sanitize_stacks(true);
  handler = new google_breakpad::ExceptionHandler(descriptor, begin_dump, end_dump, nullptr, true, -1);
  return "";
}

}  // namespace lorekeep::crash
