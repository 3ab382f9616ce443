// Data for the vector tests: clustered rows as embeddings are, an oracle in double, and folders that clean up.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "core/values/bitmap.h"
#include "core/values/top_k.h"
#include "harness.h"

#if defined(_WIN32)
#include <process.h>
#else
#include <unistd.h>
#endif

namespace lorekeep::test {

/// Rows of any dimension without structure.
inline std::vector<float> normal_values(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal(0, 1);
  std::vector<float> values(count);
  for (float& value : values) value = normal(random);
  return values;
}

/// `count` rows around `clusters` centres, spread along 16 directions that all clusters share, plus noise.
inline std::vector<float> clustered_rows(std::size_t count, std::size_t dimension, std::size_t clusters,
                                         std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal(0, 1);
  constexpr std::size_t kLatent = 16;
  std::vector<float> centres(clusters * dimension);
  std::vector<float> directions(kLatent * dimension);
  for (float& value : centres) value = normal(random);
  for (float& value : directions) value = normal(random) * 0.25f;
  std::vector<float> rows(count * dimension);
  std::vector<float> latent(kLatent);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t cluster = random() % clusters;
    for (float& value : latent) value = normal(random);
    for (std::size_t j = 0; j < dimension; ++j) {
      float value = 0.6f * centres[cluster * dimension + j] + 0.2f * normal(random);
      for (std::size_t l = 0; l < kLatent; ++l) value += 0.8f * latent[l] * directions[l * dimension + j];
      rows[i * dimension + j] = value;
    }
  }
  return rows;
}

/// Cosine distance in double, as DESIGN defines it.
inline double true_distance(std::span<const float> a, std::span<const float> b) {
  double dot = 0;
  double aa = 0;
  double bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    dot += static_cast<double>(a[i]) * b[i];
    aa += static_cast<double>(a[i]) * a[i];
    bb += static_cast<double>(b[i]) * b[i];
  }
  return aa == 0 || bb == 0 ? 1.0 : std::clamp(1 - dot / std::sqrt(aa * bb), 0.0, 2.0);
}

/// Members of `truth` among the hits, as a share of truth.
inline double recall(const std::vector<Scored>& hits, const std::vector<Scored>& truth) {
  if (truth.empty()) return 1;
  std::size_t found = 0;
  for (const Scored& wanted : truth) {
    found += std::any_of(hits.begin(), hits.end(), [&](const Scored& hit) { return hit.ordinal == wanted.ordinal; });
  }
  return static_cast<double>(found) / static_cast<double>(truth.size());
}

inline Bitmap random_filter(std::size_t size, double share, std::mt19937_64& random) {
  Bitmap filter(size);
  std::bernoulli_distribution pass(share);
  for (std::size_t i = 0; i < size; ++i) {
    if (pass(random)) filter.set(i);
  }
  return filter;
}

/// A folder of this test's own, removed at its end.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    static std::atomic<unsigned> made{0};
#if defined(_WIN32)
    const int process = _getpid();
#else
    const int process = getpid();
#endif
    path_ = std::filesystem::temp_directory_path() /
            ("lorekeep-vector-" + std::to_string(process) + "-" + std::to_string(made++));
    std::filesystem::create_directories(path_);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

inline std::vector<std::uint8_t> read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A new file each time: some file systems flush a file that is cut and written again.
inline void write_file(const std::filesystem::path& path, std::span<const std::uint8_t> bytes) {
  std::filesystem::remove(path);
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

}  // namespace lorekeep::test
