/* The client. */

#define LK_HEADER 5
#define LK_PROTOCOL_NAME "lorekeep"
#define LK_READ_BYTES 65536

typedef struct lk_buffer {
  char* bytes;
  size_t begin; /* Bytes before it are used up. */
  size_t end;
  size_t capacity;
} lk_buffer;

typedef struct lk_queued {
  struct lk_queued* next;
  lk_document* document;
  lk_event event;
} lk_queued;

/* LK_STATE_WAITING: the next attempt to reconnect has its time. */
typedef enum lk_state {
  LK_STATE_CONNECTING,
  LK_STATE_GREETING,
  LK_STATE_OPEN,
  LK_STATE_WAITING,
  LK_STATE_LOST
} lk_state;

struct lk_client {
  lk_state state;
  bool has_told_loss; /* By lk_poll(). */
  lk_socket handle;
  struct addrinfo* addresses;
  const struct addrinfo* address; /* The one that is being tried. */
  char* access_token;
  size_t max_frame_bytes;
  int stall_ms;
  int greeting_ms;
  int64_t greeting_deadline;
  int64_t last_bytes; /* When bytes came last. */
  lk_id next_id;
  lk_buffer in;
  lk_buffer out;
  lk_queued* first;
  lk_queued* last;
  lk_document* shown; /* Of the event that was given last. */
  char problem[256];
  struct lk_again* again; /* NULL: a lost connection is not replaced. */
};

/* What part 5 does for clients that reconnect. */
static struct lk_again* lk_again_new(const lk_options* options);
static void lk_again_free(struct lk_again* again);
static void lk_again_lost(lk_client* client);
static void lk_again_retry(lk_client* client);
static int64_t lk_again_time(const lk_client* client);
static bool lk_again_greeted(lk_client* client);
static bool lk_again_hear(lk_client* client, lk_document* document, lk_event* event);
static bool lk_again_is_lost(const lk_client* client, lk_id request);
static bool lk_again_holds(const lk_client* client);
static lk_id lk_again_request(lk_client* client, const char* text, size_t length);

/* Room for `more` bytes behind the end. */
static bool lk_reserve(lk_buffer* buffer, size_t more) {
  if (buffer->capacity - buffer->end >= more) return true;
  if (buffer->begin > 0) {
    memmove(buffer->bytes, buffer->bytes + buffer->begin, buffer->end - buffer->begin);
    buffer->end -= buffer->begin;
    buffer->begin = 0;
  }
  size_t capacity = buffer->capacity < LK_READ_BYTES ? LK_READ_BYTES : buffer->capacity;
  while (capacity - buffer->end < more && capacity < 4 * LK_MAX_BYTES) capacity *= 2;
  if (capacity == buffer->capacity) return buffer->capacity - buffer->end >= more;
  char* bytes = capacity - buffer->end < more ? NULL : (char*)realloc(buffer->bytes, capacity);
  if (bytes == NULL) return false;
  buffer->bytes = bytes;
  buffer->capacity = capacity;
  return true;
}

static void lk_lose(lk_client* client, const char* reason) {
  if (client->state == LK_STATE_LOST) return;
  client->state = LK_STATE_LOST;
  snprintf(client->problem, sizeof client->problem, "%s", reason);
  if (client->handle != LK_NO_SOCKET) lk_socket_close(client->handle);
  client->handle = LK_NO_SOCKET;
  free(client->in.bytes);
  free(client->out.bytes);
  memset(&client->in, 0, sizeof client->in);
  memset(&client->out, 0, sizeof client->out);
  if (client->again != NULL) lk_again_lost(client);
}

/* Tries the next address of the host. */
static void lk_connect(lk_client* client) {
  if (client->handle != LK_NO_SOCKET) lk_socket_close(client->handle);
  client->handle = LK_NO_SOCKET;
  while (client->handle == LK_NO_SOCKET && client->address != NULL) {
    client->handle = lk_socket_connect(client->address);
    client->address = client->address->ai_next;
  }
  if (client->handle == LK_NO_SOCKET) lk_lose(client, "nothing answers at this host and port");
}

lk_client* lk_open(const char* host, int port, const lk_options* options) {
  lk_options defaults;
  memset(&defaults, 0, sizeof defaults);
  if (options == NULL) options = &defaults;
  lk_client* client = (lk_client*)calloc(1, sizeof(lk_client));
  if (client == NULL) return NULL;
  client->handle = LK_NO_SOCKET;
  client->next_id = 1;
  client->max_frame_bytes = options->max_frame_bytes == 0 ? (size_t)64 << 20 : options->max_frame_bytes;
  if (client->max_frame_bytes > LK_MAX_BYTES) client->max_frame_bytes = LK_MAX_BYTES;
  client->stall_ms = options->stall_ms == 0 ? 30000 : options->stall_ms;
  client->greeting_ms = options->greeting_ms == 0 ? 10000 : options->greeting_ms;
  client->greeting_deadline = lk_now() + client->greeting_ms;
  if (options->reconnect) client->again = lk_again_new(options);
  if (options->access_token != NULL) {
    size_t size = strlen(options->access_token) + 1;
    client->access_token = (char*)malloc(size);
    if (client->access_token != NULL) memcpy(client->access_token, options->access_token, size);
  }
  struct addrinfo hints;
  memset(&hints, 0, sizeof hints);
  hints.ai_socktype = SOCK_STREAM;
  char service[16];
  snprintf(service, sizeof service, "%d", port);
  if (!lk_sockets_ready() || getaddrinfo(host, service, &hints, &client->addresses) != 0) {
    lk_lose(client, "the host has no address");
  } else {
    client->address = client->addresses;
    lk_connect(client);
  }
  return client;
}

void lk_close(lk_client* client) {
  if (client == NULL) return;
  lk_again_free(client->again);
  client->again = NULL;
  if (client->state == LK_STATE_WAITING) client->state = LK_STATE_LOST;
  lk_lose(client, "the connection was closed");
  while (client->first != NULL) {
    lk_queued* queued = client->first;
    client->first = queued->next;
    lk_document_free(queued->document);
    free(queued);
  }
  lk_document_free(client->shown);
  if (client->addresses != NULL) freeaddrinfo(client->addresses);
  free(client->access_token);
  free(client);
  lk_sockets_done();
}

const char* lk_problem(const lk_client* client) {
  return client->problem;
}

/* Sends what it can without waiting. Nothing is sent before the greeting: the other end may be no lorekeep server. */
static void lk_flush(lk_client* client) {
  lk_buffer* out = &client->out;
  while (client->state == LK_STATE_OPEN && out->begin < out->end) {
    size_t most = out->end - out->begin < ((size_t)1 << 24) ? out->end - out->begin : (size_t)1 << 24;
    int64_t sent = (int64_t)send(client->handle, out->bytes + out->begin, (int)most, LK_SEND_FLAGS);
    if (sent < 0) {
      if (!lk_would_block()) lk_lose(client, "the connection failed while a request was sent");
      return;
    }
    out->begin += (size_t)sent;
  }
  if (out->begin == out->end) out->begin = out->end = 0;
}

static bool lk_enqueue(lk_client* client, uint8_t kind, const void* first, size_t first_length, const void* second,
                       size_t second_length) {
  if (client->state == LK_STATE_LOST || client->state == LK_STATE_WAITING) return false;
  size_t length = first_length + second_length;
  if (length > LK_MAX_BYTES || !lk_reserve(&client->out, LK_HEADER + length)) {
    snprintf(client->problem, sizeof client->problem, "there is no memory for a request of %zu bytes", length);
    return false;
  }
  char header[LK_HEADER] = {(char)kind, (char)(length >> 24), (char)(length >> 16), (char)(length >> 8), (char)length};
  char* to = client->out.bytes + client->out.end;
  memcpy(to, header, LK_HEADER);
  memcpy(to + LK_HEADER, first, first_length);
  if (second_length > 0) memcpy(to + LK_HEADER + first_length, second, second_length);
  client->out.end += LK_HEADER + length;
  client->problem[0] = '\0';
  lk_flush(client);
  return client->state != LK_STATE_LOST && client->state != LK_STATE_WAITING;
}

/* Begins a request; lk_finish_request() sends it. */
static void lk_begin_request(lk_client* client, lk_writer* writer, const char* type, const char* session_id) {
  lk_open_object(writer, NULL);
  lk_write_string(writer, "type", type);
  lk_write_int64(writer, "id", (int64_t)client->next_id);
  lk_put_string(writer, "session_id", session_id);
}

static lk_id lk_finish_request(lk_client* client, lk_writer* writer) {
  lk_close_object(writer);
  lk_id id = 0;
  if (writer->failed && client->state != LK_STATE_LOST)
    snprintf(client->problem, sizeof client->problem,
             "a field is not UTF-8, not JSON, or a number that JSON lacks; or there is no memory");
  else if (client->again != NULL && client->state != LK_STATE_LOST)
    id = lk_again_request(client, writer->text, writer->length);
  else if (lk_enqueue(client, 1, writer->text, writer->length, NULL, 0))
    id = client->next_id++;
  lk_writer_free(writer);
  return id;
}

bool lk_send_audio(lk_client* client, uint32_t stream, uint32_t sequence, const void* samples, size_t bytes) {
  if (lk_again_holds(client)) {
    snprintf(client->problem, sizeof client->problem, "the stream has ended with its connection");
    return false;
  }
  uint32_t words[3] = {1, stream, sequence};
  char head[12];
  for (int i = 0; i < 12; i++) head[i] = (char)(words[i / 4] >> (24 - 8 * (i % 4)));
  return lk_enqueue(client, 2, head, sizeof head, samples, bytes);
}

static void lk_push_event(lk_client* client, lk_document* document, const lk_event* event) {
  lk_queued* queued = (lk_queued*)calloc(1, sizeof(lk_queued));
  if (queued == NULL) {
    lk_document_free(document);
    lk_lose(client, "there is no memory for a frame");
    return;
  }
  queued->document = document;
  queued->event = *event;
  if (client->first == NULL)
    client->first = queued;
  else
    client->last->next = queued;
  client->last = queued;
}

static lk_frame_type lk_frame_type_of(const char* name);

/* The event of a frame. False: it breaks the protocol. */
static bool lk_describe(lk_client* client, lk_value frame, lk_event* event) {
  memset(event, 0, sizeof *event);
  const char* type = lk_need_string(frame, "type");
  lk_value reply_to = lk_get(frame, "reply_to");
  event->frame = frame;
  event->type = lk_frame_type_of(type);
  event->request = (lk_id)lk_need_int(frame, "reply_to");
  event->kind = event->request > 0 ? LK_EVENT_REPLY : LK_EVENT_FRAME;
  if (lk_kind_of(frame) != LK_OBJECT || type[0] == '\0') return false;
  if (client->state == LK_STATE_GREETING) {
    event->kind = LK_EVENT_CONNECTED;
    return strcmp(type, "Hello") == 0 && lk_need_int(frame, "protocol") == LK_PROTOCOL &&
           strcmp(lk_need_string(frame, "server"), LK_PROTOCOL_NAME) == 0;
  }
  if (strcmp(type, "Error") != 0) return true;
  event->kind = LK_EVENT_ERROR;
  event->error.code = (int)lk_need_int(frame, "code");
  event->error.name = lk_need_string(frame, "name");
  event->error.message = lk_need_string(frame, "message");
  event->error.remedy = lk_remedy(event->error.code);
  event->error.details = lk_get(frame, "details");
  return event->error.code > 0 && (lk_kind_of(reply_to) == LK_NULL || event->request > 0);
}

static void lk_receive(lk_client* client, const char* payload, size_t length) {
  lk_document* document = lk_parse(payload, length);
  lk_event event;
  if (document == NULL || !lk_describe(client, lk_root(document), &event)) {
    lk_document_free(document);
    lk_lose(client, client->state == LK_STATE_GREETING ? "it does not speak this protocol of lorekeep"
                                                       : "the server sent a frame that breaks the protocol");
    return;
  }
  /* One for audio of a stream that never was ends nothing. */
  if (event.kind == LK_EVENT_ERROR && event.request == 0 && event.error.code != LK_ERROR_INVALID_AUDIO) {
    char reason[sizeof client->problem];
    snprintf(reason, sizeof reason, "the server ended the connection: %s: %s", event.error.name, event.error.message);
    lk_document_free(document);
    lk_lose(client, reason);
    return;
  }
  bool has_greeted = client->state == LK_STATE_GREETING;
  if (has_greeted) client->state = LK_STATE_OPEN;
  if (client->again != NULL && has_greeted && lk_again_greeted(client)) {
    lk_document_free(document);
    return;
  }
  if (client->again != NULL && !has_greeted && lk_again_hear(client, document, &event)) return;
  lk_push_event(client, document, &event);
}

/* Makes events of the frames that are complete. */
static void lk_cut_frames(lk_client* client) {
  while (client->state != LK_STATE_LOST && client->in.end - client->in.begin >= LK_HEADER) {
    const unsigned char* at = (const unsigned char*)client->in.bytes + client->in.begin;
    size_t length = ((size_t)at[1] << 24) | ((size_t)at[2] << 16) | ((size_t)at[3] << 8) | at[4];
    if (at[0] != 1 || length > client->max_frame_bytes) {
      lk_lose(client, at[0] != 1 ? "the server sent bytes that are no frame"
                                 : "the server sent a frame that is longer than max_frame_bytes");
      return;
    }
    if (client->in.end - client->in.begin - LK_HEADER < length) return;
    client->in.begin += LK_HEADER + length;
    lk_receive(client, (const char*)at + LK_HEADER, length);
  }
  if (client->in.begin == client->in.end) client->in.begin = client->in.end = 0;
}

/* Reads what is there. Events of a connection that ends come before its loss. */
static void lk_read(lk_client* client) {
  while (client->handle != LK_NO_SOCKET) {
    if (!lk_reserve(&client->in, LK_READ_BYTES)) {
      lk_lose(client, "there is no memory for a frame");
      return;
    }
    int64_t got = (int64_t)recv(client->handle, client->in.bytes + client->in.end, LK_READ_BYTES, 0);
    if (got < 0 && lk_would_block()) return;
    if (got <= 0) {
      lk_lose(client, got == 0 ? "the server closed the connection" : "the connection failed");
      return;
    }
    client->in.end += (size_t)got;
    client->last_bytes = lk_now();
    lk_cut_frames(client);
    /* One read at a time while events wait: a fast server does not keep the caller in here. */
    if (client->first != NULL) return;
  }
}

/* The time by which something must happen, and what it means if it does not; INT64_MAX without one. */
static int64_t lk_deadline(const lk_client* client, const char** reason) {
  *reason = "";
  if (client->state == LK_STATE_WAITING) return lk_again_time(client);
  *reason = "the server did not greet in time";
  if (client->state == LK_STATE_CONNECTING || client->state == LK_STATE_GREETING) return client->greeting_deadline;
  *reason = "the rest of a frame did not come in time";
  return client->in.end > client->in.begin ? client->last_bytes + client->stall_ms : INT64_MAX;
}

/* Waits until something can be done, or until `until`, and does it. */
static void lk_pump(lk_client* client, int64_t until) {
  const char* reason;
  int64_t now = lk_now();
  int64_t deadline = lk_deadline(client, &reason);
  int64_t wait = (deadline < until ? deadline : until) - now;
  if (client->state == LK_STATE_WAITING) {
    if (wait > 0) lk_sleep(wait > INT32_MAX ? INT32_MAX : (int)wait);
    if (lk_now() >= deadline) lk_again_retry(client);
    return;
  }
  bool connecting = client->state == LK_STATE_CONNECTING;
  lk_pollfd waited;
  memset(&waited, 0, sizeof waited);
  waited.fd = client->handle;
  if (!connecting) waited.events = POLLIN;
  if (connecting || (client->state == LK_STATE_OPEN && client->out.end > client->out.begin)) waited.events |= POLLOUT;
  int ready = lk_poll_socket(&waited, 1, wait < 0 ? 0 : wait > INT32_MAX ? INT32_MAX : (int)wait);
  if (ready <= 0) {
    if (lk_now() >= deadline) lk_lose(client, reason);
    return;
  }
  if (connecting) {
    if (lk_socket_failed(client->handle))
      lk_connect(client);
    else if ((waited.revents & POLLOUT) != 0)
      client->state = LK_STATE_GREETING;
    return;
  }
  if ((waited.revents & POLLOUT) != 0) lk_flush(client);
  if ((waited.revents & (POLLIN | POLLHUP | POLLERR)) != 0) lk_read(client);
  lk_flush(client);
}

/* Gives the first event, or the first that answers `request`. */
static bool lk_pop_event(lk_client* client, lk_id request, lk_event* event) {
  lk_queued* before = NULL;
  lk_queued* queued = client->first;
  while (queued != NULL && request != 0 && queued->event.request != request) {
    before = queued;
    queued = queued->next;
  }
  if (queued == NULL) return false;
  if (before == NULL)
    client->first = queued->next;
  else
    before->next = queued->next;
  if (client->last == queued) client->last = before;
  client->shown = queued->document;
  *event = queued->event;
  free(queued);
  return true;
}

static bool lk_next_event(lk_client* client, lk_id request, int timeout_ms, lk_event* event) {
  lk_document_free(client->shown);
  client->shown = NULL;
  memset(event, 0, sizeof *event);
  int64_t until = timeout_ms < 0 ? INT64_MAX : lk_now() + timeout_ms;
  if (client->state != LK_STATE_LOST) lk_flush(client);
  for (bool again = true; again; again = timeout_ms != 0 && lk_now() < until) {
    if (lk_pop_event(client, request, event)) return true;
    if (client->state != LK_STATE_LOST && !lk_again_is_lost(client, request)) {
      bool was_greeting = client->state != LK_STATE_OPEN;
      lk_pump(client, until);
      /* Without waiting, as far as it goes: connected, greeted, and the first bytes. */
      if (timeout_ms == 0 && was_greeting && client->state == LK_STATE_GREETING) lk_pump(client, until);
    }
    if (lk_pop_event(client, request, event)) return true;
    if (client->state == LK_STATE_LOST || lk_again_is_lost(client, request)) {
      event->kind = client->state == LK_STATE_LOST ? LK_EVENT_LOST : LK_EVENT_RECONNECTING;
      event->request = request;
      event->error.name = "ConnectionLost";
      event->error.message = client->problem;
      event->error.remedy = client->state == LK_STATE_LOST
                                ? "Open another client, and create its sessions and storages again."
                                : "Ask again: it may or may not have been served.";
      bool is_known = request == 0 && client->has_told_loss;
      if (request == 0) client->has_told_loss = true;
      return !is_known;
    }
  }
  return false;
}

bool lk_poll(lk_client* client, int timeout_ms, lk_event* event) {
  return lk_next_event(client, 0, timeout_ms, event);
}

bool lk_wait(lk_client* client, lk_id request, int timeout_ms, lk_event* event) {
  /* A request that was not made has no reply. */
  if (request == 0 && client->state != LK_STATE_LOST) {
    memset(event, 0, sizeof *event);
    return false;
  }
  return lk_next_event(client, request, timeout_ms, event);
}
