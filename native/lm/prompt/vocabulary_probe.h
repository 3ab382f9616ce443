// Tokenises a prompt with the vocabulary of a file, so that tests can compare with llama.cpp's own tokenizer.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/backends.h"
#include "lm/prompt/chat_template.h"
#include "lm/text/token.h"

namespace lorekeep::lm {

struct VocabularyProbe {
  std::vector<Token> tokens;           // of the prompt, as generation gets it
  std::vector<Token> plain;            // of the joined text, as llama.cpp tokenises it with control tokens enabled
  std::vector<Token> special;          // control tokens and markers of the vocabulary
  std::vector<std::string> spellings;  // of `special`
};

/// Throws Error(kModelInvalid) if llama.cpp cannot read the vocabulary.
VocabularyProbe probe_vocabulary(const std::filesystem::path& path, std::span<const PromptPart> parts,
                                 std::shared_ptr<const engine::Backends> backends);

}  // namespace lorekeep::lm
