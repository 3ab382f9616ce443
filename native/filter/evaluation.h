#pragma once

#include "core/bitmap.h"
#include "core/cancel_token.h"
#include "filter/columns.h"
#include "filter/predicate.h"

namespace lorekeep::filter {

/// The records for which the predicate is true, one bit each; its count() is the filter's cardinality. A comparison or
/// `in` that refers to a field which the record lacks is false, `!=` too; `not` inverts what its operand gave. Texts
/// are ordered by their UTF-8 bytes, which is code point order. Numbers compare by value, whatever their types.
///
/// Throws Error(kInvalidArgument) when the predicate was compiled against another schema, Error(kCancelled). Grain of
/// cancellation: 65,536 rows of one operator.
Bitmap evaluate(const BoundPredicate& predicate, const Columns& columns, const CancelToken* cancel = nullptr);

}  // namespace lorekeep::filter
