// ISO 8601 dates as integers: the format of int fields that are declared as dates.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace lorekeep::filter {

/// How an int field spells its values, besides plain integers.
enum class IntFormat {
  kNone,
  kDate,      // "2024-05-31": days since 1970-01-01
  kDateTime,  // "2024-05-31T12:00:00.5Z": milliseconds since 1970-01-01T00:00:00Z
};

/// Returns the spelling in a schema: "date", "date-time"; empty for kNone.
std::string_view format_name(IntFormat format) noexcept;
/// Describes the values of a format for an error message.
std::string_view format_values(IntFormat format) noexcept;

/// Returns the integer for a text of this format, or nullopt. Years are 0001 to 9999, in the Gregorian calendar. A
/// date-time has an offset from UTC ("Z", "+02:00"), or is a date alone: its first millisecond in UTC. Digits beyond
/// milliseconds are dropped.
std::optional<std::int64_t> parse_iso(std::string_view text, IntFormat format) noexcept;
/// Returns whether the integer is within those years.
bool in_iso_range(std::int64_t value, IntFormat format) noexcept;

}  // namespace lorekeep::filter
