#pragma once

namespace lorekeep {

/// Gives free memory of the C allocator back to the system, where the allocator can. Takes milliseconds per hundred
/// megabytes, during which other threads may wait for memory.
void release_free_memory() noexcept;

}  // namespace lorekeep
