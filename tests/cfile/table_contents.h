// Returns the contents of flat tables as text. Makes values for columns of any type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
#include "cfile/schema.h"
#include "cfile/storage.h"
#include "cfile/table.h"
#include "cfile/types.h"

namespace cfile {

// Returns the values of a column as text. EXPECTs one value for each row of the table.
std::vector<std::string> ValuesOf(const TableReader& table, size_t column);

// Returns one text for each column of the table: "NAME TYPE VALUE VALUE ...".
// EXPECTs that VerifyColumn finds no damage.
std::vector<std::string> Contents(const TableReader& table);

// Appends the values `first`, `first` + 1, and so on to a column of numbers or strings.
// In a nullable column, each fifth value is null. `writer` is a TableWriter or a ColumnsWriter.
template <typename AnyWriter>
absl::Status AppendNumbers(AnyWriter& writer, size_t column, const ColumnSchema& schema,
                           int64_t first, size_t count) {
  return VisitType(schema.type, [&]<typename T>(std::type_identity<T>) -> absl::Status {
    if constexpr (std::is_same_v<T, std::string_view> ||
                  (std::is_arithmetic_v<T> && sizeof(T) > 1)) {
      for (size_t i = 0; i < count; ++i) {
        const int64_t number = first + static_cast<int64_t>(i);
        const std::string text = "n" + std::to_string(number);
        T value;
        if constexpr (std::is_same_v<T, std::string_view>) {
          value = text;
        } else {
          value = static_cast<T>(number);
        }
        const uint8_t valid = !schema.nullable || number % 5 != 3;
        const absl::Status status =
            schema.nullable
                ? writer.template Append<T>(column, std::span<const T>(&value, 1), {&valid, 1})
                : writer.template Append<T>(column, std::span<const T>(&value, 1));
        if (!status.ok()) return status;
      }
      return absl::OkStatus();
    } else {
      return absl::UnimplementedError("AppendNumbers: " + schema.type.ToString());
    }
  });
}

// Appends `count` rows to all columns. The values are those of the function above.
absl::Status AppendNumbers(TableWriter& writer, const Schema& schema, int64_t first, size_t count);

// Writes all files of a storage into the folder `path`. Creates the folder if there is none.
void WriteFiles(const Storage& storage, const std::string& path);

}  // namespace cfile
