// AMX for machines without it. While an emulator lives, an instruction of AMX that the processor does not know is
// decoded where it stands and computed in C++, so that the tests run the very machine code that is shipped. On a
// processor that has AMX, permitted, nothing traps and the same tests are about the hardware. Linux on x86-64.
#pragma once

#include "encoder/kernel_sets.h"
#if LOREKEEP_AMX_ENCODER
#include <signal.h>

namespace lorekeep::test {

/// One at a time; tests are single-threaded. Ends the process with a sentence at an instruction that the
/// manual forbids: a tile that is not configured, shapes that do not fit.
class AmxEmulator {
 public:
  AmxEmulator();
  ~AmxEmulator();
  AmxEmulator(const AmxEmulator&) = delete;
  AmxEmulator& operator=(const AmxEmulator&) = delete;

  /// False without AVX-512, which every processor with AMX has, and where the processor knows some instructions of AMX
  /// while the system refuses the others: then nothing can be tested, and nothing is offered.
  bool usable() const { return usable_; }
  /// Instructions emulated so far; 0 on a processor that has them.
  static long instructions();

 private:
  bool usable_;
  struct sigaction before_;
};

}  // namespace lorekeep::test
#endif
