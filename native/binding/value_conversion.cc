#include "binding/value_conversion.h"

#include <cmath>
#include <string>

#include "core/error.h"

namespace lorekeep::binding {
namespace {

constexpr int kMostDepth = 256;
constexpr double kInt64End = 9223372036854775808.0;  // 2^63

filter::Value convert(const Napi::Value& value, const char* name, int depth);

[[noreturn]] void refuse(const std::string& name, const std::string& reason) {
  fail(Code::kInvalidArgument, name + ": " + reason, {{"field", name}, {"reason", reason}});
}

filter::Value convert_number(double number) {
  const bool whole = number == std::floor(number) && number >= -kInt64End && number < kInt64End;
  return whole ? filter::Value(static_cast<std::int64_t>(number)) : filter::Value(number);
}

filter::Value convert_bigint(const Napi::BigInt& value, const char* name) {
  bool lossless = false;
  const std::int64_t whole = value.Int64Value(&lossless);
  if (!lossless) refuse(name, "a BigInt in it does not fit 64 bits");
  return filter::Value(whole);
}

filter::Value convert_array(const Napi::Array& array, const char* name, int depth) {
  filter::Array elements;
  elements.reserve(array.Length());
  for (std::uint32_t i = 0; i < array.Length(); ++i) {
    Napi::HandleScope scope(array.Env());
    elements.push_back(convert(array.Get(i), name, depth));
  }
  return filter::Value(std::move(elements));
}

filter::Value convert_object(const Napi::Object& object, const char* name, int depth) {
  const Napi::Array keys = object.GetPropertyNames();
  filter::Object members;
  members.reserve(keys.Length());
  for (std::uint32_t i = 0; i < keys.Length(); ++i) {
    Napi::HandleScope scope(object.Env());
    const Napi::Value key = keys.Get(i);
    const Napi::Value member = object.Get(key);
    if (member.IsUndefined()) continue;  // as JSON.stringify does
    members.push_back({key.ToString().Utf8Value(), convert(member, name, depth)});
  }
  return filter::Value(std::move(members));
}

filter::Value convert(const Napi::Value& value, const char* name, int depth) {
  if (depth > kMostDepth) refuse(name, "nested too deeply, or a cycle");
  if (value.IsNull()) return filter::Value(nullptr);
  if (value.IsBoolean()) return filter::Value(value.As<Napi::Boolean>().Value());
  if (value.IsNumber()) return convert_number(value.As<Napi::Number>().DoubleValue());
  if (value.IsBigInt()) return convert_bigint(value.As<Napi::BigInt>(), name);
  if (value.IsString()) return filter::Value(value.As<Napi::String>().Utf8Value());
  if (value.IsArray()) return convert_array(value.As<Napi::Array>(), name, depth + 1);
  if (value.IsObject() && !value.IsFunction()) return convert_object(value.As<Napi::Object>(), name, depth + 1);
  refuse(name, "only what JSON can hold is expected");
}

}  // namespace

filter::Value to_value(const Napi::Value& value, const char* name) {
  return convert(value, name, 0);
}

Napi::String to_js_text(Napi::Env env, std::string_view text) {
  unsigned char all = 0;
  for (const char byte : text) all |= static_cast<unsigned char>(byte);
  if (all >= 0x80) return Napi::String::New(env, text.data(), text.size());
  napi_value value;
  if (napi_create_string_latin1(env, text.data(), text.size(), &value) != napi_ok) throw Napi::Error::New(env);
  return Napi::String(env, value);
}

Napi::Value to_js_value(Napi::Env env, const filter::FieldValue& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) {
    if (*whole < -kMostExactInteger || *whole > kMostExactInteger) return Napi::BigInt::New(env, *whole);
    return Napi::Number::New(env, static_cast<double>(*whole));
  }
  if (const auto* number = std::get_if<double>(&value)) return Napi::Number::New(env, *number);
  if (const auto* text = std::get_if<std::string>(&value)) return to_js_text(env, *text);
  if (const auto* truth = std::get_if<bool>(&value)) return Napi::Boolean::New(env, *truth);
  const auto& texts = std::get<filter::StringSet>(value);
  Napi::Array array = Napi::Array::New(env, texts.size());
  for (std::uint32_t i = 0; i < texts.size(); ++i) array.Set(i, texts[i]);
  return array;
}

}  // namespace lorekeep::binding
