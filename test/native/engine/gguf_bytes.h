// Builds GGUF files in memory, valid or not, for the tests of the reader.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "scratch_folder.h"

namespace lorekeep::test {

class GgufBytes {
 public:
  GgufBytes& text(std::string_view key, std::string_view value);
  GgufBytes& u32(std::string_view key, std::uint32_t value);
  GgufBytes& u16(std::string_view key, std::uint16_t value);
  GgufBytes& f32(std::string_view key, float value);
  GgufBytes& texts(std::string_view key, const std::vector<std::string>& values);
  /// An F32 tensor of zeros unless `type` says another number.
  GgufBytes& tensor(std::string_view name, const std::vector<std::uint64_t>& shape, std::uint32_t type = 0);
  /// Drops a key or a tensor added before.
  GgufBytes& without(std::string_view name);

  std::string bytes() const;
  /// Returns the parts of a split model. The first has all keys, and as many tensors as `first` says; the others share
  /// the rest.
  std::vector<GgufBytes> split(std::size_t parts, std::size_t first = 1) const;

 private:
  struct Key {
    std::string name;
    std::string encoded;
  };
  struct Tensor {
    std::string name;
    std::vector<std::uint64_t> shape;
    std::uint32_t type;
  };
  GgufBytes& key(std::string_view name, std::uint32_t type, std::string encoded);

  std::vector<Key> keys_;
  std::vector<Tensor> tensors_;
};

/// A bert of dimension 8 with a vocabulary of six tokens, with everything that profile_model() asks for.
GgufBytes small_bert();

/// A decoder of 2 layers and width 16, with weights of zeros, which plan_decoder() takes if the architecture is llama,
/// qwen2 or gemma. At most 26 tokens.
GgufBytes small_decoder(const std::string& architecture, std::size_t tokens = 6);

/// A file in a temporary folder, removed at the end of the scope.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string_view content);
  const std::filesystem::path& path() const { return path_; }

 private:
  ScratchFolder folder_;
  std::filesystem::path path_ = folder_ / "small.gguf";
};

}  // namespace lorekeep::test
