#include "lm/model/memory_estimate.h"

#include <llama-ext.h>

#include <map>

#include "core/values/error.h"
#include "engine/abort_guard.h"
#include "engine/decoder_file.h"
#include "engine/llama_log.h"
#include "ggml-backend.h"
#include "lm/grammar/mask_store.h"
#include "lm/model/decoder_context.h"
#include "lm/model/llama_context.h"
#include "lm/model/runtime_choice.h"

namespace lorekeep::lm {
namespace {

// An approximation: llama.cpp's vocabulary and our tables, per token.
constexpr std::uint64_t kBytesPerToken = 300;

struct ContextFree {
  void operator()(llama_context* context) const noexcept { llama_free(context); }
};

std::string device_of(ggml_backend_buffer_type_t type) {
  ggml_backend_dev_t device = ggml_backend_buft_get_device(type);
  const bool host = device == nullptr || ggml_backend_buft_is_host(type) ||
                    ggml_backend_dev_type(device) == GGML_BACKEND_DEVICE_TYPE_CPU;
  return host ? "CPU" : ggml_backend_dev_name(device);
}

// Adds the memory that llama.cpp would allocate to the devices' numbers.
void add_llama(const LanguageModel& model, std::map<std::string, DeviceMemory>& devices) {
  const engine::ErrorLines errors;
  const engine::AbortGuard guard;
  const std::unique_ptr<llama_context, ContextFree> context(
      llama_init_from_model(&model.llama(), context_params(model)));
  if (!context) fail(Code::kModelInvalid, errors.reason("llama.cpp could not plan its buffers"));
  for (const auto& [type, bytes] : llama_get_memory_breakdown(context.get())) {
    DeviceMemory& device = devices[device_of(type)];
    device.model += bytes.model;
    device.context += bytes.context;
    device.compute += bytes.compute;
  }
}

// Adds the memory that native/decoder would allocate.
DeviceMemory decoder_memory(const std::filesystem::path& path, const LanguageModelOptions& options) {
  const engine::DecoderPlan plan = engine::plan_decoder(engine::GgufFile(path));
  return {"CPU", plan.weight_bytes, DecoderContext::cache_bytes(plan.shape, options),
          DecoderContext::step_bytes(plan.shape, options)};
}

std::uint64_t total(const DeviceMemory& memory) {
  return memory.model + memory.context + memory.compute;
}

}  // namespace

std::vector<DeviceMemory> estimate_memory(const std::filesystem::path& path, const LanguageModelOptions& options,
                                          std::shared_ptr<const engine::Backends> backends, const CancelToken* cancel) {
  const std::shared_ptr<LanguageModel> model =
      LanguageModel::load(path, options, std::move(backends), cancel, {}, LanguageModel::Content::kShape);
  std::map<std::string, DeviceMemory> devices;
  if (model->options().runtime == Runtime::kDecoder) {
    devices["CPU"] = decoder_memory(path, model->options());
  } else {
    add_llama(*model, devices);
    const bool undecided = !model->facts().candidates.empty() && !likely_runtime(options.known);
    if (undecided) {
      const DeviceMemory other = decoder_memory(path, model->options());
      if (total(other) > total(devices["CPU"])) devices["CPU"] = other;
    }
  }
  devices["CPU"].model += kBytesPerToken * model->facts().vocabulary_size + MaskStore::kMaxBytes;
  std::vector<DeviceMemory> found;
  for (auto& [name, device] : devices) {
    device.device = name;
    found.push_back(device);
  }
  return found;
}

}  // namespace lorekeep::lm
