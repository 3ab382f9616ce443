// Reads arguments on the JavaScript thread. lib/ has validated them; the checks here prevent crashes if the addon is
// called directly.
#pragma once

#include <napi.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "binding/promise_task.h"
#include "core/files/file_owner.h"
#include "core/threads/cancel_token.h"
#include "core/values/bitmap.h"
#include "core/values/error.h"

namespace lorekeep::binding {

/// The most hits of a call, as in lib/.
inline constexpr std::uint64_t kMaxHits = 10'000;
inline constexpr std::uint64_t kMaxThreads = 1024;

std::string string_argument(const Napi::Value& value, const char* name);
/// Reads an array of strings.
std::vector<std::string> strings_argument(const Napi::Value& value, const char* name);
/// Reads a file name, in UTF-8 on every platform.
std::filesystem::path path_argument(const Napi::Value& value);
/// Reads an integer in [min, max].
std::uint64_t integer_argument(const Napi::Value& value, const char* name, std::uint64_t min, std::uint64_t max);
/// Reads an enumerator by its number in lib/boundary/layout.gen.ts. `count`: of layout.gen.h.
template <class Enumeration>
Enumeration enumerator_argument(const Napi::Value& value, const char* name, std::size_t count) {
  return static_cast<Enumeration>(integer_argument(value, name, 0, count - 1));
}
/// Copies the values, because the caller's buffer may be detached or changed while a worker reads.
std::vector<float> floats_argument(const Napi::Value& value, const char* name);
/// Returns the caller's memory, valid until JavaScript runs again.
std::span<double> doubles_argument(const Napi::Value& value, const char* name);
/// Reads { config, records }, the files of a knowledge base; nullopt for undefined.
std::optional<FileOwner> owner_argument(const Napi::Value& value);
/// Reads 16 hexadecimal digits; 0 (unknown) for undefined.
std::uint64_t fingerprint_argument(const Napi::Value& value);
std::string fingerprint_text(std::uint64_t fingerprint);
/// Returns an empty function for undefined.
Napi::Function progress_argument(const Napi::Value& value);
Napi::Object object_argument(const Napi::Value& value, const char* name);

/// Unwraps an object of one of our classes. Throws for anything else.
template <class Wrapped>
Wrapped* unwrap_argument(const Napi::Value& value, const char* name) {
  bool ours = false;
  if (value.IsObject()) napi_check_object_type_tag(value.Env(), value, &Wrapped::kTag, &ours);
  if (!ours) fail(Code::kInvalidArgument, std::string(name) + ": a " + Wrapped::kName + " is expected");
  return Wrapped::Unwrap(value.As<Napi::Object>());
}

/// Returns null for undefined.
std::shared_ptr<CancelToken> cancel_argument(const Napi::Value& value);

/// Copies a Uint32Array of ordinals.
std::vector<std::uint32_t> ordinals_argument(const Napi::Value& value, const char* name = "ordinals");

/// Ordinals in a Uint32Array. Converted to a bitmap on the worker, because this takes time linear in the records.
class FilterArgument {
 public:
  explicit FilterArgument(const Napi::Value& value);
  /// Returns null without a filter. Throws Error(kInvalidArgument) for an ordinal outside [0, size).
  const Bitmap* bitmap(std::size_t size);

 private:
  bool given_ = false;
  std::vector<std::uint32_t> ordinals_;
  Bitmap bitmap_;
};

/// Copies numbers to a typed array.
template <class Array, class T>
Napi::Value to_js_array(Napi::Env env, const std::vector<T>& values) {
  auto array = Array::New(env, values.size());
  std::copy(values.begin(), values.end(), array.Data());
  return array;
}

/// Returns an array with `convert` of each item.
template <class Items, class Convert = std::identity>
Napi::Array to_js_list(Napi::Env env, const Items& items, Convert convert = {}) {
  Napi::Array array = Napi::Array::New(env, items.size());
  for (std::uint32_t i = 0; i < items.size(); ++i) {
    Napi::HandleScope scope(env);
    array.Set(i, convert(items[i]));
  }
  return array;
}

/// Passes the vector's memory to JavaScript. Copies only small arrays, and if external buffers are forbidden.
Napi::Value to_float32_array(Napi::Env env, std::vector<float>&& values);

}  // namespace lorekeep::binding
