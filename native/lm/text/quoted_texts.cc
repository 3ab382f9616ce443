#include "lm/text/quoted_texts.h"

#include <algorithm>
#include <utility>

#include "core/values/wipe.h"

namespace lorekeep::lm {
namespace {

bool blank(char byte) noexcept {
  return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

// Returns the text without blanks, in lower case.
std::string folded(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (const char byte : text) {
    if (!blank(byte)) result.push_back(byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte - 'A' + 'a') : byte);
  }
  return result;
}

void wipe(std::string& text) noexcept {
  wipe_bytes(text.data(), text.size());
}

constexpr std::uint64_t kFactor = 0x100000001b3;
/// Bytes compared in one text, by 16, after which it counts as one that has a text: a few ms.
constexpr std::size_t kMostCompared = std::size_t{1} << 20;

std::uint64_t next(std::uint64_t hash, char byte) noexcept {
  return hash * kFactor + static_cast<unsigned char>(byte) + 1;
}

}  // namespace

QuotedTexts::QuotedTexts(std::span<const std::string> texts) {
  folded_.reserve(texts.size());
  for (const std::string& text : texts) {
    std::string one = folded(text);
    if (one.empty()) continue;
    const std::size_t length = std::min(one.size(), kLongestWindow);
    if (!windows_[length]) windows_[length] = std::make_unique<Window>();
    Window& window = *windows_[length];
    std::uint64_t hash = 0;
    for (std::size_t i = 0; i < length; ++i) hash = next(hash, one[i]);
    window.texts[hash].push_back(static_cast<std::uint32_t>(folded_.size()));
    window.known.set(hash >> 48);
    folded_.push_back(std::move(one));
  }
}

QuotedTexts::~QuotedTexts() {
  std::for_each(folded_.begin(), folded_.end(), wipe);
}

bool QuotedTexts::within(std::string_view text) const {
  std::string given = folded(text);
  std::size_t left = kMostCompared;
  bool has = false;
  for (std::size_t length = 1; length <= kLongestWindow && !has; ++length) {
    has = windows_[length] && found(*windows_[length], length, given, left);
  }
  wipe(given);
  return has;
}

bool QuotedTexts::found(const Window& window, std::size_t length, std::string_view given, std::size_t& left) const {
  std::uint64_t power = 1;
  for (std::size_t i = 0; i < length; ++i) power *= kFactor;
  std::uint64_t hash = 0;
  for (std::size_t i = 0; i < given.size(); ++i) {
    hash = next(hash, given[i]);
    if (i >= length) hash -= power * (static_cast<unsigned char>(given[i - length]) + std::uint64_t{1});
    if (i + 1 < length || !window.known.test(hash >> 48)) continue;
    const auto same = window.texts.find(hash);
    if (same == window.texts.end()) continue;
    for (const std::uint32_t index : same->second) {
      const std::string& one = folded_[index];
      const std::size_t cost = 1 + one.size() / 16;
      if (cost > left) return true;
      left -= cost;
      if (given.substr(i + 1 - length).starts_with(one)) return true;
    }
  }
  return false;
}

}  // namespace lorekeep::lm
