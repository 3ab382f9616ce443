#include "binding/exports.h"

#include <array>
#include <string>
#include <utility>

#include "binding/arguments.h"
#include "binding/error_translator.h"
#include "binding/promise_task.h"
#include "core/files/atomic_file.h"
#include "core/files/beneath.h"
#include "crash/crash_handler.h"
#include "store/file_description.h"

namespace lorekeep::binding {
namespace {

store::FileKind written_kind(const Napi::Value& value) {
  const std::string name = string_argument(value, "kind");
  for (const auto kind : {store::FileKind::kIndex, store::FileKind::kTextIndex, store::FileKind::kEmbeddings}) {
    if (name == store::file_kind_name(kind)) return kind;
  }
  fail(Code::kInvalidArgument, "kind: index, text index or embeddings is expected, not " + name);
}

}  // namespace

Napi::Value remove_strays(const Napi::CallbackInfo& info) {
  return promise_task(
      info.Env(), {Lane::kLong},
      [path = path_argument(info[0])](const TaskContext&) { return remove_stray_files(path); },
      [](Napi::Env env, std::size_t&& removed) { return Napi::Number::New(env, static_cast<double>(removed)); });
}

Napi::Value check_destination(const Napi::CallbackInfo& info) {
  return promise_task(info.Env(), {Lane::kLong},
                      [path = path_argument(info[0]), kind = written_kind(info[1]), owner = owner_argument(info[2])](
                          const TaskContext&) { store::check_destination(path, kind, owner ? &*owner : nullptr); });
}

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
  request.sealed = strings_argument(given.Get("sealed"), "sealed");
  return request;
}

Napi::Value to_js_reached(Napi::Env env, BeneathResult&& result) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("reached", Napi::String::New(env, name_of(result.reached)));
  object.Set("folder", Napi::String::New(env, result.folder));
  object.Set("name", Napi::String::New(env, result.name));
  object.Set("descriptor", Napi::Number::New(env, result.descriptor.release()));
  return object;
}

}  // namespace

Napi::Value open_file_beneath(const Napi::CallbackInfo& info) {
  return promise_task(
      info.Env(), {Lane::kQuick},
      [request = request_argument(info[0])](const TaskContext&) { return open_beneath(request); }, to_js_reached);
}

Napi::Value install_crash_handler(const Napi::CallbackInfo& info) {
  const crash::DumpPlace place{string_argument(info[0], "path"), string_argument(info[1], "replaced")};
  return Napi::String::New(info.Env(), crash::install(place));
}

}  // namespace lorekeep::binding
