#pragma once

namespace lorekeep {

enum class ThreadPriority { kNormal, kBackground };

/// Gives the calling thread less processor time than others get that want it too: builds must not slow down searches
/// and the event loop. There is no way back without rights. Where the system refuses, nothing changes.
void enter_background() noexcept;

/// Whether the calling thread has called enter_background().
bool in_background() noexcept;

}  // namespace lorekeep
