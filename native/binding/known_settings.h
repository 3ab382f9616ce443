// Converts remembered measurements: engine::KnownSettings.
#pragma once

#include <napi.h>

#include <string>
#include <vector>

#include "engine/compute_settings.h"

namespace lorekeep::binding {

/// Reads [{fingerprint, candidates, runtime, batchTokens}].
std::vector<engine::KnownSettings> known_settings_argument(const Napi::Value& value);
Napi::Array to_js_names(Napi::Env env, const std::vector<std::string>& names);

}  // namespace lorekeep::binding
