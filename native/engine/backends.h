// The compute backends of llama.cpp. They are plugins (one per kind of CPU, later one per kind of GPU) and
// process-wide: whoever needs them holds a Backends handle, and the last one to go silences llama.cpp's callbacks. The
// plugins themselves stay loaded until the process ends, because unloading code that may own thread-local state cannot
// be made safe.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace lorekeep::engine {

struct BackendInfo {
  std::string name;                   // "CPU"
  std::string description;            // the device's, for example the processor's name
  std::string file;                   // the plugin, where the platform can tell; else empty
  std::vector<std::string> features;  // instruction sets and options in use, "AVX512_VNNI"
};

class Backends {
 public:
  /// Loads the best CPU plugin of `directory` for this machine, unless the process has one already. The environment
  /// variable LOREKEEP_CPU_PLUGIN, a file name in `directory` or a path, forces one. Throws Error(kUnsupported) naming
  /// the folder and the plugins in it when none can be used. Thread-safe.
  static std::shared_ptr<const Backends> acquire(const std::filesystem::path& directory);
  ~Backends();
  Backends(const Backends&) = delete;
  Backends& operator=(const Backends&) = delete;

  /// What is loaded, for `lorekeep doctor`.
  std::vector<BackendInfo> describe() const;

 private:
  Backends() = default;
};

}  // namespace lorekeep::engine
