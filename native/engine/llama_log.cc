#include "engine/llama_log.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "llama.h"

namespace lorekeep::engine {
namespace {

constexpr std::size_t kKeptLines = 3;
constexpr std::size_t kMaxLine = 400;

struct ThreadLines {
  bool collecting = false;
  std::vector<std::string> errors;
};

thread_local ThreadLines thread_lines;

// "llama_model_load: error loading model: missing tensor 'x'\n" -> "error loading model: missing tensor 'x'"
std::string_view without_function_name(std::string_view line) {
  while (!line.empty() && (line.back() == '\n' || line.back() == ' ')) line.remove_suffix(1);
  const std::size_t colon = line.find(": ");
  if (colon == std::string_view::npos || colon == 0) return line;
  const auto is_name = [](char c) {
    return c == '_' || c == ':' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  };
  const std::string_view head = line.substr(0, colon);
  return std::all_of(head.begin(), head.end(), is_name) && head.find('_') != std::string_view::npos
             ? line.substr(colon + 2)
             : line;
}

void on_log(ggml_log_level level, const char* text, void*) {
  if (level != GGML_LOG_LEVEL_ERROR || !thread_lines.collecting) return;
  const std::string_view line = without_function_name(std::string_view(text).substr(0, kMaxLine));
  if (line.empty()) return;
  try {
    auto& errors = thread_lines.errors;
    if (errors.size() == kKeptLines) errors.erase(errors.begin());
    errors.emplace_back(line);
  } catch (...) {
    // Drops the line rather than throwing through llama.cpp.
  }
}

}  // namespace

void capture_llama_log() {
  llama_log_set(on_log, nullptr);
}

void release_llama_log() {
  llama_log_set(nullptr, nullptr);
}

ErrorLines::ErrorLines() {
  thread_lines.errors.clear();
  thread_lines.collecting = true;
}

ErrorLines::~ErrorLines() {
  thread_lines.collecting = false;
}

std::string ErrorLines::reason(const std::string& otherwise) const {
  std::string joined;
  for (const std::string& line : thread_lines.errors) {
    if (joined.find(line) != std::string::npos) continue;
    joined += (joined.empty() ? "" : "; ") + line;
  }
  return joined.empty() ? otherwise : joined;
}

}  // namespace lorekeep::engine
