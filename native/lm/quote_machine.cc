#include "lm/quote_machine.h"

#include <string_view>
#include <utility>

#include "core/error.h"
#include "core/utf8.h"

namespace lorekeep::lm {
namespace {

constexpr char kSeparator = '\xFF';

enum class Class { kSpace, kWord, kOther };

/// Letters of scripts that are written without spaces count as words of their own.
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

void check_mark(const std::string& name, const std::string& mark) {
  if (mark.empty() || mark.size() > kMaxQuoteMarkBytes) {
    fail(Code::kInvalidArgument, "quotes." + name + " must have 1 to " + std::to_string(kMaxQuoteMarkBytes) + " bytes");
  }
  if (!is_valid_utf8(mark)) fail(Code::kInvalidArgument, "quotes." + name + " is not well-formed UTF-8");
}

}  // namespace

void check_quotes(const QuoteRule& rule) {
  check_mark("open", rule.open);
  check_mark("close", rule.close);
  if (StringMatcher(rule.close).overlaps_itself()) {
    fail(Code::kInvalidArgument, "quotes.close begins as it ends; choose a mark that does not overlap itself");
  }
  std::size_t bytes = 0;
  for (const std::string& text : rule.texts) bytes += text.size();
  if (bytes > kMaxQuotedBytes) {
    fail(Code::kInvalidArgument,
         "quotes.texts have " + std::to_string(bytes) + " bytes, more than " + std::to_string(kMaxQuotedBytes));
  }
}

QuoteMachine::QuoteMachine(const QuoteRule& rule) : open_((check_quotes(rule), rule.open)), close_(rule.close) {
  for (const std::string& raw : rule.texts) {
    const std::string text = repair_utf8(raw);
    for (std::size_t at = 0; at <= text.size();) {
      const std::size_t end = std::min(text.find(rule.close, at), text.size());
      add_segment(std::string_view(text).substr(at, end - at));
      at = end + rule.close.size();
    }
  }
  std::vector<std::uint32_t> begins;
  for (std::uint32_t at = 0; at < text_.size(); ++at) {
    if (begins_at_[at]) begins.push_back(at);
  }
  begins_ = std::make_shared<const std::vector<std::uint32_t>>(std::move(begins));
}

void QuoteMachine::add_segment(std::string_view segment) {
  Class before = Class::kSpace;
  const char* at = segment.data();
  const char* const end = at + segment.size();
  while (at < end) {
    const char* const begin = at;
    const Class now = class_of(decode_utf8(at, end));
    const bool inside_word = before == Class::kWord && now == Class::kWord;
    begins_at_.push_back(now != Class::kSpace && !inside_word);
    ends_.push_back(before != Class::kSpace && !inside_word);
    begins_at_.insert(begins_at_.end(), static_cast<std::size_t>(at - begin - 1), false);
    ends_.insert(ends_.end(), static_cast<std::size_t>(at - begin - 1), false);
    before = now;
  }
  text_ += segment;
  // The end of a segment always ends a span, so that a span that reached it can be closed.
  text_ += kSeparator;
  begins_at_.push_back(false);
  ends_.push_back(true);
}

bool QuoteMachine::may_close(const State& state) const {
  if (state.any) return false;
  for (const std::uint32_t place : *state.places) {
    if (ends_[place]) return true;
  }
  return false;
}

bool QuoteMachine::step(const State& from, std::uint8_t byte, State& to) const {
  const char c = static_cast<char>(byte);
  to = State();
  if (!from.inside) {
    to.opened = open_.next(from.opened, c);
    if (to.opened < open_.pattern().size()) return true;
    if (begins_->empty()) return false;  // nothing can be quoted
    to.opened = 0;
    to.inside = true;
    to.any = true;
    to.places = begins_;
    return true;
  }
  to.inside = true;
  to.opened = close_.next(from.opened, c);
  const std::string& close = close_.pattern();
  // Ways that are inside the closing mark, and those that begin it here.
  for (std::size_t read = 1; read < close.size(); ++read) {
    if ((from.closing >> read & 1) != 0 && close[read] == c) to.closing |= std::uint32_t{1} << (read + 1);
  }
  if (close[0] == c && may_close(from)) to.closing |= 2;
  const bool closed = (to.closing >> close.size() & 1) != 0;
  if (closed) {
    to = State();
    return true;
  }
  if (to.opened == close.size()) return false;  // whoever reads the reply would see the mark here
  auto places = std::make_shared<std::vector<std::uint32_t>>();
  if (c != kSeparator) {
    for (const std::uint32_t place : *from.places) {
      if (text_[place] == c) places->push_back(place + 1);
    }
  }
  if (places->empty() && to.closing == 0) return false;
  to.places = std::move(places);
  return true;
}

}  // namespace lorekeep::lm
