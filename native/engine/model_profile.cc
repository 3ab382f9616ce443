#include "engine/model_profile.h"

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>
#include <string_view>
#include <vector>

#include "core/values/checksum.h"
#include "core/values/error.h"
#include "engine/profile_checks.h"

namespace lorekeep::engine {
namespace {

constexpr std::uint64_t kMaxHeadSize = 1024;

struct Architecture {
  std::string_view name;
  bool encoder;     // bidirectional, made for embeddings; mean pooling by default
  bool free_heads;  // the head size has its own key; it need not be dimension / heads
};

// Architectures whose assertions in llama.cpp were reviewed and whose embeddings make sense. All others are refused.
constexpr Architecture kArchitectures[] = {
    {"bert", true, false},         {"nomic-bert", true, false},   {"nomic-bert-moe", true, false},
    {"jina-bert-v2", true, false}, {"jina-bert-v3", true, false}, {"modern-bert", true, false},
    {"neo-bert", true, false},     {"eurobert", true, false},     {"gemma-embedding", true, true},
    {"llama-embed", true, true},   {"llama", false, true},        {"qwen2", false, true},
    {"qwen3", false, true},
};

// Those for which llama.cpp reads a classification head.
constexpr std::string_view kRerankers[] = {"bert", "modern-bert", "neo-bert", "jina-bert-v2", "qwen3"};
constexpr std::size_t kMaxLabels = 1024;

constexpr std::string_view kTokenizers[] = {"bert", "llama", "gpt2", "t5"};
constexpr std::string_view kRopeScalings[] = {"none", "linear", "yarn", "longrope"};

const Architecture& find_architecture(const GgufFile& file) {
  std::vector<std::string_view> known;
  for (const Architecture& architecture : kArchitectures) {
    if (architecture.name == architecture_of(file)) return architecture;
    known.push_back(architecture.name);
  }
  refuse_architecture(file, "for embeddings", known, "docs/internals/inference.md");
}

struct Parameters : GgufKeys {
  Parameters(const GgufFile& file, const Architecture& of)
      : GgufKeys(file, of.name, PerLayer::kRefused), architecture(of) {}
  const Architecture& architecture;
};

Pooling choose_pooling(const Parameters& parameters, std::optional<Pooling> wanted) {
  const auto stored = parameters.file().integer(parameters.key("pooling_type"));
  if (wanted) return *wanted;
  if (stored && *stored >= 1 && *stored <= 3) return static_cast<Pooling>(*stored);
  if (stored == 4) {
    fail_file(Code::kUnsupported, parameters.file().name(),
              "a reranking model; it scores pairs of texts and makes no embeddings. Load it as a reranker");
  }
  if (parameters.architecture.encoder) return Pooling::kMean;
  parameters.file().refuse("a text-generation model: '" + parameters.key("pooling_type") +
                           "' does not say how to make an embedding; use an embedding model, or pass the pooling "
                           "(mean, cls or last) if this one was trained to embed");
}

void check_attention(const Parameters& parameters, std::uint64_t dimension) {
  const std::uint64_t heads = parameters.required("attention.head_count", 1, dimension);
  if (!parameters.architecture.free_heads && dimension % heads != 0) {
    parameters.file().refuse(std::to_string(heads) + " attention heads do not divide the dimension " +
                             std::to_string(dimension));
  }
  const std::uint64_t kv_heads = parameters.optional("attention.head_count_kv", 1, heads).value_or(heads);
  if (heads % kv_heads != 0) parameters.file().refuse("the key/value heads do not divide the attention heads");
  const std::uint64_t natural = dimension / heads;
  const std::uint64_t size = parameters.optional("attention.key_length", 1, kMaxHeadSize).value_or(natural);
  const std::uint64_t value_size = parameters.optional("attention.value_length", 1, kMaxHeadSize).value_or(natural);
  if (size != value_size || size > kMaxHeadSize || size == 0)
    parameters.file().refuse("the sizes of keys and values contradict each other");
  if (!parameters.architecture.free_heads && size != natural) {
    parameters.file().refuse("the size of an attention head contradicts the dimension");
  }
  const bool decoder = !parameters.architecture.encoder;
  const std::uint64_t rotated = parameters.optional("rope.dimension_count", decoder ? size : 1, size).value_or(size);
  if (parameters.architecture.name != "bert" && parameters.architecture.name != "jina-bert-v2" && rotated % 2 != 0) {
    parameters.file().refuse("an odd number of rotated dimensions");
  }
  for (std::string_view suffix : {"attention.key_length_swa", "attention.value_length_swa"})
    parameters.absent_or(suffix, size);
  parameters.absent_or("rope.dimension_count_swa", rotated);
  parameters.optional("attention.sliding_window", 0, kMaxContext);
  parameters.number("attention.layer_norm_epsilon", 0, 1e9);
  parameters.number("attention.layer_norm_rms_epsilon", 0, 1e9);
  parameters.number("rope.freq_base", 1e-3, 1e12);
  parameters.number("rope.scaling.factor", 0, 1e6);
  const auto scaling = parameters.file().string(parameters.key("rope.scaling.type"));
  if (scaling && std::find(std::begin(kRopeScalings), std::end(kRopeScalings), *scaling) == std::end(kRopeScalings)) {
    parameters.file().refuse("an unknown kind of RoPE scaling");
  }
}

void check_experts(const Parameters& parameters) {
  if (parameters.architecture.name == "nomic-bert-moe") {
    const std::uint64_t experts = parameters.required("expert_count", 1, kMaxExperts);
    parameters.required("expert_used_count", 1, experts);
    parameters.optional("moe_every_n_layers", 0, kMaxLayers);
  } else {
    parameters.absent_or("expert_count", 0);
    parameters.absent_or("expert_used_count", 0);
  }
  parameters.absent_or("expert_group_count", 0);
  parameters.absent_or("nextn_predict_layers", 0);
}

void check_tensors(const Parameters& parameters, std::uint64_t dimension, std::uint64_t feed_forward,
                   std::uint64_t layers) {
  const GgufFile& file = parameters.file();
  check_types(file, "token_types.weight");
  if (parameters.architecture.name == "jina-bert-v2") {
    for (std::uint64_t layer = 0; layer < layers; ++layer) {
      const GgufTensor* up = file.tensor("blk." + std::to_string(layer) + ".ffn_up.weight");
      if (up != nullptr && up->shape[1] != feed_forward && up->shape[1] != 2 * feed_forward) {
        file.refuse("tensor '" + std::string(up->name) + "' has an impossible shape");
      }
    }
  }
  if (parameters.architecture.name == "gemma-embedding") {
    for (std::string_view suffix : {"dense_2_feat_in", "dense_3_feat_out"}) parameters.absent_or(suffix, dimension);
  }
}

// llama.cpp reads as many scores as there are labels, whatever the head gives.
void check_head(const Parameters& parameters, std::uint64_t dimension) {
  const GgufFile& file = parameters.file();
  const auto labels = file.strings(parameters.key("classifier.output_labels"));
  const std::size_t outputs = labels && !labels->empty() ? labels->size() : 1;
  if (outputs > kMaxLabels) file.refuse("damaged: a classification head of " + std::to_string(outputs) + " labels");
  const bool one_layer = parameters.architecture.name == "jina-bert-v2";
  const std::string name = one_layer ? "cls.weight" : "cls.output.weight";
  const GgufTensor* head = file.tensor(name);
  if (head == nullptr) {
    fail_file(Code::kUnsupported, file.name(),
              "it has no classification head (the tensor '" + name + "' is missing), so it does not rerank");
  }
  if (head->shape[0] != dimension || head->shape[1] != outputs || head->elements() != dimension * outputs) {
    file.refuse("tensor '" + name + "' does not fit a head of " + std::to_string(outputs) + " scores");
  }
  if (one_layer && outputs != 1) file.refuse("a head of this architecture gives one score");
}

ModelProfile profile_of(const Parameters& parameters, Pooling pooling) {
  const GgufFile& file = parameters.file();
  ModelProfile profile;
  profile.architecture = parameters.architecture.name;
  profile.pooling = pooling;
  profile.name = model_name(file);

  const std::uint64_t dimension = parameters.required("embedding_length", 1, kMaxDimension);
  parameters.absent_or("embedding_length_out", dimension);
  const std::uint64_t context = parameters.required("context_length", 8, kMaxContext);
  const std::uint64_t layers = parameters.required("block_count", 1, kMaxLayers);
  const std::uint64_t feed_forward = parameters.required("feed_forward_length", 1, 16 * kMaxDimension);
  check_attention(parameters, dimension);
  check_experts(parameters);
  check_tensors(parameters, dimension, feed_forward, layers);
  check_vocabulary(file, kTokenizers);

  profile.dimension = static_cast<std::uint32_t>(dimension);
  profile.training_context = static_cast<std::uint32_t>(context);
  profile.parameters = count_parameters(file);
  return profile;
}

}  // namespace

ModelProfile profile_model(const GgufFile& file, std::optional<Pooling> pooling) {
  const Architecture& architecture = find_architecture(file);
  const Parameters parameters(file, architecture);
  return profile_of(parameters, choose_pooling(parameters, pooling));
}

ModelProfile profile_reranker(const GgufFile& file) {
  const std::string_view name = architecture_of(file);
  if (std::find(std::begin(kRerankers), std::end(kRerankers), name) == std::end(kRerankers))
    refuse_architecture(file, "for reranking", kRerankers, "docs/concepts/relevance.md");
  const Parameters parameters(file, find_architecture(file));
  const ModelProfile profile = profile_of(parameters, Pooling::kRank);
  check_head(parameters, profile.dimension);
  return profile;
}

namespace {

/// Changes when WordPiece gives other tokens than before.
constexpr std::string_view kTextPreparation = "word pieces 2";

/// Returns whether the vocabulary is BERT's, with pieces beyond ASCII: only then may texts have got other tokens.
bool has_accented_words(const GgufFile& file) {
  constexpr std::string_view kWordMark = "\xe2\x96\x81";
  if (file.string("tokenizer.ggml.model") != "bert") return false;
  const auto pieces = file.strings("tokenizer.ggml.tokens");
  return pieces && std::ranges::any_of(*pieces, [&](std::string_view piece) {
           if (piece.starts_with(kWordMark)) piece.remove_prefix(kWordMark.size());
           return std::ranges::any_of(piece, [](char byte) { return static_cast<unsigned char>(byte) >= 0x80; });
         });
}

}  // namespace

std::string fingerprint_model(const GgufFile& file, Pooling pooling, const CancelToken* cancel,
                              const std::function<void(float)>& progress) {
  constexpr std::size_t kPiece = std::size_t{16} << 20;
  std::uint64_t hash = static_cast<std::uint64_t>(pooling);
  std::uint64_t done = 0;
  for (const auto& part : file.parts()) {
    const auto bytes = part->bytes();
    for (std::size_t offset = 0; offset < bytes.size(); offset += kPiece) {
      const auto piece = bytes.subspan(offset, std::min(kPiece, bytes.size() - offset));
      if (cancel != nullptr) cancel->check();
      if (progress) progress(static_cast<float>(done) / static_cast<float>(file.size()));
      hash = checksum(piece, hash);
      done += piece.size();
    }
  }
  // Vectors of the same file differ from those that llama.cpp's preparation of the text gave.
  if (has_accented_words(file)) hash = checksum(std::as_bytes(std::span(kTextPreparation)), hash);
  std::array<char, 17> text;
  std::snprintf(text.data(), text.size(), "%016" PRIx64, hash);
  return text.data();
}

}  // namespace lorekeep::engine
