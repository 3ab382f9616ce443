// Files that are about to be written, and what killed writers left beside them.
#pragma once

#include <napi.h>

namespace lorekeep::binding {

/// removeStrays(path)
Napi::Value remove_strays(const Napi::CallbackInfo& info);
/// checkDestination(path, kind, owner): rejects unless a file of that kind may be written.
Napi::Value check_destination(const Napi::CallbackInfo& info);

}  // namespace lorekeep::binding
