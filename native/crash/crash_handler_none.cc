#include "crash/crash_handler.h"

namespace lorekeep::crash {

std::string install(const DumpPlace&) {
#if defined(__linux__)
  return "sanitizers handle crashes in this build";
#else
  return "crash dumps are written on Linux only";
#endif
}

}  // namespace lorekeep::crash
