// Who consumes a reply, best class first. The names are the config file's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace lorekeep::scheduler {

enum class ConsumerClass : std::uint8_t { kInteractiveVisible, kInteractiveBuffered, kBackground };

inline constexpr std::size_t kConsumerClasses = 3;

/// A value per class, indexed by ConsumerClass.
template <class T>
using PerClass = std::array<T, kConsumerClasses>;

inline constexpr std::size_t index_of(ConsumerClass consumer_class) noexcept {
  return static_cast<std::size_t>(consumer_class);
}

/// Interactive consumers wait for the next token; background ones do not.
inline constexpr bool interactive(ConsumerClass consumer_class) noexcept {
  return consumer_class != ConsumerClass::kBackground;
}

}  // namespace lorekeep::scheduler
