#pragma once

#include <filesystem>
#include <string>

namespace lorekeep {

/// Returns the path that UTF-8 text names. A path made of a std::string would take Windows' code page.
inline std::filesystem::path path_of_utf8(const std::string& text) {
  return {std::u8string(text.begin(), text.end())};
}

/// Returns a path as UTF-8, for messages and other libraries, on every platform.
inline std::string utf8_path(const std::filesystem::path& path) {
  const std::u8string text = path.u8string();
  return {text.begin(), text.end()};
}

}  // namespace lorekeep
