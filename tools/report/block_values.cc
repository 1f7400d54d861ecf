#include "tools/report/block_values.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "cfile/levels.h"
#include "tools/dump/bounds.h"
#include "tools/dump/column_text.h"

namespace cfile::tools {
namespace {

constexpr size_t kValueBytes = 60;  // the most bytes of one value on the page

template <typename T>
std::string ValueInLine(const ColumnType& type, const T& value) {
  std::string text;
  AppendValue<T>(type, value, Form::kText, text);
  return CutInLine(text, kValueBytes);
}

// The texts of at most `max_values` values, from row `first_row` on. Empty: the values cannot be
// read.
template <typename T>
std::vector<std::string> ReadValues(Cursor<T>& cursor, const ColumnType& type, uint64_t first_row,
                                    size_t max_values) {
  std::vector<std::string> texts;
  if (!cursor.SeekToOrdinal(first_row).ok()) return texts;
  const auto batch = cursor.Next(max_values);
  for (size_t i = 0; batch.ok() && i < batch->size(); ++i)
    texts.push_back(batch->IsValid(i) ? ValueInLine<T>(type, batch->values[i]) : "null");
  return texts;
}

template <typename T>
std::vector<std::string> ReadValues(LevelCursor<T>& cursor, const ColumnType& type,
                                    uint64_t first_row, size_t max_values) {
  std::vector<std::string> texts;
  if (!cursor.SeekToRecord(first_row).ok()) return texts;
  const auto batch = cursor.Next(max_values);
  for (size_t i = 0; batch.ok() && i < std::min(max_values, batch->values.size()); ++i)
    texts.push_back(ValueInLine<T>(type, batch->values[i]));
  return texts;
}

template <typename C>
void ReadBlocks(absl::StatusOr<C> cursor, const ColumnType& type,
                std::span<const FileRegion> regions, size_t max_values, size_t max_bytes,
                std::vector<std::vector<std::string>>& lists) {
  if (!cursor.ok()) return;
  size_t bytes = 0;
  for (size_t i = 0; i < regions.size(); ++i) {
    if (regions[i].kind != RegionKind::kDataBlock || !regions[i].first_ordinal) continue;
    std::vector<std::string> texts =
        ReadValues(*cursor, type, *regions[i].first_ordinal, max_values);
    for (const std::string& text : texts) bytes += text.size();
    if (bytes > max_bytes) return;
    lists[i] = std::move(texts);
  }
}

}  // namespace

std::vector<std::vector<std::string>> FirstValues(const Reader& reader,
                                                  std::span<const FileRegion> regions,
                                                  size_t max_values, size_t max_bytes) {
  std::vector<std::vector<std::string>> lists(regions.size());
  if (max_values == 0) return lists;
  VisitType(reader.type(), [&]<typename T>(std::type_identity<T>) {
    if (reader.info().has_levels()) {
      ReadBlocks(reader.NewLevelCursor<T>(), reader.type(), regions, max_values, max_bytes, lists);
    } else {
      ReadBlocks(reader.NewCursor<T>(), reader.type(), regions, max_values, max_bytes, lists);
    }
  });
  return lists;
}

}  // namespace cfile::tools
