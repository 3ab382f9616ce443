#include "binding/backends_binding.h"

#include "binding/addon_folder.h"
#include "binding/arguments.h"
#include "binding/error_translator.h"
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
  return guarded(info.Env(), [&]() -> Napi::Value {
    const auto found = engine::Backends::acquire(addon_folder())->describe();
    Napi::Array array = Napi::Array::New(info.Env(), found.size());
    for (std::uint32_t i = 0; i < found.size(); ++i) {
      Napi::Object object = Napi::Object::New(info.Env());
      object.Set("name", found[i].name);
      object.Set("description", found[i].description);
      object.Set("file", found[i].file);
      Napi::Array features = Napi::Array::New(info.Env(), found[i].features.size());
      for (std::uint32_t f = 0; f < found[i].features.size(); ++f) features.Set(f, found[i].features[f]);
      object.Set("features", features);
      array.Set(i, object);
    }
    return array;
  });
}

Napi::Value ggml_version(const Napi::CallbackInfo& info) {
  return Napi::String::New(info.Env(), engine::ggml_version_text());
}

Napi::Value load_gpu_plugin(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const auto found = held_backends().load_gpu_plugin(path_argument(info[0]));
    Napi::Array array = Napi::Array::New(info.Env(), found.size());
    for (std::uint32_t i = 0; i < found.size(); ++i) {
      Napi::Object object = Napi::Object::New(info.Env());
      object.Set("name", found[i].name);
      object.Set("description", found[i].description);
      object.Set("freeBytes", static_cast<double>(found[i].free_bytes));
      object.Set("totalBytes", static_cast<double>(found[i].total_bytes));
      array.Set(i, object);
    }
    return array;
  });
}

void try_gpu(const Napi::CallbackInfo& info) {
  guarded(info.Env(), [&] { held_backends().try_gpu(string_argument(info[0], "name")); });
}

void choose_gpu(const Napi::CallbackInfo& info) {
  guarded(info.Env(), [&] {
    held_backends().choose_gpu(string_argument(info[0], "name"),
                               integer_argument(info[1], "reserveBytes", 0, kMaxBytes));
  });
}

}  // namespace lorekeep::binding
