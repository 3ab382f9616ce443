#include "binding/exports.h"

#include "binding/arguments.h"
#include "binding/error_translator.h"
#include "binding/model_load.h"
#include "engine/backends.h"

namespace lorekeep::binding {
namespace {

constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 50;

// Kept, so that the choice of a GPU outlives the last model.
const engine::Backends& held_backends() {
  static auto* held = new std::shared_ptr<const engine::Backends>(engine::Backends::acquire(addon_folder()));
  return **held;
}

}  // namespace

Napi::Value backends(const Napi::CallbackInfo& info) {
  const auto found = engine::Backends::acquire(addon_folder())->describe();
  return to_js_list(info.Env(), found, [&](const auto& backend) {
    Napi::Object object = Napi::Object::New(info.Env());
    object.Set("name", backend.name);
    object.Set("description", backend.description);
    object.Set("file", backend.file);
    object.Set("features", to_js_list(info.Env(), backend.features));
    return object;
  });
}

Napi::Value ggml_version(const Napi::CallbackInfo& info) {
  return Napi::String::New(info.Env(), engine::ggml_version_text());
}

Napi::Value load_gpu_plugin(const Napi::CallbackInfo& info) {
  const auto found = held_backends().load_gpu_plugin(path_argument(info[0]));
  return to_js_list(info.Env(), found, [&](const auto& gpu) {
    Napi::Object object = Napi::Object::New(info.Env());
    object.Set("name", gpu.name);
    object.Set("description", gpu.description);
    object.Set("freeBytes", static_cast<double>(gpu.free_bytes));
    object.Set("totalBytes", static_cast<double>(gpu.total_bytes));
    return object;
  });
}

void try_gpu(const Napi::CallbackInfo& info) {
  held_backends().try_gpu(string_argument(info[0], "name"));
}

void choose_gpu(const Napi::CallbackInfo& info) {
  held_backends().choose_gpu(string_argument(info[0], "name"), integer_argument(info[1], "reserveBytes", 0, kMaxBytes));
}

}  // namespace lorekeep::binding
