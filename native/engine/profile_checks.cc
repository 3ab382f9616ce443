#include "engine/profile_checks.h"

#include <algorithm>
#include <compare>
#include <cstring>
#include <deque>
#include <limits>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/files/utf8_path.h"
#include "core/values/checksum.h"
#include "core/values/error.h"
#include "core/values/seeded_hash.h"

namespace lorekeep::engine {
namespace {

constexpr std::uint64_t kMaxTokens = 1 << 22;
constexpr std::size_t kMaxShown = 16;  // architectures in a message
constexpr std::size_t kAlike = 3;      // letters with which a family's names begin

/// Returns the first text that is equal to an earlier one. Compares hashes: sets of 250,000 texts take 100 ms.
std::optional<std::size_t> first_repeated(std::span<const std::string_view> texts) {
  struct Hashed {
    std::uint64_t hash;
    std::size_t index;
    auto operator<=>(const Hashed&) const = default;
  };
  std::vector<Hashed> all(texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) all[i] = {checksum(std::as_bytes(std::span(texts[i]))), i};
  std::ranges::sort(all);
  std::optional<std::size_t> first;
  for (auto begin = all.begin(); begin != all.end();) {
    const auto end = std::find_if(begin, all.end(), [begin](const Hashed& one) { return one.hash != begin->hash; });
    std::unordered_set<std::string_view, SeededHash> seen;
    for (auto at = begin; at != end && end - begin > 1; ++at) {
      if (!seen.insert(texts[at->index]).second) first = std::min(first.value_or(at->index), at->index);
    }
    begin = end;
  }
  return first;
}

/// Whether ggml has a type for intermediate results alone: it multiplies with no matrix of it.
bool is_intermediate(const TensorType& type) noexcept {
  constexpr std::string_view kNames[] = {"Q8_1", "Q8_K", "I8", "I16", "I32", "I64", "F64"};
  return std::find(std::begin(kNames), std::end(kNames), type.name) != std::end(kNames);
}

}  // namespace

std::uint64_t GgufKeys::required(std::string_view suffix, std::uint64_t low, std::uint64_t high) const {
  const auto value = optional(suffix, low, high);
  if (!value) file_.refuse("the key '" + key(suffix) + "' is missing");
  return *value;
}

std::optional<std::uint64_t> GgufKeys::optional(std::string_view suffix, std::uint64_t low, std::uint64_t high) const {
  const std::string name = key(suffix);
  const GgufValue* value = file_.find(name);
  if (value == nullptr) return std::nullopt;
  if (!value->array || per_layer_ == PerLayer::kRefused) {
    const auto number = file_.integer(name);
    check(name, *number, low, high);
    return number;
  }
  std::uint64_t greatest = 0;
  for (std::uint64_t i = 0; i < value->count; ++i) {
    const std::uint64_t element = read_element(name, *value, i);
    check(name, element, low, high);
    greatest = std::max(greatest, element);
  }
  return greatest;
}

void GgufKeys::number(std::string_view suffix, double low, double high) const {
  const std::string name = key(suffix);
  const GgufValue* value = file_.find(name);
  if (value == nullptr || (value->array && per_layer_ == PerLayer::kAllowed)) return;
  const auto found = file_.number(name);
  if (!(*found >= low && *found <= high)) file_.refuse("the key '" + name + "' has an impossible value");
}

void GgufKeys::check(const std::string& key, std::uint64_t value, std::uint64_t low, std::uint64_t high) const {
  if (value >= low && value <= high) return;
  file_.refuse("the key '" + key + "' is " + std::to_string(value) + ", not between " + std::to_string(low) + " and " +
               std::to_string(high));
}

std::uint64_t GgufKeys::read_element(const std::string& key, const GgufValue& value, std::uint64_t index) const {
  const auto read = [&](auto zero) {
    std::memcpy(&zero, value.bytes.data() + index * sizeof(zero), sizeof(zero));
    return zero < 0 ? std::numeric_limits<std::uint64_t>::max() : static_cast<std::uint64_t>(zero);
  };
  switch (value.type) {
    case GgufType::kUint32: return read(std::uint32_t{});
    case GgufType::kInt32: return read(std::int32_t{});
    case GgufType::kBool: return read(std::uint8_t{});
    default: file_.refuse("the key '" + key + "' does not hold integers");
  }
}

std::string_view architecture_of(const GgufFile& file) {
  const auto name = file.string("general.architecture");
  if (!name) file.refuse("the key 'general.architecture' is missing");
  return *name;
}

void refuse_architecture(const GgufFile& file, std::string_view purpose, std::span<const std::string_view> known,
                         std::string_view page) {
  const std::string found(architecture_of(file).substr(0, 64));
  const bool all = known.size() <= kMaxShown;
  std::string shown;
  std::size_t count = 0;
  for (const std::string_view name : known) {
    if (count == kMaxShown || (!all && !name.starts_with(found.substr(0, kAlike)))) continue;
    add_name(shown, name);
    ++count;
  }
  const std::string others =
      count == known.size() ? "" : (count == 0 ? "" : " and ") + std::to_string(known.size() - count) + " others";
  fail_file(Code::kUnsupported, file.name(),
            "the architecture '" + found + "' is not supported " + std::string(purpose) + "; supported are " + shown +
                others + " (" + std::string(page) + ")",
            {{"architecture", found}});
}

std::string tokenizer_note(const GgufFile& file) {
  if (file.string("tokenizer.ggml.model").value_or("") != "gpt2") return "";
  const auto pre_tokenizer = file.string("tokenizer.ggml.pre");
  if (pre_tokenizer && *pre_tokenizer != "default") return "";
  return "the file does not name its pre-tokenizer (tokenizer.ggml.pre), so texts may have other tokens than the model "
         "was trained with; convert the model anew";
}

void add_name(std::string& list, std::string_view name) {
  if (!list.empty()) list += ", ";
  list += name;
}

std::string model_name(const GgufFile& file) {
  const std::string_view name = file.string("general.name").value_or("");
  return name.empty() ? utf8_path(path_of_utf8(file.name()).stem()) : std::string(name);
}

std::uint64_t count_parameters(const GgufFile& file) {
  std::uint64_t parameters = 0;
  for (const GgufTensor& tensor : file.tensors()) parameters += tensor.elements();
  return parameters;
}

// llama.cpp asserts that spellings of tokens are unique; it ends a spelling at a NUL and replaces an empty one.
std::uint32_t check_vocabulary(const GgufFile& file, std::span<const std::string_view> tokenizers) {
  const auto tokenizer = file.string("tokenizer.ggml.model");
  if (!tokenizer) file.refuse("the file has no vocabulary: the key 'tokenizer.ggml.model' is missing");
  if (std::find(tokenizers.begin(), tokenizers.end(), *tokenizer) == tokenizers.end()) {
    std::string known;
    for (std::string_view name : tokenizers) add_name(known, name);
    fail_file(Code::kUnsupported, file.name(),
              "the tokenizer '" + std::string(tokenizer->substr(0, 64)) + "' is not supported; " + known + " are");
  }
  const auto tokens = file.strings("tokenizer.ggml.tokens");
  if (!tokens || tokens->empty())
    file.refuse("the file has no vocabulary: the key 'tokenizer.ggml.tokens' is missing or empty");
  if (tokens->size() > kMaxTokens)
    file.refuse("damaged: a vocabulary of " + std::to_string(tokens->size()) + " tokens");
  std::vector<std::string_view> spellings(tokens->size());
  std::deque<std::string> of_empty;
  for (std::size_t i = 0; i < tokens->size(); ++i) {
    spellings[i] = (*tokens)[i].substr(0, (*tokens)[i].find('\0'));
    if (spellings[i].empty()) spellings[i] = of_empty.emplace_back("[EMPTY_" + std::to_string(i) + "]");
  }
  if (const auto repeated = first_repeated(spellings))
    file.refuse("damaged: token " + std::to_string(*repeated) + " appears twice in the vocabulary");
  return static_cast<std::uint32_t>(tokens->size());
}

void check_types(const GgufFile& file, std::string_view also) {
  for (const GgufTensor& tensor : file.tensors()) {
    if ((tensor.dimensions == 1 || tensor.name == also) && tensor.type->id != kTensorF32) {
      file.refuse("tensor '" + std::string(tensor.name) + "' is " + std::string(tensor.type->name) +
                  "; norms and biases are F32");
    }
    if (tensor.dimensions > 1 && is_intermediate(*tensor.type)) {
      file.refuse("tensor '" + std::string(tensor.name) + "' is " + std::string(tensor.type->name) +
                  ", a type that no weights have");
    }
  }
}

}  // namespace lorekeep::engine
