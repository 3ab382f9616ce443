// Files as hnswlib's own libraries write them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace lorekeep::test {

struct HnswlibSample {
  std::size_t dimension = 6;
  std::size_t m = 4;
  bool normalised = true;                // as the Python library does for the cosine space
  bool l2 = false;                       // the space, of which the file says nothing
  std::vector<std::uint64_t> labels{};   // of the rows in order of insertion; empty: 0, 1, 2, ...
  std::vector<std::uint64_t> deleted{};  // labels that get a deletion mark
};

/// Builds an index of `rows` with hnswlib and saves it.
void write_hnswlib_file(const std::filesystem::path& path, std::span<const float> rows, const HnswlibSample& sample);

/// Labels of the k nearest rows as hnswlib's own loader and search find them, nearest first.
std::vector<std::uint64_t> search_hnswlib_file(const std::filesystem::path& path, std::size_t dimension,
                                               std::span<const float> query, std::size_t k, std::size_t ef);

}  // namespace lorekeep::test
