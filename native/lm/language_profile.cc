#include "lm/language_profile.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <optional>
#include <string_view>
#include <unordered_set>

#include "core/error.h"
#include "core/path_of_utf8.h"
#include "core/utf8_path.h"

namespace lorekeep::lm {
namespace {

constexpr std::uint64_t kMaxLayers = 512;  // llama.cpp: LLAMA_MAX_LAYERS
constexpr std::uint64_t kMaxDimension = 65536;
constexpr std::uint64_t kMaxContext = 1 << 24;
constexpr std::uint64_t kMaxExperts = 1024;  // llama.cpp: LLAMA_MAX_EXPERTS
constexpr std::uint64_t kMaxTokens = 1 << 22;
constexpr std::uint64_t kMaxValue = 1 << 24;  // of any other size in the metadata

struct Architecture {
  std::string_view name;
  Memory memory = Memory::kAttention;
};

// Text-generation architectures. All others are refused: llama.cpp also has encoders, speech and image models.
constexpr Architecture kArchitectures[] = {
    {"arcee"},
    {"baichuan"},
    {"bitnet"},
    {"bloom"},
    {"chatglm"},
    {"codeshell"},
    {"cohere2"},
    {"command-r"},
    {"dbrx"},
    {"deepseek"},
    {"dots1"},
    {"ernie4_5"},
    {"exaone"},
    {"exaone4"},
    {"falcon"},
    {"falcon-h1", Memory::kRecurrent},
    {"gemma"},
    {"gemma2"},
    {"gemma3"},
    {"glm4"},
    {"gpt2"},
    {"gpt-oss"},
    {"gptneox"},
    {"granite"},
    {"granitehybrid", Memory::kRecurrent},
    {"granitemoe"},
    {"hunyuan-dense"},
    {"internlm2"},
    {"jais"},
    {"jamba", Memory::kRecurrent},
    {"lfm2", Memory::kRecurrent},
    {"lfm2moe", Memory::kRecurrent},
    {"llama"},
    {"mamba", Memory::kRecurrent},
    {"mamba2", Memory::kRecurrent},
    {"minicpm"},
    {"minicpm3"},
    {"mpt"},
    {"nemotron"},
    {"nemotron_h", Memory::kRecurrent},
    {"olmo"},
    {"olmo2"},
    {"olmoe"},
    {"openelm"},
    {"orion"},
    {"phi2"},
    {"phi3"},
    {"phimoe"},
    {"plamo"},
    {"qwen"},
    {"qwen2"},
    {"qwen2moe"},
    {"qwen3"},
    {"qwen35", Memory::kRecurrent},
    {"qwen3moe"},
    {"qwen3next", Memory::kRecurrent},
    {"refact"},
    {"rwkv6", Memory::kRecurrent},
    {"rwkv7", Memory::kRecurrent},
    {"seed_oss"},
    {"smollm3"},
    {"stablelm"},
    {"starcoder"},
    {"starcoder2"},
    {"xverse"},
};

constexpr std::string_view kTokenizers[] = {"llama", "gpt2", "t5", "rwkv", "plamo2"};

std::string list_architectures() {
  std::string list;
  for (const Architecture& architecture : kArchitectures)
    list += (list.empty() ? "" : ", ") + std::string(architecture.name);
  return list;
}

const Architecture& find_architecture(const engine::GgufFile& file) {
  const auto name = file.string("general.architecture");
  if (!name) file.refuse("the key 'general.architecture' is missing");
  for (const Architecture& architecture : kArchitectures) {
    if (architecture.name == *name) return architecture;
  }
  const std::string found(name->substr(0, 64));
  fail_file(Code::kUnsupported, file.name(),
            "models of the architecture '" + found + "' do not generate text; those of " + list_architectures() + " do",
            {{"architecture", found}});
}

// The integer keys `<architecture>.<suffix>` of one file. A value may be one number or one per layer.
class Sizes {
 public:
  Sizes(const engine::GgufFile& file, std::string_view architecture)
      : file_(file), prefix_(std::string(architecture) + ".") {}

  std::uint64_t required(std::string_view suffix, std::uint64_t low, std::uint64_t high) const {
    const auto value = optional(suffix, low, high);
    if (!value) file_.refuse("the key '" + prefix_ + std::string(suffix) + "' is missing");
    return *value;
  }

  /// Returns the greatest value of a key; nullopt if it is absent.
  std::optional<std::uint64_t> optional(std::string_view suffix, std::uint64_t low, std::uint64_t high) const {
    const std::string key = prefix_ + std::string(suffix);
    const engine::GgufValue* value = file_.find(key);
    if (value == nullptr) return std::nullopt;
    if (!value->array) {
      const auto number = file_.integer(key);
      check(key, *number, low, high);
      return number;
    }
    std::uint64_t greatest = 0;
    for (std::uint64_t i = 0; i < value->count; ++i) {
      const std::uint64_t element = read_element(key, *value, i);
      check(key, element, low, high);
      greatest = std::max(greatest, element);
    }
    return greatest;
  }

  void number(std::string_view suffix, double low, double high) const {
    const std::string key = prefix_ + std::string(suffix);
    const engine::GgufValue* value = file_.find(key);
    if (value == nullptr || value->array) return;
    const auto found = file_.number(key);
    if (found && !(*found >= low && *found <= high)) file_.refuse("the key '" + key + "' has an impossible value");
  }

 private:
  void check(const std::string& key, std::uint64_t value, std::uint64_t low, std::uint64_t high) const {
    if (value >= low && value <= high) return;
    file_.refuse("the key '" + key + "' is " + std::to_string(value) + ", not between " + std::to_string(low) +
                 " and " + std::to_string(high));
  }

  std::uint64_t read_element(const std::string& key, const engine::GgufValue& value, std::uint64_t index) const {
    const auto read = [&](auto zero) {
      std::memcpy(&zero, value.bytes.data() + index * sizeof(zero), sizeof(zero));
      return zero < 0 ? std::numeric_limits<std::uint64_t>::max() : static_cast<std::uint64_t>(zero);
    };
    switch (value.type) {
      case engine::GgufType::kUint32: return read(std::uint32_t{});
      case engine::GgufType::kInt32: return read(std::int32_t{});
      case engine::GgufType::kBool: return read(std::uint8_t{});
      default: file_.refuse("the key '" + key + "' has another type than whole numbers");
    }
  }

  const engine::GgufFile& file_;
  std::string prefix_;
};

void check_attention(const Sizes& sizes, const engine::GgufFile& file, const Architecture& architecture,
                     std::uint64_t dimension) {
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
    if (sizes.optional(suffix, 0, 4096).value_or(0) % 2 != 0) file.refuse("an odd number of rotated dimensions");
  }
  sizes.optional("attention.sliding_window", 0, std::numeric_limits<std::int32_t>::max());
  sizes.optional("attention.sliding_window_pattern", 0, kMaxLayers);
  for (std::string_view suffix : {"attention.layer_norm_epsilon", "attention.layer_norm_rms_epsilon"})
    sizes.number(suffix, 0, 1e9);
  for (std::string_view suffix : {"rope.freq_base", "rope.freq_base_swa"}) sizes.number(suffix, 1e-3, 1e12);
  sizes.number("rope.scaling.factor", 1e-6, 1e6);
  sizes.optional("rope.scaling.original_context_length", 0, kMaxContext);
}

void check_experts(const Sizes& sizes) {
  const std::uint64_t experts = sizes.optional("expert_count", 0, kMaxExperts).value_or(0);
  sizes.optional("expert_used_count", experts > 0 ? 1 : 0, experts);
  sizes.optional("expert_shared_count", 0, kMaxExperts);
  sizes.optional("expert_group_count", 0, std::max<std::uint64_t>(experts, 1));
  sizes.optional("leading_dense_block_count", 0, kMaxLayers);
  sizes.optional("interleave_moe_layer_step", 1, kMaxLayers);
}

void check_recurrence(const Sizes& sizes) {
  for (std::string_view suffix : {"ssm.conv_kernel", "ssm.inner_size", "ssm.state_size", "ssm.time_step_rank",
                                  "ssm.group_count", "shortconv.l_cache", "wkv.head_size", "token_shift_count"})
    sizes.optional(suffix, suffix == "ssm.group_count" || suffix == "ssm.time_step_rank" ? 0 : 1, kMaxValue);
}

// llama.cpp asserts that spellings of tokens are unique; it ends a spelling at a NUL and replaces an empty one.
std::uint32_t check_vocabulary(const engine::GgufFile& file) {
  const auto tokenizer = file.string("tokenizer.ggml.model");
  if (!tokenizer) file.refuse("the file has no vocabulary: the key 'tokenizer.ggml.model' is missing");
  if (std::find(std::begin(kTokenizers), std::end(kTokenizers), *tokenizer) == std::end(kTokenizers)) {
    fail_file(Code::kUnsupported, file.name(),
              "the tokenizer '" + std::string(tokenizer->substr(0, 64)) + "' is not supported");
  }
  const auto tokens = file.strings("tokenizer.ggml.tokens");
  if (!tokens || tokens->empty())
    file.refuse("the file has no vocabulary: the key 'tokenizer.ggml.tokens' is missing or empty");
  if (tokens->size() > kMaxTokens)
    file.refuse("damaged: a vocabulary of " + std::to_string(tokens->size()) + " tokens");
  std::unordered_set<std::string> seen;
  seen.reserve(tokens->size());
  for (std::size_t i = 0; i < tokens->size(); ++i) {
    std::string token((*tokens)[i].substr(0, (*tokens)[i].find('\0')));
    if (token.empty()) token = "[EMPTY_" + std::to_string(i) + "]";
    if (!seen.insert(std::move(token)).second)
      file.refuse("damaged: token " + std::to_string(i) + " appears twice in the vocabulary");
  }
  for (std::string_view list : {"tokenizer.ggml.scores", "tokenizer.ggml.token_type"}) {
    const engine::GgufValue* value = file.find(list);
    if (value != nullptr && (!value->array || value->count != tokens->size()))
      file.refuse("damaged: '" + std::string(list) + "' has another length than the vocabulary");
  }
  return static_cast<std::uint32_t>(tokens->size());
}

// llama.cpp passes the weights of norms and biases to operations that only support F32.
void check_tensors(const engine::GgufFile& file, std::uint32_t vocabulary) {
  for (const engine::GgufTensor& tensor : file.tensors()) {
    if (tensor.dimensions == 1 && tensor.type->id != engine::kTensorF32) {
      file.refuse("tensor '" + std::string(tensor.name) + "' is " + std::string(tensor.type->name) +
                  "; norms and biases are F32");
    }
  }
  const engine::GgufTensor* embedding = file.tensor("token_embd.weight");
  if (embedding == nullptr) file.refuse("the tensor 'token_embd.weight' is missing");
  if (embedding->dimensions != 2 || embedding->shape[1] != vocabulary)
    file.refuse("the tensor 'token_embd.weight' does not have one row per token of the vocabulary");
}

}  // namespace

LanguageProfile profile_language_model(const engine::GgufFile& file) {
  const Architecture& architecture = find_architecture(file);
  const Sizes sizes(file, architecture.name);
  LanguageProfile profile;
  profile.architecture = architecture.name;
  profile.memory = architecture.memory;
  profile.name = file.string("general.name").value_or("");
  if (profile.name.empty()) profile.name = utf8_path(path_of_utf8(file.name()).stem());

  const std::uint64_t dimension = sizes.required("embedding_length", 1, kMaxDimension);
  profile.embedding_size = static_cast<std::uint32_t>(dimension);
  profile.training_context = static_cast<std::uint32_t>(sizes.required("context_length", 8, kMaxContext));
  profile.layers = static_cast<std::uint32_t>(sizes.required("block_count", 1, kMaxLayers));
  sizes.optional("feed_forward_length", 0, 16 * kMaxDimension);
  sizes.optional("nextn_predict_layers", 0, 0);
  check_attention(sizes, file, architecture, dimension);
  check_experts(sizes);
  check_recurrence(sizes);
  profile.vocabulary_size = check_vocabulary(file);
  check_tensors(file, profile.vocabulary_size);
  profile.parameters = 0;
  for (const engine::GgufTensor& tensor : file.tensors()) profile.parameters += tensor.elements();
  return profile;
}

}  // namespace lorekeep::lm
