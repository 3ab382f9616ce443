#include "binding/lexical_binding.h"

#include "binding/exports.h"

#include "binding/arguments.h"
#include "binding/error_translator.h"
#include "core/values/error.h"

namespace lorekeep::binding {
std::shared_ptr<const store::LexicalOptions> lexical_argument(const Napi::Value& value) {
  if (value.IsUndefined()) return nullptr;
  const Napi::Object given = object_argument(value, "lexical");
  auto options = std::make_shared<store::LexicalOptions>();
  options->query.syntax = given.Get("extended").ToBoolean();
  options->query.fuzziness = given.Get("fuzziness").ToBoolean();
  options->query.stopwords = strings_argument(given.Get("stopwords"), "lexical.stopwords");
  if (!given.Get("synonyms").IsArray()) fail(Code::kInvalidArgument, "lexical.synonyms: an array is expected");
  const auto groups = given.Get("synonyms").As<Napi::Array>();
  for (std::uint32_t i = 0; i < groups.Length(); ++i) {
    options->query.synonyms.push_back(strings_argument(groups.Get(i), "lexical.synonyms"));
  }
  const std::vector<std::string> fields = strings_argument(given.Get("boostedFields"), "lexical.boosts");
  const auto boosts = doubles_argument(given.Get("boosts"), "lexical.boosts");
  if (fields.size() != boosts.size()) fail(Code::kInvalidArgument, "lexical.boosts: a number per field is expected");
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (!(boosts[i] > 0 && boosts[i] <= 1000)) {
      fail(Code::kInvalidArgument, "lexical.boosts: a number above 0, at most 1000, is expected");
    }
    options->boosts.emplace_back(fields[i], static_cast<float>(boosts[i]));
  }
  return options;
}

Napi::Value plain_text(const Napi::CallbackInfo& info) {
  return Napi::String::New(info.Env(), text::plain_text(string_argument(info[0], "text")));
}

}  // namespace lorekeep::binding
