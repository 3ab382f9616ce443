#include "gguf_bytes.h"

#include <algorithm>
#include <span>

namespace lorekeep::test {
namespace {

template <class T>
std::string raw(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof(T)};
}

std::string sized(std::string_view text) {
  return raw<std::uint64_t>(text.size()).append(text);
}

void pad(std::string& bytes) {
  bytes.resize((bytes.size() + 31) / 32 * 32);
}

}  // namespace

GgufBytes& GgufBytes::key(std::string_view name, std::uint32_t type, std::string encoded) {
  without(name);
  keys_.push_back({std::string(name), raw(type) + encoded});
  return *this;
}

GgufBytes& GgufBytes::text(std::string_view name, std::string_view value) {
  return key(name, 8, sized(value));
}

GgufBytes& GgufBytes::u32(std::string_view name, std::uint32_t value) {
  return key(name, 4, raw(value));
}

GgufBytes& GgufBytes::u16(std::string_view name, std::uint16_t value) {
  return key(name, 2, raw(value));
}

GgufBytes& GgufBytes::f32(std::string_view name, float value) {
  return key(name, 6, raw(value));
}

GgufBytes& GgufBytes::texts(std::string_view name, const std::vector<std::string>& values) {
  std::string encoded = raw<std::uint32_t>(8) + raw<std::uint64_t>(values.size());
  for (const std::string& value : values) encoded += sized(value);
  return key(name, 9, encoded);
}

GgufBytes& GgufBytes::tensor(std::string_view name, const std::vector<std::uint64_t>& shape, std::uint32_t type) {
  without(name);
  tensors_.push_back({std::string(name), shape, type});
  return *this;
}

GgufBytes& GgufBytes::without(std::string_view name) {
  std::erase_if(keys_, [&](const Key& key) { return key.name == name; });
  std::erase_if(tensors_, [&](const Tensor& tensor) { return tensor.name == name; });
  return *this;
}

std::string GgufBytes::bytes() const {
  std::string bytes =
      "GGUF" + raw<std::uint32_t>(3) + raw<std::uint64_t>(tensors_.size()) + raw<std::uint64_t>(keys_.size());
  for (const Key& key : keys_) bytes += sized(key.name) + key.encoded;
  std::uint64_t offset = 0;
  for (const Tensor& tensor : tensors_) {
    bytes += sized(tensor.name) + raw<std::uint32_t>(static_cast<std::uint32_t>(tensor.shape.size()));
    std::uint64_t size = 4;
    for (std::uint64_t extent : tensor.shape) {
      bytes += raw(extent);
      size *= extent;
    }
    bytes += raw(tensor.type) + raw(offset);
    offset += (size + 31) / 32 * 32;
  }
  pad(bytes);
  return bytes.append(offset, '\0');
}

std::vector<GgufBytes> GgufBytes::split(std::size_t count, std::size_t first) const {
  std::vector<GgufBytes> parts(count);
  parts[0].keys_ = keys_;
  for (std::size_t i = 0; i < tensors_.size(); ++i)
    parts[i < first ? 0 : 1 + (i - first) % (count - 1)].tensors_.push_back(tensors_[i]);
  for (std::size_t i = 0; i < count; ++i) {
    parts[i].u16("split.no", static_cast<std::uint16_t>(i)).u16("split.count", static_cast<std::uint16_t>(count));
    parts[i].u32("split.tensors.count", static_cast<std::uint32_t>(tensors_.size()));
  }
  return parts;
}

GgufBytes small_bert() {
  GgufBytes file;
  file.text("general.architecture", "bert")
      .u32("bert.context_length", 16)
      .u32("bert.embedding_length", 8)
      .u32("bert.feed_forward_length", 16)
      .u32("bert.block_count", 1)
      .u32("bert.attention.head_count", 2)
      .f32("bert.attention.layer_norm_epsilon", 1e-12f)
      .u32("bert.pooling_type", 2)
      .text("tokenizer.ggml.model", "bert")
      .texts("tokenizer.ggml.tokens", {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "\u2581a", "b"})
      .tensor("token_embd.weight", {8, 6})
      .tensor("token_embd_norm.weight", {8});
  return file;
}

GgufBytes small_decoder(const std::string& architecture, std::size_t tokens) {
  constexpr std::uint64_t kWidth = 16;
  constexpr std::uint64_t kHidden = 24;
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < tokens; ++i) texts.emplace_back(1, static_cast<char>('a' + i));
  GgufBytes file;
  const auto key = [&](const char* suffix) { return architecture + "." + suffix; };
  file.text("general.architecture", architecture)
      .u32(key("context_length"), 64)
      .u32(key("embedding_length"), kWidth)
      .u32(key("feed_forward_length"), kHidden)
      .u32(key("block_count"), 2)
      .u32(key("attention.head_count"), 2)
      .u32(key("attention.head_count_kv"), 1)
      .f32(key("attention.layer_norm_rms_epsilon"), 1e-5f)
      .texts("tokenizer.ggml.tokens", texts)
      .tensor("token_embd.weight", {kWidth, tokens})
      .tensor("output_norm.weight", {kWidth});
  for (const char* block : {"blk.0.", "blk.1."}) {
    const std::string name = block;
    file.tensor(name + "attn_norm.weight", {kWidth})
        .tensor(name + "attn_q.weight", {kWidth, kWidth})
        .tensor(name + "attn_k.weight", {kWidth, kWidth / 2})
        .tensor(name + "attn_v.weight", {kWidth, kWidth / 2})
        .tensor(name + "attn_output.weight", {kWidth, kWidth})
        .tensor(name + "ffn_norm.weight", {kWidth})
        .tensor(name + "ffn_gate.weight", {kWidth, kHidden})
        .tensor(name + "ffn_up.weight", {kWidth, kHidden})
        .tensor(name + "ffn_down.weight", {kHidden, kWidth});
  }
  return file;
}

TemporaryFile::TemporaryFile(std::string_view content) {
  write_file(path_, std::span(reinterpret_cast<const std::uint8_t*>(content.data()), content.size()));
}

}  // namespace lorekeep::test
