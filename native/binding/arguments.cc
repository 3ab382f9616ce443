#include "binding/arguments.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "binding/cancel_token_binding.h"
#include "core/files/utf8_path.h"

namespace lorekeep::binding {
namespace {

// Below this size, a copy is cheaper than an external buffer.
constexpr std::size_t kCopyBytes = 64 * 1024;

[[noreturn]] void refuse(const char* name, const char* expected) {
  fail(Code::kInvalidArgument, std::string(name) + ": " + expected + " is expected", {{"field", std::string(name)}});
}

}  // namespace

std::string string_argument(const Napi::Value& value, const char* name) {
  if (!value.IsString()) refuse(name, "a string");
  return value.As<Napi::String>().Utf8Value();
}

std::filesystem::path path_argument(const Napi::Value& value) {
  const std::string text = string_argument(value, "path");
  if (text.find('\0') != std::string::npos) fail(Code::kInvalidArgument, "path: it contains a NUL character");
  return path_of_utf8(text);
}

std::uint64_t integer_argument(const Napi::Value& value, const char* name, std::uint64_t min, std::uint64_t max) {
  const double number = value.IsNumber() ? value.As<Napi::Number>().DoubleValue() : -1;
  if (!(number >= static_cast<double>(min)) || !(number <= static_cast<double>(max)) || number != std::floor(number)) {
    refuse(name, ("an integer from " + std::to_string(min) + " to " + std::to_string(max)).c_str());
  }
  return static_cast<std::uint64_t>(number);
}

std::vector<float> floats_argument(const Napi::Value& value, const char* name) {
  if (!value.IsTypedArray() || value.As<Napi::TypedArray>().TypedArrayType() != napi_float32_array) {
    refuse(name, "a Float32Array");
  }
  const auto array = value.As<Napi::Float32Array>();
  return std::vector<float>(array.Data(), array.Data() + array.ElementLength());
}

std::span<double> doubles_argument(const Napi::Value& value, const char* name) {
  if (!value.IsTypedArray() || value.As<Napi::TypedArray>().TypedArrayType() != napi_float64_array) {
    refuse(name, "a Float64Array");
  }
  auto array = value.As<Napi::Float64Array>();
  return {array.Data(), array.ElementLength()};
}

std::optional<FileOwner> owner_argument(const Napi::Value& value) {
  if (value.IsUndefined()) return std::nullopt;
  const Napi::Object owner = object_argument(value, "owner");
  return FileOwner{path_argument(owner.Get("config")), path_argument(owner.Get("records"))};
}

std::uint64_t fingerprint_argument(const Napi::Value& value) {
  if (value.IsUndefined()) return 0;
  const std::string text = string_argument(value, "fingerprint");
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, 16);
  if (error != std::errc() || text.size() != 16 || end != text.data() + text.size()) {
    fail(Code::kInvalidArgument, "fingerprint: 16 hexadecimal digits are expected, not " + text);
  }
  return number;
}

std::string fingerprint_text(std::uint64_t fingerprint) {
  std::array<char, 17> digits{};
  std::snprintf(digits.data(), digits.size(), "%016llx", static_cast<unsigned long long>(fingerprint));
  return digits.data();
}

Napi::Function progress_argument(const Napi::Value& value) {
  if (value.IsUndefined()) return Napi::Function();
  if (!value.IsFunction()) refuse("onProgress", "a function");
  return value.As<Napi::Function>();
}

Napi::Object object_argument(const Napi::Value& value, const char* name) {
  if (!value.IsObject()) refuse(name, "an object");
  return value.As<Napi::Object>();
}

std::shared_ptr<CancelToken> cancel_argument(const Napi::Value& value) {
  if (value.IsUndefined()) return nullptr;
  return unwrap_argument<CancelTokenBinding>(value, "cancel")->token();
}

std::vector<std::string> strings_argument(const Napi::Value& value, const char* name) {
  if (!value.IsArray()) refuse(name, "an array of strings");
  const auto array = value.As<Napi::Array>();
  std::vector<std::string> strings;
  for (std::uint32_t i = 0; i < array.Length(); ++i) strings.push_back(string_argument(array.Get(i), name));
  return strings;
}

std::vector<std::uint32_t> ordinals_argument(const Napi::Value& value, const char* name) {
  if (!value.IsTypedArray() || value.As<Napi::TypedArray>().TypedArrayType() != napi_uint32_array) {
    refuse(name, "a Uint32Array of ordinals");
  }
  const auto array = value.As<Napi::Uint32Array>();
  return {array.Data(), array.Data() + array.ElementLength()};
}

FilterArgument::FilterArgument(const Napi::Value& value) {
  if (value.IsUndefined()) return;
  ordinals_ = ordinals_argument(value, "filter");
  given_ = true;
}

const Bitmap* FilterArgument::bitmap(std::size_t size) {
  if (!given_) return nullptr;
  bitmap_ = Bitmap(size);
  for (const std::uint32_t ordinal : ordinals_) {
    if (ordinal >= size) {
      fail(Code::kInvalidArgument,
           "filter: ordinal " + std::to_string(ordinal) + " is outside an index of " + std::to_string(size),
           {{"field", std::string("filter")}});
    }
    bitmap_.set(ordinal);
  }
  return &bitmap_;
}

Napi::Value to_float32_array(Napi::Env env, std::vector<float>&& values) {
  const std::size_t count = values.size();
  const std::size_t bytes = count * sizeof(float);
  if (bytes >= kCopyBytes) {
    auto* owner = new std::vector<float>(std::move(values));
    napi_value buffer;
    const napi_status status = napi_create_external_arraybuffer(
        env, owner->data(), bytes, [](napi_env, void*, void* hint) { delete static_cast<std::vector<float>*>(hint); },
        owner, &buffer);
    if (status == napi_ok) return Napi::Float32Array::New(env, count, Napi::ArrayBuffer(env, buffer), 0);
    values = std::move(*owner);  // Electron with a memory cage forbids external buffers
    delete owner;
  }
  auto array = Napi::Float32Array::New(env, count);
  if (count > 0) std::memcpy(array.Data(), values.data(), bytes);
  return array;
}

}  // namespace lorekeep::binding
