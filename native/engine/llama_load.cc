#include "engine/llama_load.h"

#include <array>
#include <exception>

#include "core/files/utf8_path.h"
#include "core/values/error.h"
#include "engine/abort_guard.h"
#include "engine/llama_log.h"

namespace lorekeep::engine {
namespace {

struct LoadWatch {
  const CancelToken* cancel;
  const std::function<void(float)>& progress;

  static bool report(float fraction, void* self) {
    const auto& watch = *static_cast<const LoadWatch*>(self);
    if (watch.progress) watch.progress(fraction);
    return watch.cancel == nullptr || !watch.cancel->cancelled();
  }
};

constexpr float kHashShare = 0.2f;
constexpr float kTensorShare = 0.7f;

std::function<void(float)> part_of(const std::function<void(float)>& progress, float base, float share) {
  if (!progress) return {};
  return [&progress, base, share](float fraction) { progress(base + share * fraction); };
}

}  // namespace

void ContextFree::operator()(llama_context* context) const noexcept {
  try {
    llama_synchronize(context);
  } catch (const std::exception&) {
    return;
  }
  llama_free(context);
}

std::function<void(float)> hash_progress(const std::function<void(float)>& progress) {
  return part_of(progress, 0, kHashShare);
}

std::function<void(float)> tensor_progress(const std::function<void(float)>& progress) {
  return part_of(progress, kHashShare, kTensorShare);
}

LlamaModel load_llama(const std::filesystem::path& path, LlamaContent content, const CancelToken* cancel,
                      const std::function<void(float)>& progress, ggml_backend_device* device) {
  LoadWatch watch{cancel, progress};
  std::array<ggml_backend_dev_t, 2> devices{device, nullptr};  // empty: CPU only; a null list would mean every GPU
  llama_model_params params = llama_model_default_params();
  params.devices = devices.data();
  params.n_gpu_layers = device == nullptr ? 0 : -1;
  params.vocab_only = content == LlamaContent::kVocabulary;
  params.no_alloc = content == LlamaContent::kShape;
  // Copied, so that another program writing to the file does not change a loaded model.
  params.load_mode = LLAMA_LOAD_MODE_NONE;
  params.progress_callback = &LoadWatch::report;
  params.progress_callback_user_data = &watch;
  const ErrorLines errors;
  const AbortGuard guard;
  LlamaModel model(llama_model_load_from_file(utf8_path(path).c_str(), params));
  if (!model) {
    if (cancel != nullptr) cancel->check();
    fail(Code::kModelInvalid, errors.reason("llama.cpp could not load it"));
  }
  return model;
}

}  // namespace lorekeep::engine
