#pragma once

namespace lorekeep {

/// kSearch: below the event loop, which takes requests and sends replies. kBackground: below searches, for builds.
enum class ThreadPriority { kNormal, kSearch, kBackground };

/// Lowers the priority of the calling thread. Cannot be undone without privileges. No effect if the system refuses.
void enter_priority(ThreadPriority priority) noexcept;

/// Returns whether the calling thread has entered kBackground.
bool in_background() noexcept;

}  // namespace lorekeep
