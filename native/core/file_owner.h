// Whose a section file is. Files of one kind have one magic, whichever knowledge base they belong to, so each one that
// is written for a knowledge base names it in a section of its own.
#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

#include "core/destination.h"
#include "core/section_table.h"

namespace lorekeep {

/// A knowledge base. Paths may be names of open files (/proc/self/fd/N).
struct FileOwner {
  std::filesystem::path config;
  std::filesystem::path records;
};

/// Content of the owner section of a file at `target`: both paths, relative to the file's folder, so that a folder that
/// is moved or copied as a whole keeps its files. Empty when the folder cannot be resolved.
std::vector<std::byte> owner_bytes(const std::filesystem::path& target, const FileOwner& owner);

/// Allows files that begin with `magic`, damaged ones and those of any version too. With an owner it refuses a file
/// that names another knowledge base: one whose config file still exists, and whose config and records are both other
/// files than the owner's.
ReplacementRule replaces_own_kind(const std::filesystem::path& target, Magic magic, const FileOwner* owner);

}  // namespace lorekeep
