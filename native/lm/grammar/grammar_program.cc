#include "lm/grammar/grammar_program.h"

#include "core/values/utf8.h"

namespace lorekeep::lm {

void append_byte_runs(char32_t first, char32_t last, std::vector<ByteRun>& runs) {
  if (first <= 0xDFFF && last >= 0xD800) {
    if (first < 0xD800) append_byte_runs(first, 0xD7FF, runs);
    if (last > 0xDFFF) append_byte_runs(0xE000, last, runs);
    return;
  }
  // Split at the borders between lengths, then until each run is a product of byte ranges.
  for (const char32_t border : {char32_t{0x7F}, char32_t{0x7FF}, char32_t{0xFFFF}}) {
    if (first <= border && last > border) {
      append_byte_runs(first, border, runs);
      append_byte_runs(border + 1, last, runs);
      return;
    }
  }
  for (int bits = 6; bits <= 18; bits += 6) {
    const char32_t mask = (char32_t{1} << bits) - 1;
    if ((first & ~mask) == (last & ~mask)) continue;
    if ((first & mask) != 0) {
      append_byte_runs(first, first | mask, runs);
      append_byte_runs((first | mask) + 1, last, runs);
      return;
    }
    if ((last & mask) != mask) {
      append_byte_runs(first, (last & ~mask) - 1, runs);
      append_byte_runs(last & ~mask, last, runs);
      return;
    }
  }
  char low[kMaxUtf8Bytes], high[kMaxUtf8Bytes];
  ByteRun run{static_cast<std::uint8_t>(encode_utf8(first, low)), {}, {}};
  encode_utf8(last, high);
  for (std::size_t i = 0; i < run.length; ++i) {
    run.low[i] = static_cast<std::uint8_t>(low[i]);
    run.high[i] = static_cast<std::uint8_t>(high[i]);
  }
  runs.push_back(run);
}

}  // namespace lorekeep::lm
