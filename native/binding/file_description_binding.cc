#include "binding/exports.h"

#include <filesystem>
#include <optional>
#include <utility>

#include "binding/arguments.h"
#include "binding/model_load.h"
#include "binding/promise_task.h"
#include "engine/gguf_description.h"
#include "engine/gguf_file.h"
#include "lm/model/model_uses.h"
#include "lm/prompt/chat_template.h"
#include "store/file_description.h"

namespace lorekeep::binding {
namespace {

Napi::Value to_js(Napi::Env env, const store::FileDescription::Fact& fact) {
  if (const auto* text = std::get_if<std::string>(&fact)) return Napi::String::New(env, *text);
  return Napi::Number::New(env, static_cast<double>(std::get<std::int64_t>(fact)));
}

Napi::Array to_js_sections(Napi::Env env, const std::vector<store::SectionDescription>& sections) {
  return to_js_list(env, sections, [&](const store::SectionDescription& section) {
    Napi::Object object = Napi::Object::New(env);
    object.Set("id", static_cast<double>(section.id));
    object.Set("name", section.name);
    object.Set("offset", static_cast<double>(section.offset));
    object.Set("bytes", static_cast<double>(section.size));
    object.Set("checksum", !section.sound ? "unchecked" : *section.sound ? "right" : "wrong");
    return object;
  });
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
  return promise_task(
      info.Env(), {Lane::kLong, cancel_argument(info[2])},
      [path = path_argument(info[0]), verify = info[1].ToBoolean().Value()](const TaskContext& task) {
        return store::describe_file(path, verify, &task.cancel);
      },
      to_js_description);
}

namespace {

struct ModelDescription {
  engine::GgufDescription header;
  lm::ModelUses uses;
  std::string template_note;
};

ModelDescription describe(const std::filesystem::path& path, std::optional<engine::Pooling> pooling) {
  const engine::GgufFile file(path);
  const std::string source(file.string("tokenizer.chat_template").value_or(""));
  return {engine::describe_gguf(file), lm::uses_of(file, pooling), lm::template_note(source)};
}

Napi::Value to_js_model(Napi::Env env, ModelDescription&& model) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("tensors", static_cast<double>(model.header.tensors));
  for (const auto& [name, fact] : model.header.facts) object.Set(name, to_js(env, fact));
  if (!model.template_note.empty()) object.Set("templateNote", model.template_note);
  Napi::Object refusals = Napi::Object::New(env);
  const auto add = [&](const char* type, const std::string& reason) {
    if (!reason.empty()) refusals.Set(type, reason);
  };
  add("embedding", model.uses.not_embedding);
  add("llm", model.uses.not_language);
  add("reranker", model.uses.not_reranker);
  object.Set("refusals", refusals);
  return object;
}

}  // namespace

Napi::Value describe_model(const Napi::CallbackInfo& info) {
  return promise_task(
      info.Env(), {Lane::kLong, cancel_argument(info[2])},
      [path = path_argument(info[0]), pooling = pooling_argument(info[1])](const TaskContext&) {
        return describe(path, pooling);
      },
      to_js_model);
}

}  // namespace lorekeep::binding
