#pragma once

#include "core/threads/cancel_token.h"
#include "core/values/bitmap.h"
#include "filter/columns.h"
#include "filter/predicate.h"

namespace lorekeep::filter {

/// Returns the records for which the predicate is true, one bit each. A comparison (`!=` too) or `in` is false if the
/// record lacks the field; `not` inverts its operand. Texts are ordered by their UTF-8 bytes, which is code point
/// order. Numbers compare by value, whatever their types.
///
/// Throws Error(kInvalidArgument) if the predicate was compiled against another schema, Error(kCancelled). Grain of
/// cancellation: 65,536 rows of one operator.
Bitmap evaluate(const BoundPredicate& predicate, const Columns& columns, const CancelToken* cancel = nullptr);

}  // namespace lorekeep::filter
