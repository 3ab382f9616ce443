// Preloaded into a process: blocks as large as Mesa's descriptions of buffers are never given back, so that a second free()
// of one is seen. At the end, their number and the number of second frees go into the file that LOREKEEP_FREED names.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { kLeast = 400, kMost = 640, kSlots = 1 << 21 };

static void* kept[kSlots];
static unsigned long blocks, twice;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

void free(void* block) {
  static void (*real)(void*);
  if (real == NULL) real = (void (*)(void*))dlsym(RTLD_NEXT, "free");
  const size_t size = block == NULL ? 0 : malloc_usable_size(block);
  if (size < kLeast || size > kMost || blocks > kSlots / 2) {
    real(block);
    return;
  }
  pthread_mutex_lock(&mutex);
  size_t slot = ((uintptr_t)block >> 4) % kSlots;
  while (kept[slot] != NULL && kept[slot] != block) slot = (slot + 1) % kSlots;
  if (kept[slot] == block)
    twice++;
  else
    blocks++;
  kept[slot] = block;
  pthread_mutex_unlock(&mutex);
}

__attribute__((destructor)) static void tell(void) {
  const char* path = getenv("LOREKEEP_FREED");
  FILE* file = path == NULL ? NULL : fopen(path, "w");
  if (file == NULL) return;
  fprintf(file, "{\"blocks\":%lu,\"twice\":%lu}", blocks, twice);
  fclose(file);
}
