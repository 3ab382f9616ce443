#pragma once

#include <napi.h>

#include "binding/handle.h"
#include "engine/embedding_model.h"

namespace lorekeep::binding {

class EmbeddingModelBinding final : public Handle<EmbeddingModelBinding, engine::EmbeddingModel> {
 public:
  static constexpr const char* kName = "EmbeddingModel";
  static constexpr napi_type_tag kTag = {0x6c6f72656b656570, 0x06};
  static Members members();
  using Handle::Handle;

 private:
  Exported embed, tokens, facts;
};

/// {index, code, message, tokens, limit} per error.
Napi::Array to_js_item_errors(Napi::Env env, const std::vector<engine::ItemError>& errors);

}  // namespace lorekeep::binding
