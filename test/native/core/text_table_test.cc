#include "core/values/text_table.h"

#include <map>
#include <span>
#include <string>

#include "core/values/checksum.h"
#include "harness.h"

using lorekeep::checksum;
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

TEST("a text table spreads texts that were chosen by the hash that is the same everywhere") {
  TextArena texts;
  TextTable table;
  // Of a table that is placed by this hash, they would fill a sixteenth and what follows it, in one run.
  for (std::size_t i = 0; texts.size() < 20'000; ++i) {
    const std::string text = std::to_string(i);
    if ((checksum(std::as_bytes(std::span(text.data(), text.size()))) & 0x7fff) >= 0x800) continue;
    texts.append(text);
    table.enter(texts, texts.size() - 1);
  }
  // In 32,768 places at random, runs of some 150 are the longest; 20,000 is one run.
  CHECK(table.longest_run() < 2000);
}
