/* What mingw-w64 10 (Debian 12) lacks of processthreadsapi.h and ggml-cpu.c uses. Included before each file of ggml's
 * plugins. */
#pragma once

#include <_mingw.h>
#if __MINGW64_VERSION_MAJOR < 11
#define THREAD_POWER_THROTTLING_CURRENT_VERSION 1
#define THREAD_POWER_THROTTLING_EXECUTION_SPEED 0x1
typedef struct {
  unsigned long Version;
  unsigned long ControlMask;
  unsigned long StateMask;
} THREAD_POWER_THROTTLING_STATE;
#endif
