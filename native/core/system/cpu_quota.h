// The CPU limit of a container: `docker run --cpus`, `resources.limits.cpu`, `CPUQuota=`.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>

namespace lorekeep {

/// Returns the processors that this process may use, rounded up: the least quota of its control group (version 1 or 2)
/// and those above it. nullopt without a limit or without control groups. `root` is the folder with proc/ and sys/.
/// Reads a few small files.
std::optional<std::size_t> cpu_quota(const std::filesystem::path& root) noexcept;

}  // namespace lorekeep
