/* POSIX beside C99, which has neither clocks nor processes. */
#define _POSIX_C_SOURCE 200809L

#include "clock.h"

#ifdef _WIN32
#include <windows.h>

double clock_now(void) {
  LARGE_INTEGER ticks, per_second;
  QueryPerformanceCounter(&ticks);
  QueryPerformanceFrequency(&per_second);
  return (double)ticks.QuadPart / (double)per_second.QuadPart;
}

void clock_sleep_until(double time) {
  double left = time - clock_now();
  if (left > 0) Sleep((DWORD)(left * 1e3));
}
#else
#include <time.h>

double clock_now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

void clock_sleep_until(double time) {
  double left;
  while ((left = time - clock_now()) > 0) {
    struct timespec span;
    span.tv_sec = (time_t)left;
    span.tv_nsec = (long)((left - (double)span.tv_sec) * 1e9);
    nanosleep(&span, NULL);
  }
}
#endif
