// Loads models. Internal to native/binding.
#pragma once

#include <napi.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <utility>

#include "binding/addon_folder.h"
#include "binding/arguments.h"
#include "binding/promise_task.h"
#include "engine/backends.h"

namespace lorekeep::binding {

/// The arguments of a model's load(), besides its options.
struct LoadContext {
  std::filesystem::path path;
  std::shared_ptr<const engine::Backends> backends;
  const CancelToken* cancel;
  std::function<void(float)> progress;
};

/// A call with (path, options, cancel, progress): runs `load` on a pool thread and returns a promise of its model.
template <class Binding, class Model, class Load, class Facts>
Napi::Value load_model(const Napi::CallbackInfo& info, Napi::FunctionReference Environment::Constructors::* constructor,
                       Load load, Facts facts_of) {
  using Loaded = std::shared_ptr<Model>;
  const TaskOptions options{Lane::kLong, cancel_argument(info[2]), nullptr, progress_argument(info[3])};
  return promise_task<Loaded>(
      info.Env(), options,
      [path = path_argument(info[0]), load = std::move(load)](const TaskContext& task) -> Loaded {
        return load(LoadContext{path, engine::Backends::acquire(addon_folder()), &task.cancel,
                                [&task](float fraction) { task.report(fraction); }});
      },
      [constructor, facts_of](Napi::Env env, Loaded&& model) {
        const std::size_t bytes = facts_of(*model).size_bytes;
        return Binding::wrap(env, Environment::of(env).constructors.*constructor, std::move(model), bytes);
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
