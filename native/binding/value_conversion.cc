#include "binding/value_conversion.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "core/values/error.h"

namespace lorekeep::binding {
namespace {

constexpr int kMaxDepth = 256;
constexpr double kInt64End = 9223372036854775808.0;  // 2^63

// The name of the converted value in errors, and the longest array in it.
struct Bounds {
  const char* name;
  std::size_t most_elements;
};

filter::Value convert(const Napi::Value& value, const Bounds& bounds, int depth);

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

// Most strings are short: they are copied in one call, which also returns their length.
std::string convert_string(const Napi::String& value) {
  constexpr std::size_t kLongestCharacter = 4;
  std::array<char, 128> text;
  std::size_t length = 0;
  const napi_status status = napi_get_value_string_utf8(value.Env(), value, text.data(), text.size(), &length);
  if (status != napi_ok) throw Napi::Error::New(value.Env());
  // A longer one is cut between two characters.
  return length + kLongestCharacter < text.size() ? std::string(text.data(), length) : value.Utf8Value();
}

filter::Value convert_array(const Napi::Array& array, const Bounds& bounds, int depth) {
  const std::uint32_t length = array.Length();
  if (length > bounds.most_elements) {
    refuse(bounds.name, "an array in it has " + std::to_string(length) + " elements, and at most " +
                            std::to_string(bounds.most_elements) + " are expected");
  }
  filter::Array elements;
  elements.reserve(length);
  for (std::uint32_t i = 0; i < length; ++i) {
    Napi::HandleScope scope(array.Env());
    elements.push_back(convert(array.Get(i), bounds, depth));
  }
  return filter::Value(std::move(elements));
}

filter::Value convert_object(const Napi::Object& object, const Bounds& bounds, int depth) {
  const Napi::Array keys = object.GetPropertyNames();
  filter::Object members;
  members.reserve(keys.Length());
  for (std::uint32_t i = 0; i < keys.Length(); ++i) {
    Napi::HandleScope scope(object.Env());
    const Napi::Value key = keys.Get(i);
    const Napi::Value member = object.Get(key);
    if (member.IsUndefined()) continue;  // as JSON.stringify does
    members.push_back({key.ToString().Utf8Value(), convert(member, bounds, depth)});
  }
  return filter::Value(std::move(members));
}

filter::Value convert(const Napi::Value& value, const Bounds& bounds, int depth) {
  if (depth > kMaxDepth) refuse(bounds.name, "nested too deeply, or a cycle");
  switch (value.Type()) {
    case napi_null: return filter::Value(nullptr);
    case napi_boolean: return filter::Value(value.As<Napi::Boolean>().Value());
    case napi_number: return convert_number(value.As<Napi::Number>().DoubleValue());
    case napi_bigint: return convert_bigint(value.As<Napi::BigInt>(), bounds.name);
    case napi_string: return filter::Value(convert_string(value.As<Napi::String>()));
    case napi_object:
      if (value.IsArray()) return convert_array(value.As<Napi::Array>(), bounds, depth + 1);
      return convert_object(value.As<Napi::Object>(), bounds, depth + 1);
    default: break;
  }
  refuse(bounds.name, "a value that JSON can hold is expected");
}

}  // namespace

filter::Value to_value(const Napi::Value& value, const char* name, std::size_t most_elements) {
  return convert(value, {name, most_elements}, 0);
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
    if (*whole < -kMaxExactInteger || *whole > kMaxExactInteger) return Napi::BigInt::New(env, *whole);
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

Napi::Int32Array to_js_tokens(Napi::Env env, std::span<const std::int32_t> tokens) {
  auto array = Napi::Int32Array::New(env, tokens.size());
  std::copy(tokens.begin(), tokens.end(), array.Data());
  return array;
}

}  // namespace lorekeep::binding
