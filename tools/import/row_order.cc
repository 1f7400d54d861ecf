#include "tools/import/row_order.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>

#include "tools/value_text.h"

namespace cfile::tools {
namespace {

constexpr uint64_t kRowsBetweenUpdates = 4096;

// The order of a value index: -0 comes before +0.
template <typename T>
bool Before(const T& a, const T& b) {
  if constexpr (std::is_floating_point_v<T>) {
    return a < b || (a == b && std::signbit(a) && !std::signbit(b));
  } else {
    return a < b;
  }
}

template <typename T>
struct Row {
  T key;
  uint64_t offset;
};

// Calls visit(key) for each row, until it returns false. A key lives until the next one is visited,
// or as long as the input.
template <typename T, typename Visitor>
absl::Status VisitKeys(CsvInput& input, size_t column, const ColumnType& type, Progress& progress,
                       Visitor visit) {
  input.Rewind();
  CsvReader& reader = input.reader();
  std::string scratch;
  for (uint64_t rows = 0;; ++rows) {
    if (rows % kRowsBetweenUpdates == 0) {
      if (absl::Status status = progress.Update(reader.offset(), rows); !status.ok()) return status;
    }
    const absl::StatusOr<bool> more = reader.Next();
    if (!more.ok()) return more.status();
    if (!*more) return absl::OkStatus();
    const CsvField& field = reader.fields()[column];
    if (input.IsNull(field)) {
      return input.Error(column,
                         "a null; rows are sorted by this column, so each must hold a value");
    }
    const absl::StatusOr<T> key = ParseText<T>(type, field.text, scratch);
    if (!key.ok()) return input.Error(column, key.status());
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(*key))
        return input.Error(column,
                           "rows are sorted by this column, and nan has no place in an order");
    }
    if (!visit(*key)) return absl::OkStatus();
  }
}

// Keeps what a key points to where that does not last by itself.
template <typename T>
class KeyKeeper {
 public:
  explicit KeyKeeper(const CsvReader& reader) : reader_(reader) {}
  T Keep(const T& key) {
    if constexpr (std::is_same_v<T, std::string_view>) {
      if (!reader_.Holds(key)) return kept_.emplace_back(key);
    }
    return key;
  }

 private:
  const CsvReader& reader_;
  std::deque<std::string> kept_;
};

template <typename T>
absl::StatusOr<bool> IsInOrder(CsvInput& input, size_t column, const ColumnType& type,
                               Progress& progress) {
  std::optional<Owned<T>> last;
  bool in_order = true;
  absl::Status status = VisitKeys<T>(input, column, type, progress, [&](const T& key) {
    in_order = !last.has_value() || !Before(key, T(*last));
    last = Owned<T>(key);
    return in_order;
  });
  if (!status.ok()) return status;
  return in_order;
}

template <typename T>
absl::StatusOr<std::optional<std::vector<uint64_t>>> FindTypedRowOrder(CsvInput& input,
                                                                       size_t column,
                                                                       const ColumnType& type,
                                                                       Progress& progress) {
  progress.Begin("checking the order", input.reader().size());
  const absl::StatusOr<bool> in_order = IsInOrder<T>(input, column, type, progress);
  if (!in_order.ok()) return in_order.status();
  if (*in_order) return std::nullopt;

  progress.Begin("reading keys", input.reader().size());
  KeyKeeper<T> keeper(input.reader());
  std::vector<Row<T>> rows;
  absl::Status status = VisitKeys<T>(input, column, type, progress, [&](const T& key) {
    rows.push_back({keeper.Keep(key), input.reader().record_offset()});
    return true;
  });
  if (!status.ok()) return status;

  progress.Begin("sorting", 0);
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row<T>& a, const Row<T>& b) { return Before(a.key, b.key); });
  std::vector<uint64_t> offsets;
  offsets.reserve(rows.size());
  for (const Row<T>& row : rows) offsets.push_back(row.offset);
  return offsets;
}

}  // namespace

absl::StatusOr<std::optional<std::vector<uint64_t>>> FindRowOrder(CsvInput& input, size_t column,
                                                                  const ColumnType& type,
                                                                  Progress& progress) {
  return encodings::VisitPhysicalType(type.physical(), [&](auto t) {
    return FindTypedRowOrder<typename decltype(t)::type>(input, column, type, progress);
  });
}

}  // namespace cfile::tools
