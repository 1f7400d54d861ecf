#include "cfile/compound_key.h"

#include <utility>

#include "cfile/core/format/key_codec.h"
#include "encodings/core/assert.h"
#include "encodings/core/status.h"

namespace cfile {
namespace {

// In a string that is not the last column, a zero byte is written as kEscapedZero, and kStringEnd
// follows the string, so that a string sorts after its prefixes.
constexpr std::string_view kEscapedZero("\0\1", 2);
constexpr std::string_view kStringEnd("\0\0", 2);

// In a nullable column, a null is one byte: kNullFirst or kNullLast.
// A value begins with the byte kValue.
constexpr char kNullFirst = 0;
constexpr char kValue = 1;
constexpr char kNullLast = 2;

char NullOf(const KeyColumn& column) { return column.nulls_last ? kNullLast : kNullFirst; }

// True if the values of the column end with kStringEnd: strings, except in the last column, where
// they end with the key. Other values have a fixed length.
bool IsEscaped(const std::vector<KeyColumn>& columns, size_t column) {
  return column + 1 < columns.size() && columns[column].type.physical() == PhysicalType::kBytes;
}

std::vector<KeyColumn> NotNullable(const std::vector<ColumnType>& types) {
  std::vector<KeyColumn> columns;
  for (const ColumnType& type : types) columns.push_back({.type = type});
  return columns;
}

void AppendEscaped(std::string_view text, std::string& out) {
  for (size_t zero; (zero = text.find('\0')) != text.npos; text.remove_prefix(zero + 1)) {
    out.append(text.substr(0, zero)).append(kEscapedZero);
  }
  out.append(text).append(kStringEnd);
}

}  // namespace

CompoundKey::CompoundKey(std::vector<KeyColumn> columns) : columns_(std::move(columns)) {
  CFILE_ASSERT(!columns_.empty());
}
CompoundKey::CompoundKey(const std::vector<ColumnType>& types) : CompoundKey(NotNullable(types)) {}

CompoundKey& CompoundKey::Clear() {
  next_ = 0;
  bytes_.clear();
  return *this;
}

template <typename T, typename>
CompoundKey& CompoundKey::Add(const T& value) {
  CFILE_ASSERT(next_ < columns_.size() && HoldsType<T>(columns_[next_].type) &&
               encodings::IsKey(value));
  const size_t column = next_++;
  if (columns_[column].nullable) bytes_.push_back(kValue);
  if constexpr (encodings::kIsBytes<T>) {
    if (IsEscaped(columns_, column)) {
      AppendEscaped(value, bytes_);
      return *this;
    }
  }
  internal::AppendKey(value, bytes_);
  return *this;
}

CompoundKey& CompoundKey::AddNull() {
  CFILE_ASSERT(next_ < columns_.size() && columns_[next_].nullable);
  bytes_.push_back(NullOf(columns_[next_++]));
  return *this;
}

CompoundKeyReader::CompoundKeyReader(std::vector<KeyColumn> columns, std::string_view bytes)
    : columns_(std::move(columns)), bytes_(bytes) {}
CompoundKeyReader::CompoundKeyReader(const std::vector<ColumnType>& types, std::string_view bytes)
    : CompoundKeyReader(NotNullable(types), bytes) {}

absl::Status CompoundKeyReader::CutOff(size_t column) const {
  return encodings::DataLoss("a compound key ends inside column ", column, " of ", columns_.size());
}

absl::StatusOr<bool> CompoundKeyReader::ReadNull(size_t column) {
  if (bytes_.empty()) return CutOff(column);
  const char mark = bytes_[0];
  bytes_.remove_prefix(1);
  const char null = NullOf(columns_[column]);
  if (mark != null && mark != kValue) {
    return encodings::DataLoss("column ", column, " of a compound key: expected byte ",
                               static_cast<int>(null), " for null or byte ",
                               static_cast<int>(kValue), " before a value, found ",
                               static_cast<int>(static_cast<uint8_t>(mark)));
  }
  return mark == null;
}

template <typename T>
absl::StatusOr<Owned<T>> CompoundKeyReader::ReadValue(size_t column) {
  const ColumnType& type = columns_[column].type;
  Owned<T> value{};
  if (IsEscaped(columns_, column)) {
    if constexpr (encodings::kIsBytes<T>) {
      while (true) {
        const size_t zero = bytes_.find('\0');
        if (zero == bytes_.npos || zero + 1 == bytes_.size()) return CutOff(column);
        value.append(bytes_.substr(0, zero));
        const std::string_view mark = bytes_.substr(zero, 2);
        bytes_.remove_prefix(zero + 2);
        if (mark == kStringEnd) break;
        if (mark != kEscapedZero) {
          return encodings::DataLoss("column ", column, " of a compound key: expected byte 0 or 1 ",
                                     "after a zero byte, found ",
                                     static_cast<int>(static_cast<uint8_t>(mark[1])));
        }
        value.push_back('\0');
      }
    }
  } else {
    size_t size = bytes_.size();  // the size of a string in the last column
    if constexpr (!encodings::kIsBytes<T>) {
      size = sizeof(T);
    } else if (type.physical() == PhysicalType::kFixedBytes) {
      size = type.type_length;
    }
    if (size > bytes_.size()) return CutOff(column);
    const bool valid = internal::ParseKey<T>(bytes_.substr(0, size), value);
    bytes_.remove_prefix(size);
    if (!valid) {
      return encodings::DataLoss("column ", column,
                                 " of a compound key is not a value of its type");
    }
  }
  return value;
}

template <typename T, typename>
absl::StatusOr<std::optional<Owned<T>>> CompoundKeyReader::NextOrNull() {
  CFILE_ASSERT(next_ < columns_.size() && HoldsType<T>(columns_[next_].type));
  const size_t column = next_++;
  bool null = false;
  if (columns_[column].nullable) {
    CFILE_ASSIGN_OR_RETURN(null, ReadNull(column));
  }
  std::optional<Owned<T>> value;
  if (!null) {
    CFILE_ASSIGN_OR_RETURN(value, ReadValue<T>(column));
  }
  if (next_ == columns_.size() && !bytes_.empty()) {
    return encodings::DataLoss("a compound key has ", bytes_.size(),
                               " bytes after its last column");
  }
  return value;
}

template <typename T, typename>
absl::StatusOr<Owned<T>> CompoundKeyReader::Next() {
  CFILE_ASSERT(next_ < columns_.size() && !columns_[next_].nullable);
  CFILE_ASSIGN_OR_RETURN(std::optional<Owned<T>> value, NextOrNull<T>());
  return *std::move(value);
}

WriterOptions CompoundKeyOptions(OldestReader oldest_reader) {
  return {.encoding = Encoding::kPrefix,
          .compression = CheckCompressionBuiltIn(Compression::kLz4).ok() ? Compression::kLz4
                                                                         : Compression::kNone,
          .positional_index = false,
          .value_index = true,
          .block_size_bytes = 4096,
          .oldest_reader = oldest_reader};
}

#define CFILE_INSTANTIATE(T)                                                           \
  template CompoundKey& CompoundKey::Add<T>(const T&);                                 \
  template absl::StatusOr<std::optional<Owned<T>>> CompoundKeyReader::NextOrNull<T>(); \
  template absl::StatusOr<Owned<T>> CompoundKeyReader::Next<T>();
CFILE_FOR_EACH_VALUE_TYPE(CFILE_INSTANTIATE)
#undef CFILE_INSTANTIATE

}  // namespace cfile
