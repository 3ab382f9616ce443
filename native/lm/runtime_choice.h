// Chooses what computes a model by measuring, and remembers it for the process. Internal to native/lm.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/cancel_token.h"
#include "engine/backends.h"
#include "engine/compute_settings.h"
#include "lm/language_model.h"

namespace lorekeep::lm {

/// Names of the runtimes that can compute a model that native/decoder can.
std::vector<std::string> runtime_candidates();

/// Returns the runtime measured by this process for the file with this fingerprint, else that of `known` measured among
/// the same candidates. Thread-safe, as the functions below.
std::optional<Runtime> known_runtime(const std::string& fingerprint, std::span<const engine::KnownSettings> known);

/// Returns whether this process has measured the file.
bool runtime_measured(const std::string& fingerprint);

/// Loads the file with one runtime after the other and a small cache, and times a prompt and some replies' tokens.
/// Returns native/decoder if it is faster and its distributions agree with llama.cpp's, and remembers the result. Takes
/// the time of two loads and some hundred tokens. Throws as LanguageModel::load().
Runtime measure_runtime(const std::filesystem::path& path, const LanguageModelOptions& options,
                        const std::string& fingerprint, std::shared_ptr<const engine::Backends> backends,
                        const CancelToken* cancel);

}  // namespace lorekeep::lm
