#include "text/query_weights.h"

#include "text/multilingual.h"

namespace lorekeep::text {

std::vector<std::string> variants_of(std::string_view word) {
  std::string base = base_form(word);
  std::vector<std::string> variants{kBaseFormMark + base};
  if (base != word) variants.push_back(std::move(base));
  return variants;
}

}  // namespace lorekeep::text
