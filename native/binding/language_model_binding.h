#pragma once

#include <napi.h>

#include "binding/handle.h"
#include "lm/session/generation_model.h"

namespace lorekeep::binding {

/// A language model: `generate`, `countTokens`, `tokenize`, `facts`, `numbers`. Described in lib/boundary/native.ts.
class LanguageModelBinding final : public Handle<LanguageModelBinding, lm::GenerationModel> {
 public:
  static constexpr const char* kName = "LanguageModel";
  static constexpr napi_type_tag kTag = {0x6c6f72656b656570, 0x0e};
  static Napi::Function define(Napi::Env env);
  using Handle::Handle;

 private:
  Napi::Value generate(const Napi::CallbackInfo& info);
  Napi::Value render(const Napi::CallbackInfo& info);
  Napi::Value prefix(const Napi::CallbackInfo& info);
  Napi::Value load_prefix(const Napi::CallbackInfo& info);
  Napi::Value count_tokens(const Napi::CallbackInfo& info);
  Napi::Value facts(const Napi::CallbackInfo& info);
  Napi::Value numbers(const Napi::CallbackInfo& info);
  Napi::Value prefixes(const Napi::CallbackInfo& info);
};

/// loadLanguageModel(path, options, cancel, progress)
Napi::Value load_language_model(const Napi::CallbackInfo& info);
/// estimateLanguageModel(path, options, cancel)
Napi::Value estimate_language_model(const Napi::CallbackInfo& info);

}  // namespace lorekeep::binding
