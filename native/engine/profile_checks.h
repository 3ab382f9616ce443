// Checks of a model file's metadata that hold for every kind of model. Internal to native/engine and native/lm.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/gguf_file.h"

namespace lorekeep::engine {

inline constexpr std::uint64_t kMaxLayers = 512;  // llama.cpp: LLAMA_MAX_LAYERS
inline constexpr std::uint64_t kMaxDimension = 65536;
inline constexpr std::uint64_t kMaxContext = 1 << 24;
inline constexpr std::uint64_t kMaxExperts = 1024;  // llama.cpp: LLAMA_MAX_EXPERTS

/// The keys `<architecture>.<suffix>` of one file. All methods throw Error(kModelInvalid) naming the key.
class GgufKeys {
 public:
  /// Whether a key may have one value per layer.
  enum class PerLayer { kRefused, kAllowed };

  GgufKeys(const GgufFile& file, std::string_view architecture, PerLayer per_layer)
      : file_(file), prefix_(std::string(architecture) + "."), per_layer_(per_layer) {}

  const GgufFile& file() const noexcept { return file_; }
  std::string key(std::string_view suffix) const { return prefix_ + std::string(suffix); }

  std::uint64_t required(std::string_view suffix, std::uint64_t low, std::uint64_t high) const;
  /// Returns the value, the greatest of all layers; nullopt if the key is absent.
  std::optional<std::uint64_t> optional(std::string_view suffix, std::uint64_t low, std::uint64_t high) const;
  void absent_or(std::string_view suffix, std::uint64_t only) const { optional(suffix, only, only); }
  /// Checks a floating-point number.
  void number(std::string_view suffix, double low, double high) const;

 private:
  void check(const std::string& key, std::uint64_t value, std::uint64_t low, std::uint64_t high) const;
  std::uint64_t read_element(const std::string& key, const GgufValue& value, std::uint64_t index) const;

  const GgufFile& file_;
  std::string prefix_;
  PerLayer per_layer_;
};

/// Returns general.architecture.
std::string_view architecture_of(const GgufFile& file);
/// Throws Error(kUnsupported): "the architecture 'x' is not supported <purpose>; supported are <known>". Of a long
/// list, the names that begin like x, and the page that has all.
[[noreturn]] void refuse_architecture(const GgufFile& file, std::string_view purpose,
                                      std::span<const std::string_view> known, std::string_view page);
/// Appends a name to a list.
void add_name(std::string& list, std::string_view name);

/// Returns general.name, else the file's name without its extension.
std::string model_name(const GgufFile& file);
std::uint64_t count_parameters(const GgufFile& file);

/// Why texts may have other tokens than the model was trained with; else empty. llama.cpp logs it as a warning.
std::string tokenizer_note(const GgufFile& file);

/// Returns the number of tokens. Throws Error(kUnsupported) for another tokenizer, Error(kModelInvalid) for a token
/// that appears twice.
std::uint32_t check_vocabulary(const GgufFile& file, std::span<const std::string_view> tokenizers);
/// Throws Error(kModelInvalid) for types that abort llama.cpp: it passes norms and biases, and the tensor `also`, to
/// operations that only support F32, and matrices to one that supports no type of intermediate results.
void check_types(const GgufFile& file, std::string_view also = "");

}  // namespace lorekeep::engine
