#include "model_vocabulary.h"

#include <array>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <vector>

#include "core/values/utf8.h"
#include "engine/gguf_file.h"

namespace lorekeep::lm {
namespace {

/// The characters by which GPT-2's vocabularies write bytes.
std::map<char32_t, char> byte_characters() {
  std::map<char32_t, char> bytes;
  char32_t next = 256;
  for (int byte = 0; byte < 256; ++byte) {
    const bool plain = (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
    bytes[plain ? static_cast<char32_t>(byte) : next++] = static_cast<char>(byte);
  }
  return bytes;
}

std::string from_gpt2(std::string_view token) {
  static const std::map<char32_t, char> bytes = byte_characters();
  std::string text;
  const char* at = token.data();
  while (at < token.data() + token.size()) {
    const auto byte = bytes.find(decode_utf8(at, token.data() + token.size()));
    if (byte != bytes.end()) text += byte->second;
  }
  return text;
}

std::string from_sentencepiece(std::string_view token) {
  if (token.size() == 6 && token.substr(0, 3) == "<0x")
    return {static_cast<char>(std::stoi(std::string(token.substr(3, 2)), nullptr, 16))};
  std::string text(token);
  const std::string space = "\xE2\x96\x81";
  for (std::size_t at = 0; (at = text.find(space, at)) != std::string::npos;) text.replace(at, space.size(), " ");
  return text;
}

}  // namespace

std::shared_ptr<const TokenTable> model_vocabulary(const std::string& name) {
  const char* const folder = std::getenv("LOREKEEP_MODELS");
  if (folder == nullptr || !std::filesystem::exists(std::filesystem::path(folder) / name)) return nullptr;
  const engine::GgufFile file(std::filesystem::path(folder) / name);
  const bool gpt2 = file.string("tokenizer.ggml.model").value() == "gpt2";
  std::vector<TokenEntry> entries;
  const std::vector<std::string_view> tokens = file.strings("tokenizer.ggml.tokens").value();
  for (const std::string_view token : tokens) {
    const bool end = token == "</s>" || token == "<|im_end|>" || token == "<|endoftext|>";
    const bool control = token == "<s>" || token == "<unk>" || token.substr(0, 2) == "<|";
    const TokenKind kind = end ? TokenKind::kEnd : control ? TokenKind::kControl : TokenKind::kText;
    std::string bytes;
    if (kind == TokenKind::kText) bytes = gpt2 ? from_gpt2(token) : from_sentencepiece(token);
    entries.push_back({std::move(bytes), kind});
  }
  return std::make_shared<const TokenTable>(entries);
}

}  // namespace lorekeep::lm
