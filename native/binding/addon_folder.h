#pragma once

#include <filesystem>

namespace lorekeep::binding {

/// The folder of the loaded .node file: the backend plugins lie beside it.
std::filesystem::path addon_folder();

}  // namespace lorekeep::binding
