// Reads records from bytes: a file of them in a folder that goes away.
#pragma once

#include <fstream>
#include <string_view>

#include "scratch_folder.h"
#include "store/records_reader.h"

namespace lorekeep::store {

class RecordsFile {
 public:
  Records read(std::string_view json, const ReadOptions& options = {}) const {
    const auto path = folder_ / "records.json";
    std::ofstream(path, std::ios::binary).write(json.data(), static_cast<std::streamsize>(json.size()));
    return read_records(path, options);
  }

 private:
  test::ScratchFolder folder_;
};

}  // namespace lorekeep::store
