#include "binding/crash_binding.h"

#include "binding/arguments.h"
#include "binding/error_translator.h"
#include "crash/crash_handler.h"

namespace lorekeep::binding {

Napi::Value install_crash_handler(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const crash::DumpPlace place{string_argument(info[0], "path"), string_argument(info[1], "replaced")};
    return Napi::String::New(info.Env(), crash::install(place));
  });
}

}  // namespace lorekeep::binding
