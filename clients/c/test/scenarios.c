/* What every client is proven to do, by the client in C: scenarios PORT CUTTABLE_PORT NAME=PORT... */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../lorekeep.h"

#define CHECK(condition)                                                              \
  do {                                                                                \
    if (!(condition)) {                                                               \
      printf("not ok: line %d: %s (%s)\n", __LINE__, #condition, lk_problem(client)); \
      exit(1);                                                                        \
    }                                                                                 \
  } while (0)

static const char* const kWeird =
    "\303\266fter \346\227\245\346\234\254\350\252\236 \360\237\220\235 \"quoted\" back\\slash\ttab\342\200\250 "
    "\304\260\304\261\305\277";
static const char* const kTalker = "{\"nodes\":[{\"id\":\"talker\",\"type\":\"generate\"}]}";

static lk_event ask(lk_client* client, lk_id request) {
  lk_event event;
  CHECK(request != 0);
  CHECK(lk_wait(client, request, 60000, &event));
  return event;
}

static void expect_reply(lk_client* client, lk_id request) {
  CHECK(ask(client, request).kind == LK_EVENT_REPLY);
}

/* Ids outlive their events here. */
typedef struct name {
  char text[64];
} name;

static name name_of(const char* text) {
  name copy;
  snprintf(copy.text, sizeof copy.text, "%s", text);
  return copy;
}

static name make_session(lk_client* client) {
  lk_event event = ask(client, lk_create_session(client, NULL));
  CHECK(event.kind == LK_EVENT_REPLY && event.type == LK_FRAME_CREATE_SESSION_RESPONSE);
  lk_create_session_response made;
  lk_read_create_session_response(event.frame, &made);
  return name_of(made.session_id);
}

static name make_agent(lk_client* client, const char* session) {
  lk_create_agent_fields fields = {0};
  fields.graph_json = kTalker;
  lk_event event = ask(client, lk_create_agent(client, session, &fields));
  CHECK(event.kind == LK_EVENT_REPLY);
  return name_of(lk_as_string(lk_get(event.frame, "agent_id")));
}

static name start_turn(lk_client* client, const char* session, const char* agent, const char* text) {
  lk_start_turn_fields fields = {0};
  fields.agent_id = agent;
  fields.text = text;
  lk_event event = ask(client, lk_start_turn(client, session, &fields));
  CHECK(event.type == LK_FRAME_TURN_STARTED);
  return name_of(lk_as_string(lk_get(event.frame, "turn_id")));
}

/* The next event of a turn; others are dropped. */
static lk_event turn_event(lk_client* client, const char* turn) {
  lk_event event;
  do CHECK(lk_poll(client, 60000, &event) && event.kind != LK_EVENT_LOST);
  while (event.kind != LK_EVENT_FRAME || strcmp(lk_as_string(lk_get(event.frame, "turn_id")), turn) != 0);
  return event;
}

static lk_turn_complete end_of(lk_client* client, const char* turn, char* streamed, size_t room) {
  lk_turn_complete complete;
  if (room > 0) streamed[0] = '\0';
  for (;;) {
    lk_event event = turn_event(client, turn);
    if (event.type == LK_FRAME_TURN_TEXT && room > 0)
      strncat(streamed, lk_as_string(lk_get(event.frame, "text")), room - strlen(streamed) - 1);
    if (event.type != LK_FRAME_TURN_COMPLETE) continue;
    lk_read_turn_complete(event.frame, &complete);
    return complete;
  }
}

static void cancel(lk_client* client, const char* session, const char* turn) {
  lk_cancel_turn_fields fields = {0};
  fields.turn_id = turn;
  expect_reply(client, lk_cancel_turn(client, session, &fields));
}

static void make_strings(lk_client* client, const char* session) {
  static const char* const strings[] = {"a bee", "a glacier"};
  lk_create_embedded_string_storage_fields fields = {0};
  fields.name = "docs";
  fields.strings.items = strings;
  fields.strings.count = 2;
  fields.embedding_model = "tiny";
  expect_reply(client, lk_create_embedded_string_storage(client, session, &fields));
}

static void make_records(lk_client* client, const char* session, const char* records, const char* definitions) {
  lk_create_embedded_string_storage_fields fields = {0};
  fields.name = "docs";
  fields.records_json = records;
  fields.fields_json = definitions;
  fields.embedding_model = "tiny";
  expect_reply(client, lk_create_embedded_string_storage(client, session, &fields));
}

static void creates_a_session(lk_client* client) {
  name session = make_session(client);
  lk_status_response status;
  lk_event event = ask(client, lk_status(client));
  lk_read_status_response(event.frame, &status);
  CHECK(status.sessions >= 1);
  expect_reply(client, lk_destroy_session(client, session.text));
}

static void searches_a_storage_of_records(lk_client* client) {
  name session = make_session(client);
  make_records(client, session.text,
               "[{\"id\":\"b\",\"text\":\"Honey bees dance in the hive\",\"metadata\":{\"year\":1999}},"
               "{\"id\":\"g\",\"text\":\"Glaciers grind valleys\",\"metadata\":{\"year\":2005}}]",
               "[{\"name\":\"year\",\"type\":\"int\",\"optional\":true}]");
  lk_search_fields fields = {0};
  fields.name = "docs";
  fields.text = "bees";
  fields.mode = "lexical";
  fields.top_k = lk_int(1);
  lk_event event = ask(client, lk_search(client, session.text, &fields));
  lk_search_embedded_string_storage_response found;
  lk_read_search_embedded_string_storage_response(event.frame, &found);
  CHECK(lk_count(found.hits) == 1);
  lk_hit hit;
  lk_read_hit(lk_first(found.hits), &hit);
  int64_t year = 0;
  CHECK(strcmp(hit.id, "b") == 0 && hit.bm25_score.set && !hit.distance.set && hit.score == hit.bm25_score.value);
  CHECK(lk_as_int64(lk_get(hit.metadata, "year"), &year) && year == 1999);
  lk_search_fields later = {0};
  later.name = "docs";
  later.text = "bees";
  later.threshold = lk_double(1.5);
  later.filter_json = "{\">\":[{\"knowledge\":\"year\"},2000]}";
  event = ask(client, lk_search(client, session.text, &later));
  lk_read_search_embedded_string_storage_response(event.frame, &found);
  CHECK(lk_count(found.hits) == 1);
  lk_read_hit(lk_first(found.hits), &hit);
  /* A distance that is cut at the decimal point would be an integer. */
  CHECK(strcmp(hit.id, "g") == 0 && hit.distance.value > 0 && hit.distance.value != (double)(int)hit.distance.value);
}

static void streams_a_turn(lk_client* client) {
  name session = make_session(client);
  name agent = make_agent(client, session.text);
  name turn = start_turn(client, session.text, agent.text, "hello");
  char streamed[64];
  lk_turn_complete complete = end_of(client, turn.text, streamed, sizeof streamed);
  CHECK(strcmp(complete.text, "one two three") == 0 && strcmp(streamed, "one two three") == 0);
  CHECK(strcmp(complete.status, "completed") == 0);
}

static void cancels_a_turn(lk_client* client) {
  name session = make_session(client);
  name agent = make_agent(client, session.text);
  name turn = start_turn(client, session.text, agent.text, "hang");
  while (turn_event(client, turn.text).type != LK_FRAME_TURN_TEXT) continue;
  cancel(client, session.text, turn.text);
  CHECK(strcmp(end_of(client, turn.text, NULL, 0).status, "cancelled") == 0);
}

static void is_told_of_audio_without_a_stream(lk_client* client) {
  lk_event event;
  CHECK(lk_send_audio(client, 77, 0, "ab", 2));
  do CHECK(lk_poll(client, 60000, &event) && event.kind != LK_EVENT_LOST);
  while (event.kind != LK_EVENT_ERROR);
  CHECK(event.request == 0 && event.error.code == LK_ERROR_INVALID_AUDIO);
  expect_reply(client, lk_ping(client));
}

static void tells_errors_by_code(lk_client* client) {
  name session = make_session(client);
  lk_search_fields fields = {0};
  fields.name = "nothing";
  fields.text = "x";
  lk_event event = ask(client, lk_search(client, session.text, &fields));
  CHECK(event.kind == LK_EVENT_ERROR && event.error.code == LK_ERROR_STORAGE_NOT_FOUND);
  CHECK(event.error.remedy[0] != '\0' && strstr(event.error.message, "nothing") != NULL);
  fields.top_k = lk_int(0);
  event = ask(client, lk_search(client, session.text, &fields));
  CHECK(event.error.code == LK_ERROR_INVALID_FIELD);
  CHECK(strcmp(lk_as_string(lk_get(event.error.details, "path")), "top_k") == 0);
  /* Mistakes of the caller are not sent. */
  fields.text = "\xff";
  CHECK(lk_search(client, session.text, &fields) == 0 && lk_problem(client)[0] != '\0');
  fields.text = "x";
  fields.filter_json = "{\"==\":[1,}";
  CHECK(lk_search(client, session.text, &fields) == 0);
  fields.filter_json = NULL;
  fields.threshold = lk_double(strtod("nan", NULL));
  CHECK(lk_search(client, session.text, &fields) == 0 && !lk_wait(client, 0, 0, &event));
  is_told_of_audio_without_a_stream(client);
}

static void updates_and_forgets_records(lk_client* client) {
  name session = make_session(client);
  make_strings(client, session.text);
  static const char* const removed[] = {"0"};
  lk_update_records_fields update = {0};
  update.name = "docs";
  update.add_json = "[{\"id\":\"x\",\"text\":\"a loaf\"}]";
  update.remove.items = removed;
  update.remove.count = 1;
  lk_event event = ask(client, lk_update_records(client, session.text, &update));
  lk_update_embedded_string_storage_response changed;
  lk_read_update_embedded_string_storage_response(event.frame, &changed);
  CHECK(changed.added == 1 && changed.removed == 1 && changed.record_count == 2);
  update.remove.items = NULL;
  CHECK(ask(client, lk_update_records(client, session.text, &update)).error.code == 8007);
  static const char* const ids[] = {"1", "x"};
  lk_forget_records_fields forget = {0};
  forget.name = "docs";
  forget.ids.items = ids + 1;
  forget.ids.count = 1;
  event = ask(client, lk_forget_records(client, session.text, &forget));
  int64_t forgotten = 0;
  CHECK(lk_as_int64(lk_get(event.frame, "forgotten"), &forgotten) && forgotten == 1);
  lk_get_records_fields get = {0};
  get.name = "docs";
  get.ids.items = ids;
  get.ids.count = 2;
  event = ask(client, lk_get_records(client, session.text, &get));
  lk_get_embedded_string_storage_response got;
  lk_read_get_embedded_string_storage_response(event.frame, &got);
  CHECK(lk_count(got.records) == 1 && strcmp(lk_as_string(lk_first(got.missing)), "x") == 0);
}

static void sends_and_receives_a_large_frame(lk_client* client) {
  enum { kRecords = 16, kCharacters = 200000 };
  static char blob[kRecords][kCharacters * 2 + 1];
  char id[16];
  name session = make_session(client);
  lk_writer records = {0};
  lk_open_array(&records, NULL);
  for (int i = 0; i < kRecords; i++) {
    for (int at = 0; at < kCharacters; at++) memcpy(blob[i] + 2 * at, at % 2 == 0 ? "\303\251" : "ab", 2);
    blob[i][0] = 'a';
    blob[i][1] = (char)('a' + i);
    snprintf(id, sizeof id, "%d", i);
    lk_open_object(&records, NULL);
    lk_write_string(&records, "id", id);
    lk_write_string(&records, "text", "bees");
    lk_open_object(&records, "metadata");
    lk_write_string(&records, "blob", blob[i]);
    lk_close_object(&records);
    lk_close_object(&records);
  }
  lk_close_array(&records);
  CHECK(!records.failed && records.length > 4000000);
  make_records(client, session.text, records.text,
               "[{\"name\":\"blob\",\"type\":\"string\",\"optional\":true,\"filterable\":false}]");
  lk_writer_free(&records);
  lk_list_records_fields list = {0};
  list.name = "docs";
  lk_event event = ask(client, lk_list_records(client, session.text, &list));
  lk_value record = lk_first(lk_get(event.frame, "records"));
  int seen = 0;
  for (; lk_kind_of(record) != LK_ABSENT; record = lk_next(record), seen++) {
    int i = atoi(lk_as_string(lk_get(record, "id")));
    CHECK(strcmp(lk_as_string(lk_get(lk_get(record, "metadata"), "blob")), blob[i]) == 0);
  }
  CHECK(seen == kRecords);
}

static void keeps_text_that_is_not_ascii(lk_client* client) {
  name session = make_session(client);
  lk_writer records = {0};
  lk_open_array(&records, NULL);
  lk_open_object(&records, NULL);
  lk_write_string(&records, "id", kWeird);
  lk_write_string(&records, "text", kWeird);
  lk_close_object(&records);
  lk_close_array(&records);
  make_records(client, session.text, records.text, NULL);
  lk_writer_free(&records);
  lk_search_fields fields = {0};
  fields.name = "docs";
  fields.text = "\303\266fter";
  fields.mode = "lexical";
  lk_event event = ask(client, lk_search(client, session.text, &fields));
  lk_hit hit;
  lk_read_hit(lk_first(lk_get(event.frame, "hits")), &hit);
  CHECK(strcmp(hit.id, kWeird) == 0 && strcmp(hit.text, kWeird) == 0);
  name agent = make_agent(client, session.text);
  char message[128];
  snprintf(message, sizeof message, "echo %s", kWeird);
  name turn = start_turn(client, session.text, agent.text, message);
  CHECK(strcmp(end_of(client, turn.text, NULL, 0).text, kWeird) == 0);
}

static void keeps_integers_of_64_bits(lk_client* client) {
  static const int64_t values[] = {INT64_MAX, INT64_MAX - 1, INT64_MIN, ((int64_t)1 << 53) + 1};
  char text[32];
  name session = make_session(client);
  lk_writer records = {0};
  lk_open_array(&records, NULL);
  for (int i = 0; i < 4; i++) {
    snprintf(text, sizeof text, "%lld", (long long)values[i]);
    lk_open_object(&records, NULL);
    lk_write_string(&records, "id", text);
    lk_write_string(&records, "text", "bees");
    lk_open_object(&records, "metadata");
    lk_write_int64(&records, "n", values[i]);
    lk_close_object(&records);
    lk_close_object(&records);
  }
  lk_close_array(&records);
  make_records(client, session.text, records.text, "[{\"name\":\"n\",\"type\":\"int\",\"optional\":true}]");
  lk_writer_free(&records);
  for (int i = 0; i < 4; i++) {
    char filter[96];
    snprintf(text, sizeof text, "%lld", (long long)values[i]);
    snprintf(filter, sizeof filter, "{\"==\":[{\"knowledge\":\"n\"},%s]}", text);
    lk_search_fields fields = {0};
    fields.name = "docs";
    fields.text = "bees";
    fields.filter_json = filter;
    lk_event event = ask(client, lk_search(client, session.text, &fields));
    lk_value hits = lk_get(event.frame, "hits");
    CHECK(lk_count(hits) == 1 && strcmp(lk_as_string(lk_get(lk_first(hits), "id")), text) == 0);
    CHECK(strcmp(lk_as_string(lk_get(lk_get(lk_first(hits), "metadata"), "n")), text) == 0);
  }
}

static void runs_two_turns_at_once(lk_client* client) {
  name session = make_session(client);
  name slow = make_agent(client, session.text), quick = make_agent(client, session.text);
  name hanging = start_turn(client, session.text, slow.text, "hang");
  name turn = start_turn(client, session.text, quick.text, "hello");
  for (;;) {
    lk_event event;
    CHECK(lk_poll(client, 60000, &event));
    if (event.type != LK_FRAME_TURN_COMPLETE) continue;
    CHECK(strcmp(lk_as_string(lk_get(event.frame, "turn_id")), turn.text) == 0);
    break;
  }
  cancel(client, session.text, hanging.text);
  CHECK(strcmp(end_of(client, hanging.text, NULL, 0).status, "cancelled") == 0);
}

static void throttles(lk_client* client) {
  static const double levels[] = {.5, 0};
  for (int i = 0; i < 2; i++) {
    lk_report_throttle_fields fields = {levels[i]};
    expect_reply(client, lk_report_throttle(client, &fields));
    lk_status_response status;
    lk_read_status_response(ask(client, lk_status(client)).frame, &status);
    CHECK(status.throttle == levels[i]);
  }
}

static void forgets_what_is_confirmed(lk_client* client) {
  static const char* const ids[] = {"bees"};
  name session = make_session(client);
  lk_create_agent_fields graph = {0};
  graph.graph_json =
      "{\"nodes\":[{\"id\":\"talker\",\"type\":\"generate\",\"params\":{\"memory\":\"keep\"}},{\"id\":\"keep\","
      "\"type\":"
      "\"remember\",\"params\":{\"storage\":\"memory\",\"embedding_model\":\"tiny\",\"condition\":\" \"}}]}";
  name agent =
      name_of(lk_as_string(lk_get(ask(client, lk_create_agent(client, session.text, &graph)).frame, "agent_id")));
  lk_update_records_fields update = {0};
  update.name = "memory";
  update.add_json = "[{\"id\":\"bees\",\"text\":\"Bees dance.\"}]";
  expect_reply(client, lk_update_records(client, session.text, &update));
  name turn = start_turn(client, session.text, agent.text, "forget Bees dance");
  lk_event event;
  do event = turn_event(client, turn.text);
  while (event.type != LK_FRAME_TURN_FORGET);
  lk_turn_forget asked;
  lk_read_turn_forget(event.frame, &asked);
  lk_confirm_forget_fields confirm = {0};
  confirm.forget_id = asked.forget_id;
  confirm.confirm = true;
  confirm.ids.items = ids;
  confirm.ids.count = 1;
  expect_reply(client, lk_confirm_forget(client, session.text, &confirm));
  lk_value memory = lk_first(end_of(client, turn.text, NULL, 0).memory);
  CHECK(strcmp(lk_as_string(lk_get(memory, "forget")), "confirmed") == 0);
  CHECK(strcmp(lk_as_string(lk_first(lk_get(memory, "forgotten"))), "bees") == 0);
}

static void makes_everything_again(int port) {
  static const char* const gone[] = {"0"};
  lk_options options = {0};
  options.reconnect = true;
  options.reconnect_min_ms = 10;
  lk_client* client = lk_open("127.0.0.1", port, &options);
  name dropped = make_session(client), session = make_session(client);
  expect_reply(client, lk_destroy_session(client, dropped.text));
  make_strings(client, session.text);
  lk_update_records_fields update = {0};
  update.name = "docs";
  update.add_json = "[{\"id\":\"x\",\"text\":\"a loaf\"}]";
  expect_reply(client, lk_update_records(client, session.text, &update));
  lk_forget_records_fields forget = {0};
  forget.name = "docs";
  forget.ids.items = gone;
  forget.ids.count = 1;
  expect_reply(client, lk_forget_records(client, session.text, &forget));
  name agent = make_agent(client, session.text), other = make_agent(client, session.text);
  lk_event event;
  end_of(client, start_turn(client, session.text, agent.text, "hello").text, NULL, 0);
  for (int round = 0; round < 2; round++) {
    name turn = start_turn(client, session.text, other.text, "hang");
    while (turn_event(client, turn.text).type != LK_FRAME_TURN_TEXT) continue;
    printf("DROP\n");
    fflush(stdout);
    do CHECK(lk_poll(client, 60000, &event) && event.kind != LK_EVENT_LOST);
    while (event.kind != LK_EVENT_RECONNECTING);
    CHECK(event.error.message[0] != '\0');
    CHECK(lk_wait(client, 1, -1, &event) && event.kind == LK_EVENT_RECONNECTING);
    /* Waits for the next connection. */
    turn = start_turn(client, session.text, agent.text, "recall");
    CHECK(strcmp(end_of(client, turn.text, NULL, 0).text, round == 0 ? "hello|recall" : "hello|recall|recall") == 0);
  }
  lk_list_records_fields list = {0};
  list.name = "docs";
  lk_value record = lk_first(lk_get(ask(client, lk_list_records(client, session.text, &list)).frame, "records"));
  CHECK(strcmp(lk_as_string(lk_get(record, "id")), "1") == 0);
  record = lk_next(record);
  CHECK(strcmp(lk_as_string(lk_get(record, "text")), "a loaf") == 0 && lk_kind_of(lk_next(record)) == LK_ABSENT);
  /* A session of a later connection is told from one of the first with the same id. */
  name later = make_session(client);
  CHECK(strcmp(later.text + strlen(later.text) - 2, "~3") == 0);
  agent = make_agent(client, later.text);
  CHECK(strcmp(agent.text + strlen(agent.text) - 2, "~3") == 0);
  end_of(client, start_turn(client, later.text, agent.text, "hello").text, NULL, 0);
  /* The history of one agent is that of another. */
  lk_export_agent_fields of = {agent.text};
  lk_writer history = {0};
  lk_write_value(&history, NULL, lk_get(ask(client, lk_export_agent(client, later.text, &of)).frame, "history"));
  lk_create_agent_fields copy = {0};
  copy.graph_json = kTalker;
  copy.history_json = history.text;
  agent = name_of(lk_as_string(lk_get(ask(client, lk_create_agent(client, later.text, &copy)).frame, "agent_id")));
  lk_writer_free(&history);
  name turn = start_turn(client, later.text, agent.text, "recall");
  CHECK(strcmp(end_of(client, turn.text, NULL, 0).text, "hello|recall") == 0);
  lk_destroy_agent_fields end = {agent.text};
  expect_reply(client, lk_destroy_agent(client, later.text, &end));
  expect_reply(client, lk_destroy_session(client, later.text));
  lk_close(client);
}

static void starts_and_ends_a_server(void) {
  lk_client* client = lk_open("127.0.0.1", 1, NULL);
  const char* program[] = {getenv("CHILD_NODE"), getenv("CHILD_PROGRAM"), NULL};
  const char* flags[] = {"--config", getenv("CHILD_CONFIG"), "--data-dir", getenv("CHILD_DATA"), NULL};
  const char* wrong[] = {"--no-such-flag", NULL};
  const char* absent[] = {"no-such-program", NULL};
  char problem[256];
  lk_server* server = lk_server_start(program, flags, 300000, problem, sizeof problem);
  if (server == NULL) printf("not ok: %s\n", problem);
  CHECK(server != NULL && lk_server_is_running(server));
  lk_close(client);
  lk_options options = {0};
  options.access_token = lk_server_access_token(server);
  client = lk_open("127.0.0.1", lk_server_port(server), &options);
  make_session(client);
  lk_close(client);
  client = lk_open("127.0.0.1", lk_server_port(server), NULL);
  CHECK(ask(client, lk_create_session(client, NULL)).error.code == LK_ERROR_ACCESS_TOKEN_MISSING);
#ifndef _WIN32
  CHECK(lk_server_stop(server) == 0);
#else
  lk_server_stop(server);
#endif
  CHECK(lk_server_start(program, wrong, 300000, problem, sizeof problem) == NULL && problem[0] != '\0');
  CHECK(lk_server_start(absent, flags, 300000, problem, sizeof problem) == NULL && problem[0] != '\0');
  lk_close(client);
}

static void says_that_the_server_went_away(int port) {
  lk_client* client = lk_open("127.0.0.1", port, NULL);
  name session = make_session(client);
  name agent = make_agent(client, session.text);
  name turn = start_turn(client, session.text, agent.text, "hang");
  while (turn_event(client, turn.text).type != LK_FRAME_TURN_TEXT) continue;
  printf("DROP\n");
  fflush(stdout);
  lk_event event;
  do CHECK(lk_poll(client, 60000, &event));
  while (event.kind != LK_EVENT_LOST);
  CHECK(event.error.message[0] != '\0');
  CHECK(lk_ping(client) == 0 && lk_problem(client)[0] != '\0');
  CHECK(lk_wait(client, 1, -1, &event) && event.kind == LK_EVENT_LOST);
  /* A loop that polls until it is false ends, and so does one that looks for the loss. */
  CHECK(!lk_poll(client, 0, &event) && event.kind == LK_EVENT_LOST);
  lk_close(client);
  client = lk_open("127.0.0.1", port, NULL);
  make_session(client);
  lk_close(client);
}

static void hostile(const char* given, int port) {
  bool is_mute = strcmp(given, "mute") == 0, is_drip = strcmp(given, "drip") == 0;
  lk_options options = {0};
  if (strcmp(given, "silent") == 0) options.greeting_ms = 300;
  if (strcmp(given, "stall") == 0) options.stall_ms = 200;
  lk_client* client = lk_open("127.0.0.1", port, &options);
  lk_id ping = lk_ping(client);
  lk_event event;
  bool came = lk_wait(client, ping, is_mute ? 500 : 20000, &event);
  CHECK(came != is_mute);
  if (came) CHECK(event.kind == (is_drip ? LK_EVENT_REPLY : LK_EVENT_LOST));
  lk_close(client);
}

/* A loop of a game: it never waits. */
static lk_client* open_by_polling(int port) {
  lk_client* client = lk_open("127.0.0.1", port, NULL);
  lk_event event;
  while (!lk_poll(client, 0, &event)) continue;
  CHECK(event.kind == LK_EVENT_CONNECTED && strcmp(lk_as_string(lk_get(event.frame, "server")), "lorekeep") == 0);
  return client;
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*run)(lk_client*);
  } scenarios[] = {
      {"creates a session", creates_a_session},
      {"searches a storage of records", searches_a_storage_of_records},
      {"streams a turn", streams_a_turn},
      {"cancels a turn", cancels_a_turn},
      {"tells errors by code", tells_errors_by_code},
      {"updates and forgets records", updates_and_forgets_records},
      {"sends and receives a large frame", sends_and_receives_a_large_frame},
      {"keeps text that is not ASCII", keeps_text_that_is_not_ascii},
      {"keeps integers of 64 bits", keeps_integers_of_64_bits},
      {"runs two turns at once", runs_two_turns_at_once},
      {"throttles", throttles},
      {"forgets what is confirmed", forgets_what_is_confirmed},
  };
  setlocale(LC_ALL, "");
  if (argc < 3) return 2;
  lk_client* client = open_by_polling(atoi(argv[1]));
  for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++) {
    scenarios[i].run(client);
    printf("ok %s\n", scenarios[i].name);
    fflush(stdout);
  }
  lk_close(client);
  says_that_the_server_went_away(atoi(argv[2]));
  printf("ok says that the server went away\n");
  makes_everything_again(atoi(argv[2]));
  printf("ok makes everything again on another connection\n");
  fflush(stdout);
#ifdef _WIN32
  /* Wine has no Node.js of Windows here. */
  if (strstr(getenv("CHILD_NODE"), ".exe") != NULL)
#endif
  {
    starts_and_ends_a_server();
    printf("ok starts and ends a server\n");
    fflush(stdout);
  }
  for (int i = 3; i < argc; i++) {
    char* port = strchr(argv[i], '=');
    *port = '\0';
    hostile(argv[i], atoi(port + 1));
    printf("ok hostile %s\n", argv[i]);
    fflush(stdout);
  }
  return 0;
}
