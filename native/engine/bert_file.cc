#include "engine/bert_file.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/values/buffer.h"
#include "ggml.h"

namespace lorekeep::engine {
namespace {

using encoder::BertLayer;
using encoder::BertShape;
using encoder::BertWeights;
using encoder::Linear;
using encoder::Norm;

/// Thrown if native/encoder cannot compute the file's model; never leaves this file.
struct UnsuitedBert {};

void need(bool condition) {
  if (!condition) throw UnsuitedBert{};
}

// Decodes a row of a matrix. `to` has room for `count` values, a multiple of the type's block.
void decode(const TensorType& type, const std::byte* from, float* to, std::size_t count) {
  if (type.id == kTensorF32) {
    std::copy_n(from, count * sizeof(float), reinterpret_cast<std::byte*>(to));
    return;
  }
  ggml_get_type_traits(static_cast<ggml_type>(type.id))->to_float(from, to, static_cast<std::int64_t>(count));
}

/// Blocks of these types begin with a 16-bit scale, and their other values are integers.
bool begins_with_scale(const TensorType& type) noexcept {
  return type.id == kTensorQ8 || type.name == "Q4_0" || type.name == "Q5_0" || type.name == "IQ4_NL";
}

/// Returns whether all numbers of a table are finite.
bool is_finite(const TensorType& type, std::span<const std::byte> bytes, std::size_t width) {
  constexpr std::uint16_t kExponent = 0x7C00;
  if (begins_with_scale(type)) {
    bool finite = true;
    for (std::size_t at = 0; at < bytes.size(); at += type.bytes) {
      const auto scale = load_number<std::uint16_t>(bytes.subspan(at));
      finite = finite && (scale & kExponent) != kExponent;
    }
    return finite;
  }
  std::vector<float> row(width);
  const std::size_t row_bytes = width / type.block * type.bytes;
  for (std::size_t at = 0; at < bytes.size(); at += row_bytes) {
    decode(type, bytes.data() + at, row.data(), width);
    if (!std::all_of(row.begin(), row.end(), [](float value) { return std::isfinite(value); })) return false;
  }
  return true;
}

class Reader {
 public:
  Reader(const GgufFile& file, encoder::Precision precision) : file_(file), precision_(precision) {}

  std::vector<float> matrix(const std::string& name, std::size_t inputs, std::size_t outputs) {
    return values(find(name, inputs, outputs), inputs * outputs);
  }
  std::vector<float> vector(const std::string& name, std::size_t size) { return matrix(name, size, 1); }
  std::vector<float> optional_vector(const std::string& name, std::size_t size) {
    return file_.tensor(name) == nullptr ? std::vector<float>(size) : vector(name, size);
  }
  Norm norm(const std::string& name, std::size_t size) {
    return {vector(name + ".weight", size), vector(name + ".bias", size)};
  }
  Linear linear(const std::string& name, std::size_t inputs, std::size_t outputs) {
    return {weights(name, inputs, outputs), optional_vector(name + ".bias", outputs), inputs, outputs, precision_};
  }
  /// Reads several matrices over the same inputs as one.
  Linear stacked(const std::vector<std::pair<std::string, std::size_t>>& parts, std::size_t inputs) {
    std::vector<float> weights;
    std::vector<float> bias;
    for (const auto& [name, outputs] : parts) {
      const std::vector<float> part = this->weights(name, inputs, outputs);
      const std::vector<float> part_bias = optional_vector(name + ".bias", outputs);
      weights.insert(weights.end(), part.begin(), part.end());
      bias.insert(bias.end(), part_bias.begin(), part_bias.end());
    }
    return {weights, bias, inputs, bias.size(), precision_};
  }
  /// Returns a matrix without reading it.
  const GgufTensor& find(const std::string& name, std::size_t inputs, std::size_t outputs) {
    const GgufTensor* tensor = file_.tensor(name);
    need(tensor != nullptr && tensor->shape[0] == inputs && tensor->elements() == inputs * outputs);
    need(tensor->shape[1] == outputs);
    used_.insert(tensor->name);
    return *tensor;
  }
  bool has(const std::string& name) const { return file_.tensor(name) != nullptr; }
  /// Returns whether every tensor of the file was used. `cls` belongs to reranking, not to embeddings.
  bool all_used() const {
    return std::all_of(file_.tensors().begin(), file_.tensors().end(), [this](const GgufTensor& tensor) {
      return used_.contains(tensor.name) || tensor.name.starts_with("cls.");
    });
  }

 private:
  // kQ8 requires a file with 8-bit weights.
  std::vector<float> weights(const std::string& name, std::size_t inputs, std::size_t outputs) {
    const GgufTensor& tensor = find(name + ".weight", inputs, outputs);
    if (precision_ == encoder::Precision::kQ8) need(tensor.type->id == kTensorQ8 && inputs % encoder::kQ8Block == 0);
    return values(tensor, inputs * outputs);
  }
  static std::vector<float> values(const GgufTensor& tensor, std::size_t count) {
    std::vector<float> found(count);
    decode(*tensor.type, tensor.bytes.data(), found.data(), count);
    need(std::all_of(found.begin(), found.end(), [](float value) { return std::isfinite(value); }));
    return found;
  }

  const GgufFile& file_;
  encoder::Precision precision_;
  std::set<std::string_view> used_;
};

BertShape read_shape(const GgufFile& file, const ModelProfile& profile) {
  need(profile.architecture == "bert");
  const auto size = [&file](const char* key) { return static_cast<std::size_t>(file.integer(key).value_or(0)); };
  BertShape shape{};
  shape.dimension = profile.dimension;
  shape.heads = size("bert.attention.head_count");
  shape.kv_heads =
      file.find("bert.attention.head_count_kv") == nullptr ? shape.heads : size("bert.attention.head_count_kv");
  shape.feed_forward = size("bert.feed_forward_length");
  shape.context = profile.training_context;
  const auto epsilon = file.number("bert.attention.layer_norm_epsilon");
  need(epsilon.has_value());
  shape.epsilon = static_cast<float>(*epsilon);
  const GgufValue* causal = file.find("bert.attention.causal");
  need(causal == nullptr || (causal->bytes.size() == 1 && causal->bytes[0] == std::byte{0}));
  need(shape.fits());
  return shape;
}

BertLayer read_layer(Reader& reader, const BertShape& shape, std::size_t index) {
  const std::string block = "blk." + std::to_string(index) + ".";
  const std::size_t width = shape.dimension;
  BertLayer layer;
  const std::string fused = block + "attn_qkv";
  layer.qkv =
      reader.has(fused + ".weight")
          ? reader.linear(fused, width, width + 2 * shape.kv_width())
          : reader.stacked(
                {{block + "attn_q", width}, {block + "attn_k", shape.kv_width()}, {block + "attn_v", shape.kv_width()}},
                width);
  layer.attention_output = reader.linear(block + "attn_output", width, width);
  layer.attention_norm = reader.norm(block + "attn_output_norm", width);
  layer.up = reader.linear(block + "ffn_up", width, shape.feed_forward);
  layer.down = reader.linear(block + "ffn_down", shape.feed_forward, width);
  layer.output_norm = reader.norm(block + "layer_output_norm", width);
  return layer;
}

// Returns the embeddings of positions plus token type 0.
std::vector<float> read_positions(Reader& reader, const GgufFile& file, const BertShape& shape) {
  std::vector<float> positions = reader.matrix("position_embd.weight", shape.dimension, shape.context);
  const GgufTensor* types = file.tensor("token_types.weight");
  if (types == nullptr) return positions;
  const std::vector<float> rows = reader.matrix("token_types.weight", shape.dimension, types->shape[1]);
  for (std::size_t i = 0; i < positions.size(); ++i) positions[i] += rows[i % shape.dimension];
  return positions;
}

constexpr const char* kTokenTable = "token_embd.weight";
constexpr std::size_t kLongestRow = 16384;  // bytes: 4,096 numbers in F32

// Windows refuses to replace a mapped file.
#if defined(_WIN32)
constexpr std::size_t kCopiedTable = std::numeric_limits<std::size_t>::max();
#else
constexpr std::size_t kCopiedTable = std::size_t{32} << 20;
#endif

/// Returns a function that gives the row of a token. Small tables are copied. The rows of a large one, which has many
/// languages of which a text uses one, are read from the file; the caller checks that the file is unchanged.
std::function<void(std::int32_t, float*)> row_reader(std::shared_ptr<const GgufFile> file, const GgufTensor& table,
                                                     std::size_t row_bytes, std::size_t width) {
  const TensorType& type = *table.type;
  if (table.bytes.size() > kCopiedTable) {
    return [file, &mapped = file->file_of(table), bytes = table.bytes, &type, row_bytes, width](std::int32_t token,
                                                                                                float* row) {
      std::array<std::byte, kLongestRow> encoded;
      const auto part = bytes.subspan(static_cast<std::size_t>(token) * row_bytes, row_bytes);
      mapped.read(part, encoded.data());
      decode(type, encoded.data(), row, width);
    };
  }
  const auto rows = std::make_shared<Buffer<std::byte>>(table.bytes.size());
  std::copy(table.bytes.begin(), table.bytes.end(), rows->data());
  return [rows, &type, row_bytes, width](std::int32_t token, float* row) {
    decode(type, rows->data() + static_cast<std::size_t>(token) * row_bytes, row, width);
  };
}

std::unique_ptr<BertWeights> read(std::shared_ptr<const GgufFile> file, const ModelProfile& profile,
                                  encoder::Precision precision) {
  auto weights = std::make_unique<BertWeights>();
  weights->shape = read_shape(*file, profile);
  const BertShape& shape = weights->shape;
  Reader reader(*file, precision);
  const std::size_t tokens = file->strings("tokenizer.ggml.tokens")->size();
  const GgufTensor& table = reader.find(kTokenTable, shape.dimension, tokens);
  const std::size_t row_bytes = table.bytes.size() / tokens;
  need(row_bytes * tokens == table.bytes.size() && row_bytes <= kLongestRow);
  weights->token_row = row_reader(file, table, row_bytes, shape.dimension);
  need(is_finite(*table.type, table.bytes, shape.dimension));
  weights->positions = read_positions(reader, *file, shape);
  weights->embedding_norm = reader.norm("token_embd_norm", shape.dimension);
  const std::size_t layers = *file->integer("bert.block_count");
  for (std::size_t i = 0; i < layers; ++i) weights->layers.push_back(read_layer(reader, shape, i));
  need(reader.all_used());
  return weights;
}

}  // namespace

bool reads_rows(const GgufFile& file) noexcept {
  const GgufTensor* table = file.tensor(kTokenTable);
  return table != nullptr && table->bytes.size() > kCopiedTable;
}

std::unique_ptr<encoder::BertWeights> read_bert(std::shared_ptr<const GgufFile> file, const ModelProfile& profile,
                                                encoder::Precision precision) {
  try {
    return read(std::move(file), profile, precision);
  } catch (const UnsuitedBert&) {
    return nullptr;
  }
}

}  // namespace lorekeep::engine
