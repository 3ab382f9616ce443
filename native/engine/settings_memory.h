// The settings that this process has measured, so that a model is measured once however often it is loaded.
// Internal to native/engine.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/compute_settings.h"

namespace lorekeep::engine {

/// Those of this process first, then those of `known` that were measured among the same candidates. Thread-safe, as
/// below.
std::optional<ComputeSettings> find_settings(std::string_view fingerprint, std::span<const std::string> candidates,
                                             std::span<const KnownSettings> known);

/// Whether this process has measured them.
bool settings_measured(std::string_view fingerprint);

void remember_settings(KnownSettings settings);

}  // namespace lorekeep::engine
