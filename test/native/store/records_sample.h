// Reads records from bytes: a file of them in a folder that goes away.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include <unistd.h>

#include "store/records_reader.h"

namespace lorekeep::store {

class RecordsFile {
 public:
  RecordsFile() : folder_(std::filesystem::temp_directory_path() / ("lorekeep-records-" + std::to_string(getpid()))) {
    std::filesystem::create_directories(folder_);
  }
  ~RecordsFile() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  Records read(std::string_view json, const ReadOptions& options = {}) const {
    const auto path = folder_ / "records.json";
    std::ofstream(path, std::ios::binary).write(json.data(), static_cast<std::streamsize>(json.size()));
    return read_records(path, options);
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace lorekeep::store
