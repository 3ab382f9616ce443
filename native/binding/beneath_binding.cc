#include "binding/beneath_binding.h"

#include <array>
#include <string>
#include <utility>

#include "binding/arguments.h"
#include "binding/promise_task.h"
#include "core/files/beneath.h"

namespace lorekeep::binding {
namespace {

Wanted wanted_argument(const std::string& name) {
  if (name == "file") return Wanted::kFile;
  if (name == "folder") return Wanted::kFolder;
  if (name == "place") return Wanted::kPlace;
  fail(Code::kInvalidArgument, "wanted: file, folder or place is expected");
}

const char* name_of(Reached reached) {
  constexpr std::array<const char*, 7> kNames{"opened", "outside",   "no folder", "absent",
                                              "closed", "forbidden", "unmade"};
  return kNames[static_cast<std::size_t>(reached)];
}

BeneathRequest request_argument(const Napi::Value& value) {
  const Napi::Object given = object_argument(value, "request");
  const auto text = [&](const char* name) { return string_argument(given.Get(name), name); };
  BeneathRequest request;
  request.root = text("root");
  request.folder = text("folder");
  request.path = text("path");
  request.wanted = wanted_argument(text("wanted"));
  request.make_folders = given.Get("makeFolders").ToBoolean();
  request.logs = text("logs");
  request.closed = strings_argument(given.Get("closed"), "closed");
  return request;
}

Napi::Value to_js(Napi::Env env, BeneathResult&& result) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("reached", Napi::String::New(env, name_of(result.reached)));
  object.Set("folder", Napi::String::New(env, result.folder));
  object.Set("name", Napi::String::New(env, result.name));
  object.Set("descriptor", Napi::Number::New(env, result.descriptor.release()));
  return object;
}

}  // namespace

Napi::Value open_file_beneath(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    TaskOptions options{Lane::kQuick, nullptr, nullptr, {}};
    return promise_task<BeneathResult>(
        info.Env(), options,
        [request = request_argument(info[0])](const TaskContext&) { return open_beneath(request); }, to_js);
  });
}

}  // namespace lorekeep::binding
