// Runs a program under ptrace and stops it at the system calls that concern one folder. Linux on x86-64.
//
//   stepper list  FOLDER OUT -- PROGRAM ARGS...        writes a line per system call that changes something in FOLDER
//   stepper opens FOLDER OUT -- PROGRAM ARGS...        writes a line per file in FOLDER that was opened, by its real path
//   stepper kill  FOLDER N HOW -- PROGRAM ARGS...      SIGKILL at the N-th such call, from 1; HOW is
//       before   the call is not made
//       torn     a write is cut to half of its bytes, then as `after`
//       after    the call is made and the program sees nothing of it
//
// Exit status: 0 killed as asked, or the program ended with 0 for `list` and `opens`; 3 the program ended before the N-th call; 2 tracing
// is not possible here. A seccomp filter reports the calls of interest alone, so the program runs at nearly its own speed.
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace {

enum class Target { kPath, kPathAt, kOpen, kOpenAt, kOpenAt2, kHandle };

struct Call {
  const char* name;
  Target target;
  bool writes;  // the third argument is a number of bytes
};

const std::map<long, Call> kCalls = {
    {SYS_open, {"open", Target::kOpen, false}},
    {SYS_openat, {"openat", Target::kOpenAt, false}},
    {SYS_openat2, {"openat2", Target::kOpenAt2, false}},
    {SYS_creat, {"creat", Target::kPath, false}},
    {SYS_write, {"write", Target::kHandle, true}},
    {SYS_pwrite64, {"pwrite", Target::kHandle, true}},
    {SYS_writev, {"writev", Target::kHandle, false}},
    {SYS_pwritev, {"pwritev", Target::kHandle, false}},
    {SYS_ftruncate, {"ftruncate", Target::kHandle, false}},
    {SYS_fallocate, {"fallocate", Target::kHandle, false}},
    {SYS_truncate, {"truncate", Target::kPath, false}},
    {SYS_fsync, {"fsync", Target::kHandle, false}},
    {SYS_fdatasync, {"fdatasync", Target::kHandle, false}},
    {SYS_flock, {"flock", Target::kHandle, false}},
    {SYS_rename, {"rename", Target::kPath, false}},
    {SYS_renameat, {"renameat", Target::kPathAt, false}},
    {SYS_renameat2, {"renameat2", Target::kPathAt, false}},
    {SYS_link, {"link", Target::kPath, false}},
    {SYS_linkat, {"linkat", Target::kPathAt, false}},
    {SYS_unlink, {"unlink", Target::kPath, false}},
    {SYS_unlinkat, {"unlinkat", Target::kPathAt, false}},
    {SYS_mkdir, {"mkdir", Target::kPath, false}},
    {SYS_mkdirat, {"mkdirat", Target::kPathAt, false}},
    {SYS_rmdir, {"rmdir", Target::kPath, false}},
    {SYS_fchmod, {"fchmod", Target::kHandle, false}},
    {SYS_utimensat, {"utimensat", Target::kPathAt, false}},
    {SYS_copy_file_range, {"copy_file_range", Target::kHandle, false}},
};

[[noreturn]] void impossible(const char* what) {
  std::fprintf(stderr, "stepper: %s: %s\n", what, std::strerror(errno));
  std::exit(2);
}

void install_filter() {
  std::vector<sock_filter> code = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  for (const auto& [number, call] : kCalls) {
    code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(number), 0, 1));
    code.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE));
  }
  code.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog program{static_cast<unsigned short>(code.size()), code.data()};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
    _exit(2);
}

std::string read_text(pid_t thread, unsigned long address) {
  char buffer[PATH_MAX];
  std::string text;
  while (text.size() < PATH_MAX) {
    const std::size_t page_rest = 4096 - address % 4096;
    iovec local{buffer, page_rest};
    iovec remote{reinterpret_cast<void*>(address), page_rest};
    const ssize_t got = process_vm_readv(thread, &local, 1, &remote, 1, 0);
    if (got <= 0) break;
    const std::size_t length = strnlen(buffer, static_cast<std::size_t>(got));
    text.append(buffer, length);
    if (length < static_cast<std::size_t>(got)) break;
    address += length;
  }
  return text;
}

std::string link_target(pid_t thread, const std::string& name) {
  char buffer[PATH_MAX];
  const std::string link = "/proc/" + std::to_string(thread) + "/" + name;
  const ssize_t length = readlink(link.c_str(), buffer, sizeof(buffer));
  return length < 0 ? "" : std::string(buffer, static_cast<std::size_t>(length));
}

std::string handle_path(pid_t thread, long handle) {
  return link_target(thread, static_cast<int>(handle) == AT_FDCWD ? "cwd" : "fd/" + std::to_string(static_cast<int>(handle)));
}

std::string absolute(pid_t thread, long folder, const std::string& path) {
  return path.starts_with("/") ? path : handle_path(thread, folder) + "/" + path;
}

constexpr unsigned long kChanging = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC;

/// The path that a call changes; empty if it changes nothing.
std::string changed_path(pid_t thread, const Call& call, const user_regs_struct& at) {
  const auto text = [&](unsigned long address) { return read_text(thread, address); };
  switch (call.target) {
    case Target::kHandle: return handle_path(thread, static_cast<long>(at.rdi));
    case Target::kPath: return absolute(thread, AT_FDCWD, text(at.rdi));
    case Target::kPathAt: return absolute(thread, static_cast<long>(at.rdi), text(at.rsi));
    case Target::kOpen: return (at.rsi & kChanging) == 0 ? "" : absolute(thread, AT_FDCWD, text(at.rdi));
    case Target::kOpenAt: return (at.rdx & kChanging) == 0 ? "" : absolute(thread, static_cast<long>(at.rdi), text(at.rsi));
    case Target::kOpenAt2: {
      open_how how{};
      iovec local{&how, sizeof(how)};
      iovec remote{reinterpret_cast<void*>(at.rdx), sizeof(how)};
      process_vm_readv(thread, &local, 1, &remote, 1, 0);
      return (how.flags & kChanging) == 0 ? "" : absolute(thread, static_cast<long>(at.rdi), text(at.rsi));
    }
  }
  return "";
}

bool opens(Target target) {
  return target == Target::kOpen || target == Target::kOpenAt || target == Target::kOpenAt2;
}

class Stepper {
 public:
  Stepper(std::string mode, std::string folder, long stop_at, std::string how, std::FILE* out)
      : mode_(std::move(mode)), folder_(std::move(folder)), stop_at_(stop_at), how_(std::move(how)), out_(out) {}

  int run(pid_t program) {
    program_ = program;
    int status = 0;
    if (waitpid(program, &status, __WALL) < 0 || !WIFSTOPPED(status)) impossible("the program did not start");
    const long options = PTRACE_O_TRACESECCOMP | PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK |
                         PTRACE_O_TRACEVFORK | PTRACE_O_EXITKILL;
    if (ptrace(PTRACE_SETOPTIONS, program, 0, options) != 0) impossible("ptrace");
    ptrace(PTRACE_CONT, program, 0, 0);
    for (;;) {
      const pid_t thread = waitpid(-1, &status, __WALL);
      if (thread < 0) return killed_ ? 0 : 3;
      if (WIFEXITED(status) || WIFSIGNALED(status)) {
        if (thread != program_) continue;
        if (killed_) return 0;
        const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        return mode_ == "kill" ? 3 : code;
      }
      if (WIFSTOPPED(status)) stopped(thread, status);
    }
  }

 private:
  void stopped(pid_t thread, int status) {
    const int signal = WSTOPSIG(status);
    if (status >> 8 == (SIGTRAP | (PTRACE_EVENT_SECCOMP << 8))) return at_call(thread);
    if (signal == (SIGTRAP | 0x80)) return after_call(thread);
    const bool ours = signal == SIGTRAP || (signal == SIGSTOP && status >> 16 == 0);
    ptrace(PTRACE_CONT, thread, 0, ours ? 0 : signal);
  }

  void at_call(pid_t thread) {
    user_regs_struct at{};
    ptrace(PTRACE_GETREGS, thread, 0, &at);
    const auto found = kCalls.find(static_cast<long>(at.orig_rax));
    if (found == kCalls.end()) return resume(thread);
    const Call& call = found->second;
    if (mode_ == "opens") return opens(call.target) ? step_over(thread) : resume(thread);
    const std::string path = changed_path(thread, call, at);
    if (!path.starts_with(folder_)) return resume(thread);
    ++count_;
    if (mode_ == "list") {
      std::fprintf(out_, "%ld %s %s\n", count_, call.name, path.c_str());
      return resume(thread);
    }
    if (count_ != stop_at_) return resume(thread);
    if (how_ == "before") return end();
    if (how_ == "torn" && call.writes && at.rdx > 1) {
      at.rdx /= 2;
      ptrace(PTRACE_SETREGS, thread, 0, &at);
    }
    step_over(thread);
  }

  void after_call(pid_t thread) {
    if (mode_ == "kill") return end();
    user_regs_struct at{};
    ptrace(PTRACE_GETREGS, thread, 0, &at);
    const long handle = static_cast<long>(at.rax);
    if (handle >= 0) {
      const std::string path = handle_path(thread, handle);
      if (path.starts_with(folder_)) {
        std::fprintf(out_, "%s\n", path.c_str());
        std::fflush(out_);
      }
    }
    resume(thread);
  }

  void end() {
    killed_ = true;
    ::kill(program_, SIGKILL);
  }

  static void resume(pid_t thread) { ptrace(PTRACE_CONT, thread, 0, 0); }
  static void step_over(pid_t thread) { ptrace(PTRACE_SYSCALL, thread, 0, 0); }

  std::string mode_;
  std::string folder_;
  long stop_at_;
  std::string how_;
  std::FILE* out_;
  pid_t program_ = 0;
  long count_ = 0;
  bool killed_ = false;
};

pid_t begin(char** command) {
  const pid_t program = fork();
  if (program != 0) return program;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (ptrace(PTRACE_TRACEME, 0, 0, 0) != 0) _exit(2);
  raise(SIGSTOP);
  install_filter();
  execvp(command[0], command);
  _exit(2);
}

}  // namespace

int main(int count, char** words) {
  int at = 1;
  while (at < count && std::strcmp(words[at], "--") != 0) ++at;
  if (at < 4 || at + 1 >= count) {
    std::fprintf(stderr, "stepper list|opens FOLDER OUT -- PROGRAM... | kill FOLDER N before|torn|after -- PROGRAM...\n");
    return 2;
  }
  const std::string mode = words[1];
  std::FILE* out = mode == "kill" ? stdout : std::fopen(words[3], "we");
  if (out == nullptr) impossible(words[3]);
  Stepper stepper(mode, words[2], mode == "kill" ? std::atol(words[3]) : 0, mode == "kill" ? words[4] : "", out);
  return stepper.run(begin(words + at + 1));
}
