// Columns as bytes of a file, to be used in place when mapped. The layout is in docs/files.md.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "filter/columns.h"

namespace lorekeep::filter {

/// Bytes that are equal exactly for equal schemas: tells whether stored columns are those of a schema.
std::vector<std::byte> schema_bytes(const Schema& schema);

/// Gives the bytes of all columns, in pieces.
void write_columns(const Columns& columns, const std::function<void(std::span<const std::byte>)>& write);

/// The columns of `rows` records of this schema. `bytes` begin at a multiple of 8 and are used in place (bits are
/// copied); `owner` keeps them alive. Everything that evaluation relies on is checked: Error(kCorrupt), naming `source`
/// and the field.
Columns read_columns(std::span<const std::byte> bytes, std::shared_ptr<const Schema> schema, std::size_t rows,
                     const std::string& source, std::shared_ptr<const void> owner);

}  // namespace lorekeep::filter
