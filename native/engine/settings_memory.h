// The settings measured by this process, so that each model is measured once. Internal to native/engine.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/compute_settings.h"

namespace lorekeep::engine {

/// Returns settings measured by this process, else settings of `known` measured with the same candidates. Thread-safe,
/// as are all functions below.
std::optional<ComputeSettings> find_settings(std::string_view fingerprint, std::span<const std::string> candidates,
                                             std::span<const KnownSettings> known);

/// Returns whether this process has measured the model.
bool settings_measured(std::string_view fingerprint);

void remember_settings(KnownSettings settings);

}  // namespace lorekeep::engine
