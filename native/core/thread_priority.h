#pragma once

namespace lorekeep {

enum class ThreadPriority { kNormal, kBackground };

/// Lowers the priority of the calling thread, so that builds do not slow down searches and the event loop. Cannot be
/// undone without privileges. No effect if the system refuses.
void enter_background() noexcept;

/// Returns whether the calling thread has called enter_background().
bool in_background() noexcept;

}  // namespace lorekeep
