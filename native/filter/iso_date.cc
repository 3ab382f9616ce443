#include "filter/iso_date.h"

#include <chrono>

namespace lorekeep::filter {
namespace {

constexpr std::int64_t kMillisecondsPerDay = 86'400'000;
constexpr std::int64_t kMillisecondsPerMinute = 60'000;
constexpr std::int64_t kFirstDay = -719'162;  // 0001-01-01
constexpr std::int64_t kLastDay = 2'932'896;  // 9999-12-31

/// Reads a text from left to right. Once a read fails, all later ones fail.
class DateReader {
 public:
  explicit DateReader(std::string_view text) noexcept : rest_(text) {}

  bool ok() const noexcept { return ok_; }
  bool done() const noexcept { return rest_.empty(); }

  /// Reads exactly `digits` digits; 0 if they are missing or above `most`.
  int number(std::size_t digits, int most) noexcept {
    int value = 0;
    for (std::size_t i = 0; i < digits; ++i) value = 10 * value + digit();
    return ok_ && value <= most ? value : fail();
  }

  void expect(char character) noexcept {
    if (!take(character)) fail();
  }

  bool take(char character) noexcept {
    if (!ok_ || rest_.empty() || rest_.front() != character) return false;
    rest_.remove_prefix(1);
    return true;
  }

  /// Reads one to nine digits of a fraction of a second and returns whole milliseconds.
  int milliseconds() noexcept {
    int value = digit();
    std::size_t digits = 1;
    for (; ok_ && !rest_.empty() && is_digit(rest_.front()); ++digits) {
      const int next = digit();
      if (digits < 3) value = 10 * value + next;
    }
    if (!ok_ || digits > 9) return fail();
    for (; digits < 3; ++digits) value *= 10;
    return value;
  }

  int fail() noexcept {
    ok_ = false;
    return 0;
  }

 private:
  static bool is_digit(char character) noexcept { return character >= '0' && character <= '9'; }
  int digit() noexcept {
    if (!ok_ || rest_.empty() || !is_digit(rest_.front())) return fail();
    const int value = rest_.front() - '0';
    rest_.remove_prefix(1);
    return value;
  }

  std::string_view rest_;
  bool ok_ = true;
};

/// Returns days since 1970-01-01.
std::int64_t read_date(DateReader& reader) noexcept {
  using namespace std::chrono;
  const int written_year = reader.number(4, 9999);
  reader.expect('-');
  const auto written_month = static_cast<unsigned>(reader.number(2, 12));
  reader.expect('-');
  const auto written_day = static_cast<unsigned>(reader.number(2, 31));
  const year_month_day date{year(written_year), month(written_month), day(written_day)};
  if (!reader.ok() || written_year == 0 || !date.ok()) return reader.fail();
  return sys_days(date).time_since_epoch().count();
}

/// Returns milliseconds since midnight.
std::int64_t read_time(DateReader& reader) noexcept {
  std::int64_t minutes = 60 * reader.number(2, 23);
  reader.expect(':');
  minutes += reader.number(2, 59);
  std::int64_t milliseconds = 0;
  if (reader.take(':')) {
    milliseconds = std::int64_t{1000} * reader.number(2, 59);
    if (reader.take('.')) milliseconds += reader.milliseconds();
  }
  return minutes * kMillisecondsPerMinute + milliseconds;
}

/// Returns milliseconds ahead of UTC.
std::int64_t read_offset(DateReader& reader) noexcept {
  if (reader.take('Z')) return 0;
  const bool behind = reader.take('-');
  if (!behind) reader.expect('+');
  std::int64_t minutes = 60 * reader.number(2, 23);
  reader.expect(':');
  minutes += reader.number(2, 59);
  return (behind ? -minutes : minutes) * kMillisecondsPerMinute;
}

}  // namespace

std::string_view format_name(IntFormat format) noexcept {
  switch (format) {
    case IntFormat::kNone: return "";
    case IntFormat::kDate: return "date";
    case IntFormat::kDateTime: return "date-time";
  }
  return "";
}

std::string_view format_values(IntFormat format) noexcept {
  switch (format) {
    case IntFormat::kNone: return "int";
    case IntFormat::kDate: return "a date such as \"2024-05-31\", or days since 1970-01-01, of the years 0001 to 9999";
    case IntFormat::kDateTime:
      return "a date-time such as \"2024-05-31T12:00:00Z\", or milliseconds since 1970, of the years 0001 to 9999";
  }
  return "";
}

std::optional<std::int64_t> parse_iso(std::string_view text, IntFormat format) noexcept {
  if (format == IntFormat::kNone) return std::nullopt;
  DateReader reader(text);
  std::int64_t value = read_date(reader);
  if (format == IntFormat::kDateTime) {
    value *= kMillisecondsPerDay;
    if (reader.ok() && !reader.done()) {
      reader.expect('T');
      value += read_time(reader);
      value -= read_offset(reader);
    }
  }
  if (!reader.ok() || !reader.done() || !in_iso_range(value, format)) return std::nullopt;
  return value;
}

bool in_iso_range(std::int64_t value, IntFormat format) noexcept {
  const std::int64_t unit = format == IntFormat::kDateTime ? kMillisecondsPerDay : 1;
  return format == IntFormat::kNone || (value >= kFirstDay * unit && value < (kLastDay + 1) * unit);
}

}  // namespace lorekeep::filter
