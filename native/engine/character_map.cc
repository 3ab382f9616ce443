#include "engine/character_map.h"

#include <algorithm>
#include <cstring>

#include "core/values/error.h"

namespace lorekeep::engine {
namespace {

// A unit of the trie: the label, whether the next unit is a value, and the distance to the children, in steps of 1 or
// 256. A value has the highest bit.
constexpr std::uint32_t kValue = 1u << 31;
constexpr std::uint32_t kLabel = kValue | 0xFF;
constexpr std::uint32_t kHasValue = 1u << 8;
constexpr std::uint32_t kFar = 1u << 9;

std::size_t distance(std::uint32_t unit) noexcept {
  const std::size_t steps = unit >> 10;
  return (unit & kFar) != 0 ? steps << 8 : steps;
}

[[noreturn]] void damaged() {
  fail(Code::kModelInvalid, "the vocabulary's map of characters (precompiled_charsmap) is damaged");
}

}  // namespace

CharacterMap::CharacterMap(std::span<const std::byte> value) {
  std::uint32_t bytes = 0;
  if (value.size() < sizeof bytes) damaged();
  std::memcpy(&bytes, value.data(), sizeof bytes);
  const std::span<const std::byte> rest = value.subspan(sizeof bytes);
  if (bytes >= rest.size() || bytes == 0 || bytes % sizeof(std::uint32_t) != 0) damaged();
  units_.resize(bytes / sizeof(std::uint32_t));
  std::memcpy(units_.data(), rest.data(), bytes);
  texts_.resize(rest.size() - bytes);
  std::memcpy(texts_.data(), rest.data() + bytes, texts_.size());
  if (texts_.back() != '\0') damaged();
}

std::uint32_t CharacterMap::unit(std::size_t index) const {
  if (index >= units_.size()) damaged();
  return units_[index];
}

CharacterMap::Mapped CharacterMap::longest(std::string_view text) const {
  Mapped found{0, {}};
  if (units_.empty()) return found;
  std::size_t node = distance(units_.front());
  for (std::size_t i = 0; i < text.size() && text[i] != '\0'; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    node ^= byte;
    const std::uint32_t here = unit(node);
    if ((here & kLabel) != byte) break;
    node ^= distance(here);
    if ((here & kHasValue) == 0) continue;
    const std::size_t begin = unit(node) & ~kValue;
    if (begin >= texts_.size()) damaged();
    found = {i + 1, std::string_view(texts_.data() + begin)};
  }
  return found;
}

}  // namespace lorekeep::engine
