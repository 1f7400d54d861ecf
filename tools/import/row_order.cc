#include "tools/import/row_order.h"

#include <algorithm>
#include <utility>

#include "tools/value_text.h"

namespace cfile::tools {
namespace {

constexpr uint64_t kRowsBetweenUpdates = 4096;

// Calls visit(key) for each row, in the order of the file, until visit returns false.
template <typename Visitor>
absl::Status VisitKeys(CsvInput& input, RowKey& row_key, Progress& progress, Visitor visit) {
  input.Rewind();
  CsvReader& reader = input.reader();
  for (uint64_t rows = 0;; ++rows) {
    if (rows % kRowsBetweenUpdates == 0) {
      if (absl::Status status = progress.Update(reader.offset(), rows); !status.ok()) return status;
    }
    const absl::StatusOr<bool> more = reader.Next();
    if (!more.ok()) return more.status();
    if (!*more) return absl::OkStatus();
    const absl::StatusOr<std::string_view> key = row_key.Of(input);
    if (!key.ok()) return key.status();
    if (!visit(*key)) return absl::OkStatus();
  }
}

}  // namespace

template <typename T>
absl::Status RowKey::Add(CsvInput& input, size_t column, const KeyColumn& key) {
  const CsvField& field = input.reader().fields()[column];
  if (input.IsNull(field)) {
    if (!key.nullable) {
      return input.Error(column,
                         "a null, but rows are sorted by this column, so each row needs a value "
                         "(--nulls sorts the nulls of a new table)");
    }
    key_.AddNull();
    return absl::OkStatus();
  }
  const absl::StatusOr<T> value = ParseText<T>(key.type, field.text, scratch_);
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
    absl::Status status = VisitType(types_[i].type, [&](auto t) {
      return Add<typename decltype(t)::type>(input, columns_[i], types_[i]);
    });
    if (!status.ok()) return status;
  }
  return key_.bytes();
}

absl::StatusOr<std::optional<std::vector<RecordPlace>>> FindRowOrder(CsvInput& input,
                                                                     RowKey& row_key,
                                                                     Progress& progress) {
  progress.Begin("checking the order", input.reader().size());
  bool in_order = true;
  std::string last;
  absl::Status status = VisitKeys(input, row_key, progress, [&](std::string_view key) {
    in_order = last <= key;
    last.assign(key);
    return in_order;
  });
  if (!status.ok()) return status;
  if (in_order) return std::nullopt;

  progress.Begin("reading keys", input.reader().size());
  struct Row {
    std::string key;
    RecordPlace place;
  };
  std::vector<Row> rows;
  status = VisitKeys(input, row_key, progress, [&](std::string_view key) {
    const CsvReader& reader = input.reader();
    rows.push_back({std::string(key), {reader.record_offset(), reader.offset()}});
    return true;
  });
  if (!status.ok()) return status;

  progress.Begin("sorting", 0);
  // Rows with equal keys stay in the order of the file.
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    const int order = a.key.compare(b.key);
    return order != 0 ? order < 0 : a.place.begin < b.place.begin;
  });
  std::vector<RecordPlace> places;
  places.reserve(rows.size());
  for (const Row& row : rows) places.push_back(row.place);
  return places;
}

}  // namespace cfile::tools
