/* POSIX beside C99, which has neither clocks nor processes. */
#define _POSIX_C_SOURCE 200809L

#include "server.h"

#include <stdlib.h>
#include <string.h>

#include "lorekeep.h"

#ifdef _WIN32
#include <process.h>
#define popen _popen
#define getpid _getpid
#else
#include <signal.h>
#include <sys/types.h>
#include <unistd.h>
#endif

/* The server prints one line of JSON when it listens, and nothing else. */
static bool read_first_line(server* it) {
  char line[4096];
  if (fgets(line, sizeof line, it->output) == NULL) return false;
  lk_document* document = lk_parse(line, strlen(line));
  if (document == NULL) return false;
  int64_t port = 0, pid = 0;
  lk_as_int64(lk_get(lk_root(document), "port"), &port);
  lk_as_int64(lk_get(lk_root(document), "pid"), &pid);
  snprintf(it->token, sizeof it->token, "%s", lk_as_string(lk_get(lk_root(document), "token")));
  lk_document_free(document);
  it->port = (int)port;
  it->pid = (long)pid;
  return port > 0;
}

bool server_start(server* it) {
  const char* program = getenv("LOREKEEP");
  char command[1024];
  memset(it, 0, sizeof *it);
  snprintf(command, sizeof command, "%s serve --config server.json --data-dir data --parent-pid %ld 2>server.log",
           program != NULL ? program : "npx lorekeep", (long)getpid());
  fflush(NULL);
  it->output = popen(command, "r");
  if (it->output != NULL && read_first_line(it)) return true;
  fprintf(stderr, "the server did not start (%s): see server.log\n", command);
  return false;
}

void server_stop(server* it) {
#ifndef _WIN32
  if (it->pid > 0) kill((pid_t)it->pid, SIGTERM);
  if (it->output != NULL) pclose(it->output);
#endif
  it->pid = 0;
  it->output = NULL;
}
