#include "cfile/parts/table/compound_key_check.h"

#include <memory>
#include <sstream>
#include <string_view>
#include <type_traits>
#include <utility>

#include "absl/numeric/int128.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cfile/compound_key.h"
#include "encodings/core/block_codec.h"
#include "encodings/core/key_order.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

// Reads the values of a column one after another.
template <typename T>
class Values {
 public:
  explicit Values(Cursor<T> cursor) : cursor_(std::move(cursor)) {}

  // Returns the next value, valid until the next call; nullopt if it is null.
  // kDataLoss if there are no more values.
  absl::StatusOr<std::optional<T>> Next() {
    if (position_ == batch_.size()) {
      position_ = 0;
      batch_ = {};
      CFILE_ASSIGN_OR_RETURN(batch_, cursor_.Next(encodings::kMaxBatchValues));
      if (batch_.empty()) return encodings::DataLoss("a column ends before its last row");
    }
    const size_t row = position_++;
    return batch_.IsValid(row) ? std::optional<T>(batch_.values[row]) : std::nullopt;
  }

 private:
  Cursor<T> cursor_;
  Batch<T> batch_;
  size_t position_ = 0;
};

class KeyValues {
 public:
  virtual ~KeyValues() = default;
  // Appends the next row's value to `key`. False: the value is NaN, which a key cannot hold.
  virtual absl::StatusOr<bool> AddTo(CompoundKey& key) = 0;
};

template <typename T>
class TypedKeyValues final : public KeyValues {
 public:
  explicit TypedKeyValues(Cursor<T> cursor) : values_(std::move(cursor)) {}

  absl::StatusOr<bool> AddTo(CompoundKey& key) override {
    CFILE_ASSIGN_OR_RETURN(const std::optional<T> value, values_.Next());
    if (!value) {
      key.AddNull();
      return true;
    }
    if (!encodings::IsKey(*value)) return false;
    key.Add<T>(*value);
    return true;
  }

 private:
  Values<T> values_;
};

absl::StatusOr<std::unique_ptr<KeyValues>> OpenKeyValues(const Reader& reader) {
  return encodings::VisitPhysicalType(
      reader.type().physical(),
      [&]<typename T>(std::type_identity<T>) -> absl::StatusOr<std::unique_ptr<KeyValues>> {
        CFILE_ASSIGN_OR_RETURN(Cursor<T> cursor, reader.NewCursor<T>());
        return std::make_unique<TypedKeyValues<T>>(std::move(cursor));
      });
}

// Makes the keys of the rows one after another, from the key columns.
class RowKeys {
 public:
  static absl::StatusOr<RowKeys> Open(std::vector<KeyColumn> types,
                                      std::span<const Reader> readers) {
    std::vector<std::unique_ptr<KeyValues>> columns;
    for (const Reader& reader : readers) {
      CFILE_ASSIGN_OR_RETURN(columns.emplace_back(), OpenKeyValues(reader));
    }
    return RowKeys(std::move(types), std::move(columns));
  }

  // Returns the next key, valid until the next call; nullopt if a value of the row is NaN.
  absl::StatusOr<std::optional<std::string_view>> Next() {
    key_.Clear();
    for (const auto& column : columns_) {
      CFILE_ASSIGN_OR_RETURN(const bool added, column->AddTo(key_));
      if (!added) return std::nullopt;
    }
    return key_.bytes();
  }

 private:
  RowKeys(std::vector<KeyColumn> types, std::vector<std::unique_ptr<KeyValues>> columns)
      : key_(std::move(types)), columns_(std::move(columns)) {}

  CompoundKey key_;
  std::vector<std::unique_ptr<KeyValues>> columns_;
};

constexpr char kSameKey[] =
    " is the key of the row before it, too; because of the table's merge rule, the rows of a part "
    "must have different keys";
constexpr char kNan[] = "a key column holds NaN, which cannot be a key";

// Returns a value of a key as text for messages. Of a long string, returns the first bytes.
template <typename T>
std::string ValueText(const Owned<T>& value) {
  if constexpr (encodings::kIsBytes<T>) {
    constexpr size_t kMostBytes = 64;
    return absl::StrCat("\"", absl::Utf8SafeCHexEscape(value.substr(0, kMostBytes)), "\"",
                        value.size() > kMostBytes ? "..." : "");
  } else if constexpr (std::is_same_v<T, encodings::int128_t>) {
    std::ostringstream text;
    text << absl::int128(value);
    return text.str();
  } else if constexpr (std::is_same_v<T, encodings::Int96>) {
    return {};  // Int96 has no order, so key columns do not have this type
  } else if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else {
    return absl::StrCat(value);
  }
}

// Returns a key as text for messages, for example ("EWR", 2013, null). Dates, times and decimals
// are shown as the stored integers. If the bytes are not a key of these columns, returns the first
// bytes as hexadecimal digits.
std::string Text(const std::vector<KeyColumn>& types, std::string_view key) {
  CompoundKeyReader reader(types, key);
  std::vector<std::string> values;
  for (const KeyColumn& column : types) {
    const absl::Status status = encodings::VisitPhysicalType(
        column.type.physical(), [&]<typename T>(std::type_identity<T>) {
          const auto value = reader.NextOrNull<T>();
          if (value.ok()) values.push_back(*value ? ValueText<T>(**value) : "null");
          return value.status();
        });
    if (!status.ok()) {
      return absl::StrCat("0x", absl::BytesToHexString(std::string(key.substr(0, 64))));
    }
  }
  return absl::StrCat("(", absl::StrJoin(values, ", "), ")");
}

}  // namespace

absl::StatusOr<std::optional<WrongKey>> FindWrongKey(const std::vector<KeyColumn>& types,
                                                     std::span<const Reader> columns,
                                                     const Reader& keys, bool different) {
  CFILE_ASSIGN_OR_RETURN(RowKeys expected, RowKeys::Open(types, columns));
  CFILE_ASSIGN_OR_RETURN(Cursor<std::string_view> cursor, keys.NewCursor<std::string_view>());
  Values<std::string_view> stored(std::move(cursor));
  std::string last;
  for (uint64_t row = 0; row < keys.num_rows(); ++row) {
    CFILE_ASSIGN_OR_RETURN(const auto key, expected.Next());
    if (!key) return WrongKey{.row = row, .what = kNan};
    CFILE_ASSIGN_OR_RETURN(const std::optional<std::string_view> found, stored.Next());
    if (found == *key) {
      if (!different) continue;
      if (row > 0 && *key == last)
        return WrongKey{.row = row, .what = absl::StrCat(Text(types, *key), kSameKey)};
      last = *key;
      continue;
    }
    return WrongKey{.row = row,
                    .what = absl::StrCat("the compound key ", Text(types, *key),
                                         " expected of the key columns, found ",
                                         found ? Text(types, *found) : "null")};
  }
  return std::nullopt;
}

absl::Status AppendKeys(const std::vector<KeyColumn>& types, std::span<const Reader> columns,
                        uint64_t num_rows, bool different, AnyWriter& writer) {
  CFILE_ASSIGN_OR_RETURN(RowKeys keys, RowKeys::Open(types, columns));
  std::string last;
  for (uint64_t row = 0; row < num_rows; ++row) {
    CFILE_ASSIGN_OR_RETURN(const auto key, keys.Next());
    if (!key) return absl::InvalidArgumentError(absl::StrCat("row ", row, ": ", kNan));
    if (*key < last) {
      return absl::InvalidArgumentError(absl::StrCat("row ", row, ": its key ", Text(types, *key),
                                                     " is less than the key before it, ",
                                                     Text(types, last)));
    }
    if (different && row > 0 && *key == last) {
      return absl::InvalidArgumentError(
          absl::StrCat("row ", row, ": ", Text(types, *key), kSameKey));
    }
    CFILE_RETURN_IF_ERROR(writer.Append(AnyBatch{.values = &*key, .count = 1}));
    last = *key;
  }
  return absl::OkStatus();
}

}  // namespace cfile::internal
