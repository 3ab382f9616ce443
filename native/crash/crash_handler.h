#pragma once

#include <string>

namespace lorekeep::crash {

/// The dump of a crash.
struct DumpPlace {
  /// The dump: created when the process crashes, readable by its owner only.
  std::string path;
  /// A dump to delete once the new one is written; empty: none.
  std::string replaced;
};

/// From now on a fatal signal (SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT) writes a minidump and a line to
/// stderr, and then ends the process as it would have. The dump holds registers, stacks and modules, without
/// environment, command line, mapped data and texts. Process-wide; a second call changes the place. Call it on the main
/// thread. Returns why there can be no dumps here; empty if there can.
std::string install(const DumpPlace& place);

}  // namespace lorekeep::crash
