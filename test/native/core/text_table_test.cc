#include "core/values/text_table.h"

#include <map>
#include <string>

#include "harness.h"

using lorekeep::TextArena;
using lorekeep::TextTable;

TEST("a text table finds each text where it was entered first, the empty one too") {
  TextArena texts;
  TextTable table;
  std::map<std::string, std::size_t> first;
  CHECK(!table.find(texts, ""));
  for (std::size_t i = 0; i < 5000; ++i) {
    const std::string text(i % 7, static_cast<char>('a' + i % 5));
    const std::string named = i % 3 == 0 ? text : text + std::to_string(i * 7919 % 2003);
    texts.append(named);
    const auto [known, is_new] = first.emplace(named, i);
    CHECK(table.enter(texts, i) == (is_new ? std::nullopt : std::optional(known->second)));
  }
  for (const auto& [text, position] : first) CHECK(table.find(texts, text) == position);
  CHECK(table.find(texts, "") == first.at(""));
  CHECK(!table.find(texts, "b0b"));
}
