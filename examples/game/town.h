/* The people of the town: each has a session of its own, in which one agent talks and one acts. */
#ifndef GAME_TOWN_H
#define GAME_TOWN_H

#include <stdbool.h>
#include <stddef.h>

#include "lorekeep.h"

typedef struct character {
  char me[32]; /* The name by which `known_to` in world/records.json calls it. */
  char name[64];
  char* variables; /* JSON with `me`, `name` and `persona`. */
  char session[64];
  char talker[64];
  char actor[64];
  lk_id asked;   /* The request of its turn; 0: it is free. */
  char turn[64]; /* Id of the turn, once it has begun. */
  bool acts;     /* The turn is an order. */
} character;

typedef struct line {
  size_t to;
  char* text;
  bool order;
} line;

typedef struct town {
  lk_client* client;
  character* people;
  size_t population;
  line* lines;
  size_t line_count;
  size_t next_line;
  size_t talking; /* Turns under way. */
  long turns;     /* Turns that have ended. */
  long tokens;    /* Tokens of their replies. */
  bool failed;
} town;

/* Connects, and makes everybody of cast.json. Blocks, as a loading screen may. */
bool town_open(town* it, int port, const char* token);
void town_close(town* it);

/*
 * Hears what the server has sent and lets the player say what comes next in script.json, over and over. Called once in
 * each frame; never blocks.
 */
void town_update(town* it);

/* How much the server rests: 0 to 1. It holds for 10 s, so the game says it again and again. */
void town_throttle(town* it, double level);

#endif
