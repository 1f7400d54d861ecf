// Compares a file with its expected rows: by scan, by ordinal, by key.
// The templates exist for each type of CFILE_FOR_EACH_VALUE_TYPE.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "cfile/batch.h"
#include "cfile/reader.h"
#include "cfile/types.h"

namespace cfile {

template <typename T>
using GoldenRows = std::vector<std::optional<Owned<T>>>;

template <typename T>
void ExpectRow(const Batch<T>& batch, size_t i, const GoldenRows<T>& expected);

// Reads the file by scan, by ordinal and by key, and verifies it.
template <typename T>
void CheckGoldenRows(const Reader& reader, const GoldenRows<T>& expected);

}  // namespace cfile
