#pragma once

#include <napi.h>

namespace lorekeep::binding {

/// describeFile(path, verify, cancel)
Napi::Value describe_file(const Napi::CallbackInfo& info);
/// describeModel(path, cancel)
Napi::Value describe_model(const Napi::CallbackInfo& info);

}  // namespace lorekeep::binding
