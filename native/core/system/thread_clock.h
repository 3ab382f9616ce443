#pragma once

namespace lorekeep {

/// Returns the processor time used by the calling thread, in seconds; steady clock time if the system does not report
/// it. Only differences are meaningful.
double thread_seconds() noexcept;

}  // namespace lorekeep
