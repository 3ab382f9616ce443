#include "binding/known_settings.h"

#include "binding/arguments.h"

namespace lorekeep::binding {
namespace {

constexpr std::uint64_t kMaxBatchTokens = 1 << 20;

}  // namespace

std::vector<engine::KnownSettings> known_settings_argument(const Napi::Value& value) {
  std::vector<engine::KnownSettings> known;
  if (!value.IsArray()) fail(Code::kInvalidArgument, "known: an array is expected");
  const auto entries = value.As<Napi::Array>();
  for (std::uint32_t i = 0; i < entries.Length(); ++i) {
    const Napi::Object entry = object_argument(entries.Get(i), "known[]");
    const auto tokens = integer_argument(entry.Get("batchTokens"), "batchTokens", 0, kMaxBatchTokens);
    known.push_back({string_argument(entry.Get("fingerprint"), "fingerprint"),
                     strings_argument(entry.Get("candidates"), "candidates"),
                     {string_argument(entry.Get("runtime"), "runtime"), static_cast<std::uint32_t>(tokens)}});
  }
  return known;
}

Napi::Array to_js_names(Napi::Env env, const std::vector<std::string>& names) {
  Napi::Array array = Napi::Array::New(env, names.size());
  for (std::uint32_t i = 0; i < names.size(); ++i) array.Set(i, names[i]);
  return array;
}

}  // namespace lorekeep::binding
