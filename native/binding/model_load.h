// Loads models. Internal to native/binding.
#pragma once

#include <napi.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "binding/arguments.h"
#include "binding/promise_task.h"
#include "core/values/error.h"
#include "engine/backends.h"
#include "engine/compute_settings.h"
#include "engine/pooling.h"

namespace lorekeep::binding {

/// Returns the folder of the loaded .node file, which also contains the backend plugins.
std::filesystem::path addon_folder();

/// Reads "mean", "cls" or "last"; undefined: the file's pooling.
inline std::optional<engine::Pooling> pooling_argument(const Napi::Value& value) {
  if (value.IsUndefined()) return std::nullopt;
  const std::string name = string_argument(value, "pooling");
  const auto pooling = engine::parse_pooling(name);
  if (!pooling) fail(Code::kInvalidArgument, "pooling: mean, cls or last is expected, not " + name);
  return pooling;
}

/// Reads [{fingerprint, candidates, runtime, batchTokens}].
std::vector<engine::KnownSettings> known_settings_argument(const Napi::Value& value);

/// The arguments of a model's load(), besides its options.
struct LoadContext {
  std::filesystem::path path;
  std::shared_ptr<const engine::Backends> backends;
  const CancelToken* cancel;
  std::function<void(float)> progress;
};

/// A call with (path, options, cancel, progress): runs `load` on a pool thread and returns a promise of its model.
template <class Binding, class Model, class Load, class Facts>
Napi::Value load_model(const Napi::CallbackInfo& info, Load load, Facts facts_of) {
  using Loaded = std::shared_ptr<Model>;
  return promise_task(
      info.Env(), {Lane::kLong, cancel_argument(info[2]), nullptr, progress_argument(info[3])},
      [path = path_argument(info[0]), load = std::move(load)](const TaskContext& task) -> Loaded {
        const ExemptPart exempt(Exempt::kModelLoad);
        return load(LoadContext{path, engine::Backends::acquire(addon_folder()), &task.cancel,
                                [&task](float fraction) { task.report(fraction); }});
      },
      [facts_of](Napi::Env env, Loaded&& model) {
        const std::size_t bytes = facts_of(*model).size_bytes;
        return Binding::wrap(env, std::move(model), bytes);
      });
}

/// The facts that all models have.
template <class Facts>
Napi::Object to_js_model_facts(Napi::Env env, const Facts& facts) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("name", facts.name);
  object.Set("architecture", facts.architecture);
  object.Set("fingerprint", facts.fingerprint);
  object.Set("contextSize", facts.context_size);
  object.Set("parameters", static_cast<double>(facts.parameters));
  return object;
}

}  // namespace lorekeep::binding
