// Words that are joined by a hyphen, an apostrophe, a dot, a slash and the like: "node.js", "long-term",
// "src/cli/main.ts". Their parts are words; the whole is a token of its own, by which texts that write it in another
// way are found, too: "nodejs", "e-mail" and "email".
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace lorekeep::text {

/// A part of a text, in bytes: [begin, end).
struct TokenPlace {
  std::size_t begin;
  std::size_t end;
};

/// How a character between two words joins them.
struct Joiner {
  enum class Level : std::uint8_t {
    kNone,
    kWord,  // "node.js", "don't"
    kPath,  // words joined so are joined again by slashes, colons or an at sign
  };
  Level level = Level::kNone;
  char sign = 0;  // canonical, so that all hyphens are one; 0 for invisible characters
};

/// Returns how a code point joins words.
Joiner joiner_of(char32_t code_point) noexcept;

/// Longer compounds are not tokens; their words are.
inline constexpr std::size_t kMaxCompoundBytes = 256;

/// Puts compounds together while a text is read.
class Compounds {
 public:
  /// Appends a word; if nothing joins it to the one before, ends the compound and begins a new one.
  template <class Visit>
  void word(std::string_view word, TokenPlace place, Visit&& visit) {
    if (pending_.level == Joiner::Level::kNone) end(visit);
    if (pending_.level == Joiner::Level::kPath) end_part(visit);
    append(word, place);
  }

  /// Remembers the joiner after a word. Underscores, slashes and colons may repeat; other pairs of joiners end the
  /// compound.
  template <class Visit>
  void join(Joiner joiner, Visit&& visit) {
    if (joiner.level == Joiner::Level::kNone || path_.words == 0 || !may_follow(joiner)) return end(visit);
    pending_ = joiner;
  }

  /// Ends the compound.
  template <class Visit>
  void end(Visit&& visit) {
    if (path_.words > 1) {
      if (part_.words < path_.words) visit_whole(path_, visit);
      end_part(visit);
    }
    path_.clear();
    part_.clear();
    pending_ = {};
  }

  /// Whether the next word would be joined.
  bool pending() const noexcept { return pending_.level != Joiner::Level::kNone; }

 private:
  struct Whole {
    std::string text;
    std::size_t words = 0;
    bool numbered = false;  // a sign between digits was kept
    bool too_long = false;
    TokenPlace place = {};

    void append(std::string_view word, char sign, TokenPlace at);
    void clear() noexcept;
  };

  /// Visits "v1.4.2" without its v, too.
  template <class Visit>
  static void visit_whole(const Whole& whole, Visit& visit) {
    if (whole.words < 2 || whole.too_long) return;
    const std::string_view text = whole.text;
    visit(text, whole.place);
    if (whole.numbered && text[0] == 'v' && text[1] >= '0' && text[1] <= '9') visit(text.substr(1), whole.place);
  }
  template <class Visit>
  void end_part(Visit& visit) {
    visit_whole(part_, visit);
    part_.clear();
  }
  bool may_follow(Joiner joiner) const noexcept;
  void append(std::string_view word, TokenPlace place);

  Whole path_;  // all words
  Whole part_;  // those since the last joiner of a path
  Joiner pending_;
};

}  // namespace lorekeep::text
