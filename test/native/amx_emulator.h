// Emulates AMX. While an emulator exists, AMX instructions that the processor does not support are decoded and computed
// in C++, so that the tests run the shipped machine code. With permitted AMX hardware nothing traps, and the tests run
// on the hardware. Linux on x86-64.
#pragma once

#include "core/cpu/amx_tiles.h"
#if LOREKEEP_AMX
#include <signal.h>

namespace lorekeep::test {

/// One at a time; tests are single-threaded. Ends the process with a message at an invalid instruction: a tile that is
/// not configured, shapes that do not match.
class AmxEmulator {
 public:
  explicit AmxEmulator(bool permitted);
  ~AmxEmulator();
  AmxEmulator(const AmxEmulator&) = delete;
  AmxEmulator& operator=(const AmxEmulator&) = delete;

  /// Returns false without AVX-512, which every processor with AMX has, and if the processor supports some AMX
  /// instructions while `permitted` (the result of amx_permitted()) is false: then nothing can be tested.
  bool usable() const { return usable_; }
  /// Number of instructions emulated so far; 0 on a processor with AMX.
  static long instructions();

 private:
  bool usable_;
  struct sigaction before_;
};

}  // namespace lorekeep::test
#endif
