// AnyCursor for a cursor of a file or a table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/batch.h"
#include "cfile/parts/c/cursor.h"
#include "cfile/parts/c/value.h"
#include "cfile/types.h"
#include "encodings/core/status.h"

namespace cfile::internal {

// C: Cursor<T> or TableCursor<T>.
template <typename T, typename C>
class TypedCursor final : public AnyCursor {
 public:
  TypedCursor(C cursor, const ColumnType& type) : cursor_(std::move(cursor)), type_(type) {}

  absl::StatusOr<std::unique_ptr<AnyCursor>> Clone() const override {
    CFILE_ASSIGN_OR_RETURN(C clone, cursor_.Clone());
    return std::make_unique<TypedCursor>(std::move(clone), type_);
  }
  absl::Status Next(size_t max_rows, cfile_batch& batch) override {
    return Fill(cursor_.Next(max_rows), batch);
  }
  absl::Status Previous(size_t max_rows, cfile_batch& batch) override {
    return Fill(cursor_.Previous(max_rows), batch);
  }
  uint64_t ordinal() const override { return cursor_.ordinal(); }
  absl::Status SeekToOrdinal(uint64_t ordinal) override { return cursor_.SeekToOrdinal(ordinal); }
  absl::Status SeekToRange(const OrdinalRange& range) override {
    return cursor_.SeekToRange(range);
  }
  absl::StatusOr<KeyPosition> SeekToKey(const cfile_value& key) override {
    CFILE_ASSIGN_OR_RETURN(const T value, ValueOf<T>(type_, key));
    return cursor_.SeekToKey(value);
  }
  absl::StatusOr<OrdinalRange> SeekToKeyRange(const cfile_value* low,
                                              const cfile_value* high) override {
    std::optional<T> bounds[2];
    for (const auto& [given, bound] : {std::pair(low, &bounds[0]), std::pair(high, &bounds[1])}) {
      if (given == nullptr) continue;
      CFILE_ASSIGN_OR_RETURN(*bound, ValueOf<T>(type_, *given));
    }
    return cursor_.SeekToKeyRange(bounds[0], bounds[1]);
  }
  absl::Status Take(std::span<const uint64_t> ordinals, cfile_batch& batch) override {
    CFILE_RETURN_IF_ERROR(cursor_.Take(ordinals, taken_));
    return Fill(taken_.batch(), batch);
  }

 private:
  absl::Status Fill(const absl::StatusOr<Batch<T>>& batch, cfile_batch& out) {
    if (batch.ok()) out = BatchOf<T>(type_.physical(), *batch, copies_);
    return batch.status();
  }

  C cursor_;
  const ColumnType type_;
  OwnedBatch<T> taken_;
  Copies<cfile_bytes> copies_;
};

}  // namespace cfile::internal
