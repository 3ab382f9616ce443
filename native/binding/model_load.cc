#include "binding/model_load.h"

#include "binding/arguments.h"
#include "core/values/error.h"

#if defined(_WIN32)
#include "core/system/windows_api.h"
#else
#include <dlfcn.h>
#endif

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

std::filesystem::path addon_folder() {
#if defined(_WIN32)
  HMODULE module = nullptr;
  wchar_t path[32768];
  const DWORD flags = GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT;
  if (GetModuleHandleExW(flags, reinterpret_cast<LPCWSTR>(&addon_folder), &module) &&
      GetModuleFileNameW(module, path, 32768) > 0) {
    return std::filesystem::path(path).parent_path();
  }
#else
  Dl_info info;
  if (dladdr(reinterpret_cast<const void*>(&addon_folder), &info) != 0 && info.dli_fname != nullptr) {
    return std::filesystem::absolute(info.dli_fname).parent_path();
  }
#endif
  fail(Code::kInternal, "the addon's own folder cannot be found");
}

}  // namespace lorekeep::binding
