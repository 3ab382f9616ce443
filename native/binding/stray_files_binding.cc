#include "binding/stray_files_binding.h"

#include "binding/arguments.h"
#include "binding/promise_task.h"
#include "core/atomic_file.h"

namespace lorekeep::binding {

Napi::Value remove_strays(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    TaskOptions options{Lane::kLong, nullptr, nullptr, {}};
    return promise_task<std::size_t>(
        info.Env(), options, [path = path_argument(info[0])](const TaskContext&) { return remove_stray_files(path); },
        [](Napi::Env env, std::size_t&& removed) { return Napi::Number::New(env, static_cast<double>(removed)); });
  });
}

}  // namespace lorekeep::binding
