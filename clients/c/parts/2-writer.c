/* Writing JSON. */

static void lk_append(lk_writer* writer, const char* bytes, size_t length) {
  if (writer->failed) return;
  if (writer->capacity - writer->length <= length) {
    size_t capacity = writer->capacity < 256 ? 256 : writer->capacity;
    while (capacity - writer->length <= length && capacity < LK_MAX_BYTES) capacity *= 2;
    char* text = capacity - writer->length <= length ? NULL : (char*)realloc(writer->text, capacity);
    if (text == NULL) {
      writer->failed = true;
      return;
    }
    writer->text = text;
    writer->capacity = capacity;
  }
  memcpy(writer->text + writer->length, bytes, length);
  writer->length += length;
  writer->text[writer->length] = '\0';
}

static void lk_append_text(lk_writer* writer, const char* text) {
  lk_append(writer, text, strlen(text));
}

static void lk_append_quoted(lk_writer* writer, const char* utf8, size_t length) {
  if (!lk_is_utf8(utf8, length)) writer->failed = true;
  lk_append(writer, "\"", 1);
  size_t begun = 0;
  for (size_t at = 0; at < length; at++) {
    unsigned char c = (unsigned char)utf8[at];
    if (c >= 0x20 && c != '"' && c != '\\') continue;
    char escape[8];
    lk_append(writer, utf8 + begun, at - begun);
    snprintf(escape, sizeof escape, c < 0x20 ? "\\u%04x" : "\\%c", c);
    lk_append_text(writer, escape);
    begun = at + 1;
  }
  lk_append(writer, utf8 + begun, length - begun);
  lk_append(writer, "\"", 1);
}

/* What stands before a value. */
static void lk_begin_value(lk_writer* writer, const char* key) {
  if (writer->needs_comma) lk_append(writer, ",", 1);
  if (key != NULL) {
    lk_append_quoted(writer, key, strlen(key));
    lk_append(writer, ":", 1);
  }
  writer->needs_comma = true;
}

static void lk_write_raw(lk_writer* writer, const char* key, const char* text) {
  lk_begin_value(writer, key);
  lk_append_text(writer, text);
}

static void lk_open_container(lk_writer* writer, const char* key, const char* mark) {
  lk_write_raw(writer, key, mark);
  writer->needs_comma = false;
}

static void lk_close_container(lk_writer* writer, const char* mark) {
  lk_append_text(writer, mark);
  writer->needs_comma = true;
}

void lk_open_object(lk_writer* writer, const char* key) {
  lk_open_container(writer, key, "{");
}
void lk_close_object(lk_writer* writer) {
  lk_close_container(writer, "}");
}
void lk_open_array(lk_writer* writer, const char* key) {
  lk_open_container(writer, key, "[");
}
void lk_close_array(lk_writer* writer) {
  lk_close_container(writer, "]");
}

void lk_write_bytes(lk_writer* writer, const char* key, const char* utf8, size_t length) {
  lk_begin_value(writer, key);
  lk_append_quoted(writer, utf8, length);
}

void lk_write_string(lk_writer* writer, const char* key, const char* utf8) {
  lk_write_bytes(writer, key, utf8, strlen(utf8));
}

void lk_write_int64(lk_writer* writer, const char* key, int64_t integer) {
  char text[32];
  snprintf(text, sizeof text, "%" PRId64, integer);
  lk_write_raw(writer, key, text);
}

void lk_write_double(lk_writer* writer, const char* key, double number) {
  /* NaN and infinities have no difference to themselves that is 0. */
  if (!(number - number == 0)) writer->failed = true;
  char text[40];
  snprintf(text, sizeof text, "%.17g", number);
  /* snprintf() writes the decimal point of the locale. */
  for (char* at = text; *at != '\0'; at++)
    if (!lk_is_digit(*at) && strchr("+-e", *at) == NULL) *at = '.';
  lk_write_raw(writer, key, text);
}

void lk_write_bool(lk_writer* writer, const char* key, bool flag) {
  lk_write_raw(writer, key, flag ? "true" : "false");
}

void lk_write_null(lk_writer* writer, const char* key) {
  lk_write_raw(writer, key, "null");
}

void lk_write_json(lk_writer* writer, const char* key, const char* json) {
  lk_document* document = lk_parse(json, strlen(json));
  if (document == NULL) writer->failed = true;
  lk_document_free(document);
  lk_write_raw(writer, key, json);
}

void lk_write_value(lk_writer* writer, const char* key, lk_value value) {
  const lk_node* node = lk_node_of(value);
  switch (lk_kind_of(value)) {
    case LK_OBJECT:
    case LK_ARRAY:
      lk_open_container(writer, key, node->kind == LK_OBJECT ? "{" : "[");
      for (lk_value item = lk_first(value); lk_kind_of(item) != LK_ABSENT; item = lk_next(item)) {
        /* A key may contain NULs. */
        if (node->kind == LK_OBJECT) {
          lk_begin_value(writer, NULL);
          lk_append_quoted(writer, lk_key(item), lk_node_of(item)->key_length);
          lk_append(writer, ":", 1);
          writer->needs_comma = false;
        }
        lk_write_value(writer, NULL, item);
      }
      lk_close_container(writer, node->kind == LK_OBJECT ? "}" : "]");
      break;
    case LK_STRING: lk_write_bytes(writer, key, lk_as_string(value), lk_length(value)); break;
    case LK_NUMBER:
      lk_begin_value(writer, key);
      lk_append(writer, value.document->text + node->start, node->length);
      break;
    case LK_BOOL: lk_write_bool(writer, key, lk_as_bool(value)); break;
    default: lk_write_null(writer, key);
  }
}

void lk_writer_free(lk_writer* writer) {
  free(writer->text);
  memset(writer, 0, sizeof *writer);
}

lk_opt_int lk_int(int64_t value) {
  lk_opt_int given = {true, value};
  return given;
}

lk_opt_double lk_double(double value) {
  lk_opt_double given = {true, value};
  return given;
}

lk_opt_bool lk_bool(bool value) {
  lk_opt_bool given = {true, value};
  return given;
}

/* Fields of requests, written if they are there. */

static void lk_put_string(lk_writer* writer, const char* key, const char* value) {
  if (value != NULL) lk_write_string(writer, key, value);
}

static void lk_put_json(lk_writer* writer, const char* key, const char* value) {
  if (value != NULL) lk_write_json(writer, key, value);
}

static void lk_put_int(lk_writer* writer, const char* key, lk_opt_int value) {
  if (value.set) lk_write_int64(writer, key, value.value);
}

static void lk_put_double(lk_writer* writer, const char* key, lk_opt_double value) {
  if (value.set) lk_write_double(writer, key, value.value);
}

static void lk_put_bool(lk_writer* writer, const char* key, lk_opt_bool value) {
  if (value.set) lk_write_bool(writer, key, value.value);
}

static void lk_put_strings(lk_writer* writer, const char* key, lk_strings value) {
  if (value.items == NULL) return;
  lk_open_array(writer, key);
  for (size_t i = 0; i < value.count; i++) lk_write_string(writer, NULL, value.items[i]);
  lk_close_array(writer);
}

/* Fields of frames. */

static const char* lk_take_string(lk_value frame, const char* key) {
  lk_value value = lk_get(frame, key);
  return lk_kind_of(value) == LK_STRING ? lk_as_string(value) : NULL;
}

static const char* lk_need_string(lk_value frame, const char* key) {
  return lk_as_string(lk_get(frame, key));
}

static lk_opt_int lk_take_int(lk_value frame, const char* key) {
  lk_opt_int value = {false, 0};
  value.set = lk_as_int64(lk_get(frame, key), &value.value);
  return value;
}

static int64_t lk_need_int(lk_value frame, const char* key) {
  return lk_take_int(frame, key).value;
}

static lk_opt_double lk_take_double(lk_value frame, const char* key) {
  lk_value found = lk_get(frame, key);
  lk_opt_double value = {lk_kind_of(found) == LK_NUMBER, lk_as_double(found)};
  return value;
}

static double lk_need_double(lk_value frame, const char* key) {
  return lk_as_double(lk_get(frame, key));
}

static lk_opt_bool lk_take_bool(lk_value frame, const char* key) {
  lk_value found = lk_get(frame, key);
  lk_opt_bool value = {lk_kind_of(found) == LK_BOOL, lk_as_bool(found)};
  return value;
}

static bool lk_need_bool(lk_value frame, const char* key) {
  return lk_as_bool(lk_get(frame, key));
}
