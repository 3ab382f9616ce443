// The map of characters of a SentencePiece model (precompiled_charsmap), such as nmt_nfkc. Internal to native/engine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace lorekeep::engine {

/// Maps sequences of characters to texts. Empty: maps nothing. Thread-safe.
class CharacterMap {
 public:
  struct Mapped {
    std::size_t bytes;      // of the text that is replaced; 0: none
    std::string_view text;  // may be empty
  };

  CharacterMap() = default;
  /// Copies the value of the file: the length of a double-array trie over UTF-8 (Darts-clone) in bytes, the trie, and
  /// texts that end with NUL. Throws Error(kModelInvalid) if the parts contradict each other.
  explicit CharacterMap(std::span<const std::byte> value);

  /// Returns the longest mapped sequence that begins the text. Throws Error(kModelInvalid) if the map leads out of
  /// itself.
  Mapped longest(std::string_view text) const;

 private:
  std::uint32_t unit(std::size_t index) const;

  std::vector<std::uint32_t> units_;  // of the trie
  std::vector<char> texts_;           // ends with NUL
};

}  // namespace lorekeep::engine
