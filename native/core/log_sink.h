// Where the core says what is worth saying. Nothing is printed by the core itself.
#pragma once

#include <functional>
#include <string_view>

namespace lorekeep {

enum class LogLevel { kDebug, kInfo, kWarn, kError };

using LogSink = std::function<void(LogLevel, std::string_view component, std::string_view message)>;

/// Replaces the process-wide sink; an empty function drops everything (the start state). Thread-safe.
void set_log_sink(LogSink sink);
/// May be called from any thread; the sink is called on that thread, must not throw and must not call back
/// into the core.
void log(LogLevel level, std::string_view component, std::string_view message);

}  // namespace lorekeep
