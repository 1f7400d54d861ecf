#include "cfile/internal/table/compound_key_check.h"

#include <memory>
#include <string_view>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "cfile/compound_key.h"
#include "encodings/core/block_codec.h"
#include "encodings/core/key_order.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

// The values of a column without nulls, one after the other.
template <typename T>
class Values {
 public:
  explicit Values(Cursor<T> cursor) : cursor_(std::move(cursor)) {}

  // Returns the next value, valid until the next call. kDataLoss if there is none.
  absl::StatusOr<T> Next() {
    if (position_ == batch_.size()) {
      position_ = 0;
      batch_ = {};
      CFILE_ASSIGN_OR_RETURN(batch_, cursor_.Next(encodings::kMaxBatchValues));
      if (batch_.empty()) return encodings::DataLoss("a column ends before its last row");
    }
    return batch_.values[position_++];
  }

 private:
  Cursor<T> cursor_;
  Batch<T> batch_;
  size_t position_ = 0;
};

class KeyColumn {
 public:
  virtual ~KeyColumn() = default;
  // Appends the next row's value to `key`. False: the value is NaN, which a key cannot hold.
  virtual absl::StatusOr<bool> AddTo(CompoundKey& key) = 0;
};

template <typename T>
class TypedKeyColumn final : public KeyColumn {
 public:
  explicit TypedKeyColumn(Cursor<T> cursor) : values_(std::move(cursor)) {}

  absl::StatusOr<bool> AddTo(CompoundKey& key) override {
    CFILE_ASSIGN_OR_RETURN(const T value, values_.Next());
    if (!encodings::IsKey(value)) return false;
    key.Add<T>(value);
    return true;
  }

 private:
  Values<T> values_;
};

absl::StatusOr<std::unique_ptr<KeyColumn>> OpenKeyColumn(const Reader& reader) {
  return encodings::VisitPhysicalType(
      reader.type().physical(),
      [&]<typename T>(std::type_identity<T>) -> absl::StatusOr<std::unique_ptr<KeyColumn>> {
        CFILE_ASSIGN_OR_RETURN(Cursor<T> cursor, reader.NewCursor<T>());
        return std::make_unique<TypedKeyColumn<T>>(std::move(cursor));
      });
}

// A key as text for messages: the whole key if it is short, otherwise its first bytes.
std::string Text(std::string_view key) {
  constexpr size_t kMostBytes = 64;
  return absl::StrCat("0x", absl::BytesToHexString(std::string(key.substr(0, kMostBytes))),
                      key.size() > kMostBytes ? "..." : "");
}

}  // namespace

absl::StatusOr<std::optional<WrongKey>> FindWrongKey(std::span<const Reader> columns,
                                                     const Reader& keys) {
  std::vector<ColumnType> types;
  std::vector<std::unique_ptr<KeyColumn>> key_columns;
  for (const Reader& column : columns) {
    types.push_back(column.type());
    CFILE_ASSIGN_OR_RETURN(key_columns.emplace_back(), OpenKeyColumn(column));
  }
  CFILE_ASSIGN_OR_RETURN(Cursor<std::string_view> cursor, keys.NewCursor<std::string_view>());
  Values<std::string_view> stored(std::move(cursor));
  CompoundKey expected(std::move(types));
  for (uint64_t row = 0; row < keys.num_rows(); ++row) {
    expected.Clear();
    for (const auto& column : key_columns) {
      CFILE_ASSIGN_OR_RETURN(const bool added, column->AddTo(expected));
      if (!added)
        return WrongKey{.row = row, .what = "a key column holds NaN, which cannot be a key"};
    }
    CFILE_ASSIGN_OR_RETURN(const std::string_view found, stored.Next());
    if (found == expected.bytes()) continue;
    return WrongKey{.row = row,
                    .what = absl::StrCat("the compound key ", Text(expected.bytes()),
                                         " expected of the key columns, found ", Text(found))};
  }
  return std::nullopt;
}

}  // namespace cfile::internal
