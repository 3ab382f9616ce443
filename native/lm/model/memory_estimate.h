// The memory of a language model, estimated before it is loaded.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/threads/cancel_token.h"
#include "lm/model/language_model.h"

namespace lorekeep::lm {

/// Bytes on one device.
struct DeviceMemory {
  std::string device;     // "CPU", or a GPU's name
  std::uint64_t model;    // weights and vocabulary
  std::uint64_t context;  // the KV cache
  std::uint64_t compute;  // buffers of a step
};

/// Reads the header only. Throws as LanguageModel::load().
std::vector<DeviceMemory> estimate_memory(const std::filesystem::path& path, const LanguageModelOptions& options,
                                          std::shared_ptr<const engine::Backends> backends, const CancelToken* cancel);

}  // namespace lorekeep::lm
