/* Another connection in place of a lost one, and everything that was on it. */

#define LK_MAX_TURNS 1000

typedef struct lk_agent_state {
  struct lk_agent_state* next;
  char* given; /* The id that the caller has. */
  char* id;    /* The server's. */
  lk_document* fields;
  char* turns[LK_MAX_TURNS]; /* Each as JSON. */
  int turn_count;
  int64_t kept; /* Its number in a session that is kept; 0 for others. */
  bool is_resumed;
  unsigned made; /* Number of the connection on which it was made last. */
} lk_agent_state;

typedef struct lk_storage_state {
  struct lk_storage_state* next;
  lk_document* fields;
  unsigned made;
} lk_storage_state;

typedef struct lk_session_state {
  struct lk_session_state* next;
  char* given;
  char* id;
  char* resume; /* NULL: it is not kept. */
  lk_document* fields;
  lk_document* kept;   /* The reply that resumed it on this connection. */
  lk_document* broken; /* The Error that refused to make it again. */
  lk_storage_state* storages;
  lk_agent_state* agents;
  unsigned made;
} lk_session_state;

/* A request that waits for the next connection, or whose reply is waited for; or a turn, or a stream of audio. */
typedef struct lk_noted {
  struct lk_noted* next;
  lk_id id;
  lk_document* fields;
  char* turn;     /* Id of a turn. */
  int64_t stream; /* Number of a stream of audio. */
} lk_noted;

typedef struct lk_again {
  int attempts, min_ms, max_ms;
  int tried;
  int64_t retry_at;
  unsigned connections;
  bool is_replacing;
  lk_id lost_before; /* Requests with lower ids that were not answered are lost. */
  lk_id asked;       /* The client's own request that is under way; 0: none. */
  lk_session_state* asked_session;
  lk_storage_state* asked_storage;
  lk_agent_state* asked_agent;
  uint32_t random;
  lk_session_state* sessions;
  lk_noted* waiting;
  lk_noted* noted;
} lk_again;

static char* lk_copy(const char* text) {
  size_t size = text == NULL ? 0 : strlen(text) + 1;
  char* copy = size == 0 ? NULL : (char*)malloc(size);
  if (copy != NULL) memcpy(copy, text, size);
  return copy;
}

static void lk_replace(char** text, const char* by) {
  free(*text);
  *text = lk_copy(by);
}

static bool lk_same(const char* one, const char* other) {
  return one != NULL && other != NULL && strcmp(one, other) == 0;
}

static const char* lk_text_of(const lk_document* document, const char* key) {
  return lk_need_string(lk_root(document), key);
}

static bool lk_is_type(const lk_document* fields, const char* type) {
  return strcmp(lk_text_of(fields, "type"), type) == 0;
}

/* Appends to a list. */
#define LK_APPEND(list, item, type)            \
  do {                                         \
    type** lk_end = &(list);                   \
    while (*lk_end) lk_end = &(*lk_end)->next; \
    *lk_end = (item);                          \
  } while (0)

static struct lk_again* lk_again_new(const lk_options* options) {
  lk_again* again = (lk_again*)calloc(1, sizeof(lk_again));
  if (again == NULL) return NULL;
  again->attempts = options->reconnect_attempts == 0 ? 10 : options->reconnect_attempts;
  again->min_ms = options->reconnect_min_ms == 0 ? 100 : options->reconnect_min_ms;
  again->max_ms = options->reconnect_max_ms == 0 ? 5000 : options->reconnect_max_ms;
  /* Clients of one server differ in their addresses and clocks. */
  again->random = (uint32_t)(uintptr_t)again ^ (uint32_t)lk_now();
  return again;
}

static void lk_noted_free(lk_noted* noted) {
  lk_document_free(noted->fields);
  free(noted->turn);
  free(noted);
}

static void lk_noted_free_all(lk_noted** list) {
  while (*list != NULL) {
    lk_noted* noted = *list;
    *list = noted->next;
    lk_noted_free(noted);
  }
}

static void lk_agent_free(lk_agent_state* agent) {
  for (int i = 0; i < agent->turn_count; i++) free(agent->turns[i]);
  free(agent->given);
  free(agent->id);
  lk_document_free(agent->fields);
  free(agent);
}

static void lk_session_free(lk_session_state* session) {
  while (session->storages != NULL) {
    lk_storage_state* storage = session->storages;
    session->storages = storage->next;
    lk_document_free(storage->fields);
    free(storage);
  }
  while (session->agents != NULL) {
    lk_agent_state* agent = session->agents;
    session->agents = agent->next;
    lk_agent_free(agent);
  }
  free(session->given);
  free(session->id);
  free(session->resume);
  lk_document_free(session->fields);
  lk_document_free(session->kept);
  lk_document_free(session->broken);
  free(session);
}

static void lk_again_free(struct lk_again* again) {
  if (again == NULL) return;
  while (again->sessions != NULL) {
    lk_session_state* session = again->sessions;
    again->sessions = session->next;
    lk_session_free(session);
  }
  lk_noted_free_all(&again->waiting);
  lk_noted_free_all(&again->noted);
  free(again);
}

static lk_session_state* lk_session_of(const lk_again* again, const char* given) {
  lk_session_state* session = again->sessions;
  while (session != NULL && !lk_same(session->given, given)) session = session->next;
  return session;
}

static lk_agent_state* lk_agent_of(const lk_session_state* session, const char* given) {
  lk_agent_state* agent = session == NULL ? NULL : session->agents;
  while (agent != NULL && !lk_same(agent->given, given)) agent = agent->next;
  return agent;
}

static bool lk_again_holds(const lk_client* client) {
  return client->again != NULL && client->again->is_replacing;
}

static bool lk_again_is_lost(const lk_client* client, lk_id request) {
  return client->again != NULL && request != 0 && request < client->again->lost_before;
}

static int64_t lk_again_time(const lk_client* client) {
  return client->again->retry_at;
}

/* The connection is lost: plans the next attempt, unless there are no more. */
static void lk_again_lost(lk_client* client) {
  lk_again* again = client->again;
  if (again->connections == 0) return;
  again->asked = 0;
  if (!again->is_replacing) {
    lk_event event;
    memset(&event, 0, sizeof event);
    event.kind = LK_EVENT_RECONNECTING;
    event.error.name = "ConnectionLost";
    event.error.message = client->problem;
    event.error.remedy = "Ask again: what was under way may or may not have been served.";
    again->is_replacing = true;
    again->tried = 0;
    again->lost_before = client->next_id;
    lk_noted_free_all(&again->noted);
    lk_push_event(client, NULL, &event);
  }
  if (again->tried == again->attempts) return;
  double longest = again->min_ms;
  for (int i = 0; i < again->tried && longest < again->max_ms; i++) longest *= 2;
  if (longest > again->max_ms) longest = again->max_ms;
  again->random = again->random * 1664525u + 1013904223u;
  again->retry_at = lk_now() + (int64_t)(longest * (0.5 + (again->random >> 16) / 131072.0));
  again->tried++;
  client->state = LK_STATE_WAITING;
}

static void lk_again_retry(lk_client* client) {
  client->state = LK_STATE_CONNECTING;
  client->address = client->addresses;
  client->greeting_deadline = lk_now() + client->greeting_ms;
  lk_connect(client);
}

/* Writes a request of the caller's with the server's ids, and sends it. */
static bool lk_again_send(lk_client* client, lk_id id, const lk_document* fields) {
  lk_writer writer;
  memset(&writer, 0, sizeof writer);
  lk_session_state* session = lk_session_of(client->again, lk_text_of(fields, "session_id"));
  lk_open_object(&writer, NULL);
  for (lk_value field = lk_first(lk_root(fields)); lk_kind_of(field) != LK_ABSENT; field = lk_next(field)) {
    const char* key = lk_key(field);
    lk_agent_state* agent = strcmp(key, "agent_id") == 0 ? lk_agent_of(session, lk_as_string(field)) : NULL;
    if (strcmp(key, "id") == 0)
      lk_write_int64(&writer, key, (int64_t)id);
    else if (strcmp(key, "session_id") == 0 && session != NULL)
      lk_write_string(&writer, key, session->id);
    else if (agent != NULL)
      lk_write_string(&writer, key, agent->id);
    else
      lk_write_value(&writer, key, field);
  }
  lk_close_object(&writer);
  bool sent = !writer.failed && lk_enqueue(client, 1, writer.text, writer.length, NULL, 0);
  lk_writer_free(&writer);
  return sent;
}

/* Sends a request of the caller's, and notes it until its reply. */
static bool lk_again_post(lk_client* client, lk_noted* request) {
  lk_again* again = client->again;
  lk_session_state* session = lk_session_of(again, lk_text_of(request->fields, "session_id"));
  if (session != NULL && session->broken != NULL) {
    lk_event event;
    lk_describe(client, lk_root(session->broken), &event);
    event.request = request->id;
    event.frame = lk_root(NULL);
    lk_push_event(client, NULL, &event);
    lk_noted_free(request);
    return true;
  }
  bool sent = lk_again_send(client, request->id, request->fields);
  /* If the connection was lost meanwhile, the notes were freed with it. */
  if (sent && !again->is_replacing)
    LK_APPEND(again->noted, request, lk_noted);
  else
    lk_noted_free(request);
  return sent;
}

static lk_id lk_again_request(lk_client* client, const char* text, size_t length) {
  lk_again* again = client->again;
  lk_noted* request = (lk_noted*)calloc(1, sizeof(lk_noted));
  if (request != NULL) request->fields = lk_parse(text, length);
  if (request == NULL || request->fields == NULL) {
    free(request);
    snprintf(client->problem, sizeof client->problem, "there is no memory for a request of %zu bytes", length);
    return 0;
  }
  lk_id id = request->id = client->next_id++;
  if (again->is_replacing) {
    LK_APPEND(again->waiting, request, lk_noted);
    return id;
  }
  return lk_again_post(client, request) ? id : 0;
}

/* Sends a request of the client's own: `fields` without those in `without`. The caller adds to the writer first. */
static void lk_again_ask(lk_client* client, lk_writer* writer, const lk_document* fields, const char* without) {
  lk_again* again = client->again;
  again->asked = client->next_id++;
  lk_write_string(writer, "type", lk_text_of(fields, "type"));
  lk_write_int64(writer, "id", (int64_t)again->asked);
  for (lk_value field = lk_first(lk_root(fields)); lk_kind_of(field) != LK_ABSENT; field = lk_next(field)) {
    char marked[64];
    snprintf(marked, sizeof marked, " %s ", lk_key(field));
    if (strstr(without, marked) == NULL) lk_write_value(writer, lk_key(field), field);
  }
  lk_close_object(writer);
  if (writer->failed)
    lk_lose(client, "there is no memory to make a session again");
  else
    lk_enqueue(client, 1, writer->text, writer->length, NULL, 0);
  lk_writer_free(writer);
}

static void lk_ask_session(lk_client* client, lk_session_state* session) {
  lk_writer writer;
  memset(&writer, 0, sizeof writer);
  lk_open_object(&writer, NULL);
  if (session->resume != NULL) lk_write_string(&writer, "resume", session->resume);
  client->again->asked_session = session;
  client->again->asked_storage = NULL;
  client->again->asked_agent = NULL;
  lk_again_ask(client, &writer, session->fields,
               session->resume != NULL ? " type id keep resume " : " type id resume ");
}

static void lk_ask_storage(lk_client* client, lk_session_state* session, lk_storage_state* storage) {
  lk_writer writer;
  memset(&writer, 0, sizeof writer);
  lk_open_object(&writer, NULL);
  lk_write_string(&writer, "session_id", session->id);
  client->again->asked_storage = storage;
  lk_again_ask(client, &writer, storage->fields, " type id session_id ");
}

/* The id of a kept agent that was resumed; NULL if it could not be opened. `is_kept`: whether it is kept at all. */
static const char* lk_resumed(const lk_session_state* session, const lk_agent_state* agent, bool* is_kept) {
  *is_kept = false;
  lk_value kept = lk_first(lk_get(lk_root(session->kept), "agents"));
  for (; lk_kind_of(kept) != LK_ABSENT; kept = lk_next(kept)) {
    if (agent->kept == 0 || lk_need_int(kept, "kept") != agent->kept) continue;
    *is_kept = true;
    return lk_take_string(kept, "agent_id");
  }
  return NULL;
}

static void lk_ask_agent(lk_client* client, lk_session_state* session, lk_agent_state* agent, bool is_kept) {
  lk_writer writer;
  memset(&writer, 0, sizeof writer);
  lk_open_object(&writer, NULL);
  lk_write_string(&writer, "session_id", session->id);
  if (is_kept) {
    lk_write_int64(&writer, "kept", agent->kept);
  } else if (agent->turn_count > 0) {
    lk_open_object(&writer, "history");
    lk_write_int64(&writer, "version", 1);
    lk_open_array(&writer, "turns");
    for (int i = 0; i < agent->turn_count; i++) lk_write_raw(&writer, NULL, agent->turns[i]);
    lk_close_array(&writer);
    lk_close_object(&writer);
  }
  client->again->asked_agent = agent;
  lk_again_ask(client, &writer, agent->fields, " type id session_id kept history ");
}

static void lk_break(lk_session_state* session, lk_document* error) {
  lk_document_free(session->broken);
  session->broken = error;
}

/* Asks for the next thing that is not yet made on this connection; goes on with the requests that wait after the last.
 */
static void lk_again_step(lk_client* client) {
  lk_again* again = client->again;
  for (lk_session_state* session = again->sessions; session != NULL; session = session->next) {
    if (session->broken != NULL) continue;
    if (session->made != again->connections) {
      lk_ask_session(client, session);
      return;
    }
    again->asked_session = session;
    for (lk_storage_state* storage = session->storages; storage != NULL; storage = storage->next) {
      if (storage->made == again->connections) continue;
      lk_ask_storage(client, session, storage);
      return;
    }
    again->asked_storage = NULL;
    for (lk_agent_state* agent = session->agents; agent != NULL; agent = agent->next) {
      bool is_kept;
      if (agent->made == again->connections) continue;
      const char* resumed = lk_resumed(session, agent, &is_kept);
      agent->made = again->connections;
      if (resumed != NULL) {
        lk_replace(&agent->id, resumed);
      } else if (agent->is_resumed) {
        static const char error[] =
            "{\"type\":\"Error\",\"reply_to\":1,\"code\":2015,\"name\":\"KeptSessionNotFound\",\"message\":\"an agent "
            "that was "
            "resumed could not be opened again\",\"details\":{}}";
        lk_break(session, lk_parse(error, sizeof error - 1));
        break;
      } else {
        lk_ask_agent(client, session, agent, is_kept);
        return;
      }
    }
    again->asked_agent = NULL;
  }
  again->is_replacing = false;
  lk_event event;
  memset(&event, 0, sizeof event);
  event.kind = LK_EVENT_CONNECTED;
  lk_push_event(client, NULL, &event);
  while (again->waiting != NULL && !again->is_replacing) {
    lk_noted* request = again->waiting;
    again->waiting = request->next;
    request->next = NULL;
    lk_again_post(client, request);
  }
}

/* Called when a server has greeted. Returns false for the first connection, which the caller reports. */
static bool lk_again_greeted(lk_client* client) {
  client->again->connections++;
  if (!client->again->is_replacing) return false;
  lk_again_step(client);
  return true;
}

/* The reply to a request of the client's own. */
static void lk_again_made(lk_client* client, lk_document* document, const lk_event* event) {
  lk_again* again = client->again;
  lk_session_state* session = again->asked_session;
  again->asked = 0;
  if (event->kind == LK_EVENT_ERROR) {
    int code = event->error.code;
    if (code == LK_ERROR_SERVER_SHUTTING_DOWN || code == LK_ERROR_TOO_MANY_WRONG_TOKENS ||
        code == LK_ERROR_SESSION_NOT_KEPT || code == LK_ERROR_OUT_OF_MEMORY ||
        code == LK_ERROR_SERVER_MEMORY_EXCEEDED) {
      lk_lose(client, event->error.message);
      lk_document_free(document);
      return;
    }
    if (code == LK_ERROR_KEPT_SESSION_NOT_FOUND && session->resume != NULL && session->made != again->connections) {
      lk_replace(&session->resume, NULL);
      lk_document_free(document);
    } else {
      lk_break(session, document);
    }
    lk_again_step(client);
    return;
  }
  if (again->asked_agent != NULL) {
    lk_replace(&again->asked_agent->id, lk_text_of(document, "agent_id"));
    again->asked_agent->kept = lk_need_int(lk_root(document), "kept");
  } else if (again->asked_storage != NULL) {
    again->asked_storage->made = again->connections;
  } else {
    session->made = again->connections;
    lk_replace(&session->id, lk_text_of(document, "session_id"));
    lk_replace(&session->resume, lk_take_string(lk_root(document), "resume"));
    lk_document_free(session->kept);
    session->kept = document;
    document = NULL;
  }
  lk_document_free(document);
  lk_again_step(client);
}

/* Replaces the id in a frame. A server may count from 1 again, so the ids of a later connection are made different from
 * those of the first. */
static const char* lk_own_id(const lk_client* client, lk_document* document, lk_value id) {
  char own[160];
  if (client->again->connections < 2) return lk_as_string(id);
  int length = snprintf(own, sizeof own, "%s~%u", lk_as_string(id), client->again->connections);
  char* text = (char*)realloc(document->text, document->length + (size_t)length + 1);
  if (text == NULL) return lk_as_string(id);
  document->text = text;
  memcpy(text + document->length, own, (size_t)length + 1);
  document->nodes[id.node].start = document->length;
  document->nodes[id.node].length = (uint32_t)length;
  document->length += (uint32_t)length + 1;
  return lk_as_string(id);
}

/* The secret of a memory that the agent has made; "" without one. */
static const char* lk_secret_of(lk_value memories, const char* node) {
  for (lk_value memory = lk_first(memories); lk_kind_of(memory) != LK_ABSENT; memory = lk_next(memory))
    if (strcmp(lk_need_string(memory, "node"), node) == 0) return lk_need_string(memory, "secret");
  return "";
}

/* Writes the members of an object but one. */
static void lk_write_members(lk_writer* writer, lk_value object, const char* without) {
  for (lk_value item = lk_first(object); lk_kind_of(item) != LK_ABSENT; item = lk_next(item))
    if (strcmp(lk_key(item), without) != 0) lk_write_value(writer, lk_key(item), item);
}

/* The request that opens the memories which it has made. Frees `fields`, unless it is the result. */
static lk_document* lk_with_secrets(lk_document* fields, lk_value memories) {
  if (lk_count(memories) == 0) return fields;
  lk_writer writer;
  memset(&writer, 0, sizeof writer);
  lk_value graph = lk_get(lk_root(fields), "graph");
  lk_open_object(&writer, NULL);
  lk_write_members(&writer, lk_root(fields), "graph");
  lk_open_object(&writer, "graph");
  lk_write_members(&writer, graph, "nodes");
  lk_open_array(&writer, "nodes");
  for (lk_value node = lk_first(lk_get(graph, "nodes")); lk_kind_of(node) != LK_ABSENT; node = lk_next(node)) {
    const char* secret = lk_secret_of(memories, lk_need_string(node, "id"));
    lk_open_object(&writer, NULL);
    lk_write_members(&writer, node, "params");
    lk_open_object(&writer, "params");
    lk_write_members(&writer, lk_get(node, "params"), secret[0] == '\0' ? "" : "secret");
    if (secret[0] != '\0') lk_write_string(&writer, "secret", secret);
    lk_close_object(&writer);
    lk_close_object(&writer);
  }
  lk_close_array(&writer);
  lk_close_object(&writer);
  lk_close_object(&writer);
  lk_document* made = writer.failed ? NULL : lk_parse(writer.text, writer.length);
  lk_writer_free(&writer);
  lk_document_free(fields);
  return made;
}

static void lk_add_turn(lk_agent_state* agent, char* turn) {
  if (turn == NULL) return;
  if (agent->turn_count == LK_MAX_TURNS) {
    free(agent->turns[0]);
    memmove(agent->turns, agent->turns + 1, (LK_MAX_TURNS - 1) * sizeof(char*));
    agent->turn_count--;
  }
  agent->turns[agent->turn_count++] = turn;
}

/* Replaces the turns of an agent by those of a history. */
static void lk_set_turns(lk_agent_state* agent, lk_value history) {
  while (agent->turn_count > 0) free(agent->turns[--agent->turn_count]);
  for (lk_value turn = lk_first(lk_get(history, "turns")); lk_kind_of(turn) != LK_ABSENT; turn = lk_next(turn)) {
    lk_writer writer;
    memset(&writer, 0, sizeof writer);
    lk_write_value(&writer, NULL, turn);
    lk_add_turn(agent, writer.text);
  }
}

/* Notes an agent of a session, and gives it an id that stays valid. Takes `fields`, which is NULL for one that was
 * resumed. */
static void lk_note_agent(lk_client* client, lk_session_state* session, lk_document* reply, lk_value made,
                          lk_document* fields) {
  lk_agent_state* agent = (lk_agent_state*)calloc(1, sizeof(lk_agent_state));
  if (agent == NULL) {
    lk_document_free(fields);
    return;
  }
  agent->id = lk_copy(lk_need_string(made, "agent_id"));
  agent->given = lk_copy(lk_own_id(client, reply, lk_get(made, "agent_id")));
  agent->kept = lk_need_int(made, "kept");
  agent->made = client->again->connections;
  agent->is_resumed = fields == NULL;
  lk_set_turns(agent, lk_get(lk_root(fields), "history"));
  agent->fields = lk_with_secrets(fields, lk_get(made, "memories"));
  LK_APPEND(session->agents, agent, lk_agent_state);
}

static void lk_note_session(lk_client* client, lk_document* reply, lk_document* fields) {
  lk_session_state* session = (lk_session_state*)calloc(1, sizeof(lk_session_state));
  if (session == NULL) {
    lk_document_free(fields);
    return;
  }
  session->id = lk_copy(lk_text_of(reply, "session_id"));
  session->given = lk_copy(lk_own_id(client, reply, lk_get(lk_root(reply), "session_id")));
  session->resume = lk_copy(lk_take_string(lk_root(reply), "resume"));
  session->fields = fields;
  session->made = client->again->connections;
  lk_value agent = lk_first(lk_get(lk_root(reply), "agents"));
  for (; lk_kind_of(agent) != LK_ABSENT; agent = lk_next(agent))
    if (lk_kind_of(lk_get(agent, "agent_id")) == LK_STRING) lk_note_agent(client, session, reply, agent, NULL);
  LK_APPEND(client->again->sessions, session, lk_session_state);
}

/* Whether an array has this string, or an object with this id. */
static bool lk_names(lk_value array, const char* id) {
  for (lk_value item = lk_first(array); lk_kind_of(item) != LK_ABSENT; item = lk_next(item))
    if (strcmp(lk_kind_of(item) == LK_STRING ? lk_as_string(item) : lk_need_string(item, "id"), id) == 0) return true;
  return false;
}

/* The fields that make a storage as an update, or a forgetting, has left it. */
static lk_document* lk_changed(const lk_document* storage, lk_value change) {
  static const char* const all[] = {"remove", "ids", "add", "replace"};
  lk_writer writer;
  memset(&writer, 0, sizeof writer);
  lk_open_object(&writer, NULL);
  for (lk_value field = lk_first(lk_root(storage)); lk_kind_of(field) != LK_ABSENT; field = lk_next(field))
    if (strcmp(lk_key(field), "strings") != 0 && strcmp(lk_key(field), "records") != 0)
      lk_write_value(&writer, lk_key(field), field);
  lk_open_array(&writer, "records");
  for (int from = 0; from < 2; from++) {
    char number[16];
    int index = 0;
    lk_value item = lk_first(lk_get(lk_root(storage), from == 0 ? "strings" : "records"));
    for (; lk_kind_of(item) != LK_ABSENT; item = lk_next(item)) {
      snprintf(number, sizeof number, "%d", index++);
      const char* id = from == 0 ? number : lk_need_string(item, "id");
      bool is_gone = false;
      for (int i = 0; i < 4; i++) is_gone = is_gone || lk_names(lk_get(change, all[i]), id);
      if (is_gone) continue;
      if (from == 1) {
        lk_write_value(&writer, NULL, item);
        continue;
      }
      lk_open_object(&writer, NULL);
      lk_write_string(&writer, "id", id);
      lk_write_value(&writer, "text", item);
      lk_close_object(&writer);
    }
  }
  for (int i = 2; i < 4; i++) {
    lk_value record = lk_first(lk_get(change, all[i]));
    for (; lk_kind_of(record) != LK_ABSENT; record = lk_next(record)) lk_write_value(&writer, NULL, record);
  }
  lk_close_array(&writer);
  lk_close_object(&writer);
  lk_document* changed = writer.failed ? NULL : lk_parse(writer.text, writer.length);
  lk_writer_free(&writer);
  return changed;
}

static void lk_note_change(lk_session_state* session, const lk_document* fields) {
  lk_storage_state** at = &session->storages;
  while (*at != NULL && strcmp(lk_text_of((*at)->fields, "name"), lk_text_of(fields, "name")) != 0) at = &(*at)->next;
  lk_storage_state* storage = *at;
  if (storage == NULL) return;
  if (lk_is_type(fields, "DestroyEmbeddedStringStorageRequest")) {
    *at = storage->next;
    lk_document_free(storage->fields);
    free(storage);
  } else if (lk_kind_of(lk_get(lk_root(storage->fields), "config_path")) == LK_ABSENT) {
    lk_document* changed = lk_changed(storage->fields, lk_root(fields));
    if (changed == NULL) return;
    lk_document_free(storage->fields);
    storage->fields = changed;
  }
}

static void lk_note_destroyed(lk_again* again, lk_session_state* session, const lk_document* fields) {
  if (lk_is_type(fields, "DestroySessionRequest")) {
    lk_session_state** at = &again->sessions;
    while (*at != session) at = &(*at)->next;
    *at = session->next;
    lk_session_free(session);
    return;
  }
  lk_agent_state** at = &session->agents;
  while (*at != NULL && !lk_same((*at)->given, lk_text_of(fields, "agent_id"))) at = &(*at)->next;
  lk_agent_state* agent = *at;
  if (agent == NULL) return;
  *at = agent->next;
  lk_agent_free(agent);
}

/* Remembers the effect of a request that was served. Takes `fields`. */
static void lk_note_reply(lk_client* client, lk_document* reply, lk_document* fields) {
  lk_session_state* session = lk_session_of(client->again, lk_text_of(fields, "session_id"));
  if (lk_is_type(fields, "CreateSessionRequest")) {
    lk_note_session(client, reply, fields);
    return;
  }
  if (session != NULL && lk_is_type(fields, "CreateAgentRequest")) {
    lk_note_agent(client, session, reply, lk_root(reply), fields);
    return;
  }
  if (session != NULL && lk_is_type(fields, "CreateEmbeddedStringStorageRequest")) {
    lk_storage_state* storage = (lk_storage_state*)calloc(1, sizeof(lk_storage_state));
    if (storage != NULL) {
      storage->fields = fields;
      storage->made = client->again->connections;
      LK_APPEND(session->storages, storage, lk_storage_state);
      return;
    }
  }
  if (session != NULL && (lk_is_type(fields, "UpdateEmbeddedStringStorageRequest") ||
                          lk_is_type(fields, "ForgetEmbeddedStringStorageRequest") ||
                          lk_is_type(fields, "DestroyEmbeddedStringStorageRequest")))
    lk_note_change(session, fields);
  /* Turns that were removed from histories must not come back. Without an export, all of them are left out. */
  if (session != NULL && lk_as_bool(lk_get(lk_root(fields), "histories")))
    for (lk_agent_state* agent = session->agents; agent != NULL; agent = agent->next)
      lk_set_turns(agent, lk_root(NULL));
  if (session != NULL && lk_is_type(fields, "ExportAgentRequest")) {
    lk_agent_state* agent = lk_agent_of(session, lk_text_of(fields, "agent_id"));
    if (agent != NULL) lk_set_turns(agent, lk_get(lk_root(reply), "history"));
  }
  if (session != NULL && (lk_is_type(fields, "DestroySessionRequest") || lk_is_type(fields, "DestroyAgentRequest")))
    lk_note_destroyed(client->again, session, fields);
  lk_document_free(fields);
}

/* Remembers a turn that has ended, as the server does. */
static void lk_note_turn(lk_again* again, const lk_noted* turn, lk_value complete) {
  lk_value asked = lk_root(turn->fields);
  lk_agent_state* agent =
      lk_agent_of(lk_session_of(again, lk_need_string(asked, "session_id")), lk_need_string(asked, "agent_id"));
  const char* status = lk_need_string(complete, "status");
  bool is_empty = lk_length(lk_get(complete, "text")) == 0;
  if (agent == NULL || strcmp(status, "failed") == 0 || (strcmp(status, "cancelled") == 0 && is_empty) ||
      lk_as_bool(lk_get(asked, "dry_run")))
    return;
  lk_writer writer;
  memset(&writer, 0, sizeof writer);
  lk_open_object(&writer, NULL);
  lk_write_value(&writer, "text", lk_get(asked, "text"));
  lk_write_value(&writer, "reply", lk_get(complete, "text"));
  lk_value action = lk_get(complete, "action");
  if (lk_kind_of(action) == LK_OBJECT) {
    lk_open_object(&writer, "action");
    lk_write_value(&writer, "name", lk_get(action, "name"));
    lk_write_value(&writer, "arguments", lk_get(action, "arguments"));
    lk_close_object(&writer);
  }
  lk_value result = lk_get(asked, "action_result");
  if (lk_kind_of(result) != LK_ABSENT) lk_write_value(&writer, "action_result", result);
  lk_close_object(&writer);
  if (writer.failed)
    lk_writer_free(&writer);
  else
    lk_add_turn(agent, writer.text);
}

/* A turn that was spoken on a stream. */
static void lk_note_spoken(lk_again* again, const lk_noted* stream, lk_value started) {
  lk_noted* turn = (lk_noted*)calloc(1, sizeof(lk_noted));
  lk_writer writer;
  memset(&writer, 0, sizeof writer);
  lk_open_object(&writer, NULL);
  lk_write_value(&writer, "session_id", lk_get(lk_root(stream->fields), "session_id"));
  lk_write_value(&writer, "agent_id", lk_get(lk_root(stream->fields), "agent_id"));
  lk_write_value(&writer, "text", lk_get(started, "text"));
  lk_close_object(&writer);
  if (turn != NULL) turn->fields = writer.failed ? NULL : lk_parse(writer.text, writer.length);
  lk_writer_free(&writer);
  if (turn == NULL || turn->fields == NULL) {
    free(turn);
    return;
  }
  turn->turn = lk_copy(lk_need_string(started, "turn_id"));
  LK_APPEND(again->noted, turn, lk_noted);
}

/* Hears every frame. True: it was the reply to a request of the client's own, and is freed here or kept. */
static bool lk_again_hear(lk_client* client, lk_document* document, lk_event* event) {
  lk_again* again = client->again;
  if (event->request != 0 && event->request == again->asked) {
    lk_again_made(client, document, event);
    return true;
  }
  int64_t stream = lk_need_int(event->frame, "stream");
  const char* turn = lk_need_string(event->frame, "turn_id");
  lk_noted** at = &again->noted;
  for (; *at != NULL; at = &(*at)->next) {
    lk_noted* noted = *at;
    bool is_reply = noted->turn == NULL && noted->stream == 0 && noted->id == event->request;
    if (event->type == LK_FRAME_TURN_STARTED && noted->stream != 0 && noted->stream == stream) {
      lk_note_spoken(again, noted, event->frame);
      return false;
    }
    if (!is_reply && !(event->type == LK_FRAME_TURN_COMPLETE && lk_same(noted->turn, turn)) &&
        !(event->type == LK_FRAME_SPEECH_CLOSED && noted->stream != 0 && noted->stream == stream))
      continue;
    if (is_reply && event->type == LK_FRAME_TURN_STARTED) {
      noted->turn = lk_copy(turn);
      return false;
    }
    if (is_reply && event->type == LK_FRAME_OPEN_SPEECH_RESPONSE) {
      noted->stream = stream;
      return false;
    }
    *at = noted->next;
    if (event->type == LK_FRAME_TURN_COMPLETE) lk_note_turn(again, noted, event->frame);
    if (is_reply && event->kind == LK_EVENT_REPLY) {
      lk_note_reply(client, document, noted->fields);
      noted->fields = NULL;
    }
    lk_noted_free(noted);
    return false;
  }
  return false;
}
