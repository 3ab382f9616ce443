// Preloaded into a process: the file that LOREKEEP_REMOVED names is removed when llama.cpp opens it, which is its second opening
// in a load: the first one maps it and does not use fopen(). Where LOREKEEP_REPLACEMENT names a file, it is moved there.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static FILE* open_after_removal(const char* function, const char* path, const char* mode) {
  const char* removed = getenv("LOREKEEP_REMOVED");
  if (removed != NULL && strcmp(path, removed) == 0) {
    const char* replacement = getenv("LOREKEEP_REPLACEMENT");
    if (replacement == NULL) {
      unlink(path);
    } else {
      rename(replacement, path);  // fails from the second time on
    }
  }
  FILE* (*real)(const char*, const char*) = (FILE * (*)(const char*, const char*)) dlsym(RTLD_NEXT, function);
  return real(path, mode);
}

FILE* fopen(const char* path, const char* mode) { return open_after_removal("fopen", path, mode); }
FILE* fopen64(const char* path, const char* mode) { return open_after_removal("fopen64", path, mode); }
