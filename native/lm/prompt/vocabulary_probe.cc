#include "lm/prompt/vocabulary_probe.h"

#include <utility>

#include "core/files/utf8_path.h"
#include "core/values/error.h"
#include "engine/abort_guard.h"
#include "llama.h"
#include "lm/prompt/prompt.h"
#include "lm/text/tokens.h"

namespace lorekeep::lm {

VocabularyProbe probe_vocabulary(const std::filesystem::path& path, std::span<const PromptPart> parts,
                                 std::shared_ptr<const engine::Backends> backends) {
  const engine::AbortGuard guard;
  llama_model_params parameters = llama_model_default_params();
  parameters.vocab_only = true;
  const std::unique_ptr<llama_model, void (*)(llama_model*)> model(
      llama_model_load_from_file(utf8_path(path).c_str(), parameters), llama_model_free);
  if (!model) fail_file(Code::kModelInvalid, utf8_path(path), "llama.cpp cannot read its vocabulary");
  const Tokens tokens(*model);
  const PromptTokenizer tokenizer(tokens);
  VocabularyProbe probe;
  probe.tokens = tokenizer.tokenize(parts).tokens;
  std::string joined;
  for (const PromptPart& part : parts) joined += part.text;
  probe.plain = tokens.tokenize(joined, true);
  tokens.add_begin(probe.plain);
  for (const auto* list : {&tokenizer.controls(), &tokenizer.markers()}) {
    for (const PromptTokenizer::Control& control : *list) {
      probe.special.push_back(control.token);
      probe.spellings.push_back(control.text);
    }
  }
  return probe;
}

}  // namespace lorekeep::lm
