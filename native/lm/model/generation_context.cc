#include "lm/model/generation_context.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/values/error.h"
#include "lm/model/decoder_context.h"
#include "lm/model/llama_context.h"

namespace lorekeep::lm {

std::unique_ptr<GenerationContext> GenerationContext::make(std::shared_ptr<const LanguageModel> model) {
  if (model->decoder()) return std::make_unique<DecoderContext>(std::move(model));
  return std::make_unique<LlamaContext>(std::move(model));
}

void GenerationContext::probe(Token token) {
  const std::array<Row, 3> rows{{{token, 0, 0, false}, {token, 1, 0, false}, {token, 2, 0, true}}};
  const std::size_t count = std::min<std::size_t>(rows.size(), batch_size());
  decode(std::span(rows).first(count), {});
  const Row next{token, static_cast<std::int32_t>(count), 0, true};
  decode({&next, 1}, {});
  const std::span<float> found = logits(0);
  if (!std::all_of(found.begin(), found.end(), [](float value) { return !std::isnan(value); }))
    fail(Code::kModelInvalid, "the weights give values that are not numbers");
}

std::string runtime_name(const LanguageModel& model) {
  return model.decoder() ? DecoderContext::state_name(model) : LlamaContext::state_name(model);
}

}  // namespace lorekeep::lm
