#pragma once

#include <string>

namespace lorekeep::engine {

/// Takes over what llama.cpp and ggml say, so that nothing is printed: errors are kept where a thread asks for them
/// (ErrorLines), the rest is dropped. Call once, with the backends' lock held; the callbacks of llama.cpp are not
/// thread-safe to change.
void capture_llama_log();
/// Gives the callbacks back.
void release_llama_log();

/// Collects the error lines that llama.cpp writes on this thread while it lives; they are the only place where
/// llama.cpp says why a call failed. One at a time per thread.
class ErrorLines {
 public:
  ErrorLines();
  ~ErrorLines();
  ErrorLines(const ErrorLines&) = delete;
  ErrorLines& operator=(const ErrorLines&) = delete;

  /// The last lines as one sentence, function names removed; `otherwise` when there were none.
  std::string reason(const std::string& otherwise) const;
};

}  // namespace lorekeep::engine
