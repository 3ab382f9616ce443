// The settings measured by this process, so that each model is measured once. Internal to native/engine and native/lm.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/compute_settings.h"

namespace lorekeep::engine {

/// Least batch size of an embedding model. Checked, because settings may come from a file.
inline constexpr std::uint32_t kMinBatch = 16;

/// Returns settings measured by this process, else settings of `known` measured with the same candidates and with a
/// batch size of at least `min_batch`. Thread-safe, as are all functions below.
std::optional<ComputeSettings> find_settings(std::string_view fingerprint, std::span<const std::string> candidates,
                                             std::span<const KnownSettings> known, std::uint32_t min_batch = kMinBatch);

/// Returns whether this process has measured the model, and was sure: then the result may be kept.
bool settings_measured(std::string_view fingerprint, std::span<const std::string> candidates);

/// Keeps the first settings of a model. `sure`: whether repeated measurements agreed.
void remember_settings(KnownSettings settings, bool sure = true);

}  // namespace lorekeep::engine
