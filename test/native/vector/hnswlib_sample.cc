#include "hnswlib_sample.h"

#include <cmath>
#include <fstream>
#include <memory>
#include <unordered_map>

#include "hnswlib.h"

namespace lorekeep::test {
namespace {

std::vector<float> unit(std::span<const float> row) {
  float squares = 0;
  for (float value : row) squares += value * value;
  std::vector<float> result(row.begin(), row.end());
  for (float& value : result) value *= 1.0f / (std::sqrt(squares) + 1e-30f);
  return result;
}

}  // namespace

void write_hnswlib_file(const std::filesystem::path& path, std::span<const float> rows, const HnswlibSample& sample) {
  const std::size_t count = rows.size() / sample.dimension;
  std::unique_ptr<hnswlib::SpaceInterface<float>> space;
  if (sample.l2) {
    space = std::make_unique<hnswlib::L2Space>(sample.dimension);
  } else {
    space = std::make_unique<hnswlib::InnerProductSpace>(sample.dimension);
  }
  hnswlib::HierarchicalNSW<float> index(space.get(), count + 10, sample.m, 40);
  for (std::size_t i = 0; i < count; ++i) {
    const auto row = rows.subspan(i * sample.dimension, sample.dimension);
    const std::uint64_t label = sample.labels.empty() ? i : sample.labels[i];
    index.addPoint(sample.normalised ? unit(row).data() : row.data(), label);
  }
  for (std::uint64_t label : sample.deleted) index.markDelete(label);
  index.saveIndex(path.string());
}

std::vector<std::uint64_t> search_hnswlib_file(const std::filesystem::path& path, std::size_t dimension,
                                               std::span<const float> query, std::size_t k, std::size_t ef) {
  hnswlib::InnerProductSpace space(dimension);
  hnswlib::HierarchicalNSW<float> index(&space, path.string());
  index.setEf(ef);
  std::vector<std::uint64_t> labels;
  for (const auto& [distance, label] : index.searchKnnCloserFirst(unit(query).data(), k)) labels.push_back(label);
  return labels;
}

}  // namespace lorekeep::test
