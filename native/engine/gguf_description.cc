#include "engine/gguf_description.h"

#include "core/values/utf8.h"
#include "engine/profile_checks.h"

namespace lorekeep::engine {
namespace {

constexpr std::size_t kLongestText = 1024;  // bytes; a name or a licence is shorter

}  // namespace

GgufDescription describe_gguf(const GgufFile& file) {
  GgufDescription description;
  description.tensors = file.tensors().size();
  std::uint64_t parameters = 0;
  for (const GgufTensor& tensor : file.tensors()) parameters += tensor.elements();
  description.facts.emplace_back("parameters", static_cast<std::int64_t>(parameters));
  description.facts.emplace_back("bytes", static_cast<std::int64_t>(file.size()));
  if (file.parts().size() > 1) description.facts.emplace_back("parts", static_cast<std::int64_t>(file.parts().size()));
  const auto add_text = [&](const char* name, const std::string& key) {
    if (const auto value = file.string(key))
      description.facts.emplace_back(name, std::string(utf8_prefix(*value, kLongestText)));
  };
  const auto add_count = [&](const char* name, const std::string& key) {
    if (const auto value = file.integer(key)) description.facts.emplace_back(name, static_cast<std::int64_t>(*value));
  };
  add_text("name", "general.name");
  add_text("architecture", "general.architecture");
  add_text("license", "general.license");
  add_count("fileType", "general.file_type");
  const std::string architecture(file.string("general.architecture").value_or(""));
  add_count("contextLength", architecture + ".context_length");
  add_count("embeddingLength", architecture + ".embedding_length");
  add_count("blockCount", architecture + ".block_count");
  add_count("poolingType", architecture + ".pooling_type");
  add_text("tokenizer", "tokenizer.ggml.model");
  add_text("preTokenizer", "tokenizer.ggml.pre");
  if (const std::string note = tokenizer_note(file); !note.empty())
    description.facts.emplace_back("tokenizerNote", note);
  if (const GgufValue* tokens = file.find("tokenizer.ggml.tokens"); tokens != nullptr && tokens->array) {
    description.facts.emplace_back("vocabulary", static_cast<std::int64_t>(tokens->count));
  }
  return description;
}

}  // namespace lorekeep::engine
