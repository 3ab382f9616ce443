#include "engine/decoder_file.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "quant/format.h"

namespace lorekeep::engine {
namespace {

using decoder::Activation;
using decoder::DecoderShape;
using decoder::DecoderWeights;
using decoder::LayerWeights;
using decoder::RotaryStyle;
using quant::PackedMatrix;

constexpr std::size_t kMaxLayers = 512;
constexpr std::size_t kMaxHead = 512;
constexpr std::size_t kMaxWidth = 65536;
constexpr double kUsualBase = 10000;

/// Why native/decoder cannot compute a file; never leaves this one.
struct Unsuited {
  std::string reason;
  bool damaged = false;  // llama.cpp will not compute it either
};

void need(bool condition, const std::string& reason) {
  if (!condition) throw Unsuited{reason};
}

void need_whole(bool condition, const std::string& reason) {
  if (!condition) throw Unsuited{reason, true};
}

/// Traits of an architecture.
struct Kind {
  std::string_view name;
  RotaryStyle rotary = RotaryStyle::kHalves;
  Activation activation = Activation::kSilu;
  bool biases = false;  // of queries, keys and values
  bool head_norms = false;
  bool post_norms = false;
  bool scaled_embeddings = false;
  bool tied = false;            // the output is the embeddings
  float attention_softcap = 0;  // unless the file says otherwise
  float logit_softcap = 0;
  std::size_t window = 0;          // unless the file says otherwise
  std::size_t window_pattern = 0;  // every n-th layer sees all tokens
  bool shared_rotation = false;    // layers with a window rotate by the base and the factor of the others
  bool frequency_factors = false;  // the file may divide the angles of positions by factors of its own, as Llama 3's
  std::size_t large_layers = 0;    // models of n layers scale attention by the width
};

constexpr Kind kKinds[] = {
    {.name = "llama", .rotary = RotaryStyle::kPairs, .frequency_factors = true},
    {.name = "qwen2", .biases = true},
    {.name = "qwen3", .head_norms = true},
    {.name = "gemma", .activation = Activation::kGelu, .scaled_embeddings = true, .tied = true},
    {.name = "gemma2",
     .activation = Activation::kGelu,
     .post_norms = true,
     .scaled_embeddings = true,
     .tied = true,
     .attention_softcap = 50,
     .logit_softcap = 30,
     .window = 4096,
     .window_pattern = 2,
     .shared_rotation = true,
     .large_layers = 46},
    {.name = "gemma3",
     .activation = Activation::kGelu,
     .head_norms = true,
     .post_norms = true,
     .scaled_embeddings = true,
     .window_pattern = 6,
     .large_layers = 62},
};

/// The keys `<architecture>.<suffix>` of a file. Remembers which were asked for.
class Keys {
 public:
  Keys(const GgufFile& file, std::string_view architecture) : file_(file), prefix_(std::string(architecture) + ".") {}

  std::optional<std::size_t> integer(std::string_view suffix, std::size_t low, std::size_t high) {
    const GgufValue* value = scalar(suffix);
    if (value == nullptr) return std::nullopt;
    const std::uint64_t found = *file_.integer(prefix_ + std::string(suffix));
    need(found >= low && found <= high, "its key '" + prefix_ + std::string(suffix) + "' is unusual");
    return static_cast<std::size_t>(found);
  }
  std::size_t required(std::string_view suffix, std::size_t low, std::size_t high) {
    const auto found = integer(suffix, low, high);
    need(found.has_value(), "its key '" + prefix_ + std::string(suffix) + "' is missing");
    return *found;
  }
  double number(std::string_view suffix, double otherwise, double low, double high) {
    if (scalar(suffix) == nullptr) return otherwise;
    const double found = *file_.number(prefix_ + std::string(suffix));
    need(found >= low && found <= high, "its key '" + prefix_ + std::string(suffix) + "' is unusual");
    return found;
  }
  std::string_view string(std::string_view suffix) {
    if (scalar(suffix) == nullptr) return {};
    return *file_.string(prefix_ + std::string(suffix));
  }
  void ignore(std::initializer_list<std::string_view> suffixes) { known_.insert(suffixes.begin(), suffixes.end()); }

  /// Throws Unsuited if the file has a key of the architecture that nothing asked for.
  void need_all_known() const {
    for (const std::string_view key : file_.keys()) {
      if (key.starts_with(prefix_))
        need(known_.contains(key.substr(prefix_.size())),
             "its key '" + std::string(key.substr(0, 80)) + "' is unknown");
    }
  }

 private:
  const GgufValue* scalar(std::string_view suffix) {
    known_.insert(suffix);
    const GgufValue* value = file_.find(prefix_ + std::string(suffix));
    need(value == nullptr || !value->array, "its key '" + prefix_ + std::string(suffix) + "' is a list");
    return value;
  }

  const GgufFile& file_;
  std::string prefix_;
  std::set<std::string_view> known_;
};

/// The tensors of a file: checks them, and packs them if there is work to pack with.
class Tensors {
 public:
  Tensors(const GgufFile& file, const Work* work) : file_(file), work_(work) {}

  PackedMatrix matrix(const std::string& name, std::size_t inputs, std::size_t outputs) {
    const GgufTensor& tensor = find(name, inputs, outputs);
    const auto format = quant::format_of_type(tensor.type->id);
    need(format.has_value(), "the tensor '" + name + "' is " + std::string(tensor.type->name));
    need(inputs % quant::block_values(*format) == 0, "the tensor '" + name + "' has an odd width");
    need_whole(tensor.bytes.size() == outputs * quant::row_bytes(*format, inputs),
               "the tensor '" + name + "' is truncated");
    bytes_ += tensor.bytes.size();
    return work_ == nullptr ? PackedMatrix()
                            : PackedMatrix::pack(*format, tensor.bytes, outputs, inputs, *work_, memory_);
  }
  std::vector<float> vector(const std::string& name, std::size_t size) {
    const GgufTensor& tensor = find(name, size, 1);
    need(tensor.type->id == kTensorF32 && tensor.bytes.size() == size * sizeof(float),
         "the tensor '" + name + "' is not F32");
    std::vector<float> found(size);
    std::memcpy(found.data(), tensor.bytes.data(), tensor.bytes.size());
    need_whole(std::all_of(found.begin(), found.end(), [](float value) { return std::isfinite(value); }),
               "the tensor '" + name + "' has values that are not numbers");
    return found;
  }
  bool has(const std::string& name) const { return file_.tensor(name) != nullptr; }
  std::uint64_t bytes() const noexcept { return bytes_; }

  void need_all_used() const {
    for (const GgufTensor& tensor : file_.tensors())
      need(used_.contains(tensor.name), "its tensor '" + std::string(tensor.name) + "' is unknown");
  }

 private:
  const GgufTensor& find(const std::string& name, std::size_t inputs, std::size_t outputs) {
    const GgufTensor* tensor = file_.tensor(name);
    need_whole(tensor != nullptr, "the tensor '" + name + "' is missing");
    need_whole(tensor->shape == std::array<std::uint64_t, 4>{inputs, outputs, 1, 1},
               "the tensor '" + name + "' has an unexpected shape");
    used_.insert(tensor->name);
    return *tensor;
  }

  const GgufFile& file_;
  const Work* work_;
  quant::PackedMemory memory_;
  std::set<std::string_view> used_;
  std::uint64_t bytes_ = 0;
};

/// Positions and windows of a file's layers.
struct Positions {
  std::size_t angles = 0;
  std::size_t window = 0;
  std::size_t pattern = 0;
};

std::vector<double> divisors(std::size_t angles, double base, double factor) {
  std::vector<double> found(angles);
  for (std::size_t i = 0; i < angles; ++i)
    found[i] = factor * std::pow(base, static_cast<double>(i) / static_cast<double>(angles));
  return found;
}

const Kind& kind_of(const GgufFile& file) {
  const auto name = file.string("general.architecture");
  for (const Kind& kind : kKinds) {
    if (name && kind.name == *name) return kind;
  }
  throw Unsuited{"its architecture is '" + std::string(name.value_or("").substr(0, 64)) + "'"};
}

Positions read_positions(Keys& keys, const Kind& kind, DecoderShape& shape) {
  Positions positions;
  positions.angles = keys.integer("rope.dimension_count", 2, shape.head).value_or(shape.head) / 2;
  need(2 * positions.angles == shape.head, "it rotates a part of each head");
  need(keys.integer("rope.dimension_count", 2, shape.head).value_or(shape.head) % 2 == 0, "its heads are odd");
  const double base = keys.number("rope.freq_base", kUsualBase, 1, 1e12);
  const std::string_view scaling = keys.string("rope.scaling.type");
  need(scaling.empty() || scaling == "none" || scaling == "linear", "its positions are scaled");
  const double factor = keys.number("rope.scaling.factor", 1, 1, 1e6);
  need(factor == 1 || scaling == "linear", "its positions are scaled");
  shape.rotaries.push_back({divisors(positions.angles, base, factor)});
  if (kind.window_pattern == 0) return positions;
  positions.window = keys.integer("attention.sliding_window", 0, 1 << 30).value_or(kind.window);
  positions.pattern = keys.integer("attention.sliding_window_pattern", 1, kMaxLayers).value_or(kind.window_pattern);
  const double local_base = keys.number("rope.freq_base_swa", kind.shared_rotation ? base : kUsualBase, 1, 1e12);
  shape.rotaries.push_back({divisors(positions.angles, local_base, kind.shared_rotation ? factor : 1)});
  return positions;
}

DecoderShape read_sizes(Keys& keys, const Kind& kind, std::size_t vocabulary) {
  DecoderShape shape{};
  shape.layers = keys.required("block_count", 1, kMaxLayers);
  shape.width = keys.required("embedding_length", 1, kMaxWidth);
  shape.hidden = keys.required("feed_forward_length", 1, 16 * kMaxWidth);
  shape.heads = keys.required("attention.head_count", 1, kMaxWidth);
  shape.kv_heads = keys.integer("attention.head_count_kv", 1, shape.heads).value_or(shape.heads);
  need(shape.heads % shape.kv_heads == 0, "its key/value heads do not divide its heads");
  const auto head = keys.integer("attention.key_length", 1, kMaxHead);
  need(head || shape.width % shape.heads == 0, "its heads do not divide its width");
  shape.head = head.value_or(shape.width / shape.heads);
  need(shape.head >= 2 && shape.head <= kMaxHead && shape.head % 2 == 0, "the size of its heads is unusual");
  need(keys.integer("attention.value_length", 1, kMaxHead).value_or(shape.head) == shape.head,
       "its keys and values have other sizes");
  shape.vocabulary = vocabulary;
  shape.epsilon = static_cast<float>(keys.number("attention.layer_norm_rms_epsilon", 0, 0, 1));
  need(shape.epsilon > 0, "the epsilon of its norms is missing");
  const std::size_t scaled_by =
      kind.large_layers == shape.layers && kind.large_layers > 0 ? shape.width / shape.heads : shape.head;
  shape.attention_scale = 1.0f / std::sqrt(static_cast<float>(scaled_by));
  shape.activation = kind.activation;
  shape.rotary_style = kind.rotary;
  if (kind.scaled_embeddings) shape.embedding_scale = std::sqrt(static_cast<float>(shape.width));
  if (kind.attention_softcap > 0) {
    shape.attention_softcap =
        static_cast<float>(keys.number("attn_logit_softcapping", kind.attention_softcap, 1e-3, 1e6));
    shape.logit_softcap = static_cast<float>(keys.number("final_logit_softcapping", kind.logit_softcap, 1e-3, 1e6));
  }
  keys.ignore({"context_length", "vocab_size"});
  need(keys.integer("expert_count", 0, 0).value_or(0) == 0, "it has experts");
  return shape;
}

LayerWeights read_layer(Tensors& tensors, const DecoderShape& shape, const Kind& kind, std::size_t index) {
  const std::string block = "blk." + std::to_string(index) + ".";
  LayerWeights layer;
  layer.attention_norm = tensors.vector(block + "attn_norm.weight", shape.width);
  layer.query = tensors.matrix(block + "attn_q.weight", shape.width, shape.query_width());
  layer.key = tensors.matrix(block + "attn_k.weight", shape.width, shape.kv_width());
  layer.value = tensors.matrix(block + "attn_v.weight", shape.width, shape.kv_width());
  const auto bias = [&](const char* name, std::size_t size) {
    const std::string full = block + name + ".bias";
    return tensors.has(full) ? tensors.vector(full, size) : std::vector<float>();
  };
  if (kind.biases) {
    layer.query_bias = bias("attn_q", shape.query_width());
    layer.key_bias = bias("attn_k", shape.kv_width());
    layer.value_bias = bias("attn_v", shape.kv_width());
  }
  if (kind.head_norms) {
    layer.query_norm = tensors.vector(block + "attn_q_norm.weight", shape.head);
    layer.key_norm = tensors.vector(block + "attn_k_norm.weight", shape.head);
  }
  layer.output = tensors.matrix(block + "attn_output.weight", shape.query_width(), shape.width);
  layer.feed_forward_norm = tensors.vector(block + "ffn_norm.weight", shape.width);
  layer.gate = tensors.matrix(block + "ffn_gate.weight", shape.width, shape.hidden);
  layer.up = tensors.matrix(block + "ffn_up.weight", shape.width, shape.hidden);
  layer.down = tensors.matrix(block + "ffn_down.weight", shape.hidden, shape.width);
  if (kind.post_norms) {
    layer.post_attention_norm = tensors.vector(block + "post_attention_norm.weight", shape.width);
    layer.post_feed_forward_norm = tensors.vector(block + "post_ffw_norm.weight", shape.width);
  }
  return layer;
}

void read_factors(Tensors& tensors, DecoderShape& shape, std::size_t angles) {
  const std::string name = "rope_freqs.weight";
  if (!tensors.has(name)) return;
  const std::vector<float> factors = tensors.vector(name, angles);
  for (std::size_t i = 0; i < angles; ++i) {
    need(factors[i] > 0, "its positions have an impossible factor");
    shape.rotaries[0].divisors[i] *= factors[i];
  }
}

/// With `work`, packs the weights; else only checks.
DecoderWeights read(const GgufFile& file, const Work* work, std::uint64_t& bytes) {
  const Kind& kind = kind_of(file);
  const auto tokens = file.strings("tokenizer.ggml.tokens");
  need(tokens && !tokens->empty(), "it has no vocabulary");
  Keys keys(file, kind.name);
  DecoderWeights weights;
  weights.shape = read_sizes(keys, kind, tokens->size());
  DecoderShape& shape = weights.shape;
  const Positions positions = read_positions(keys, kind, shape);
  keys.need_all_known();
  Tensors tensors(file, work);
  if (kind.frequency_factors) read_factors(tensors, shape, positions.angles);
  weights.embeddings = tensors.matrix("token_embd.weight", shape.width, shape.vocabulary);
  weights.output_norm = tensors.vector("output_norm.weight", shape.width);
  if (!kind.tied && tensors.has("output.weight"))
    weights.output = tensors.matrix("output.weight", shape.width, shape.vocabulary);
  for (std::size_t i = 0; i < shape.layers; ++i) {
    if (work != nullptr) work->check();
    LayerWeights& layer = weights.layers.emplace_back(read_layer(tensors, shape, kind, i));
    if (positions.window == 0 || (i + 1) % positions.pattern == 0) continue;
    layer.window = positions.window;
    layer.rotary = 1;
  }
  tensors.need_all_used();
  bytes = tensors.bytes();
  return weights;
}

}  // namespace

std::vector<std::string_view> decoder_architectures() {
  std::vector<std::string_view> names;
  for (const Kind& kind : kKinds) names.push_back(kind.name);
  return names;
}

DecoderPlan plan_decoder(const GgufFile& file) {
  DecoderPlan plan;
  try {
    plan.shape = read(file, nullptr, plan.weight_bytes).shape;
  } catch (const Unsuited& unsuited) {
    plan.obstacle = unsuited.reason;
    plan.damaged = unsuited.damaged;
  } catch (const Error& error) {
    plan.obstacle = error.what();  // a key of another type
  }
  return plan;
}

std::shared_ptr<const decoder::DecoderWeights> read_decoder(const GgufFile& file, const Work& work) {
  std::uint64_t bytes = 0;
  try {
    return std::make_shared<const DecoderWeights>(read(file, &work, bytes));
  } catch (const Unsuited& unsuited) {
    file.refuse(unsuited.reason);
  }
}

}  // namespace lorekeep::engine
