// Checks of destinations, and removal of the temporary files of killed writers.
#pragma once

#include <napi.h>

namespace lorekeep::binding {

/// removeStrays(path)
Napi::Value remove_strays(const Napi::CallbackInfo& info);
/// checkDestination(path, kind, owner): rejects unless a file of that kind may be written.
Napi::Value check_destination(const Napi::CallbackInfo& info);

}  // namespace lorekeep::binding
