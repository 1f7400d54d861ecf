#include "tools/python/native/opened.h"

#include <utility>

#include "cfile/arrow_import.h"
#include "cfile/statistics.h"
#include "tools/python/native/errors.h"

namespace cfile_python {
namespace {

cfile::Schema SchemaOfFile(const cfile::FileInfo& info) {
  const bool flat = !info.has_levels();
  return {.columns = {{.name = "value",
                       .type = info.type,
                       .nullable = info.nullable,
                       .levels = flat ? cfile::LevelLimits{} : info.levels}}};
}

}  // namespace

Opened::Opened(cfile::Reader file, std::string name)
    : is_table_(false),
      name_(std::move(name)),
      schema_(SchemaOfFile(file.info())),
      num_rows_(file.num_rows()),
      applies_rule_(false),
      opened_(std::make_shared<const FileOrTable>(std::move(file))) {}
Opened::Opened(cfile::TableReader table, std::string name)
    : is_table_(true),
      name_(std::move(name)),
      schema_(table.schema()),
      num_rows_(table.num_rows()),
      applies_rule_(table.applies_merge_rule()),
      opened_(std::make_shared<const FileOrTable>(std::move(table))) {}

std::shared_ptr<const FileOrTable> Opened::Held() const {
  const std::lock_guard lock(mutex_);
  if (opened_ == nullptr) throw nb::value_error((name_ + " was closed").c_str());
  return opened_;
}

absl::StatusOr<std::vector<std::pair<std::string, std::string>>> Opened::metadata() const {
  if (is_table()) return table().metadata();
  const cfile::Reader file = this->file();
  auto pairs = file.info().header_metadata;
  const auto& footer = file.info().footer_metadata;
  pairs.insert(pairs.end(), footer.begin(), footer.end());
  return pairs;
}

absl::StatusOr<std::string> Opened::arrow_schema() const {
  {
    const std::lock_guard lock(mutex_);
    if (arrow_schema_) return *arrow_schema_;
  }
  absl::StatusOr<std::string> text = "";
  if (is_table()) {
    text = table().arrow_schema();
  } else {
    const auto pairs = metadata();
    for (const auto& [key, value] : *pairs) {
      if (key == "ARROW:schema") text = value;
    }
  }
  if (text.ok()) {
    const std::lock_guard lock(mutex_);
    arrow_schema_ = *text;
  }
  return text;
}

absl::Status Opened::Restore(ArrowArrayStream* stream) const {
  const absl::StatusOr<std::string> text = arrow_schema();
  if (!text.ok() || text->empty()) return text.status();
  const auto is_null = [&](const std::string& name) {
    if (!is_table()) {
      const auto statistics = file().Statistics();
      return statistics.ok() && *statistics != nullptr && (*statistics)->file.present_count == 0;
    }
    const std::optional<size_t> column = schema_.Find(name);
    for (size_t i = 0; column && i < table().num_parts(); ++i) {
      const auto bounds = table().part_bounds(i, *column);
      if (!bounds.ok() || bounds->present_count > 0) return false;
    }
    return column.has_value();
  };
  return cfile::RestoreArrowTypes(*text, is_null, stream);
}

void Opened::Close() {
  std::shared_ptr<const FileOrTable> opened;
  std::map<size_t, std::vector<std::unique_ptr<ColumnCursor>>> cursors;
  const std::lock_guard lock(mutex_);
  opened.swap(opened_);
  cursors.swap(cursors_);
}

size_t Opened::Position(const std::string& column) const {
  if (!is_table()) return 0;
  if (const std::optional<size_t> position = schema_.Find(column)) return *position;
  throw nb::key_error(column.c_str());
}

std::unique_ptr<ColumnCursor> Opened::TakeCursor(size_t column) const {
  const auto held = Held();
  {
    const std::lock_guard lock(mutex_);
    auto& cursors = cursors_[column];
    if (!cursors.empty()) {
      auto cursor = std::move(cursors.back());
      cursors.pop_back();
      return cursor;
    }
  }
  return NewColumnCursor(*held, schema_, column);
}

void Opened::KeepCursor(size_t column, std::unique_ptr<ColumnCursor> cursor) const {
  constexpr size_t kMostCursors = 4;
  const std::lock_guard lock(mutex_);
  auto& cursors = cursors_[column];
  if (opened_ != nullptr && cursors.size() < kMostCursors) cursors.push_back(std::move(cursor));
}

}  // namespace cfile_python
