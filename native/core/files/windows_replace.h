#pragma once

#include <filesystem>

namespace lorekeep {

/// Renames `from` to `to`, a path in the same folder, and replaces a regular file there, even if it is open or mapped.
/// If the file system cannot do that in one step, the old file is moved aside to a name that remove_stray_files()
/// knows, and removed once nothing has it mapped. Waits for programs that hold one of the files for a moment, such as
/// virus scanners. Returns false with errno if the system refuses. Windows only.
bool replace_file(const std::filesystem::path& from, const std::filesystem::path& to);

/// Waits for programs that hold a file for a moment, as replace_file() does. Returns false with errno if it cannot be
/// opened.
bool wait_until_readable(const std::filesystem::path& path);

}  // namespace lorekeep
