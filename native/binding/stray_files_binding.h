#pragma once

#include <napi.h>

namespace lorekeep::binding {

/// removeStrays(path)
Napi::Value remove_strays(const Napi::CallbackInfo& info);

}  // namespace lorekeep::binding
