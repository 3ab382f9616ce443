#pragma once

#include <filesystem>
#include <string>

namespace lorekeep {

/// Returns a path as UTF-8, for messages and other libraries, on every platform.
inline std::string utf8_path(const std::filesystem::path& path) {
  const std::u8string text = path.u8string();
  return {text.begin(), text.end()};
}

}  // namespace lorekeep
