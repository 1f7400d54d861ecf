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

// The keys that the rows of the key columns give, one after the other.
class RowKeys {
 public:
  static absl::StatusOr<RowKeys> Open(std::span<const Reader> readers) {
    std::vector<ColumnType> types;
    std::vector<std::unique_ptr<KeyColumn>> columns;
    for (const Reader& reader : readers) {
      types.push_back(reader.type());
      CFILE_ASSIGN_OR_RETURN(columns.emplace_back(), OpenKeyColumn(reader));
    }
    return RowKeys(std::move(types), std::move(columns));
  }

  // Returns the next key, valid until the next call; nullopt: a value is NaN.
  absl::StatusOr<std::optional<std::string_view>> Next() {
    key_.Clear();
    for (const auto& column : columns_) {
      CFILE_ASSIGN_OR_RETURN(const bool added, column->AddTo(key_));
      if (!added) return std::nullopt;
    }
    return key_.bytes();
  }

 private:
  RowKeys(std::vector<ColumnType> types, std::vector<std::unique_ptr<KeyColumn>> columns)
      : key_(std::move(types)), columns_(std::move(columns)) {}

  CompoundKey key_;
  std::vector<std::unique_ptr<KeyColumn>> columns_;
};

constexpr char kNan[] = "a key column holds NaN, which cannot be a key";

// A key as text for messages: the whole key if it is short, otherwise its first bytes.
std::string Text(std::string_view key) {
  constexpr size_t kMostBytes = 64;
  return absl::StrCat("0x", absl::BytesToHexString(std::string(key.substr(0, kMostBytes))),
                      key.size() > kMostBytes ? "..." : "");
}

}  // namespace

absl::StatusOr<std::optional<WrongKey>> FindWrongKey(std::span<const Reader> columns,
                                                     const Reader& keys) {
  CFILE_ASSIGN_OR_RETURN(RowKeys expected, RowKeys::Open(columns));
  CFILE_ASSIGN_OR_RETURN(Cursor<std::string_view> cursor, keys.NewCursor<std::string_view>());
  Values<std::string_view> stored(std::move(cursor));
  for (uint64_t row = 0; row < keys.num_rows(); ++row) {
    CFILE_ASSIGN_OR_RETURN(const auto key, expected.Next());
    if (!key) return WrongKey{.row = row, .what = kNan};
    CFILE_ASSIGN_OR_RETURN(const std::string_view found, stored.Next());
    if (found == *key) continue;
    return WrongKey{.row = row,
                    .what = absl::StrCat("the compound key ", Text(*key),
                                         " expected of the key columns, found ", Text(found))};
  }
  return std::nullopt;
}

absl::Status AppendKeys(std::span<const Reader> columns, uint64_t num_rows,
                        Writer<std::string_view>& writer) {
  CFILE_ASSIGN_OR_RETURN(RowKeys keys, RowKeys::Open(columns));
  std::string last;
  for (uint64_t row = 0; row < num_rows; ++row) {
    CFILE_ASSIGN_OR_RETURN(const auto key, keys.Next());
    if (!key) return absl::InvalidArgumentError(absl::StrCat("row ", row, ": ", kNan));
    if (*key < last) {
      return absl::InvalidArgumentError(absl::StrCat(
          "row ", row, ": its key ", Text(*key), " is less than the key before it, ", Text(last)));
    }
    CFILE_RETURN_IF_ERROR(writer.Append({&*key, 1}));
    last = *key;
  }
  return absl::OkStatus();
}

}  // namespace cfile::internal
