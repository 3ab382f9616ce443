#include "binding/file_description_binding.h"

#include "binding/arguments.h"
#include "binding/promise_task.h"
#include "engine/gguf_description.h"
#include "store/file_description.h"

namespace lorekeep::binding {
namespace {

Napi::Value to_js(Napi::Env env, const store::FileDescription::Fact& fact) {
  if (const auto* text = std::get_if<std::string>(&fact)) return Napi::String::New(env, *text);
  return Napi::Number::New(env, static_cast<double>(std::get<std::int64_t>(fact)));
}

Napi::Array to_js_sections(Napi::Env env, const std::vector<store::SectionDescription>& sections) {
  Napi::Array array = Napi::Array::New(env, sections.size());
  for (std::uint32_t i = 0; i < sections.size(); ++i) {
    const store::SectionDescription& section = sections[i];
    Napi::Object object = Napi::Object::New(env);
    object.Set("id", static_cast<double>(section.id));
    object.Set("name", section.name);
    object.Set("offset", static_cast<double>(section.offset));
    object.Set("bytes", static_cast<double>(section.size));
    object.Set("checksum", !section.sound ? "unchecked" : *section.sound ? "right" : "wrong");
    array.Set(i, object);
  }
  return array;
}

Napi::Value to_js_description(Napi::Env env, store::FileDescription&& file) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("kind", std::string(store::file_kind_name(file.kind)));
  object.Set("bytes", static_cast<double>(file.size));
  if (file.version != 0) object.Set("version", static_cast<double>(file.version));
  if (file.fingerprint != 0) object.Set("fingerprint", fingerprint_text(file.fingerprint));
  if (!file.refusal.empty()) object.Set("refusal", file.refusal);
  for (const auto& [name, fact] : file.facts) object.Set(name, to_js(env, fact));
  object.Set("sections", to_js_sections(env, file.sections));
  return object;
}

}  // namespace

Napi::Value describe_file(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    TaskOptions options{Lane::kLong, cancel_argument(info[2]), nullptr, {}};
    return promise_task<store::FileDescription>(
        info.Env(), options,
        [path = path_argument(info[0]), verify = info[1].ToBoolean().Value()](const TaskContext& task) {
          return store::describe_file(path, verify, &task.cancel);
        },
        to_js_description);
  });
}

Napi::Value describe_model(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    TaskOptions options{Lane::kLong, cancel_argument(info[1]), nullptr, {}};
    return promise_task<engine::GgufDescription>(
        info.Env(), options,
        [path = path_argument(info[0])](const TaskContext&) { return engine::describe_gguf(path); },
        [](Napi::Env env, engine::GgufDescription&& model) {
          Napi::Object object = Napi::Object::New(env);
          object.Set("tensors", static_cast<double>(model.tensors));
          for (const auto& [name, fact] : model.facts) object.Set(name, to_js(env, fact));
          return object;
        });
  });
}

}  // namespace lorekeep::binding
