#include "tools/import/column_batch.h"

#include <span>
#include <string>
#include <utility>

#include "cfile/batch.h"
#include "cfile/status.h"

namespace cfile::tools {
namespace {

template <typename T>
class TypedColumnBatch final : public ColumnBatch {
 public:
  TypedColumnBatch(TextType type, size_t column) : type_(std::move(type)), column_(column) {}

  void Reset(size_t capacity) override { values_.Reset(capacity); }

  absl::Status Set(size_t row, std::string_view text) override {
    CFILE_ASSIGN_OR_RETURN(const T value, ParseValue<T>(type_, text, scratch_));
    values_.Set(row, value);
    return absl::OkStatus();
  }

  void SetNull(size_t row) override { values_.SetNull(row); }

  absl::Status Append(size_t rows, TableWriter& writer) const override {
    const Batch<T> batch = values_.batch();
    const std::span<const T> values = batch.values.first(rows);
    return batch.validity == nullptr
               ? writer.Append<T>(column_, values)
               : writer.Append<T>(column_, values, {batch.validity, (rows + 7) / 8});
  }

 private:
  const TextType type_;
  const size_t column_;
  OwnedBatch<T> values_;
  std::string scratch_;
};

}  // namespace

std::unique_ptr<ColumnBatch> ColumnBatch::Create(const TextType& type, size_t column) {
  return VisitType(type.type, [&](auto t) -> std::unique_ptr<ColumnBatch> {
    return std::make_unique<TypedColumnBatch<typename decltype(t)::type>>(type, column);
  });
}

}  // namespace cfile::tools
