/* The server as a child of the game. */
#ifndef GAME_SERVER_H
#define GAME_SERVER_H

#include <stdbool.h>
#include <stdio.h>

typedef struct server {
  int port;
  char token[128]; /* Empty: the server wants none. */
  FILE* output;
  long pid;
} server;

/* Starts `lorekeep serve` with server.json and waits until it listens. The server ends with the game, however that
 * ends. */
bool server_start(server* it);
/* Ends the server and waits for its end. */
void server_stop(server* it);

#endif
