#pragma once

namespace lorekeep {

/// Seconds of processor time that the calling thread has used; where the system does not tell, seconds of a steady
/// clock. For differences.
double thread_seconds() noexcept;

}  // namespace lorekeep
