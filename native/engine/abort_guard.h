// A failed assertion in llama.cpp kills the process. Inputs are checked so that none fails; this is the last resort.
// While a guard exists on a thread, a failed assertion on it throws an exception instead. The llama.cpp objects in use
// are then unusable and may leak, but the process survives. Only for calls that compute on the calling thread, as all
// of ours do: other threads of the same computation would wait forever.
#pragma once

namespace lorekeep::engine {

/// Install and remove the process-wide hook. Precondition: the backends' lock is held.
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
