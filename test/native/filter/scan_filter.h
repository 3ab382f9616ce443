// The slow twin of compile + bind + evaluate: interprets the JSON record by record, with no types, columns or bitmaps.
#pragma once

#include <map>
#include <string>

#include "filter/value.h"

namespace lorekeep::filter {

using Record = std::map<std::string, Value>;  // also variables by name; fields that are missing are not there

/// Precondition: the predicate is valid for the record's schema. Throws what std::map::at and std::get throw otherwise.
bool matches(const Value& predicate, const Record& record, const Record& variables);

}  // namespace lorekeep::filter
