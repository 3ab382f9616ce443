#pragma once

#include <napi.h>

#include "binding/handle.h"
#include "engine/embedding_model.h"

namespace lorekeep::binding {

class EmbeddingModelBinding final : public Handle<EmbeddingModelBinding, engine::EmbeddingModel> {
 public:
  static constexpr const char* kName = "EmbeddingModel";
  static constexpr napi_type_tag kTag = {0x6c6f72656b656570, 0x06};
  static Napi::Function define(Napi::Env env);
  using Handle::Handle;

 private:
  Napi::Value embed(const Napi::CallbackInfo& info);
  Napi::Value tokens(const Napi::CallbackInfo& info);
  Napi::Value facts(const Napi::CallbackInfo& info);
};

/// {index, code, message, tokens, limit} per error.
Napi::Array to_js_item_errors(Napi::Env env, const std::vector<engine::ItemError>& errors);

/// loadEmbeddingModel(path, options, cancel, progress)
Napi::Value load_embedding_model(const Napi::CallbackInfo& info);

}  // namespace lorekeep::binding
