#include "tools/dump/line_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "cfile/batch.h"
#include "tools/records/json_printer.h"
#include "tools/utf8.h"
#include "tools/value_meaning.h"
#include "tools/value_writer.h"

namespace cfile::tools {
namespace {

// Eight bytes are examined at once.
constexpr uint64_t Repeat(uint8_t byte) { return 0x0101010101010101 * byte; }
// Not 0 if a byte of `word` is less than `bound`. Precondition: bound <= 128.
constexpr uint64_t AnyBelow(uint64_t word, uint8_t bound) {
  return (word - Repeat(bound)) & ~word & Repeat(0x80);
}
constexpr uint64_t AnyEqual(uint64_t word, uint64_t repeated_byte) {
  return AnyBelow(word ^ repeated_byte, 1);
}

template <typename Word>
Word Load(const char* bytes) {
  Word word;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

// Copies `text` to `out`, and returns whether `is_special` returned another number than 0 for eight
// of its bytes. It may get bytes twice, and the digit 0 in place of bytes.
template <typename IsSpecial>
bool CopyAndTest(std::string_view text, char* out, IsSpecial is_special) {
  const char* const begin = text.data();
  const size_t size = text.size();
  if (size >= 8) {
    uint64_t special = 0;
    const auto copy = [&](size_t at) {
      const auto word = Load<uint64_t>(begin + at);
      std::memcpy(out + at, &word, sizeof word);
      special |= is_special(word);
    };
    for (size_t at = 0; at + 8 < size; at += 8) copy(at);
    copy(size - 8);
    return special != 0;
  }
  if (size >= 4) {
    const auto low = Load<uint32_t>(begin), high = Load<uint32_t>(begin + size - 4);
    std::memcpy(out, &low, sizeof low);
    std::memcpy(out + size - 4, &high, sizeof high);
    return is_special(low | uint64_t{high} << 32) != 0;
  }
  uint64_t word = Repeat('0');
  for (size_t i = 0; i < size; ++i) {
    out[i] = begin[i];
    word = word << 8 | static_cast<uint8_t>(begin[i]);
  }
  return is_special(word) != 0;
}

// Writes a string as a field of CSV (RFC 4180). Quotes the empty string, which is not a null, and
// strings with the delimiter, quotes, control characters such as line ends, and, because readers
// skip it at the start of a file, a byte order mark at the start.
class CsvFieldWriter {
 public:
  // The largest size of the text of a string.
  static size_t MaxBytes(size_t size_bytes) { return 2 * size_bytes + 2; }

  // Precondition: `delimiter` is not a letter or a digit.
  explicit CsvFieldWriter(char delimiter) : delimiters_(Repeat(static_cast<uint8_t>(delimiter))) {}

  char* operator()(std::string_view text, char* out) const {
    constexpr uint8_t kFirstPlain = '\r' + 1;
    constexpr char kMarkBegin = '\xef';
    const bool special = text.empty() || CopyAndTest(text, out, [this](uint64_t word) {
                           return AnyBelow(word, kFirstPlain) | AnyEqual(word, delimiters_) |
                                  AnyEqual(word, Repeat('"'));
                         });
    if (!special && text.front() != kMarkBegin) [[likely]]
      return out + text.size();
    *out++ = '"';
    for (const char byte : text) {
      if (byte == '"') *out++ = '"';
      *out++ = byte;
    }
    *out++ = '"';
    return out;
  }

 private:
  const uint64_t delimiters_;
};

// Writes a string as AppendJsonBytes does (tools/utf8.h).
class JsonStringWriter {
 public:
  static size_t MaxBytes(size_t size_bytes) { return 6 * size_bytes + 10; }

  char* operator()(std::string_view text, char* out) {
    const bool special = CopyAndTest(text, out + 1, [](uint64_t word) {
      return AnyBelow(word, ' ') | (word & Repeat(0x80)) | AnyEqual(word, Repeat('"')) |
             AnyEqual(word, Repeat('\\'));
    });
    if (!special) [[likely]] {
      out[0] = '"';
      out[text.size() + 1] = '"';
      return out + text.size() + 2;
    }
    text_.clear();
    AppendJsonBytes(text, text_);
    std::memcpy(out, text_.data(), text_.size());
    return out + text_.size();
  }

 private:
  std::string text_;
};

// While a column is written, one cache line of each row is in use: together less than a core's
// first cache.
constexpr size_t kMaxRows = 256;
constexpr size_t kMaxBufferBytes = 1 << 20;

}  // namespace

// The fields of one column.
class LineText::Fields {
 public:
  virtual ~Fields() = default;
  virtual void Open(const TableBatch& batch, size_t column) = 0;
  // An upper bound of the text of the fields of these rows.
  virtual size_t MaxBytes(size_t begin, size_t rows) const = 0;
  // Writes the fields of `rows` rows from `begin` on to at[0], at[1], ..., and moves these to the
  // ends of the fields.
  virtual void Write(size_t begin, size_t rows, char** at) const = 0;
};

template <typename T>
class LineText::TypedFields final : public Fields {
 public:
  // `end`: the character after a field.
  TypedFields(const LineForm& form, const ColumnSchema& column, char end)
      : form_(form), type_(column.type), end_(end) {
    if (!form.json) return;
    AppendJsonName(column.name, before_);
    before_ += ':';
    quoted_ = !IsPrintedAsNumber(type_);
  }

  void Open(const TableBatch& batch, size_t column) override { batch_ = batch.column<T>(column); }

  size_t MaxBytes(size_t begin, size_t rows) const override {
    constexpr size_t kQuotesAndEnd = 3;
    size_t bytes = kMaxTextBytes<T>;
    if constexpr (kIsBytes<T>) {
      size_t longest = 0;
      for (const T& value : batch_.values.subspan(begin, rows)) {
        longest = std::max(longest, value.size());
      }
      bytes = !IsText(type_) ? bytes * longest + kUuidDashes
              : form_.json   ? JsonStringWriter::MaxBytes(longest)
                             : CsvFieldWriter::MaxBytes(longest);
    }
    return before_.size() + bytes + kQuotesAndEnd;
  }

  void Write(size_t begin, size_t rows, char** at) const override {
    if constexpr (kIsBytes<T>) {
      if (IsText(type_)) {
        if (form_.json) return WriteAll(begin, rows, at, JsonStringWriter());
        return WriteAll(begin, rows, at, CsvFieldWriter(form_.delimiter));
      }
    }
    VisitWriter<T>(type_, /*with_point=*/true, [&](auto write) {
      const auto write_quoted = [&](const T& value, char* out) {
        *out = '"';
        out = write(value, out + 1);
        *out = '"';
        return out + 1;
      };
      if (quoted_) return WriteAll(begin, rows, at, write_quoted);
      if constexpr (kIsBytes<T>) {  // an empty value is "", because an empty field is a null
        return WriteAll(begin, rows, at, [&](const T& value, char* out) {
          return value.empty() ? write_quoted(value, out) : write(value, out);
        });
      }
      if constexpr (kIsFloat<T>) {
        if (form_.json) {
          return WriteAll(begin, rows, at, [&](const T& value, char* out) {
            return std::isfinite(value) ? write(value, out) : write_quoted(value, out);
          });
        }
      }
      WriteAll(begin, rows, at, write);
    });
  }

 private:
  template <typename Writer>
  void WriteAll(size_t begin, size_t rows, char** at, Writer write) const {
    const T* const values = batch_.values.data() + begin;
    const auto write_field = [&, end = end_](size_t i) {
      char* const out = write(values[i], at[i]);
      *out = end;
      at[i] = out + 1;
    };
    if (form_.json) {
      for (size_t i = 0; i < rows; ++i) {
        if (!batch_.IsValid(begin + i)) continue;
        std::memcpy(at[i], before_.data(), before_.size());
        at[i] += before_.size();
        write_field(i);
      }
    } else if (batch_.validity == nullptr) {
      for (size_t i = 0; i < rows; ++i) write_field(i);
    } else {
      for (size_t i = 0; i < rows; ++i) {
        if (batch_.IsValid(begin + i)) {
          write_field(i);
        } else {
          *at[i]++ = end_;
        }
      }
    }
  }

  const LineForm form_;
  const ColumnType type_;
  const char end_;
  std::string before_;  // of JSON: the name and the colon
  bool quoted_ = false;
  Batch<T> batch_;
};

std::string CsvHeader(std::span<const ColumnSchema> columns, char delimiter) {
  std::string header;
  const CsvFieldWriter write(delimiter);
  for (const ColumnSchema& column : columns) {
    if (&column != columns.data()) header += delimiter;
    const size_t size = header.size();
    header.resize(size + CsvFieldWriter::MaxBytes(column.name.size()));
    header.resize(static_cast<size_t>(write(column.name, header.data() + size) - header.data()));
  }
  return header + '\n';
}

LineText::LineText(const LineForm& form, std::span<const ColumnSchema> columns) : form_(form) {
  for (const ColumnSchema& column : columns) {
    const bool is_last = &column == &columns.back();
    const char end = form.json ? ',' : is_last ? '\n' : form.delimiter;
    VisitType(column.type, [&]<typename T>(std::type_identity<T>) {
      fields_.push_back(std::make_unique<TypedFields<T>>(form, column, end));
    });
  }
}

LineText::~LineText() = default;

void LineText::Open(const TableBatch& batch, size_t begin, size_t end) {
  next_row_ = begin;
  end_row_ = end;
  for (size_t i = 0; i < fields_.size(); ++i) fields_[i]->Open(batch, i);
}

void LineText::Append(std::string& out) {
  // The rows are so many that the buffer has room for the longest text of each.
  size_t rows = std::min(kMaxRows, end_row_ - next_row_);
  size_t row_bytes = 0;
  while (true) {
    row_bytes = 3;  // {, } and the end of the line
    for (const auto& fields : fields_) row_bytes += fields->MaxBytes(next_row_, rows);
    if (rows == 1 || rows * row_bytes <= kMaxBufferBytes) break;
    rows /= 2;
  }
  // An odd number of cache lines: rows at multiples of a large power of 2 would share few places in
  // the cache.
  constexpr size_t kCacheLineBytes = 64;
  row_bytes = ((row_bytes + kCacheLineBytes - 1) / kCacheLineBytes | 1) * kCacheLineBytes;
  if (buffer_.size() < rows * row_bytes) buffer_.resize(rows * row_bytes);

  std::array<char*, kMaxRows> ends;
  for (size_t i = 0; i < rows; ++i) {
    ends[i] = buffer_.data() + i * row_bytes;
    if (form_.json) *ends[i]++ = '{';
  }
  for (const auto& fields : fields_) fields->Write(next_row_, rows, ends.data());
  for (size_t i = 0; i < rows; ++i) {
    char* const begin = buffer_.data() + i * row_bytes;
    if (form_.json) {
      if (ends[i] - begin > 1) --ends[i];  // the last comma
      *ends[i]++ = '}';
      *ends[i]++ = '\n';
    }
    out.append(begin, static_cast<size_t>(ends[i] - begin));
  }
  next_row_ += rows;
}

}  // namespace cfile::tools
