// Put between a CUDA plugin and the CUDA runtime by LD_PRELOAD. LOREKEEP_SHIM_LOST: while this file exists, every launch of a graph and
// every wait fails as on a lost device. LOREKEEP_SHIM_COUNTS: at the end, the number of launched graphs is written there as JSON.
// cc -shared -fPIC -o shim.so shim.c -ldl
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { kLaunchFailure = 719 };
static long launches;

// The plugin loads the runtime for itself, so that it is not among the next libraries.
static void* real(const char* name) {
  static const char* const files[] = {"libcudart.so.13", "libcudart.so.12"};
  void* found = dlsym(RTLD_NEXT, name);
  for (int i = 0; found == NULL && i < 2; i++) {
    void* runtime = dlopen(files[i], RTLD_LAZY | RTLD_NOLOAD);
    if (runtime != NULL) found = dlsym(runtime, name);
  }
  if (found == NULL) abort();
  return found;
}

static int lost(void) {
  const char* file = getenv("LOREKEEP_SHIM_LOST");
  return file != NULL && access(file, F_OK) == 0;
}

int cudaGraphLaunch(void* graph, void* stream) {
  launches++;
  return lost() ? kLaunchFailure : ((int (*)(void*, void*))real("cudaGraphLaunch"))(graph, stream);
}

int cudaStreamSynchronize(void* stream) {
  return lost() ? kLaunchFailure : ((int (*)(void*))real("cudaStreamSynchronize"))(stream);
}

__attribute__((destructor)) static void tell(void) {
  const char* path = getenv("LOREKEEP_SHIM_COUNTS");
  FILE* file = path == NULL || launches == 0 ? NULL : fopen(path, "w");
  if (file == NULL) return;
  fprintf(file, "{\"launches\": %ld}\n", launches);
  fclose(file);
}
