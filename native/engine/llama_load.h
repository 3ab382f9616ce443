// Loads a GGUF file with llama.cpp. Internal to native/engine and native/lm.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>

#include "core/threads/cancel_token.h"
#include "llama.h"

namespace lorekeep::engine {

struct ModelFree {
  void operator()(llama_model* model) const noexcept { llama_model_free(model); }
};
using LlamaModel = std::unique_ptr<llama_model, ModelFree>;

/// Frees a context, unless its device is lost: freeing waits for the device, whose driver would throw, which would end
/// the process. Such a context keeps its memory until the process ends.
struct ContextFree {
  void operator()(llama_context* context) const noexcept;
};
using LlamaContextHandle = std::unique_ptr<llama_context, ContextFree>;

enum class LlamaContent {
  kVocabulary,
  kShape,  // tensors without memory, to estimate a model's need
  kAll,
};

/// The parts of a load's progress: the fingerprint, then the tensors. Empty if `progress` is empty. `progress` must
/// outlive the result.
std::function<void(float)> hash_progress(const std::function<void(float)>& progress);
std::function<void(float)> tensor_progress(const std::function<void(float)>& progress);

/// Precondition: the file's metadata was checked (model_profile.h). `progress` (may be empty) receives a fraction from
/// 0 to 1. Throws Error(kModelInvalid) without the file's name, Error(kCancelled). Grain of cancellation: one tensor.
/// `device`: null for the CPU.
LlamaModel load_llama(const std::filesystem::path& path, LlamaContent content, const CancelToken* cancel,
                      const std::function<void(float)>& progress, ggml_backend_device* device = nullptr);

}  // namespace lorekeep::engine
