#include "binding/exports.h"

#include <string>
#include <utility>
#include <vector>

#include "binding/arguments.h"
#include "binding/model_load.h"
#include "binding/promise_task.h"
#include "binding/value_conversion.h"
#include "engine/backends.h"
#include "lm/grammar/grammar.h"
#include "lm/prompt/vocabulary_probe.h"

namespace lorekeep::binding {
namespace {

std::vector<lm::PromptPart> parts_argument(const Napi::Value& value) {
  if (!value.IsArray()) fail(Code::kInvalidArgument, "parts: an array is expected");
  const auto array = value.As<Napi::Array>();
  std::vector<lm::PromptPart> parts;
  for (std::uint32_t i = 0; i < array.Length(); ++i) {
    const Napi::Object part = object_argument(array.Get(i), "parts");
    parts.push_back({string_argument(part.Get("text"), "text"), part.Get("input").ToBoolean(), static_cast<int>(i)});
  }
  return parts;
}

}  // namespace

Napi::Value check_grammar(const Napi::CallbackInfo& info) {
  return promise_task(
      info.Env(), {Lane::kQuick, cancel_argument(info[1])},
      [grammar = string_argument(info[0], "grammar")](const TaskContext& task) {
        const CheckedPart checked;  // in the client's share of the search threads
        lm::check_grammar(lm::Grammar::parse(grammar, &task.cancel), task.cancel);
        return true;
      },
      [](Napi::Env env, bool&&) { return env.Undefined(); });
}

Napi::Value match_grammar(const Napi::CallbackInfo& info) {
  return promise_task(
      info.Env(), {Lane::kQuick, cancel_argument(info[2])},
      [grammar = string_argument(info[0], "grammar"),
       text = string_argument(info[1], "text")](const TaskContext& task) {
        const CheckedPart checked;
        return lm::match_grammar(lm::Grammar::parse(grammar, &task.cancel), text, task.cancel);
      },
      [](Napi::Env env, lm::GrammarMatch&& match) { return Napi::Number::New(env, static_cast<int>(match)); });
}

Napi::Value probe_vocabulary(const Napi::CallbackInfo& info) {
  return promise_task(
      info.Env(), {Lane::kLong},
      [path = path_argument(info[0]), parts = parts_argument(info[1])](const TaskContext&) {
        return lm::probe_vocabulary(path, parts, engine::Backends::acquire(addon_folder()));
      },
      [](Napi::Env env, lm::VocabularyProbe&& probe) {
        Napi::Object object = Napi::Object::New(env);
        object.Set("tokens", to_js_tokens(env, probe.tokens));
        object.Set("plain", to_js_tokens(env, probe.plain));
        object.Set("special", to_js_tokens(env, probe.special));
        object.Set("spellings", to_js_list(env, probe.spellings));
        return object;
      });
}

}  // namespace lorekeep::binding
