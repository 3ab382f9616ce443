#pragma once

#include <filesystem>
#include <string>

namespace lorekeep {

/// A path as messages and other libraries have it, whatever the platform's encoding is.
inline std::string utf8_path(const std::filesystem::path& path) {
  const std::u8string text = path.u8string();
  return {text.begin(), text.end()};
}

}  // namespace lorekeep
