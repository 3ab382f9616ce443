#include "binding/destination_binding.h"

#include "binding/arguments.h"
#include "binding/promise_task.h"
#include "core/files/atomic_file.h"
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
  return guarded(info.Env(), [&]() -> Napi::Value {
    TaskOptions options{Lane::kLong, nullptr, nullptr, {}};
    return promise_task<std::size_t>(
        info.Env(), options, [path = path_argument(info[0])](const TaskContext&) { return remove_stray_files(path); },
        [](Napi::Env env, std::size_t&& removed) { return Napi::Number::New(env, static_cast<double>(removed)); });
  });
}

Napi::Value check_destination(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    TaskOptions options{Lane::kLong, nullptr, nullptr, {}};
    return promise_task<Nothing>(
        info.Env(), options,
        [path = path_argument(info[0]), kind = written_kind(info[1]),
         owner = owner_argument(info[2])](const TaskContext&) {
          store::check_destination(path, kind, owner ? &*owner : nullptr);
          return Nothing{};
        },
        to_undefined);
  });
}

}  // namespace lorekeep::binding
