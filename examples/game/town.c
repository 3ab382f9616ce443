#include "town.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* People who may speak at the same time. */
static const size_t loudest = 2;

/* The text of a file, ended with a NUL; NULL if it cannot be read. */
static char* read_file(const char* path) {
  FILE* file = fopen(path, "rb");
  if (file == NULL) return NULL;
  fseek(file, 0, SEEK_END);
  long size = ftell(file);
  rewind(file);
  char* text = size < 0 ? NULL : malloc((size_t)size + 1);
  if (text != NULL) text[fread(text, 1, (size_t)size, file)] = '\0';
  fclose(file);
  return text;
}

static lk_document* read_json(const char* path) {
  char* text = read_file(path);
  lk_document* document = text == NULL ? NULL : lk_parse(text, strlen(text));
  free(text);
  if (document == NULL) fprintf(stderr, "%s is absent, or no JSON\n", path);
  return document;
}

static void copy(char* to, size_t size, lk_value text) {
  snprintf(to, size, "%s", lk_as_string(text));
}

static bool read_cast(town* it) {
  lk_document* document = read_json("cast.json");
  if (document == NULL) return false;
  it->people = calloc(lk_count(lk_root(document)) + 1, sizeof *it->people);
  for (lk_value person = lk_first(lk_root(document)); lk_kind_of(person) == LK_OBJECT; person = lk_next(person)) {
    character* one = &it->people[it->population++];
    lk_writer writer = {0};
    copy(one->me, sizeof one->me, lk_get(person, "me"));
    copy(one->name, sizeof one->name, lk_get(person, "name"));
    lk_open_object(&writer, NULL);
    lk_write_string(&writer, "me", one->me);
    lk_write_string(&writer, "name", one->name);
    lk_write_string(&writer, "persona", lk_as_string(lk_get(person, "persona")));
    lk_close_object(&writer);
    one->variables = writer.text;
  }
  lk_document_free(document);
  return true;
}

static bool read_script(town* it) {
  lk_document* document = read_json("script.json");
  if (document == NULL) return false;
  it->lines = calloc(lk_count(lk_root(document)) + 1, sizeof *it->lines);
  for (lk_value item = lk_first(lk_root(document)); lk_kind_of(item) == LK_OBJECT; item = lk_next(item)) {
    line* next = &it->lines[it->line_count++];
    while (next->to < it->population && strcmp(it->people[next->to].me, lk_as_string(lk_get(item, "to"))) != 0)
      next->to++;
    next->order = lk_kind_of(lk_get(item, "order")) == LK_STRING;
    lk_value text = lk_get(item, next->order ? "order" : "say");
    next->text = malloc(lk_length(text) + 1);
    strcpy(next->text, lk_as_string(text));
    if (next->to == it->population) fprintf(stderr, "script.json: there is no %s\n", lk_as_string(lk_get(item, "to")));
    if (next->to == it->population) it->failed = true;
  }
  lk_document_free(document);
  return !it->failed && it->line_count > 0;
}

/* Waits for a reply, of which `field` is copied. */
static bool made(town* it, lk_id request, const char* field, char* to, size_t size) {
  lk_event event;
  if (request == 0) {
    fprintf(stderr, "%s\n", lk_problem(it->client));
    return false;
  }
  if (!lk_wait(it->client, request, -1, &event) || event.kind != LK_EVENT_REPLY) {
    fprintf(stderr, "%s\n%s\n", event.error.message, event.error.remedy != NULL ? event.error.remedy : "");
    return false;
  }
  copy(to, size, lk_get(event.frame, field));
  return true;
}

static bool make_agent(town* it, const character* one, const char* graph, char* agent, size_t size) {
  lk_create_agent_fields fields = {0};
  fields.graph_json = graph;
  return made(it, lk_create_agent(it->client, one->session, &fields), "agent_id", agent, size);
}

/* A session is a wall: storages, memories and agents of one cannot be reached from another. */
static bool make_people(town* it, const char* talk, const char* act) {
  for (size_t i = 0; i < it->population; i++) {
    character* one = &it->people[i];
    if (!made(it, lk_create_session(it->client, NULL), "session_id", one->session, sizeof one->session) ||
        !make_agent(it, one, talk, one->talker, sizeof one->talker) ||
        !make_agent(it, one, act, one->actor, sizeof one->actor))
      return false;
  }
  return true;
}

/* Says a line. `rehearsed`: the server only builds the prompt, for which it loads the models. */
static lk_id say(town* it, const line* spoken, bool rehearsed) {
  character* to = &it->people[spoken->to];
  lk_start_turn_fields turn = {0};
  turn.agent_id = spoken->order ? to->actor : to->talker;
  turn.text = spoken->text;
  turn.variables_json = to->variables;
  if (rehearsed) turn.dry_run = lk_bool(true);
  to->acts = spoken->order;
  return lk_start_turn(it->client, to->session, &turn);
}

/* Models are loaded when they are first used: before the game begins, not in its frames. */
static bool rehearse(town* it) {
  lk_event event;
  if (say(it, &it->lines[0], true) == 0) return false;
  do lk_poll(it->client, -1, &event);
  while (event.kind != LK_EVENT_ERROR && event.kind != LK_EVENT_LOST && event.type != LK_FRAME_TURN_COMPLETE);
  if (event.kind != LK_EVENT_FRAME) fprintf(stderr, "%s\n", event.error.message);
  return event.kind == LK_EVENT_FRAME;
}

bool town_open(town* it, int port, const char* token) {
  memset(it, 0, sizeof *it);
  lk_options options = {0};
  if (token[0] != '\0') options.access_token = token;
  char* talk = read_file("talk.json");
  char* act = read_file("act.json");
  bool ready = talk != NULL && act != NULL && read_cast(it) && read_script(it);
  if (!ready) fprintf(stderr, "run the game in the folder of its files\n");
  if (ready) it->client = lk_open("127.0.0.1", port, &options);
  ready = it->client != NULL && make_people(it, talk, act) && rehearse(it);
  free(talk);
  free(act);
  return ready;
}

void town_close(town* it) {
  lk_close(it->client);
  for (size_t i = 0; i < it->population; i++) free(it->people[i].variables);
  for (size_t i = 0; i < it->line_count; i++) free(it->lines[i].text);
  free(it->people);
  free(it->lines);
  memset(it, 0, sizeof *it);
}

void town_throttle(town* it, double level) {
  lk_report_throttle_fields fields = {level};
  lk_report_throttle(it->client, &fields);
}

static void fail(town* it, const char* message) {
  fprintf(stderr, "%s\n", message);
  it->failed = true;
}

/* An action is JSON of the schema in act.json, whatever the model is. */
static void act(const character* one, const char* json) {
  lk_document* document = lk_parse(json, strlen(json));
  lk_value action = lk_root(document);
  const char* name = lk_as_string(lk_get(action, "action"));
  int64_t pennies = 0;
  if (strcmp(name, "open_door") == 0)
    printf("* %s opens a door: %s\n", one->name, lk_as_string(lk_get(action, "door")));
  else if (strcmp(name, "follow") == 0)
    printf("* %s follows you\n", one->name);
  else if (strcmp(name, "trade") == 0 && lk_as_int64(lk_get(action, "pennies"), &pennies))
    printf("* %s sells you %s for %d pennies\n", one->name, lk_as_string(lk_get(action, "item")), (int)pennies);
  else
    printf("* %s does nothing\n", one->name);
  lk_document_free(document);
}

static void finish(town* it, character* one, lk_value frame) {
  lk_turn_complete complete;
  int64_t tokens = 0;
  lk_read_turn_complete(frame, &complete);
  one->asked = 0;
  it->talking--;
  it->turns++;
  if (lk_as_int64(lk_get(complete.usage, "completion"), &tokens)) it->tokens += (long)tokens;
  if (strcmp(complete.status, "completed") != 0)
    fail(it, lk_as_string(lk_get(complete.error, "message")));
  else if (one->acts)
    act(one, complete.text);
  else
    printf("  %s: %s\n", one->name, complete.text);
}

static void hear(town* it, const lk_event* event) {
  if (event->kind == LK_EVENT_LOST || event->kind == LK_EVENT_ERROR) fail(it, event->error.message);
  for (size_t i = 0; i < it->population; i++) {
    character* one = &it->people[i];
    if (one->asked == 0) continue;
    if (event->type == LK_FRAME_TURN_STARTED && event->request == one->asked)
      copy(one->turn, sizeof one->turn, lk_get(event->frame, "turn_id"));
    /* A game with subtitles shows the text of each LK_FRAME_TURN_TEXT. */
    else if (event->type == LK_FRAME_TURN_COMPLETE &&
             strcmp(one->turn, lk_as_string(lk_get(event->frame, "turn_id"))) == 0)
      finish(it, one, event->frame);
  }
}

void town_update(town* it) {
  lk_event event;
  while (lk_poll(it->client, 0, &event)) hear(it, &event);
  while (!it->failed && it->talking < loudest) {
    const line* next = &it->lines[it->next_line];
    character* to = &it->people[next->to];
    if (to->asked != 0) break;
    printf("> %s, to %s: %s\n", next->order ? "You order" : "You say", to->name, next->text);
    to->asked = say(it, next, false);
    if (to->asked == 0) {
      fail(it, lk_problem(it->client));
      break;
    }
    it->talking++;
    it->next_line = (it->next_line + 1) % it->line_count;
  }
}
