#pragma once

namespace lorekeep::crash {

/// Ways to crash, for the tests of crash dumps.
enum class CrashKind { kSegmentationFault, kStackOverflow, kAbort, kException };

/// Crashes the process on the calling thread.
[[noreturn]] void force_crash(CrashKind kind);

}  // namespace lorekeep::crash
