#pragma once

namespace lorekeep {

/// Returns free memory of the C allocator to the system, if the allocator supports it. Takes milliseconds per hundred
/// megabytes, during which allocations on other threads may wait.
void release_free_memory() noexcept;

}  // namespace lorekeep
