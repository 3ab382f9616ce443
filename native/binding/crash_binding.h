// Crash dumps of the process.
#pragma once

#include <napi.h>

namespace lorekeep::binding {

// installCrashHandler(path, replaced): why there can be no dumps; "" if there can
Napi::Value install_crash_handler(const Napi::CallbackInfo& info);

}  // namespace lorekeep::binding
