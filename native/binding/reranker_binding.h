#pragma once

#include <napi.h>

#include "binding/handle.h"
#include "lm/rerank/reranker.h"

namespace lorekeep::binding {

class RerankerBinding final : public Handle<RerankerBinding, lm::Reranker> {
 public:
  static constexpr const char* kName = "Reranker";
  static constexpr napi_type_tag kTag = {0x6c6f72656b656570, 0x10};
  static Napi::Function define(Napi::Env env);
  using Handle::Handle;

 private:
  Napi::Value rank(const Napi::CallbackInfo& info);
  Napi::Value facts(const Napi::CallbackInfo& info);
};

/// loadReranker(path, options, cancel, progress)
Napi::Value load_reranker(const Napi::CallbackInfo& info);

}  // namespace lorekeep::binding
