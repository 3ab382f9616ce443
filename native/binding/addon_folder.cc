#include "binding/addon_folder.h"

#include "core/values/error.h"

#if defined(_WIN32)
#include "core/system/windows_api.h"
#else
#include <dlfcn.h>
#endif

namespace lorekeep::binding {

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
