#include "lm/model/model_uses.h"

#include <string>
#include <variant>

#include "core/values/error.h"
#include "engine/model_profile.h"
#include "lm/model/language_profile.h"

namespace lorekeep::lm {
namespace {

template <typename Profile>
std::string refusal_of(const Profile& profile) {
  try {
    profile();
    return {};
  } catch (const Error& error) {
    for (const auto& [name, fact] : error.details()) {
      const auto* reason = std::get_if<std::string>(&fact);
      if (name == "reason" && reason != nullptr) return *reason;  // without the path
    }
    return error.what();
  }
}

}  // namespace

ModelUses uses_of(const engine::GgufFile& file, std::optional<engine::Pooling> pooling) {
  return {
      .not_embedding = refusal_of([&] { engine::profile_model(file, pooling); }),
      .not_language = refusal_of([&] { profile_language_model(file); }),
      .not_reranker = refusal_of([&] { engine::profile_reranker(file); }),
  };
}

}  // namespace lorekeep::lm
