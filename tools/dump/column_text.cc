#include "tools/dump/column_text.h"

#include <cmath>
#include <type_traits>
#include <utility>

#include "cfile/types.h"
#include "tools/dump/dump.h"
#include "tools/value_text.h"

namespace cfile::tools {
namespace {

// True if a JSON reader that stores numbers as double reads `value` exactly.
template <typename T>
bool IsExactInJson(const T& value) {
  if constexpr (std::is_same_v<T, int64_t>) {
    return -(int64_t{1} << 53) <= value && value <= int64_t{1} << 53;
  } else if constexpr (std::is_same_v<T, uint64_t>) {
    return value <= uint64_t{1} << 53;
  } else if constexpr (std::is_floating_point_v<T>) {
    return std::isfinite(value);
  } else {
    return true;
  }
}

bool HoldsText(const ColumnType& type) {
  return type.data_type == DataType::kString || type.data_type == DataType::kVarchar;
}

template <typename T, typename Cursor>
class TypedColumnText final : public ColumnText {
 public:
  TypedColumnText(const ColumnType& type, Cursor cursor)
      : type_(type), json_number_(IsJsonNumber(type)), cursor_(std::move(cursor)) {}

  absl::Status Seek(uint64_t ordinal) override {
    batch_ = {};
    position_ = 0;
    return cursor_.SeekToOrdinal(ordinal);
  }

  absl::StatusOr<KeyPosition> Find(std::string_view key) override {
    std::string scratch;
    const auto value = ParseText<T>(type_, key, scratch);
    if (!value.ok()) return value.status();
    batch_ = {};
    position_ = 0;
    return cursor_.SeekToKey(*value);
  }

  absl::Status AppendNext(Form form, std::string& out) override {
    if (position_ == batch_.size()) {
      auto batch = cursor_.Next(kBatchRows);
      if (!batch.ok()) return batch.status();
      if (batch->empty()) return absl::DataLossError("the column ends before its last row");
      batch_ = *batch;
      position_ = 0;
    }
    const size_t i = position_++;
    if (!batch_.IsValid(i)) {
      out += "null";
    } else if (form == Form::kText) {
      AppendAsText(batch_.values[i], out);
    } else {
      AppendAsJson(batch_.values[i], out);
    }
    return absl::OkStatus();
  }

 private:
  static constexpr size_t kBatchRows = 4096;

  // The text of a value, valid until the next call.
  std::string_view TextOf(const T& value) {
    if constexpr (std::is_same_v<T, std::string_view>) {
      if (HoldsText(type_)) return value;
    }
    text_.clear();
    AppendText<T>(type_, value, text_);
    return text_;
  }

  void AppendAsText(const T& value, std::string& out) {
    if constexpr (std::is_same_v<T, std::string_view>) {
      AppendPrintable(TextOf(value), out);
    } else {
      AppendText<T>(type_, value, out);
    }
  }

  void AppendAsJson(const T& value, std::string& out) {
    if (json_number_ && IsExactInJson(value)) {
      AppendJsonNumber<T>(type_, value, out);
    } else {
      AppendJsonBytes(TextOf(value), out);
    }
  }

  const ColumnType type_;
  const bool json_number_;
  Cursor cursor_;
  Batch<T> batch_;
  size_t position_ = 0;
  std::string text_;
};

template <typename T, typename Cursor>
absl::StatusOr<std::unique_ptr<ColumnText>> Wrap(const ColumnType& type,
                                                 absl::StatusOr<Cursor> cursor) {
  if (!cursor.ok()) return cursor.status();
  return std::make_unique<TypedColumnText<T, Cursor>>(type, *std::move(cursor));
}

}  // namespace

absl::StatusOr<std::unique_ptr<ColumnText>> NewColumnText(const Reader& reader) {
  return VisitType(reader.type(), [&](auto t) {
    using T = typename decltype(t)::type;
    return Wrap<T>(reader.type(), reader.NewCursor<T>());
  });
}

absl::StatusOr<std::unique_ptr<ColumnText>> NewColumnText(const TableReader& table, size_t column) {
  const ColumnType& type = table.schema().columns[column].type;
  return VisitType(type, [&](auto t) {
    using T = typename decltype(t)::type;
    return Wrap<T>(type, table.NewCursor<T>(column));
  });
}

}  // namespace cfile::tools
