// For MinGW on Windows; cmake-js brings the like for MSVC. The functions of Node.js are imported late from "node.exe".
// This finds them in the running program whatever its name is, or in node.dll, where a program has Node.js there.
#include "core/system/windows_api.h"

#include <delayimp.h>

#include <string_view>

namespace {

FARPROC WINAPI find_node(unsigned event, DelayLoadInfo* info) {
  if (event != dliNotePreLoadLibrary || std::string_view(info->szDll) != "node.exe") return nullptr;
  const HMODULE library = GetModuleHandleW(L"node.dll");
  return reinterpret_cast<FARPROC>(library != nullptr ? library : GetModuleHandleW(nullptr));
}

}  // namespace

PfnDliHook __pfnDliNotifyHook2 = find_node;
