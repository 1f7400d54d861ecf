#include "cfile/compound_key.h"

#include <cassert>
#include <cstring>
#include <utility>

#include "cfile/internal/format/key_codec.h"
#include "encodings/core/status.h"

namespace cfile {
namespace {

// In a string that is not the last column, a zero byte is written as kEscapedZero, and kStringEnd
// follows the string. So a string sorts after its prefixes.
constexpr std::string_view kEscapedZero("\0\1", 2);
constexpr std::string_view kStringEnd("\0\0", 2);

// True if the column's value ends with kStringEnd. All other values have a fixed length, or are a
// string in the last column, which ends with the key.
bool IsEscaped(const std::vector<ColumnType>& types, size_t column) {
  return column + 1 < types.size() && types[column].physical() == PhysicalType::kBytes;
}

void AppendEscaped(std::string_view text, std::string& out) {
  for (size_t zero; (zero = text.find('\0')) != text.npos; text.remove_prefix(zero + 1)) {
    out.append(text.substr(0, zero)).append(kEscapedZero);
  }
  out.append(text).append(kStringEnd);
}

}  // namespace

CompoundKey::CompoundKey(std::vector<ColumnType> types) : types_(std::move(types)) {
  assert(!types_.empty());
}

CompoundKey& CompoundKey::Clear() {
  next_ = 0;
  bytes_.clear();
  return *this;
}

template <ValueType T>
CompoundKey& CompoundKey::Add(const T& value) {
  assert(next_ < types_.size() && HoldsType<T>(types_[next_]) && encodings::IsKey(value));
  if constexpr (encodings::kIsBytes<T>) {
    if (IsEscaped(types_, next_++)) {
      AppendEscaped(value, bytes_);
      return *this;
    }
  } else {
    ++next_;
  }
  internal::AppendKey(value, bytes_);
  return *this;
}

CompoundKeyReader::CompoundKeyReader(std::vector<ColumnType> types, std::string_view bytes)
    : types_(std::move(types)), bytes_(bytes) {}

template <ValueType T>
absl::StatusOr<Owned<T>> CompoundKeyReader::Next() {
  assert(next_ < types_.size() && HoldsType<T>(types_[next_]));
  const size_t column = next_++;
  const auto cut_off = [&] {
    return encodings::DataLoss("a compound key ends inside column ", column, " of ", types_.size());
  };
  Owned<T> value{};
  if (IsEscaped(types_, column)) {
    if constexpr (encodings::kIsBytes<T>) {
      while (true) {
        const size_t zero = bytes_.find('\0');
        if (zero == bytes_.npos || zero + 1 == bytes_.size()) return cut_off();
        value.append(bytes_.substr(0, zero));
        const std::string_view mark = bytes_.substr(zero, 2);
        bytes_.remove_prefix(zero + 2);
        if (mark == kStringEnd) break;
        if (mark != kEscapedZero) {
          return encodings::DataLoss("column ", column, " of a compound key: expected byte 0 or 1 ",
                                     "after a zero byte, found ", static_cast<int>(mark[1]));
        }
        value.push_back('\0');
      }
    }
  } else {
    size_t size = bytes_.size();  // the size of a string in the last column
    if constexpr (!encodings::kIsBytes<T>) {
      size = sizeof(T);
    } else if (types_[column].physical() == PhysicalType::kFixedBytes) {
      size = types_[column].type_length;
    }
    if (size > bytes_.size()) return cut_off();
    const bool valid = internal::ParseKey<T>(bytes_.substr(0, size), value);
    bytes_.remove_prefix(size);
    if (!valid) {
      return encodings::DataLoss("column ", column,
                                 " of a compound key is not a value of its type");
    }
  }
  if (next_ == types_.size() && !bytes_.empty()) {
    return encodings::DataLoss("a compound key has ", bytes_.size(),
                               " bytes after its last column");
  }
  return value;
}

WriterOptions CompoundKeyOptions(Compatibility compatibility) {
  return {.encoding = Encoding::kPrefix,
          .compression = CheckCompressionBuiltIn(Compression::kLz4).ok() ? Compression::kLz4
                                                                         : Compression::kNone,
          .positional_index = false,
          .value_index = true,
          .block_size_bytes = 4096,
          .compatibility = compatibility};
}

#define CFILE_INSTANTIATE(T)                           \
  template CompoundKey& CompoundKey::Add<T>(const T&); \
  template absl::StatusOr<Owned<T>> CompoundKeyReader::Next<T>();
CFILE_FOR_EACH_VALUE_TYPE(CFILE_INSTANTIATE)
#undef CFILE_INSTANTIATE

}  // namespace cfile
