/* A loop of 60 frames a second beside a town that talks: docs and commands are in README.md. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "server.h"
#include "town.h"

static const double frame_seconds = 1.0 / 60;
/* Computing time of a frame on a quiet core, ms. */
static long work_ms = 6;

/* The game's own work: sparks that fly. */
enum { sparks = 1024 };
static float place[sparks], speed[sparks];
static long steps_per_frame = 1;

static void fly(long steps) {
  for (long step = 0; step < steps; step++)
    for (int i = 0; i < sparks; i++) {
      speed[i] += (float)(i % 7 - 3) * 0.01f - place[i] * 0.02f;
      place[i] += speed[i] * 0.016f;
    }
}

/* Chooses the steps that take `work_ms`: the best of many tries, so that a busy neighbour does not count. */
static void measure_work(void) {
  double best = 1;
  for (int i = 0; i < 100; i++) {
    double begin = clock_now();
    fly(100);
    double took = clock_now() - begin;
    if (took < best) best = took;
  }
  steps_per_frame = 1 + (long)((double)work_ms / 1e3 / best * 100);
}

typedef struct phase {
  const char* name;
  double throttle; /* Below 0: without lorekeep. */
  long frames;
  long missed; /* Pictures that came too late, each counted as often as the screen had to show the one before again. */
  double longest; /* Seconds of the longest frame. */
  double seconds;
  long turns;
  long tokens;
} phase;

/* One frame; true once in a second. */
static void run_frame(phase* it, town* people, double* deadline) {
  double begin = clock_now();
  if (people != NULL) {
    if (it->frames % 60 == 0) town_throttle(people, it->throttle);
    town_update(people);
  }
  fly(steps_per_frame);
  double end = clock_now();
  if (end - begin > it->longest) it->longest = end - begin;
  it->frames++;
  for (; *deadline < end; *deadline += frame_seconds) it->missed++;
  clock_sleep_until(*deadline);
  *deadline += frame_seconds;
}

/* Runs at least so many frames, and until so many turns have ended. */
static bool run_phase(phase* it, town* people, long frames, long turns) {
  double begin = clock_now(), deadline = begin + frame_seconds;
  long turns_before = people == NULL ? 0 : people->turns, tokens_before = people == NULL ? 0 : people->tokens;
  if (people != NULL) printf("\nThrottle %g\n", it->throttle);
  do {
    run_frame(it, people, &deadline);
    if (people == NULL) continue;
    if (people->failed) return false;
    it->turns = people->turns - turns_before;
  } while (it->frames < frames || (people != NULL && it->turns < turns));
  it->seconds = clock_now() - begin;
  if (people != NULL) it->tokens = people->tokens - tokens_before;
  fflush(stdout);
  return true;
}

static void print_report(const phase* phases, size_t count) {
  printf("\n%-18s %7s %7s %8s %11s %6s %9s\n", "", "frames", "missed", "share", "longest ms", "turns", "tokens/s");
  for (size_t i = 0; i < count; i++) {
    const phase* it = &phases[i];
    printf("%-18s %7ld %7ld %7.2f%% %11.1f", it->name, it->frames, it->missed,
           100.0 * (double)it->missed / (double)(it->frames + it->missed), it->longest * 1e3);
    if (it->throttle >= 0) printf(" %6ld %9.1f", it->turns, (double)it->tokens / it->seconds);
    printf("\n");
  }
}

static bool play(long frames, long turns, int port) {
  phase phases[] = {{.name = "without lorekeep", .throttle = -1},
                    {.name = "throttle 0", .throttle = 0},
                    {.name = "throttle 0.5", .throttle = 0.5},
                    {.name = "throttle 1", .throttle = 1}};
  server child = {0};
  town people = {0};
  measure_work();
  run_phase(&phases[0], NULL, frames, 0);
  bool fine = port != 0 || server_start(&child);
  fine = fine && town_open(&people, port != 0 ? port : child.port, child.token);
  for (size_t i = 1; fine && i < sizeof phases / sizeof *phases; i++)
    fine = run_phase(&phases[i], &people, frames, turns);
  town_close(&people);
  server_stop(&child);
  if (fine) print_report(phases, sizeof phases / sizeof *phases);
  return fine;
}

int main(int count, char** args) {
  long frames = 600, turns = 1, port = 0;
  const struct {
    const char* name;
    long* value;
  } options[] = {{"--frames", &frames}, {"--turns", &turns}, {"--work", &work_ms}, {"--port", &port}};
  for (int i = 1; i < count; i += 2) {
    size_t option = 0;
    while (option < 4 && strcmp(args[i], options[option].name) != 0) option++;
    if (option == 4 || i + 1 == count) {
      fprintf(stderr, "usage: game [--frames N] [--turns N] [--work MS] [--port PORT of a server that runs]\n");
      return 2;
    }
    *options[option].value = strtol(args[i + 1], NULL, 10);
  }
  return play(frames, turns, (int)port) ? 0 : 1;
}
