#include "binding/records_binding.h"

#include <string>

#include "binding/arguments.h"
#include "binding/promise_task.h"
#include "binding/text_index_binding.h"
#include "binding/value_conversion.h"
#include "store/indexed_records.h"

namespace lorekeep::binding {
namespace {

std::shared_ptr<const filter::Schema> schema_argument(const Napi::Value& fields) {
  if (fields.IsUndefined()) return nullptr;
  return std::make_shared<const filter::Schema>(filter::Schema::parse(to_value(fields, "fields")));
}

Napi::Value wrap_records(Napi::Env env, std::shared_ptr<store::Records>&& records) {
  auto& constructor = Environment::of(env).constructors.records;
  const std::size_t bytes = records->memory_bytes();
  return RecordsBinding::wrap(env, constructor, std::move(records), bytes);
}

}  // namespace

Napi::Function RecordsBinding::define(Napi::Env env) {
  return DefineClass(
      env, kName,
      with_handle_members({
          InstanceMethod("id", &RecordsBinding::id),
          InstanceAccessor("size", &RecordsBinding::number<&store::Records::size>, nullptr),
          InstanceAccessor("fingerprint", &RecordsBinding::fingerprint, nullptr),
          InstanceAccessor("memoryBytes", &RecordsBinding::number<&store::Records::memory_bytes>, nullptr),
      }));
}

Napi::Value RecordsBinding::id(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const auto records = use();
    const std::size_t ordinal = integer_argument(info[0], "ordinal", 0, records->size() - 1);
    const std::string_view id = records->ids[ordinal];
    return Napi::String::New(info.Env(), id.data(), id.size());
  });
}

Napi::Value RecordsBinding::fingerprint(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&] { return Napi::String::New(info.Env(), fingerprint_text(peek().fingerprint)); });
}

Napi::Value read_records(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const auto schema = schema_argument(info[1]);
    TaskOptions options{Lane::kLong, cancel_argument(info[2]), nullptr, {}};
    using Read = std::shared_ptr<store::Records>;
    return promise_task<Read>(
        info.Env(), options,
        [path = path_argument(info[0]), schema](const TaskContext& task) {
          return std::make_shared<store::Records>(store::read_records(path, {schema, &task.cancel}));
        },
        wrap_records);
  });
}

Napi::Value open_indexed_records(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const auto schema = schema_argument(info[2]);
    TaskOptions options{Lane::kLong, cancel_argument(info[3]), nullptr, {}};
    auto runtime = Environment::of(info.Env()).shared_runtime();
    return promise_task<store::IndexedRecords>(
        info.Env(), options,
        [index = path_argument(info[0]), records = path_argument(info[1]), schema, runtime](const TaskContext& task) {
          return store::open_indexed_records(index, records, {schema, runtime->work(task.cancel)});
        },
        [](Napi::Env env, store::IndexedRecords&& opened) -> Napi::Value {
          if (!opened.stale.empty()) return Napi::String::New(env, opened.stale);
          return wrap_records(env, std::make_shared<store::Records>(std::move(opened.records)));
        });
  });
}

Napi::Value index_records(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    auto* owner = unwrap_argument<RecordsBinding>(info[0], "records");
    const text::Tokenizer tokenizer = tokenizer_argument(info[1]);
    const std::size_t threads = integer_argument(info[2], "threads", 0, kMaxThreads);
    TaskOptions options{Lane::kLong, cancel_argument(info[3]), owner, {}};
    auto runtime = Environment::of(info.Env()).shared_runtime();
    using Index = std::shared_ptr<const text::TextIndex>;
    return promise_task<Index>(
        info.Env(), options,
        [records = owner->use(), tokenizer, threads, runtime](const TaskContext& task) {
          return build_text(records->texts, tokenizer, threads, *runtime, task.cancel);
        },
        wrap_text_index);
  });
}

}  // namespace lorekeep::binding
