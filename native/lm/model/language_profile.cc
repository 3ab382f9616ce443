#include "lm/model/language_profile.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/decoder_file.h"
#include "engine/profile_checks.h"

namespace lorekeep::lm {
namespace {

using engine::GgufKeys;

constexpr std::uint64_t kMaxValue = 1 << 24;  // of any other size in the metadata

struct Architecture {
  std::string_view name;
  Memory memory;
};

// Text-generation architectures besides those of native/decoder. All others are refused: llama.cpp also has encoders,
// speech and image models.
constexpr std::string_view kAttentionModels[] = {
    "arcee",   "baichuan", "bitnet",  "bloom",    "chatglm",    "codeshell",     "cohere2",   "command-r",
    "dbrx",    "deepseek", "dots1",   "ernie4_5", "exaone",     "exaone4",       "falcon",    "glm4",
    "gpt2",    "gpt-oss",  "gptneox", "granite",  "granitemoe", "hunyuan-dense", "internlm2", "jais",
    "minicpm", "minicpm3", "mpt",     "nemotron", "olmo",       "olmo2",         "olmoe",     "openelm",
    "orion",   "phi2",     "phi3",    "phimoe",   "plamo",      "qwen",          "qwen2moe",  "qwen3moe",
    "refact",  "seed_oss", "smollm3", "stablelm", "starcoder",  "starcoder2",    "xverse"};
constexpr std::string_view kRecurrentModels[] = {"falcon-h1", "granitehybrid", "jamba",  "lfm2",
                                                 "lfm2moe",   "mamba",         "mamba2", "nemotron_h",
                                                 "qwen35",    "qwen3next",     "rwkv6",  "rwkv7"};

constexpr std::string_view kTokenizers[] = {"llama", "gpt2", "t5", "rwkv", "plamo2"};

Architecture find_architecture(const engine::GgufFile& file) {
  const std::string_view name = engine::architecture_of(file);
  if (std::ranges::find(kRecurrentModels, name) != std::end(kRecurrentModels)) return {name, Memory::kRecurrent};
  std::vector<std::string_view> known = engine::decoder_architectures();
  known.insert(known.end(), std::begin(kAttentionModels), std::end(kAttentionModels));
  if (std::ranges::find(known, name) != known.end()) return {name, Memory::kAttention};
  known.insert(known.end(), std::begin(kRecurrentModels), std::end(kRecurrentModels));
  std::ranges::sort(known);
  engine::refuse_architecture(file, "for generating text", known, "docs/guides/language-models.md");
}

void check_attention(const GgufKeys& sizes, const Architecture& architecture, std::uint64_t dimension) {
  const engine::GgufFile& file = sizes.file();
  const bool recurrent = architecture.memory == Memory::kRecurrent;
  const std::uint64_t least = recurrent ? 0 : 1;
  const auto heads = sizes.optional("attention.head_count", least, dimension);
  if (!heads && !recurrent) file.refuse("the attention heads are missing");
  const auto kv_heads = sizes.optional("attention.head_count_kv", least, heads.value_or(dimension));
  if (heads.value_or(0) > 0 && kv_heads.value_or(0) > 0 && *heads % *kv_heads != 0)
    file.refuse("the key/value heads do not divide the attention heads");
  for (std::string_view suffix :
       {"attention.key_length", "attention.value_length", "attention.key_length_swa", "attention.value_length_swa"})
    sizes.optional(suffix, 1, 4096);
  for (std::string_view suffix : {"rope.dimension_count", "rope.dimension_count_swa"}) {
    // With none, ggml's loop over rotated dimensions never ends.
    if (sizes.optional(suffix, recurrent ? 0 : 2, 4096).value_or(0) % 2 != 0)
      file.refuse("an odd number of rotated dimensions");
  }
  sizes.optional("attention.sliding_window", 0, std::numeric_limits<std::int32_t>::max());
  sizes.optional("attention.sliding_window_pattern", 0, engine::kMaxLayers);
  for (std::string_view suffix : {"attention.layer_norm_epsilon", "attention.layer_norm_rms_epsilon"})
    sizes.number(suffix, 0, 1e9);
  for (std::string_view suffix : {"rope.freq_base", "rope.freq_base_swa"}) sizes.number(suffix, 1e-3, 1e12);
  sizes.number("rope.scaling.factor", 1e-6, 1e6);
  sizes.optional("rope.scaling.original_context_length", 0, engine::kMaxContext);
}

void check_experts(const GgufKeys& sizes) {
  const std::uint64_t experts = sizes.optional("expert_count", 0, engine::kMaxExperts).value_or(0);
  sizes.optional("expert_used_count", experts > 0 ? 1 : 0, experts);
  sizes.optional("expert_shared_count", 0, engine::kMaxExperts);
  sizes.optional("expert_group_count", 0, std::max<std::uint64_t>(experts, 1));
  sizes.optional("leading_dense_block_count", 0, engine::kMaxLayers);
  sizes.optional("interleave_moe_layer_step", 1, engine::kMaxLayers);
}

void check_recurrence(const GgufKeys& sizes) {
  for (std::string_view suffix : {"ssm.conv_kernel", "ssm.inner_size", "ssm.state_size", "ssm.time_step_rank",
                                  "ssm.group_count", "shortconv.l_cache", "wkv.head_size", "token_shift_count"})
    sizes.optional(suffix, suffix == "ssm.group_count" || suffix == "ssm.time_step_rank" ? 0 : 1, kMaxValue);
}

std::uint32_t check_tokens(const engine::GgufFile& file) {
  const std::uint32_t tokens = engine::check_vocabulary(file, kTokenizers);
  for (std::string_view list : {"tokenizer.ggml.scores", "tokenizer.ggml.token_type"}) {
    const engine::GgufValue* value = file.find(list);
    if (value != nullptr && (!value->array || value->count != tokens))
      file.refuse("damaged: '" + std::string(list) + "' is not as long as the vocabulary");
  }
  return tokens;
}

void check_tensors(const engine::GgufFile& file, std::uint32_t vocabulary) {
  engine::check_types(file);
  const engine::GgufTensor* embedding = file.tensor("token_embd.weight");
  if (embedding == nullptr) file.refuse("the tensor 'token_embd.weight' is missing");
  if (embedding->dimensions != 2 || embedding->shape[1] != vocabulary)
    file.refuse("the tensor 'token_embd.weight' does not have one row per token of the vocabulary");
}

}  // namespace

LanguageProfile profile_language_model(const engine::GgufFile& file) {
  const Architecture architecture = find_architecture(file);
  const GgufKeys sizes(file, architecture.name, GgufKeys::PerLayer::kAllowed);
  LanguageProfile profile;
  profile.architecture = architecture.name;
  profile.memory = architecture.memory;
  profile.name = engine::model_name(file);

  const std::uint64_t dimension = sizes.required("embedding_length", 1, engine::kMaxDimension);
  profile.embedding_size = static_cast<std::uint32_t>(dimension);
  profile.training_context = static_cast<std::uint32_t>(sizes.required("context_length", 8, engine::kMaxContext));
  profile.layers = static_cast<std::uint32_t>(sizes.required("block_count", 1, engine::kMaxLayers));
  sizes.optional("feed_forward_length", 0, 16 * engine::kMaxDimension);
  sizes.optional("nextn_predict_layers", 0, 0);
  check_attention(sizes, architecture, dimension);
  check_experts(sizes);
  check_recurrence(sizes);
  profile.vocabulary_size = check_tokens(file);
  check_tensors(file, profile.vocabulary_size);
  profile.parameters = engine::count_parameters(file);
  return profile;
}

}  // namespace lorekeep::lm
