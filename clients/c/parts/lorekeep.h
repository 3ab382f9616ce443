#ifndef LOREKEEP_H
#define LOREKEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Values of frames. They are valid until the next lk_poll(), lk_wait() or lk_close() of their client. */

typedef struct lk_document lk_document;

typedef struct lk_value {
  const lk_document* document;
  uint32_t node;
} lk_value;

typedef enum lk_kind { LK_ABSENT, LK_NULL, LK_BOOL, LK_NUMBER, LK_STRING, LK_ARRAY, LK_OBJECT } lk_kind;

lk_kind lk_kind_of(lk_value value);
/* The first member of an object with this key; LK_ABSENT without one, as everything that is asked of an absent value.
 */
lk_value lk_get(lk_value object, const char* key);
/* Members of an object, or items of an array. */
size_t lk_count(lk_value container);
lk_value lk_first(lk_value container);
/* The member or item after this one. */
lk_value lk_next(lk_value item);
/* The key of a member of an object; "" for others. */
const char* lk_key(lk_value member);
/* UTF-8, ends with a NUL; "" for what is no string. */
const char* lk_as_string(lk_value value);
/* Bytes of a string, which may contain NULs. */
size_t lk_length(lk_value string);
/* False, and nothing is written, unless the value is an integer of 64 bits. Exact. */
bool lk_as_int64(lk_value value, int64_t* integer);
/* 0 for what is no number. */
double lk_as_double(lk_value value);
bool lk_as_bool(lk_value value);

/* Parses JSON (RFC 8259) of at most 2^30 bytes. NULL: it is none, is nested deeper than 128, or there is no memory. */
lk_document* lk_parse(const char* text, size_t length);
lk_value lk_root(const lk_document* document);
void lk_document_free(lk_document* document);

/* Writes JSON for the fields of requests. Begin with a zeroed lk_writer. `key` is NULL in arrays and at the top. */

typedef struct lk_writer {
  char* text; /* Ends with a NUL; NULL while empty. */
  size_t length;
  size_t capacity;
  bool needs_comma;
  /* No memory, a number that JSON lacks, or a text that is not UTF-8 or not JSON. The text is then useless. */
  bool failed;
} lk_writer;

void lk_open_object(lk_writer* writer, const char* key);
void lk_close_object(lk_writer* writer);
void lk_open_array(lk_writer* writer, const char* key);
void lk_close_array(lk_writer* writer);
void lk_write_string(lk_writer* writer, const char* key, const char* utf8);
void lk_write_bytes(lk_writer* writer, const char* key, const char* utf8, size_t length);
void lk_write_int64(lk_writer* writer, const char* key, int64_t integer);
void lk_write_double(lk_writer* writer, const char* key, double number);
void lk_write_bool(lk_writer* writer, const char* key, bool flag);
void lk_write_null(lk_writer* writer, const char* key);
/* A value of a frame, such as the `history` of an ExportAgentResponse for the history_json of another agent. */
void lk_write_value(lk_writer* writer, const char* key, lk_value value);
/* A text that is JSON already. */
void lk_write_json(lk_writer* writer, const char* key, const char* json);
void lk_writer_free(lk_writer* writer);

/* Optional fields of requests and frames. Zeroed ones are absent. */

typedef struct lk_opt_int {
  bool set;
  int64_t value;
} lk_opt_int;

typedef struct lk_opt_double {
  bool set;
  double value;
} lk_opt_double;

typedef struct lk_opt_bool {
  bool set;
  bool value;
} lk_opt_bool;

/* Absent without `items`. */
typedef struct lk_strings {
  const char* const* items;
  size_t count;
} lk_strings;

lk_opt_int lk_int(int64_t value);
lk_opt_double lk_double(double value);
lk_opt_bool lk_bool(bool value);

/* The client. One thread at a time may use it. No call blocks but lk_open() of a host's name, and those with a time. */

typedef struct lk_client lk_client;
typedef uint64_t lk_id;

/* Zeroed fields take the defaults. */
typedef struct lk_options {
  const char* access_token;
  size_t max_frame_bytes; /* A server that sends longer frames is left. Default: 64 MiB. */
  int greeting_ms;        /* For the connection and the greeting. Default: 10,000. */
  int stall_ms;           /* Between two parts of a frame. Default: 30,000. */
  /*
   * Replaces a lost connection and makes its sessions, storages and agents again: the ids that you hold stay valid.
   * LK_EVENT_RECONNECTING says that requests under way are lost. New requests wait.
   */
  bool reconnect;
  int reconnect_attempts; /* Default: 10. */
  int reconnect_min_ms;   /* Before the first attempt; it doubles, minus up to half at random. Default: 100. */
  int reconnect_max_ms;   /* Default: 5,000. */
} lk_options;

typedef enum lk_event_kind {
  LK_EVENT_NONE,
  LK_EVENT_CONNECTED,    /* `frame` is the server's Hello; absent after LK_EVENT_RECONNECTING, when everything is made
                            again. */
  LK_EVENT_REPLY,        /* `frame` answers `request`. */
  LK_EVENT_ERROR,        /* The server refused `request`, or with 0 audio of a stream that never was: `error`. */
  LK_EVENT_FRAME,        /* An event of a turn, a stream of audio or a download. */
  LK_EVENT_RECONNECTING, /* With `reconnect`: requests, turns and streams under way are lost: `error.message`. */
  LK_EVENT_LOST          /* The connection is gone: `error.message`. It never comes back; open another client. lk_poll()
                            gives it once, and is false from then on, with this event. */
} lk_event_kind;

typedef struct lk_error {
  int code; /* lk_error_code, or one of a newer server; 0 for LK_EVENT_LOST. */
  const char* name;
  const char* message;
  const char* remedy; /* How to mend it; "" for an unknown code. */
  lk_value details;
} lk_error;

/* Types of frames from the server. */
typedef int lk_frame_type;

typedef struct lk_event {
  lk_event_kind kind;
  lk_id request;      /* 0 if it answers none. */
  lk_frame_type type; /* LK_FRAME_TURN_TEXT and others; 0 for a type of a newer server. */
  lk_value frame;
  lk_error error;
} lk_event;

/* Begins to connect. NULL only without memory: lk_poll() tells the rest. Requests may be made at once. */
lk_client* lk_open(const char* host, int port, const lk_options* options);
/* Ends the connection, and with it its sessions. NULL is fine. */
void lk_close(lk_client* client);

/*
 * Sends and receives, and gives the next event. Waits for one for at most `timeout_ms`; 0 never blocks, and suits a
 * loop that calls it each frame until it is false; -1 waits for ever. False: none came.
 */
bool lk_poll(lk_client* client, int timeout_ms, lk_event* event);
/* Waits for the reply to this request, or for the loss of the connection. Other events wait for lk_poll(). */
bool lk_wait(lk_client* client, lk_id request, int timeout_ms, lk_event* event);

/* Why the last request was not made (its id is 0), or the connection was lost; "" if neither. */
const char* lk_problem(const lk_client* client);

/* Sends samples of a stream of audio, within its credit. `sequence`: 0, then 1 more for each. False: see lk_problem().
 */
bool lk_send_audio(lk_client* client, uint32_t stream, uint32_t sequence, const void* samples, size_t bytes);

/* A server in a process of its own, which ends with this process, however it ends. Nothing restarts it. */

typedef struct lk_server lk_server;

/*
 * Starts it and waits until it listens, at most `timeout_ms`. `program`: that of lorekeep, such as a node and the path
 * of dist/src/cli/lorekeep.cjs; `flags`: those of `serve`, such as "--config", or NULL. Both end with NULL. The result
 * is NULL if it did not start: `problem` says why, and the log of the server is on this program's stderr.
 */
lk_server* lk_server_start(const char* const* program, const char* const* flags, int timeout_ms, char* problem,
                           size_t problem_size);
int lk_server_port(const lk_server* server);
/* The secret of this server, for lk_options; NULL if its config names an access_token_file. */
const char* lk_server_access_token(const lk_server* server);
bool lk_server_is_running(lk_server* server);
/* Ends it as SIGTERM does (on Windows, at once), waits for its end, and returns its exit status. NULL is fine. */
int lk_server_stop(lk_server* server);

/* FRAMES */

#ifdef __cplusplus
}
#endif

#endif
