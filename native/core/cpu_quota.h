// The share of the processors that a container's limit leaves: `docker run --cpus`, `resources.limits.cpu`,
// `CPUQuota=`.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>

namespace lorekeep {

/// Processors whose time the control groups of this process may use, rounded up: the least of its own group's and of
/// those above it, in version 1 and 2. Nothing without a limit, and where no control groups are found. `root` is where
/// proc/ and sys/ lie. Reads a few small files.
std::optional<std::size_t> cpu_quota(const std::filesystem::path& root) noexcept;

}  // namespace lorekeep
