#include "tools/import/row_order.h"

#include <algorithm>

#include "cfile/status.h"

namespace cfile::tools {
namespace {

constexpr uint64_t kRowsBetweenUpdates = 4096;

// Calls visit(key) for each row from `begin` on, in the order of the file, until it returns false.
template <typename Visitor>
absl::Status VisitKeys(CsvInput& input, uint64_t begin, RowKey& row_key, Progress& progress,
                       Visitor visit) {
  CsvReader& reader = input.reader();
  reader.SeekToRange(begin, reader.size());
  for (uint64_t rows = 0;; ++rows) {
    if (rows % kRowsBetweenUpdates == 0) {
      CFILE_RETURN_IF_ERROR(progress.Update(reader.offset(), rows));
      input.Release(std::exchange(begin, reader.offset()), reader.offset());
    }
    CFILE_ASSIGN_OR_RETURN(const bool more, reader.Next());
    if (!more) return absl::OkStatus();
    CFILE_ASSIGN_OR_RETURN(const std::string_view key, row_key.Of(input));
    if (!visit(key)) return absl::OkStatus();
  }
}

uint64_t FirstBytes(std::string_view key) {
  uint64_t bytes = 0;
  for (size_t i = 0; i < 8; ++i) {
    bytes = bytes << 8 | (i < key.size() ? static_cast<uint8_t>(key[i]) : 0);
  }
  return bytes;
}

bool ComesBefore(const KeyedRow& a, const KeyedRow& b) {
  if (a.first_bytes != b.first_bytes) return a.first_bytes < b.first_bytes;
  const int order = a.key.compare(b.key);
  return order != 0 ? order < 0 : a.place.begin < b.place.begin;
}

}  // namespace

template <typename T>
absl::Status RowKey::Add(CsvInput& input, size_t i) {
  const size_t column = columns_[i];
  const CsvField& field = input.reader().fields()[column];
  if (input.IsNull(column)) {
    if (!types_[i].nullable) return input.Error(column, "a null, but the column is not nullable");
    key_.AddNull();
    return absl::OkStatus();
  }
  const absl::StatusOr<T> value = ParseValue<T>(text_types_[i], field.text, scratch_);
  if (!value.ok()) return input.Error(column, value.status());
  if (!IsKey(*value)) {
    return input.Error(column, "nan, but rows are sorted by this column and nan has no order");
  }
  key_.Add<T>(*value);
  return absl::OkStatus();
}

absl::StatusOr<std::string_view> RowKey::Of(CsvInput& input) {
  key_.Clear();
  for (size_t i = 0; i < columns_.size(); ++i) {
    CFILE_RETURN_IF_ERROR(VisitType(
        types_[i].type, [&](auto t) { return Add<typename decltype(t)::type>(input, i); }));
  }
  return key_.bytes();
}

absl::StatusOr<bool> RowsAreInOrder(CsvInput& input, RowKey& row_key, Progress& progress) {
  progress.Begin("checking the order", input.reader().size());
  bool in_order = true;
  std::string last;
  CFILE_RETURN_IF_ERROR(
      VisitKeys(input, input.first_row(), row_key, progress, [&](std::string_view key) {
        in_order = last <= key;
        last.assign(key);
        return in_order;
      }));
  return in_order;
}

std::string_view KeyBytes::Copy(std::string_view key) {
  constexpr size_t kChunkBytes = size_t{1} << 20;
  if (chunks_.empty() || chunks_.back().capacity() - chunks_.back().size() < key.size())
    chunks_.emplace_back().reserve(std::max(key.size(), kChunkBytes));
  std::string& chunk = chunks_.back();
  chunk.append(key);
  return std::string_view(chunk).substr(chunk.size() - key.size());
}

absl::Status RowSorter::Take(CsvInput& input, uint64_t begin, Progress& progress) {
  const CsvReader& reader = input.reader();
  rows_.clear();
  key_bytes_.Clear();
  // A row has at least one byte for each column, so the file has at most this many rows. Memory
  // that is reserved, but not used, takes no space.
  const uint64_t most = (reader.size() - begin) / input.columns().size();
  rows_.reserve(std::min<uint64_t>(most, memory_bytes_ / sizeof(KeyedRow)) + 1);
  progress.Begin("reading keys", reader.size());
  uint64_t bytes = 0;
  CFILE_RETURN_IF_ERROR(VisitKeys(input, begin, row_key_, progress, [&](std::string_view key) {
    const RecordPlace place{reader.record_offset(), reader.offset()};
    rows_.push_back({FirstBytes(key), key_bytes_.Copy(key), place});
    bytes += sizeof(KeyedRow) + key.size() + (place.end - place.begin);
    return bytes < memory_bytes_;
  }));
  end_ = reader.offset();
  progress.Begin("sorting", 0);
  std::sort(rows_.begin(), rows_.end(), ComesBefore);
  return absl::OkStatus();
}

}  // namespace cfile::tools
