#pragma once

#include <filesystem>

namespace lorekeep::binding {

/// Returns the folder of the loaded .node file, which also contains the backend plugins.
std::filesystem::path addon_folder();

}  // namespace lorekeep::binding
