#include "binding/records_binding.h"

#include "binding/exports.h"

#include <string>

#include "binding/arguments.h"
#include "binding/promise_task.h"
#include "binding/text_index_binding.h"
#include "binding/value_conversion.h"
#include "store/indexed_records.h"
#include "store/record_check.h"

namespace lorekeep::binding {
namespace {

std::shared_ptr<const filter::Schema> records_schema(const Napi::Value& fields) {
  if (fields.IsUndefined()) return nullptr;
  return std::make_shared<const filter::Schema>(filter::Schema::parse(to_value(fields, "fields")));
}

Napi::Value wrap_records(Napi::Env env, std::shared_ptr<store::Records>&& records) {
  const std::size_t bytes = records->memory_bytes();
  return RecordsBinding::wrap(env, std::move(records), bytes);
}

}  // namespace

RecordsBinding::Members RecordsBinding::members() {
  return {
      method<&RecordsBinding::id>("id"),
      number<&store::Records::size>("size"),
      getter<&RecordsBinding::fingerprint>("fingerprint"),
      getter<&RecordsBinding::identity>("identity"),
      number<&store::Records::memory_bytes>("memoryBytes"),
  };
}

Napi::Value RecordsBinding::id(const Napi::CallbackInfo& info) {
  const auto records = use();
  const std::size_t ordinal = integer_argument(info[0], "ordinal", 0, records->size() - 1);
  const std::string_view id = records->ids[ordinal];
  return Napi::String::New(info.Env(), id.data(), id.size());
}

Napi::Value RecordsBinding::fingerprint(const Napi::CallbackInfo& info) {
  return Napi::String::New(info.Env(), fingerprint_text(peek().fingerprint));
}

Napi::Value RecordsBinding::identity(const Napi::CallbackInfo& info) {
  const store::FileIdentity& identity = peek().identity;
  Napi::Object object = Napi::Object::New(info.Env());
  object.Set("size", static_cast<double>(identity.stamp.size));
  object.Set("checksum", fingerprint_text(identity.checksum));
  return object;
}

Napi::Value read_records(const Napi::CallbackInfo& info) {
  const auto schema = records_schema(info[1]);
  return promise_task(
      info.Env(), {Lane::kLong, cancel_argument(info[2])},
      [path = path_argument(info[0]), schema](const TaskContext& task) {
        return std::make_shared<store::Records>(store::read_records(path, {schema, &task.cancel}));
      },
      wrap_records);
}

Napi::Value open_indexed_records(const Napi::CallbackInfo& info) {
  const auto schema = records_schema(info[2]);
  return promise_task(
      info.Env(), {Lane::kLong, cancel_argument(info[3])},
      [index = path_argument(info[0]), records = path_argument(info[1]), schema](const TaskContext& task) {
        return store::open_indexed_records(index, records, {schema, task.work()});
      },
      [](Napi::Env env, store::IndexedRecords&& opened) -> Napi::Value {
        if (!opened.stale.empty()) return Napi::String::New(env, opened.stale);
        return wrap_records(env, std::make_shared<store::Records>(std::move(opened.records)));
      });
}

// checkRecords(jsons, fields, most, cancel): the defects.
Napi::Value check_records(const Napi::CallbackInfo& info) {
  const auto schema = records_schema(info[1]);
  return promise_task(
      info.Env(), {Lane::kLong, cancel_argument(info[3])},
      [jsons = strings_argument(info[0], "jsons"), schema, most = integer_argument(info[2], "most", 1, 1000)](
          const TaskContext& task) { return store::check_records(jsons, schema.get(), most, &task.cancel); },
      [](Napi::Env env, std::vector<store::FoundIssue>&& found) -> Napi::Value {
        return to_js_list(env, found, [&](const store::FoundIssue& each) -> Napi::Value {
          Napi::Object object = Napi::Object::New(env);
          object.Set("index", static_cast<double>(each.index));
          object.Set("field", each.issue.field);
          object.Set("expected", each.issue.expected);
          object.Set("found", each.issue.found);
          return object;
        });
      });
}

Napi::Value index_records(const Napi::CallbackInfo& info) {
  auto* owner = unwrap_argument<RecordsBinding>(info[0], "records");
  const text::Tokenizer tokenizer = tokenizer_argument(info[1]);
  const std::size_t threads = integer_argument(info[2], "threads", 0, kMaxThreads);
  return promise_task(
      info.Env(), {Lane::kLong, cancel_argument(info[3]), owner},
      [records = owner->use(), tokenizer, threads](const TaskContext& task) {
        return build_text(records->texts, tokenizer, threads, task);
      },
      wrap_text_index);
}

}  // namespace lorekeep::binding
