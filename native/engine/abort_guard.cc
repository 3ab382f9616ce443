#include "engine/abort_guard.h"

#include <cstdio>
#include <string>
#include <string_view>

#include "core/values/error.h"
#include "ggml.h"

namespace lorekeep::engine {
namespace {

thread_local bool guarded = false;

// Called by ggml_abort(), which calls abort() if this returns. ggml's C sources carry unwind tables on every platform
// whose compilers follow the x86-64 or AArch64 ABI, so the exception passes through them.
void on_abort(const char* message) {
  std::string_view text(message);
  const std::size_t slash = text.substr(0, text.find(": ")).find_last_of('/');
  if (slash != std::string_view::npos) text.remove_prefix(slash + 1);
  if (guarded) fail(Code::kModelInvalid, "llama.cpp aborted: " + std::string(text));
  std::fprintf(stderr, "lorekeep: fatal error in llama.cpp: %s\n", message);
}

}  // namespace

void install_abort_hook() {
  ggml_set_abort_callback(on_abort);
}

void remove_abort_hook() {
  ggml_set_abort_callback(nullptr);
}

AbortGuard::AbortGuard() noexcept : outer_(guarded) {
  guarded = true;
}

AbortGuard::~AbortGuard() {
  guarded = outer_;
}

}  // namespace lorekeep::engine
