// Columns as bytes of a file, for use in place when mapped. The layout is in docs/internals/file-formats.md.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "filter/columns.h"

namespace lorekeep::filter {

/// Returns bytes that are equal exactly for equal schemas, to check that stored columns match a schema.
std::vector<std::byte> schema_bytes(const Schema& schema);

/// Passes the bytes of all columns to `write`, in pieces.
void write_columns(const Columns& columns, const std::function<void(std::span<const std::byte>)>& write);

/// Returns the columns of `rows` records. `bytes` is aligned to 8 and used in place (except bitmaps, which are copied);
/// `owner` keeps it alive. Checks everything that evaluation relies on. Throws Error(kCorrupt) naming source and field.
Columns read_columns(std::span<const std::byte> bytes, std::shared_ptr<const Schema> schema, std::size_t rows,
                     const std::string& source, std::shared_ptr<const void> owner);

}  // namespace lorekeep::filter
