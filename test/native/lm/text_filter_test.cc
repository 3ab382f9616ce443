#include "lm/text/text_filter.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "core/values/utf8.h"
#include "harness.h"

namespace lorekeep::lm {
namespace {

/// What the filter must return, computed from the whole stream at once.
class Oracle {
 public:
  Oracle(const TextFilterOptions& options, std::string bytes) : options_(options), bytes_(std::move(bytes)) {
    bool inside = options.starts_inside && !options.thinking.end.empty();
    for (;;) {
      if (inside && !take_thinking()) return;
      const std::size_t content = std::min(bytes_.find_first_not_of(" \n\r\t", at_), bytes_.size());
      const std::string& start = options.thinking.start;
      const bool begins = !start.empty() && bytes_.compare(content, start.size(), start) == 0;
      if (!begins) break;
      if (!after_ && take_reply(bytes_.substr(at_, content - at_), true)) return;
      at_ = content + start.size();
      inside = !options.thinking.end.empty();
      if (!inside) break;
    }
    if (after_) at_ = std::min(bytes_.find_first_not_of(" \n\r\t", at_), bytes_.size());
    take_reply(bytes_.substr(at_), false);
  }

  FilteredText result;

 private:
  bool take_thinking() {
    const std::size_t end = bytes_.find(options_.thinking.end, at_);
    if (end == std::string::npos) {
      result.thinking += without_cut_character(bytes_.substr(at_));
      return false;
    }
    result.thinking += repair_utf8(bytes_.substr(at_, end - at_));
    at_ = end + options_.thinking.end.size();
    after_ = true;
    return true;
  }

  /// Of the stop strings that end first, the longest counts.
  bool take_reply(const std::string& reply, bool only_if_stopped) {
    for (std::size_t end = 1; end <= reply.size(); ++end) {
      std::size_t length = 0;
      for (const std::string& stop : options_.stops) {
        if (stop.size() <= end && reply.compare(end - stop.size(), stop.size(), stop) == 0) {
          length = std::max(length, stop.size());
        }
      }
      if (length == 0) continue;
      result.text = repair_utf8(reply.substr(0, end - length));
      result.stopped = true;
      return true;
    }
    if (!only_if_stopped) result.text = without_cut_character(reply);
    return false;
  }

  static std::string without_cut_character(std::string bytes) {
    // Cut off: some continuation bytes would make the end one well-formed character.
    for (std::size_t length = 1; length <= std::min<std::size_t>(3, bytes.size()); ++length) {
      const std::string tail = bytes.substr(bytes.size() - length);
      for (const std::string& rest :
           {std::string("\x80"), std::string("\xBF"), std::string("\x80\x80"), std::string("\xBF\xBF"),
            std::string("\x80\x80\x80"), std::string("\xBF\xBF\xBF")}) {
        if (is_valid_utf8(tail + rest) && utf8_length(tail + rest) == 1) {
          return repair_utf8(bytes.substr(0, bytes.size() - length));
        }
      }
    }
    return repair_utf8(bytes);
  }

  static std::size_t utf8_length(const std::string& text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
  }

  const TextFilterOptions& options_;
  std::string bytes_;
  std::size_t at_ = 0;
  bool after_ = false;
};

FilteredText filter(const TextFilterOptions& options, const std::vector<std::string>& pieces) {
  TextFilter filter(options);
  FilteredText all;
  const auto add = [&](const FilteredText& piece) {
    CHECK(is_valid_utf8(piece.text));
    CHECK(is_valid_utf8(piece.thinking));
    all.text += piece.text;
    all.thinking += piece.thinking;
    all.stopped = piece.stopped;
  };
  for (const std::string& piece : pieces) add(filter.push(piece));
  add(filter.finish());
  return all;
}

std::vector<std::string> split(const std::string& bytes, std::mt19937_64& random) {
  std::vector<std::string> pieces;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t length = 1 + random() % 5;
    pieces.push_back(bytes.substr(at, length));
    at += length;
  }
  return pieces;
}

std::string random_bytes(const std::vector<std::string>& alphabet, std::mt19937_64& random) {
  std::string bytes;
  for (std::size_t left = random() % 24; left > 0; --left) bytes += alphabet[random() % alphabet.size()];
  return bytes;
}

void check_same(const TextFilterOptions& options, const std::string& bytes, std::mt19937_64& random) {
  const Oracle expected(options, bytes);
  const FilteredText got = filter(options, split(bytes, random));
  CHECK_EQ(got.text, expected.result.text);
  CHECK_EQ(got.thinking, expected.result.thinking);
  CHECK_EQ(got.stopped, expected.result.stopped);
}

TEST("pieces concatenate to what the whole text gives, however it is split") {
  std::mt19937_64 random(test::seed());
  // Few different bytes, so that stop strings, tags and characters begin and fail everywhere.
  const std::vector<std::string> alphabet = {"a",    "b",  "ab",       "<",        "<t>",  "</t>",
                                             "</",   "t>", " ",        "\n",       "é",    "\xC3",
                                             "\xA9", "😀", "\xF0\x9F", "\xE2\x82", "\xFF", std::string(1, '\0'),
                                             "aba",  "x"};
  const std::vector<std::string> stops = {"ab", "aba", "b<", "é", "\n\n", "aab", "😀a", "<t", "x\n"};
  for (int round = 0; round < 30'000; ++round) {
    TextFilterOptions options;
    for (std::size_t left = random() % 4; left > 0; --left) options.stops.push_back(stops[random() % stops.size()]);
    if (random() % 2 == 0) options.thinking = {random() % 4 == 0 ? "" : "<t>", "</t>"};
    options.starts_inside = random() % 3 == 0;
    check_same(options, random_bytes(alphabet, random), random);
  }
}

TEST("text before a stop string is released as soon as it can no longer belong to one") {
  TextFilter filter({{"User:"}, {}, false});
  CHECK_EQ(filter.push("Hello Us").text, std::string("Hello "));
  CHECK_EQ(filter.push("e").text, std::string(""));
  CHECK_EQ(filter.push("ful").text, std::string("Useful"));
  CHECK_EQ(filter.push("\nUser").text, std::string("\n"));
  const FilteredText last = filter.push(": hi");
  CHECK_EQ(last.text, std::string(""));
  CHECK(last.stopped);
  CHECK_EQ(filter.push("more").text, std::string(""));
  CHECK_EQ(filter.finish().text, std::string(""));
}

TEST("a held part of a stop string is part of the text when generation ends") {
  TextFilter filter({{"<end>"}, {}, false});
  CHECK_EQ(filter.push("a <en").text, std::string("a "));
  CHECK_EQ(filter.finish().text, std::string("<en"));
}

TEST("a character is emitted whole and a cut one not at all") {
  TextFilter filter({});
  CHECK_EQ(filter.push("\xF0\x9F").text, std::string(""));
  CHECK_EQ(filter.push("\x98\x80!\xE2\x82").text, std::string("😀!"));
  CHECK_EQ(filter.finish().text, std::string(""));
}

TEST("stop strings do not apply inside thinking, and white space after it is left out") {
  const TextFilterOptions options{{"\n\n"}, {"<think>", "</think>"}, false};
  const FilteredText got = filter(options, {"<thi", "nk>one\n\ntw", "o</thi", "nk>\n", "\nreply\n", "\nrest"});
  CHECK_EQ(got.thinking, std::string("one\n\ntwo"));
  CHECK_EQ(got.text, std::string("reply"));
  CHECK(got.stopped);
}

TEST("a start tag in the middle of a reply is text") {
  const FilteredText got = filter({{}, {"<think>", "</think>"}, false}, {"The tag <think>", " begins"});
  CHECK_EQ(got.text, std::string("The tag <think> begins"));
  CHECK_EQ(got.thinking, std::string(""));
}

TEST("unusable stop strings are refused") {
  CHECK_FAILS(Code::kInvalidArgument, TextFilter({{"a", ""}, {}, false}));
  CHECK_FAILS(Code::kInvalidArgument, TextFilter({{"\xFF"}, {}, false}));
  CHECK_FAILS(Code::kInvalidArgument, TextFilter({{std::string(kMaxStopBytes + 1, 'a')}, {}, false}));
  CHECK_FAILS(Code::kInvalidArgument, TextFilter({std::vector<std::string>(kMaxStopStrings + 1, "a"), {}, false}));
}

const ThinkingTags kChannels{"<|channel|>analysis<|message|>", "<|channel|>final<|message|>",
                             "<|end|><|start|>assistant"};

TEST("of a reply in channels, the final one is the reply and the others are thinking") {
  const std::string between = kChannels.between;
  const struct {
    std::string bytes;
    std::string thinking;
    std::string text;
  } cases[] = {
      {kChannels.end + "Hey", "", "Hey"},
      {kChannels.start + "Hm." + between + kChannels.end + "Hey", "Hm.", "Hey"},
      {kChannels.start + "Hm." + kChannels.end + "Hey", "Hm.", "Hey"},
      {kChannels.start + "Hm." + between + kChannels.start + "So." + between + kChannels.end + "Hey", "Hm.\nSo.",
       "Hey"},
      {kChannels.start + "a <|end|> b" + between + kChannels.end + "Hey", "a <|end|> b", "Hey"},
      {"<|channel|>commentary<|message|>Hey", "", "<|channel|>commentary<|message|>Hey"},
      {"Hey", "", "Hey"},
  };
  for (const auto& [bytes, thinking, text] : cases) {
    for (std::size_t size = 1; size <= bytes.size(); size += 5) {
      TextFilter filter({{}, kChannels, false});
      FilteredText seen;
      const auto take = [&seen](const FilteredText& part) {
        seen.text += part.text;
        seen.thinking += part.thinking;
      };
      for (std::size_t at = 0; at < bytes.size(); at += size)
        take(filter.push(std::string_view(bytes).substr(at, size)));
      take(filter.finish());
      CHECK_EQ(seen.thinking, thinking);
      CHECK_EQ(seen.text, text);
    }
  }
}

}  // namespace
}  // namespace lorekeep::lm
