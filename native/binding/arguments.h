// Reading arguments on the JavaScript thread. lib/ has validated them; what is checked again here is whatever could
// otherwise crash the process when the addon is called directly.
#pragma once

#include <napi.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "binding/promise_task.h"
#include "core/bitmap.h"
#include "core/cancel_token.h"
#include "core/error.h"
#include "core/file_owner.h"

namespace lorekeep::binding {

/// What a call may ask for at most, as lib/ has it.
inline constexpr std::uint64_t kMostHits = 10'000;
inline constexpr std::uint64_t kMostThreads = 1024;

std::string string_argument(const Napi::Value& value, const char* name);
/// A file's name, given as UTF-8 whatever the platform's encoding is.
std::filesystem::path path_argument(const Napi::Value& value);
/// An integer in [min, max].
std::uint64_t integer_argument(const Napi::Value& value, const char* name, std::uint64_t min, std::uint64_t max);
/// A copy: the caller's buffer may be detached or changed while a worker reads.
std::vector<float> floats_argument(const Napi::Value& value, const char* name);
/// The caller's own memory: gone when JavaScript runs again.
std::span<double> doubles_argument(const Napi::Value& value, const char* name);
/// { config, records }: the files of a knowledge base; undefined: none.
std::optional<FileOwner> owner_argument(const Napi::Value& value);
/// 16 hexadecimal digits; undefined -> 0, which names nothing.
std::uint64_t fingerprint_argument(const Napi::Value& value);
std::string fingerprint_text(std::uint64_t fingerprint);
/// undefined -> an empty function.
Napi::Function progress_argument(const Napi::Value& value);
Napi::Object object_argument(const Napi::Value& value, const char* name);

/// Unwraps an object of one of our classes; anything else is an error, never a wild pointer.
template <class Wrapped>
Wrapped* unwrap_argument(const Napi::Value& value, const char* name) {
  bool ours = false;
  if (value.IsObject()) napi_check_object_type_tag(value.Env(), value, &Wrapped::kTag, &ours);
  if (!ours) fail(Code::kInvalidArgument, std::string(name) + ": a " + Wrapped::kName + " is expected");
  return Wrapped::Unwrap(value.As<Napi::Object>());
}

/// undefined -> null.
std::shared_ptr<CancelToken> cancel_argument(const Napi::Value& value);

/// Ordinals given as a Uint32Array; turned into a bitmap on the worker, because that takes as long as there are
/// records.
class FilterArgument {
 public:
  explicit FilterArgument(const Napi::Value& value);
  /// Null when no filter was given. Throws Error(kInvalidArgument) for an ordinal outside [0, size).
  const Bitmap* bitmap(std::size_t size);

 private:
  bool given_ = false;
  std::vector<std::uint32_t> ordinals_;
  Bitmap bitmap_;
};

/// Hands the vector's memory to JavaScript; copies only small arrays and where external buffers are not allowed.
Napi::Value to_float32_array(Napi::Env env, std::vector<float>&& values);

}  // namespace lorekeep::binding
