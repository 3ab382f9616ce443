// llama.cpp asserts by killing the process. Inputs are checked so that no assertion can fail; this is the net below.
// While a guard lives on a thread, an assertion that fails on it becomes an exception instead. What llama.cpp was
// working on is then unusable and its memory may be lost, but the process, and all its other sessions, live. Only for
// calls that compute on the calling thread alone, as all of ours do: other threads of the same computation would wait
// for it for ever.
#pragma once

namespace lorekeep::engine {

/// Installs and removes the process-wide hook; with the backends' lock held.
void install_abort_hook();
void remove_abort_hook();

class AbortGuard {
 public:
  AbortGuard() noexcept;
  ~AbortGuard();
  AbortGuard(const AbortGuard&) = delete;
  AbortGuard& operator=(const AbortGuard&) = delete;

 private:
  bool outer_;
};

}  // namespace lorekeep::engine
