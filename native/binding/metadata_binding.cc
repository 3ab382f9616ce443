#include "binding/metadata_binding.h"

#include "binding/arguments.h"
#include "binding/error_translator.h"
#include "binding/storage_binding.h"
#include "binding/value_conversion.h"

namespace lorekeep::binding {

MetadataBufferBinding::Members MetadataBufferBinding::members() {
  return {
      method<&MetadataBufferBinding::append>("append"),
  };
}

namespace {

/// Reads fields, or a storage, for its fields.
std::shared_ptr<const filter::Schema> schema_argument(const Napi::Value& value) {
  if (!value.IsObject() || value.IsArray()) {
    return std::make_shared<const filter::Schema>(filter::Schema::parse(to_value(value, "fields")));
  }
  const auto storage = unwrap_argument<StorageBinding>(value, "fields")->pinned();
  if (storage->metadata() == nullptr) fail(Code::kInvalidArgument, "metadata: the storage has no fields");
  return storage->metadata()->shared_schema();
}

}  // namespace

MetadataBufferBinding::MetadataBufferBinding(const Napi::CallbackInfo& info) : ExportedClass(info) {
  guarded(info.Env(), [&] {
    schema_ = schema_argument(info[0]);
    builder_ = std::make_shared<filter::ColumnsBuilder>(schema_);
  });
}

std::shared_ptr<filter::ColumnsBuilder> MetadataBufferBinding::take() {
  if (!builder_) fail(Code::kInvalidArgument, "metadata: the buffer was used before");
  return std::exchange(builder_, nullptr);
}

// append(ids, metadata, begin, end): metadata[i] is undefined or an object; keys outside the schema are ignored.
void MetadataBufferBinding::append(const Napi::CallbackInfo& info) {
  const auto builder = builder_;  // a getter of the metadata may call take()
  if (!builder) fail(Code::kInvalidArgument, "metadata: the buffer was used before");
  if (!info[0].IsArray() || !info[1].IsArray()) fail(Code::kInvalidArgument, "metadata: two arrays are expected");
  const auto ids = info[0].As<Napi::Array>();
  const auto all = info[1].As<Napi::Array>();
  const auto begin = static_cast<std::uint32_t>(integer_argument(info[2], "begin", 0, ids.Length()));
  const auto end = static_cast<std::uint32_t>(integer_argument(info[3], "end", begin, ids.Length()));
  for (std::uint32_t i = begin; i < end; ++i) {
    Napi::HandleScope scope(info.Env());
    builder->begin_record(ids.Get(i).ToString().Utf8Value());
    const Napi::Value metadata = all.Get(i);
    if (metadata.IsUndefined()) continue;
    if (!metadata.IsObject() || metadata.IsArray()) {
      fail(Code::kInvalidArgument, "records[" + std::to_string(i) + "].metadata: an object is expected");
    }
    const auto object = metadata.As<Napi::Object>();
    for (std::size_t field = 0; field < schema_->size(); ++field) {
      const std::string& name = (*schema_)[field].name;
      const auto key = Napi::String::New(info.Env(), name);
      // Inherited properties ("constructor") are not metadata.
      if (!object.HasOwnProperty(key)) continue;
      const Napi::Value value = object.Get(key);
      if (!value.IsUndefined()) builder->set(field, to_value(value, name.c_str()));
    }
  }
}

FilterBinding::Members FilterBinding::members() {
  return {
      getter<&FilterBinding::variables>("variables"),
  };
}

Napi::Value FilterBinding::variables(const Napi::CallbackInfo& info) {
  return to_js_list(info.Env(), peek().predicate().variables(), std::mem_fn(&filter::VariableUse::name));
}

std::vector<filter::Variable> variables_argument(const Napi::Value& value) {
  std::vector<filter::Variable> variables;
  if (value.IsUndefined()) return variables;
  filter::Value given = to_value(object_argument(value, "variables"), "variables", filter::kMaxPredicateElements);
  auto* members = std::get_if<filter::Object>(&given.data);
  if (members == nullptr) fail(Code::kInvalidArgument, "variables: an object is expected");
  for (filter::Member& member : *members) variables.push_back({std::move(member.key), std::move(member.value)});
  return variables;
}

}  // namespace lorekeep::binding
