#include "lm/grammar/quote_machine.h"

#include <algorithm>
#include <utility>

#include "core/values/error.h"
#include "core/values/utf8.h"

namespace lorekeep::lm {
namespace {

/// Bits of State::pairs; the bytes of a mark fit the two bits that each pair has in State::closing.
constexpr std::size_t kMaxPairs = 32;
constexpr std::size_t kMaxMarkBytes = 3;
/// Characters between two looks at the cancel token.
constexpr std::size_t kTextGrain = 65'536;

enum class Class { kSpace, kWord, kOther };

/// Each letter of a script that is written without spaces is a word.
Class class_of(char32_t c) noexcept {
  if (c <= ' ' || c == 0xA0 || c == 0x3000 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029)
    return Class::kSpace;
  if (c < 0x80) {
    const bool word = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
    return word ? Class::kWord : Class::kOther;
  }
  const bool punctuation = c < 0xC0 || (c >= 0x2010 && c <= 0x2BFF) || c >= 0x2E80;
  return punctuation ? Class::kOther : Class::kWord;
}

/// Whether the character is a letter, a digit or an accent of a script that writes apostrophes: Latin, Greek, Cyrillic.
bool takes_apostrophe(char32_t c) noexcept {
  if (c < 0x80) return c != '_' && class_of(c) == Class::kWord;
  if (c >= 0x1E00 && c < 0x1F00) return true;
  const bool sign = c == 0xD7 || c == 0xF7 || c == 0x3F6 || c == 0x482 || (c >= 0x2C2 && c < 0x300);
  const bool greek_mark = c >= 0x374 && c < 0x388 && c != 0x386;
  return c >= 0xC0 && c < 0x530 && !sign && !greek_mark;
}

std::vector<std::string> characters(const std::string& text) {
  std::vector<std::string> found;
  const char* const end = text.data() + text.size();
  for (const char* at = text.data(); at < end;) {
    const char* const begin = at;
    decode_utf8(at, end);
    found.emplace_back(begin, at);
  }
  return found;
}

char32_t decoded(std::string_view character) noexcept {
  const char* at = character.data();
  return decode_utf8(at, at + character.size());
}

/// Bytes of the character that begins with `lead`; 1 if no character of several bytes begins so.
std::size_t expected_bytes(char lead) noexcept {
  const auto byte = static_cast<unsigned char>(lead);
  if (byte < 0xC2 || byte > 0xF4) return 1;
  return byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2;
}

}  // namespace

void check_quotes(const QuoteRule& rule) {
  const std::vector<std::string> marks = characters(rule.marks);
  const auto fits = [](const std::string& mark) { return mark.size() <= kMaxMarkBytes; };
  if (!is_valid_utf8(rule.marks) || marks.size() % 2 != 0 || !std::all_of(marks.begin(), marks.end(), fits))
    fail(Code::kInvalidArgument, "quotes.marks: pairs of characters below U+10000 are expected");
  if (marks.size() > 2 * kMaxPairs)
    fail(Code::kInvalidArgument, "quotes.marks: more than " + std::to_string(kMaxPairs) + " pairs");
  if (!is_valid_utf8(rule.apostrophes)) fail(Code::kInvalidArgument, "quotes.apostrophes is not well-formed UTF-8");
  std::size_t bytes = 0;
  for (const std::string& text : rule.texts) bytes += text.size();
  if (bytes > kMaxQuotedBytes) {
    fail(Code::kInvalidArgument,
         "quotes.texts have " + std::to_string(bytes) + " bytes, more than " + std::to_string(kMaxQuotedBytes));
  }
}

QuoteMachine::QuoteMachine(const QuoteRule& rule, const CancelToken* cancel) {
  check_quotes(rule);
  const auto add = [this](char32_t character, std::uint32_t opens, bool apostrophe) {
    const auto at = std::lower_bound(marks_.begin(), marks_.end(), character, Mark::is_below);
    if (at == marks_.end() || at->character != character) {
      marks_.insert(at, {character, opens, apostrophe});
    } else {
      at->opens |= opens;
    }
  };
  const std::vector<std::string> marks = characters(rule.marks);
  for (std::size_t i = 0; i < marks.size(); i += 2) {
    add(decoded(marks[i]), std::uint32_t{1} << closes_.size(), false);
    add(decoded(marks[i + 1]), 0, false);
    closes_.push_back(marks[i + 1]);
  }
  for (const std::string& apostrophe : characters(rule.apostrophes)) add(decoded(apostrophe), 0, true);
  for (const std::string& text : rule.texts) add_text(repair_utf8(text), cancel);
}

const QuoteMachine::Mark* QuoteMachine::find(char32_t character) const noexcept {
  const auto at = std::lower_bound(marks_.begin(), marks_.end(), character, Mark::is_below);
  return at != marks_.end() && at->character == character ? &*at : nullptr;
}

void QuoteMachine::add_text(std::string_view text, const CancelToken* cancel) {
  Class before = Class::kSpace;
  bool letter = false;
  const char* at = text.data();
  const char* const end = at + text.size();
  // The end of a part always ends a span, so that a span that reached it can be closed.
  const auto end_part = [this, &before] {
    spans_.end_part();
    before = Class::kSpace;
  };
  std::size_t count = 0;
  while (at < end) {
    if (cancel != nullptr && ++count % kTextGrain == 0) cancel->check();
    const char* const begin = at;
    const char32_t character = decode_utf8(at, end);
    const Mark* const mark = find(character);
    const bool after_letter = std::exchange(letter, takes_apostrophe(character));
    if (mark != nullptr && !(mark->apostrophe && after_letter)) {
      end_part();
      continue;
    }
    Class now = class_of(character);
    if (mark != nullptr) {
      const char* next = at;
      now = next < end && class_of(decode_utf8(next, end)) == Class::kWord ? Class::kWord : Class::kOther;
    }
    const bool inside_word = before == Class::kWord && now == Class::kWord;
    const bool begins = now != Class::kSpace && !inside_word && mark == nullptr;
    spans_.add({begin, static_cast<std::size_t>(at - begin)}, begins, before != Class::kSpace && !inside_word);
    before = now;
  }
  end_part();
}

bool QuoteMachine::step(const State& from, std::uint8_t byte, State& to, Allowance& work) {
  const char c = static_cast<char>(byte);
  return from.inside ? step_inside(from, c, to, work) : step_outside(from, c, to);
}

bool QuoteMachine::step_outside(const State& from, char byte, State& to) {
  to = from;
  if (to.pending_bytes > 0 && (static_cast<unsigned char>(byte) & 0xC0u) != 0x80u) {
    to.pending_bytes = 0;  // the character ends here, ill-formed
    to.after_letter = false;
  }
  to.pending[to.pending_bytes++] = byte;
  if (to.pending_bytes < expected_bytes(to.pending[0])) return true;
  const char32_t character = decoded({to.pending.data(), to.pending_bytes});
  to.pending_bytes = 0;
  return take(character, to);
}

/// Takes a whole character outside of quotations.
bool QuoteMachine::take(char32_t character, State& state) {
  const Mark* const mark = find(character);
  if (mark == nullptr) {
    state.after_letter = takes_apostrophe(character);
    return true;
  }
  const bool after_letter = std::exchange(state.after_letter, false);
  if (mark->apostrophe) return after_letter;
  state.pairs &= mark->opens;
  if (state.pairs == 0 || spans_.empty()) return false;
  state.inside = true;
  state.span = spans_.start();
  return true;
}

bool QuoteMachine::step_inside(const State& from, char byte, State& to, Allowance& work) {
  to = State();
  std::uint32_t closed = 0;
  const bool closes = spans_.may_end(from.span);
  for (std::size_t pair = 0; pair < closes_.size(); ++pair) {
    if ((from.pairs >> pair & 1) == 0) continue;
    const std::string& close = closes_[pair];
    for (std::size_t read = 0; read < close.size(); ++read) {
      const bool here = read == 0 ? closes : (from.closing >> (2 * pair + read - 1) & 1) != 0;
      if (!here || close[read] != byte) continue;
      if (read + 1 == close.size()) {
        closed |= std::uint32_t{1} << pair;
      } else {
        to.closing |= std::uint64_t{1} << (2 * pair + read);
      }
    }
  }
  if (closed != 0) {
    to.pairs = closed;
    return true;
  }
  if (!spans_.step(from.span, byte, to.span, work) && to.closing == 0) return false;
  to.pairs = from.pairs;
  to.inside = true;
  return true;
}

}  // namespace lorekeep::lm
