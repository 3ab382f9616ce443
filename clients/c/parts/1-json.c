/* Reading JSON. */

#define LK_MAX_DEPTH 128
#define LK_MAX_BYTES ((size_t)1 << 30)
/* Of one text: a hostile one has a value in two bytes, and each takes a node. */
#define LK_MAX_VALUES 4000000u

typedef struct lk_node {
  uint8_t kind;
  bool flag;
  uint32_t next;       /* Node after it in its container; 0: none. */
  uint32_t first;      /* First node of a container; 0: none. */
  uint32_t count;      /* Nodes of a container. */
  uint32_t start;      /* Of a string's or number's text. */
  uint32_t length;     /* Of that text. */
  uint32_t key_start;  /* Of a member's key, which ends with a NUL. */
  uint32_t key_length; /* Of that key. */
} lk_node;

struct lk_document {
  char* text;      /* Strings are unescaped in place and end with a NUL. */
  uint32_t length; /* Of the text, with the NUL behind it. */
  lk_node* nodes;
  uint32_t count;
  uint32_t capacity;
};

typedef struct lk_parser {
  lk_document* document;
  uint32_t at;
  uint32_t length;
} lk_parser;

/* Whether all bytes are UTF-8: shortest forms, no surrogates. */
static bool lk_is_utf8(const char* text, size_t length) {
  const unsigned char* at = (const unsigned char*)text;
  const unsigned char* end = at + length;
  while (at < end) {
    unsigned char lead = *at++;
    if (lead < 0x80) continue;
    int more = lead >= 0xC2 && lead <= 0xDF ? 1 : (lead & 0xF0) == 0xE0 ? 2 : lead >= 0xF0 && lead <= 0xF4 ? 3 : 0;
    if (more == 0 || end - at < more) return false;
    if ((lead == 0xE0 && at[0] < 0xA0) || (lead == 0xED && at[0] > 0x9F) || (lead == 0xF0 && at[0] < 0x90) ||
        (lead == 0xF4 && at[0] > 0x8F))
      return false;
    for (; more > 0; more--)
      if ((*at++ & 0xC0) != 0x80) return false;
  }
  return true;
}

/* The index of a new node; 0 without memory, or if there are too many. Node 0 is no value. */
static uint32_t lk_add_node(lk_document* document, lk_kind kind) {
  if (document->count == LK_MAX_VALUES) return 0;
  if (document->count == document->capacity) {
    uint32_t capacity = document->capacity < 64 ? 64 : document->capacity * 2;
    lk_node* nodes = (lk_node*)realloc(document->nodes, capacity * sizeof(lk_node));
    if (nodes == NULL) return 0;
    document->nodes = nodes;
    document->capacity = capacity;
  }
  memset(&document->nodes[document->count], 0, sizeof(lk_node));
  document->nodes[document->count].kind = (uint8_t)kind;
  return document->count++;
}

static char lk_peek(const lk_parser* parser) {
  return parser->at < parser->length ? parser->document->text[parser->at] : '\0';
}

static void lk_skip_space(lk_parser* parser) {
  for (;; parser->at++) {
    char c = lk_peek(parser);
    if (c != ' ' && c != '\t' && c != '\n' && c != '\r') return;
  }
}

static bool lk_take(lk_parser* parser, char c) {
  if (lk_peek(parser) != c) return false;
  parser->at++;
  return true;
}

/* Four hexadecimal digits; -1 for others. */
static int lk_parse_hex(lk_parser* parser) {
  int value = 0;
  for (int i = 0; i < 4; i++, parser->at++) {
    char c = lk_peek(parser);
    int digit = c >= '0' && c <= '9'   ? c - '0'
                : c >= 'a' && c <= 'f' ? c - 'a' + 10
                : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                       : -1;
    if (digit < 0) return -1;
    value = value * 16 + digit;
  }
  return value;
}

/* Writes a code point as UTF-8 and returns the place behind it. */
static char* lk_put_utf8(char* to, uint32_t code) {
  if (code < 0x80) {
    *to++ = (char)code;
  } else if (code < 0x800) {
    *to++ = (char)(0xC0 | (code >> 6));
    *to++ = (char)(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    *to++ = (char)(0xE0 | (code >> 12));
    *to++ = (char)(0x80 | ((code >> 6) & 0x3F));
    *to++ = (char)(0x80 | (code & 0x3F));
  } else {
    *to++ = (char)(0xF0 | (code >> 18));
    *to++ = (char)(0x80 | ((code >> 12) & 0x3F));
    *to++ = (char)(0x80 | ((code >> 6) & 0x3F));
    *to++ = (char)(0x80 | (code & 0x3F));
  }
  return to;
}

/* The code point after \u; a lone surrogate becomes U+FFFD. -1: no digits. */
static int32_t lk_parse_escaped_code(lk_parser* parser) {
  int code = lk_parse_hex(parser);
  if (code < 0xD800 || code > 0xDFFF) return code;
  uint32_t after_first = parser->at;
  if (code < 0xDC00 && lk_take(parser, '\\') && lk_take(parser, 'u')) {
    int low = lk_parse_hex(parser);
    if (low < 0) return -1;
    if (low >= 0xDC00 && low <= 0xDFFF) return 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
  }
  parser->at = after_first;
  return 0xFFFD;
}

/* A string after its quotation mark. No escape is shorter than what it stands for, so the text never grows. */
static bool lk_parse_string(lk_parser* parser, uint32_t* start, uint32_t* length) {
  char* text = parser->document->text;
  char* to = text + parser->at;
  *start = parser->at;
  while (parser->at < parser->length) {
    unsigned char c = (unsigned char)text[parser->at++];
    if (c == '"') {
      *length = (uint32_t)(to - text) - *start;
      *to = '\0';
      return true;
    }
    if (c < 0x20) return false;
    if (c != '\\') {
      *to++ = (char)c;
      continue;
    }
    char escape = lk_peek(parser);
    parser->at++;
    if (escape == 'u') {
      int32_t code = lk_parse_escaped_code(parser);
      if (code < 0) return false;
      to = lk_put_utf8(to, (uint32_t)code);
      continue;
    }
    static const char escapes[] = "\"\\/bfnrt";
    static const char meanings[] = "\"\\/\b\f\n\r\t";
    const char* found = escape == '\0' ? NULL : strchr(escapes, escape);
    if (found == NULL) return false;
    *to++ = meanings[found - escapes];
  }
  return false;
}

static bool lk_is_digit(char c) {
  return c >= '0' && c <= '9';
}

static bool lk_parse_digits(lk_parser* parser) {
  if (!lk_is_digit(lk_peek(parser))) return false;
  while (lk_is_digit(lk_peek(parser))) parser->at++;
  return true;
}

static bool lk_parse_number(lk_parser* parser, uint32_t node) {
  uint32_t start = parser->at;
  lk_take(parser, '-');
  if (!lk_take(parser, '0') && !lk_parse_digits(parser)) return false;
  if (lk_take(parser, '.') && !lk_parse_digits(parser)) return false;
  if (lk_take(parser, 'e') || lk_take(parser, 'E')) {
    if (!lk_take(parser, '+')) lk_take(parser, '-');
    if (!lk_parse_digits(parser)) return false;
  }
  parser->document->nodes[node].start = start;
  parser->document->nodes[node].length = parser->at - start;
  return true;
}

static bool lk_parse_word(lk_parser* parser, const char* word) {
  for (; *word != '\0'; word++)
    if (!lk_take(parser, *word)) return false;
  return true;
}

/* A value that is no container, or the beginning of one. Returns its node; 0: no value. */
static uint32_t lk_parse_beginning(lk_parser* parser) {
  lk_document* document = parser->document;
  lk_skip_space(parser);
  char c = lk_peek(parser);
  lk_kind kind = c == '{'               ? LK_OBJECT
                 : c == '['             ? LK_ARRAY
                 : c == '"'             ? LK_STRING
                 : c == 'n'             ? LK_NULL
                 : c == 't' || c == 'f' ? LK_BOOL
                                        : LK_NUMBER;
  uint32_t node = lk_add_node(document, kind);
  if (node == 0) return 0;
  bool parsed = true;
  if (kind == LK_OBJECT || kind == LK_ARRAY) {
    parser->at++;
  } else if (kind == LK_STRING) {
    uint32_t start = 0, length = 0;
    parser->at++;
    parsed = lk_parse_string(parser, &start, &length);
    document->nodes[node].start = start;
    document->nodes[node].length = length;
  } else if (kind == LK_NUMBER) {
    parsed = lk_parse_number(parser, node);
  } else {
    document->nodes[node].flag = c == 't';
    parsed = lk_parse_word(parser, c == 'n' ? "null" : c == 't' ? "true" : "false");
  }
  return parsed ? node : 0;
}

static bool lk_parse_key(lk_parser* parser, uint32_t* start, uint32_t* length) {
  lk_skip_space(parser);
  if (!lk_take(parser, '"') || !lk_parse_string(parser, start, length)) return false;
  lk_skip_space(parser);
  return lk_take(parser, ':');
}

/* The whole text: containers that are open are on a stack of limited depth. */
static bool lk_parse_text(lk_parser* parser) {
  lk_document* document = parser->document;
  uint32_t open[LK_MAX_DEPTH], last[LK_MAX_DEPTH];
  int depth = 0;
  if (lk_add_node(document, LK_ABSENT) != 0 || document->count == 0) return false;
  for (;;) {
    uint32_t key_start = 0, key_length = 0;
    bool in_object = depth > 0 && document->nodes[open[depth - 1]].kind == LK_OBJECT;
    if (in_object && !lk_parse_key(parser, &key_start, &key_length)) return false;
    uint32_t node = lk_parse_beginning(parser);
    if (node == 0) return false;
    lk_node* made = &document->nodes[node];
    made->key_start = key_start;
    made->key_length = key_length;
    if (depth > 0) {
      if (last[depth - 1] == 0)
        document->nodes[open[depth - 1]].first = node;
      else
        document->nodes[last[depth - 1]].next = node;
      last[depth - 1] = node;
      document->nodes[open[depth - 1]].count++;
    }
    bool ends = true;
    if (made->kind == LK_OBJECT || made->kind == LK_ARRAY) {
      if (depth == LK_MAX_DEPTH) return false;
      lk_skip_space(parser);
      if (!lk_take(parser, made->kind == LK_OBJECT ? '}' : ']')) {
        open[depth] = node;
        last[depth] = 0;
        depth++;
        ends = false;
      }
    }
    while (ends && depth > 0) {
      lk_skip_space(parser);
      if (lk_take(parser, ',')) break;
      if (!lk_take(parser, document->nodes[open[depth - 1]].kind == LK_OBJECT ? '}' : ']')) return false;
      depth--;
    }
    if (ends && depth == 0) break;
  }
  lk_skip_space(parser);
  return parser->at == parser->length;
}

/* Parses a text that it owns from now on, with a byte of room behind it. NULL frees it. */
static lk_document* lk_parse_owned(char* text, size_t length) {
  lk_document* document = (lk_document*)calloc(1, sizeof(lk_document));
  if (document == NULL) {
    free(text);
    return NULL;
  }
  document->text = text;
  document->length = (uint32_t)length + 1;
  lk_parser parser = {document, 0, (uint32_t)length};
  if (length <= LK_MAX_BYTES && lk_is_utf8(text, length) && lk_parse_text(&parser)) return document;
  lk_document_free(document);
  return NULL;
}

lk_document* lk_parse(const char* text, size_t length) {
  char* copy = length <= LK_MAX_BYTES ? (char*)malloc(length + 1) : NULL;
  if (copy == NULL) return NULL;
  if (length > 0) memcpy(copy, text, length);
  return lk_parse_owned(copy, length);
}

void lk_document_free(lk_document* document) {
  if (document == NULL) return;
  free(document->text);
  free(document->nodes);
  free(document);
}

static lk_value lk_value_of(const lk_document* document, uint32_t node) {
  lk_value value = {document, node};
  return value;
}

static const lk_node* lk_node_of(lk_value value) {
  static const lk_node absent = {LK_ABSENT, false, 0, 0, 0, 0, 0, 0, 0};
  return value.document == NULL ? &absent : &value.document->nodes[value.node];
}

lk_value lk_root(const lk_document* document) {
  return lk_value_of(document, document == NULL ? 0 : 1);
}

lk_kind lk_kind_of(lk_value value) {
  return (lk_kind)lk_node_of(value)->kind;
}

size_t lk_count(lk_value container) {
  return lk_node_of(container)->count;
}

lk_value lk_first(lk_value container) {
  return lk_value_of(container.document, lk_node_of(container)->first);
}

lk_value lk_next(lk_value item) {
  return lk_value_of(item.document, lk_node_of(item)->next);
}

lk_value lk_get(lk_value object, const char* key) {
  if (lk_kind_of(object) != LK_OBJECT) return lk_value_of(NULL, 0);
  size_t length = strlen(key);
  lk_value member = lk_first(object);
  for (; lk_kind_of(member) != LK_ABSENT; member = lk_next(member)) {
    const lk_node* node = lk_node_of(member);
    if (node->key_length == length && memcmp(object.document->text + node->key_start, key, length) == 0) break;
  }
  return member;
}

const char* lk_key(lk_value member) {
  const lk_node* node = lk_node_of(member);
  /* A key begins behind a quotation mark, so never at 0. */
  return node->key_start == 0 ? "" : member.document->text + node->key_start;
}

const char* lk_as_string(lk_value value) {
  return lk_kind_of(value) == LK_STRING ? value.document->text + lk_node_of(value)->start : "";
}

size_t lk_length(lk_value string) {
  return lk_kind_of(string) == LK_STRING ? lk_node_of(string)->length : 0;
}

bool lk_as_bool(lk_value value) {
  return lk_node_of(value)->flag;
}

bool lk_as_int64(lk_value value, int64_t* integer) {
  if (lk_kind_of(value) != LK_NUMBER) return false;
  const char* at = value.document->text + lk_node_of(value)->start;
  const char* end = at + lk_node_of(value)->length;
  bool negative = *at == '-';
  if (negative) at++;
  uint64_t most = (uint64_t)INT64_MAX + (negative ? 1 : 0);
  uint64_t sum = 0;
  for (; at < end; at++) {
    if (!lk_is_digit(*at)) return false;
    uint64_t digit = (uint64_t)(*at - '0');
    if (sum > (most - digit) / 10) return false;
    sum = sum * 10 + digit;
  }
  *integer = negative ? (int64_t)(~sum + 1) : (int64_t)sum;
  return true;
}

double lk_as_double(lk_value value) {
  if (lk_kind_of(value) != LK_NUMBER) return 0;
  const lk_node* node = lk_node_of(value);
  char few[64];
  char* text = node->length < sizeof few ? few : (char*)malloc(node->length + 1);
  if (text == NULL) return 0;
  memcpy(text, value.document->text + node->start, node->length);
  text[node->length] = '\0';
  /* strtod() reads the decimal point of the locale. */
  char* point = strchr(text, '.');
  if (point != NULL) *point = *localeconv()->decimal_point;
  double number = strtod(text, NULL);
  if (text != few) free(text);
  return number;
}
