// Chooses the runtime of a model by measuring, and remembers it for the process. Internal to native/lm.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/threads/cancel_token.h"
#include "engine/backends.h"
#include "engine/compute_settings.h"
#include "lm/model/language_model.h"
#include "lm/model/language_profile.h"

namespace lorekeep::lm {

/// Names of the runtimes that can compute a model that native/decoder can.
std::vector<std::string> runtime_candidates();

/// Returns the runtime measured by this process for the file with this fingerprint, else the runtime of `known`
/// measured among the same candidates. Thread-safe, as the functions below.
std::optional<Runtime> known_runtime(const std::string& fingerprint, std::span<const engine::KnownSettings> known);

/// Returns the runtime of the newest entry measured among the same candidates. For estimates: `known` is of one path.
std::optional<Runtime> likely_runtime(std::span<const engine::KnownSettings> known);

/// Returns the runtime of a model of known shape on this processor, which needs no measurement.
std::optional<Runtime> shipped_runtime(const LanguageProfile& profile);

struct MeasuredRuntime {
  Runtime runtime;
  std::shared_ptr<const LanguageModel> loaded;  // by native/decoder
};

/// Loads the file with both runtimes and small caches, and computes a prompt and some tokens of a reply with each in
/// turn, on this thread alone, by its processor time: neither neighbours nor the order decide. Returns native/decoder
/// if it is faster and its distributions agree with llama.cpp's, and remembers the result. Throws as
/// LanguageModel::load().
MeasuredRuntime measure_runtime(const std::filesystem::path& path, const LanguageModelOptions& options,
                                const std::string& fingerprint, std::shared_ptr<const engine::Backends> backends,
                                const CancelToken* cancel);

}  // namespace lorekeep::lm
