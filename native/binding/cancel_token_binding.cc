#include "binding/cancel_token_binding.h"

namespace lorekeep::binding {

Napi::Function CancelTokenBinding::define(Napi::Env env) {
  return DefineClass(env, kName, {InstanceMethod("cancel", &CancelTokenBinding::cancel)});
}

CancelTokenBinding::CancelTokenBinding(const Napi::CallbackInfo& info) : ObjectWrap(info) {
  napi_type_tag_object(info.Env(), info.This(), &kTag);
}

}  // namespace lorekeep::binding
