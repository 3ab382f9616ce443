#include "core/log_sink.h"

#include <mutex>

namespace lorekeep {
namespace {

// Both live until the process is gone: threads may still log while statics are being destroyed.
std::mutex& sink_mutex() {
  static auto* mutex = new std::mutex;
  return *mutex;
}

LogSink& current_sink() {
  static auto* sink = new LogSink;
  return *sink;
}

}  // namespace

void set_log_sink(LogSink sink) {
  std::lock_guard lock(sink_mutex());
  current_sink() = std::move(sink);
}

void log(LogLevel level, std::string_view component, std::string_view message) {
  std::lock_guard lock(sink_mutex());
  if (current_sink()) current_sink()(level, component, message);
}

}  // namespace lorekeep
