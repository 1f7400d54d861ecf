#include "tools/python/native/opened.h"

#include <utility>

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
    : opened_(std::move(file)),
      name_(std::move(name)),
      schema_(SchemaOfFile(this->file().info())) {}
Opened::Opened(cfile::TableReader table, std::string name)
    : opened_(std::move(table)), name_(std::move(name)), schema_(this->table().schema()) {}

uint64_t Opened::num_rows() const { return is_table() ? table().num_rows() : file().num_rows(); }

size_t Opened::Position(const std::string& column) const {
  if (!is_table()) return 0;
  if (const std::optional<size_t> position = schema_.Find(column)) return *position;
  throw nb::key_error(column.c_str());
}

Opened::Borrowed::Borrowed(const Opened& opened, size_t column) : opened_(opened), column_(column) {
  {
    const std::lock_guard lock(opened.mutex_);
    auto& cursors = opened.cursors_[column];
    if (!cursors.empty()) {
      cursor_ = std::move(cursors.back());
      cursors.pop_back();
    }
  }
  if (cursor_ == nullptr) cursor_ = NewColumnCursor(opened.opened_, opened.schema_, column);
}

Opened::Borrowed::~Borrowed() {
  constexpr size_t kMostCursors = 4;
  const std::lock_guard lock(opened_.mutex_);
  auto& cursors = opened_.cursors_[column_];
  if (cursors.size() < kMostCursors) cursors.push_back(std::move(cursor_));
}

}  // namespace cfile_python
