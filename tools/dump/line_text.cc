#include "tools/dump/line_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "cfile/batch.h"
#include "tools/dump/field_text.h"
#include "tools/records/json_printer.h"
#include "tools/utf8.h"
#include "tools/value_meaning.h"
#include "tools/value_writer.h"

namespace cfile::tools {
namespace {

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
