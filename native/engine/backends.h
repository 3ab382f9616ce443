// The compute backends of llama.cpp: process-wide plugins, one per kind of CPU (later also per kind of GPU). Users hold
// a Backends handle; destroying the last one removes the callbacks from llama.cpp. Plugins stay loaded until the
// process ends, because unloading code that may own thread-local state is not safe.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace lorekeep::engine {

struct BackendInfo {
  std::string name;                   // "CPU"
  std::string description;            // the device's, for example the processor's name
  std::string file;                   // the plugin; empty if the platform does not report it
  std::vector<std::string> features;  // instruction sets and options in use, "AVX512_VNNI"
};

class Backends {
 public:
  /// Loads the best CPU plugin in `directory` for this machine, unless the process has loaded one. The environment
  /// variable LOREKEEP_CPU_PLUGIN, a file name in `directory` or a path, selects one. Throws Error(kUnsupported) naming
  /// the folder and its plugins if none can be used. Thread-safe.
  static std::shared_ptr<const Backends> acquire(const std::filesystem::path& directory);
  ~Backends();
  Backends(const Backends&) = delete;
  Backends& operator=(const Backends&) = delete;

  /// Returns the loaded backends, for `lorekeep doctor`.
  std::vector<BackendInfo> describe() const;

 private:
  Backends() = default;
};

}  // namespace lorekeep::engine
