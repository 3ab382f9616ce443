/* The JSON of the client in C: what it takes, what it refuses, and millions of damaged texts: json SEED */
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../lorekeep.h"

static int failures = 0;

#define CHECK(condition)                                     \
  do {                                                       \
    if (!(condition)) {                                      \
      printf("not ok: line %d: %s\n", __LINE__, #condition); \
      failures++;                                            \
    }                                                        \
  } while (0)

static bool parses(const char* text, size_t length) {
  lk_document* document = lk_parse(text, length);
  lk_document_free(document);
  return document != NULL;
}

static void takes_json_and_nothing_else(void) {
  static const char* const good[] = {"0",
                                     "-0",
                                     "[]",
                                     "{}",
                                     " [ 1 , 2 ] ",
                                     "\"\"",
                                     "null",
                                     "true",
                                     "false",
                                     "1e9",
                                     "-1.5E-3",
                                     "[[[]]]",
                                     "{\"a\":{\"b\":[null]}}",
                                     "\"\\u0041\\ud83d\\ude00\\n\"",
                                     "\"\\ud800\"",
                                     "\"\\udc00x\"",
                                     "\"\\ud800\\u0041\"",
                                     "\"\303\251\""};
  static const char* const bad[] = {"",
                                    " ",
                                    "01",
                                    "+1",
                                    ".5",
                                    "1.",
                                    "1e",
                                    "-",
                                    "NaN",
                                    "Infinity",
                                    "[1,]",
                                    "[,1]",
                                    "[1 2]",
                                    "{\"a\"}",
                                    "{\"a\":}",
                                    "{a:1}",
                                    "{\"a\":1,}",
                                    "[",
                                    "{",
                                    "\"",
                                    "\"\\x\"",
                                    "\"\\u12\"",
                                    "\"\\u12g4\"",
                                    "\"\t\"",
                                    "nul",
                                    "nullx",
                                    "[1]]",
                                    "1 2",
                                    "'a'",
                                    "\"\xff\"",
                                    "\"\xc0\x80\"",
                                    "\"\xed\xa0\x80\"",
                                    "\"\xf4\x90\x80\x80\"",
                                    "\"\xe2\x80\"",
                                    "// x\n1",
                                    "\"\\ud800\\u00\""};
  for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
    if (!parses(good[i], strlen(good[i]))) printf("not ok: refused: %s\n", good[i]), failures++;
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
    if (parses(bad[i], strlen(bad[i]))) printf("not ok: taken: %s\n", bad[i]), failures++;
  char deep[512];
  memset(deep, '[', 129);
  memset(deep + 129, ']', 129);
  CHECK(!parses(deep, 258));
  memset(deep + 128, ']', 128);
  CHECK(parses(deep, 256));
  CHECK(!parses("\"a\0b\"", 5));
}

static void reads_values(void) {
  static const char text[] =
      "{\"i\":9223372036854775807,\"m\":-9223372036854775808,\"o\":9223372036854775808,\"f\":1.5,\"e\":1e2,\"s\":"
      "\"a\\u0000b\\u00e9\",\"l\":[1,\"x\",{}],\"b\":true,\"i\":0}";
  lk_document* document = lk_parse(text, sizeof text - 1);
  lk_value root = lk_root(document), list = lk_get(root, "l");
  int64_t integer = 7;
  CHECK(lk_as_int64(lk_get(root, "i"), &integer) && integer == INT64_MAX);
  CHECK(lk_as_int64(lk_get(root, "m"), &integer) && integer == INT64_MIN);
  CHECK(!lk_as_int64(lk_get(root, "o"), &integer) && !lk_as_int64(lk_get(root, "f"), &integer) && integer == INT64_MIN);
  CHECK(!lk_as_int64(lk_get(root, "e"), &integer) && lk_as_double(lk_get(root, "e")) == 100 &&
        lk_as_double(lk_get(root, "f")) == 1.5);
  CHECK(lk_length(lk_get(root, "s")) == 5 && memcmp(lk_as_string(lk_get(root, "s")), "a\0b\303\251", 6) == 0);
  CHECK(lk_count(list) == 3 && lk_kind_of(lk_next(lk_first(list))) == LK_STRING && lk_count(root) == 9);
  CHECK(strcmp(lk_key(list), "l") == 0 && strcmp(lk_key(lk_first(list)), "") == 0 && lk_as_bool(lk_get(root, "b")));
  CHECK(lk_kind_of(lk_get(root, "x")) == LK_ABSENT && lk_kind_of(lk_get(list, "x")) == LK_ABSENT);
  CHECK(lk_kind_of(lk_get(lk_get(root, "x"), "y")) == LK_ABSENT && strcmp(lk_as_string(lk_get(root, "x")), "") == 0);
  CHECK(lk_count(lk_first(lk_root(NULL))) == 0);
  lk_document_free(document);
}

static void writes_what_it_reads(void) {
  static const double numbers[] = {0, 0.1, 1.0 / 3, -1.5, 1e300, 5e-324, DBL_MAX, 123456789.125};
  static const char bytes[] = "\x01\x1f\"\\/\n\0\303\251 \177";
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
    lk_writer writer = {0};
    lk_open_object(&writer, NULL);
    lk_write_double(&writer, "n", numbers[i]);
    lk_write_bytes(&writer, "s", bytes, sizeof bytes);
    lk_write_null(&writer, "z");
    lk_open_array(&writer, "a");
    lk_write_bool(&writer, NULL, true);
    lk_write_json(&writer, NULL, "{\"x\":[1]}");
    lk_close_array(&writer);
    lk_close_object(&writer);
    CHECK(!writer.failed);
    lk_document* document = lk_parse(writer.text, writer.length);
    lk_value root = lk_root(document);
    CHECK(lk_as_double(lk_get(root, "n")) == numbers[i] && lk_kind_of(lk_get(root, "z")) == LK_NULL);
    CHECK(lk_length(lk_get(root, "s")) == sizeof bytes &&
          memcmp(lk_as_string(lk_get(root, "s")), bytes, sizeof bytes) == 0);
    CHECK(lk_count(lk_get(root, "a")) == 2);
    lk_document_free(document);
    lk_writer_free(&writer);
  }
}

static uint32_t state;
static uint32_t draw(uint32_t below) {
  state = state * 1664525u + 1013904223u;
  return (uint32_t)(((uint64_t)(state >> 8) * below) >> 24);
}

static size_t walked(lk_value value) {
  size_t sum = lk_length(value) + strlen(lk_key(value)) + strlen(lk_as_string(value)) +
               (size_t)fabs(fmod(lk_as_double(value), 7));
  lk_value item = lk_first(value);
  for (; lk_kind_of(item) != LK_ABSENT; item = lk_next(item)) sum += walked(item);
  return sum;
}

static void survives_damage(void) {
  static const char seed_text[] =
      "{\"type\":\"TurnComplete\",\"n\":[-1.5e+10,0,9007199254740993],\"t\":\"\\ud83d\\ude00 "
      "\303\251\\n\",\"o\":{\"a\":[[],{},null,true,false]}}";
  static const char alphabet[] = "{}[]\",:\\u0e-+.dD8 tfn\x80\xc3\xff";
  char text[sizeof seed_text + 8];
  size_t taken = 0, sum = 0;
  for (int round = 0; round < 100000; round++) {
    size_t length = sizeof seed_text - 1;
    memcpy(text, seed_text, length);
    for (uint32_t changes = 1 + draw(4); changes > 0; changes--)
      text[draw((uint32_t)length)] = alphabet[draw(sizeof alphabet - 1)];
    if (draw(4) == 0) length = draw((uint32_t)length);
    /* On the heap and of exact length, so that a sanitizer sees a read behind its end. */
    char* exact = (char*)malloc(length + 1);
    memcpy(exact, text, length);
    lk_document* document = lk_parse(exact, length);
    if (document != NULL) taken++, sum += walked(lk_root(document));
    lk_document_free(document);
    free(exact);
  }
  CHECK(taken > 300 && sum > 0);
}

int main(int argc, char** argv) {
  state = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1;
  printf("seed %lu, decimal point %s\n", (unsigned long)state,
         setlocale(LC_ALL, "") ? localeconv()->decimal_point : "?");
  takes_json_and_nothing_else();
  reads_values();
  writes_what_it_reads();
  survives_damage();
  if (failures == 0) printf("ok\n");
  return failures == 0 ? 0 : 1;
}
