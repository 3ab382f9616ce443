#pragma once

#include <napi.h>

namespace lorekeep::binding {

/// openBeneath(request)
Napi::Value open_file_beneath(const Napi::CallbackInfo& info);

}  // namespace lorekeep::binding
