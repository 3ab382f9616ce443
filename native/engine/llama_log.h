#pragma once

#include <string>

namespace lorekeep::engine {

/// Captures the log of llama.cpp and ggml, so that nothing is printed: errors go to the thread's ErrorLines, the rest
/// is dropped. Call it once, with the backends' lock held: setting llama.cpp's callbacks is not thread-safe.
void capture_llama_log();
/// Restores the default callbacks.
void release_llama_log();

/// Collects the error lines that llama.cpp logs on this thread during its lifetime. Only these lines say why a call of
/// llama.cpp failed. One at a time per thread.
class ErrorLines {
 public:
  ErrorLines();
  ~ErrorLines();
  ErrorLines(const ErrorLines&) = delete;
  ErrorLines& operator=(const ErrorLines&) = delete;

  /// Returns the last lines as one sentence, without function names; `otherwise` if there were none.
  std::string reason(const std::string& otherwise) const;
};

}  // namespace lorekeep::engine
