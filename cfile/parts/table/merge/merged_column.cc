#include "cfile/parts/table/merge/merged_column.h"

#include <algorithm>
#include <cstring>

#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

// The indexes in part.rows of the rows at `places`.
Places IndexesOf(const RowsByPart::Part& part, const Places& places) {
  const auto index_of = [&](size_t place) {
    return static_cast<size_t>(std::lower_bound(part.places.begin(), part.places.end(), place) -
                               part.places.begin());
  };
  return {index_of(places.begin), index_of(places.end)};
}

ChosenRows RowsAt(const RowsByPart::Part& part, const Places& indexes) {
  const uint64_t* const rows = part.rows.data() + indexes.begin;
  const size_t count = indexes.end - indexes.begin;
  const bool is_range = rows[count - 1] - rows[0] + 1 == count;
  return {.first = is_range ? rows[0] : 0, .rows = is_range ? nullptr : rows, .count = count};
}

}  // namespace

void RowsByPart::Set(std::span<const Run> runs) {
  for (const Part& part : parts()) slots_[part.number] = 0;
  num_parts_ = 0;
  num_rows_ = 0;
  for (const Run& run : runs) {
    if (run.part >= slots_.size()) slots_.resize(run.part + 1);
    uint32_t& slot = slots_[run.part];
    if (slot == 0) {
      slot = static_cast<uint32_t>(++num_parts_);
      if (parts_.size() < num_parts_) parts_.emplace_back();
      parts_[num_parts_ - 1].number = run.part;
      parts_[num_parts_ - 1].rows.clear();
      parts_[num_parts_ - 1].places.clear();
    }
    Part& part = parts_[slot - 1];
    for (uint64_t i = 0; i < run.count; ++i) {
      part.rows.push_back(run.begin + i);
      part.places.push_back(static_cast<uint32_t>(num_rows_++));
    }
  }
}

absl::Status MergedColumn::Enter(const RowsByPart& rows, Readers readers, bool last,
                                 Places& places) {
  for (const RowsByPart::Part& part : rows.parts()) {
    const Places indexes = IndexesOf(part, places);
    if (indexes.begin == indexes.end) continue;
    CFILE_ASSIGN_OR_RETURN(RowReader* const reader, readers(part.number));
    const ChosenRows chosen = RowsAt(part, indexes);
    CFILE_ASSIGN_OR_RETURN(const size_t count,
                           last ? reader->EnterLast(chosen) : reader->Enter(chosen));
    if (count == chosen.count) continue;
    if (last) {
      places.begin = part.places[indexes.end - count - 1] + 1;
    } else {
      places.end = part.places[indexes.begin + count];
    }
  }
  return absl::OkStatus();
}

absl::Status MergedColumn::Read(const RowsByPart& rows, Readers readers, bool last,
                                Places& places) {
  const size_t base = places.begin;
  const size_t count = places.end - places.begin;
  values_.Reserve(count, encodings::WidthOf(lane_));
  null_count_ = 0;
  for (const RowsByPart::Part& part : rows.parts()) {
    const Places indexes = IndexesOf(part, places);
    if (indexes.begin == indexes.end) continue;
    CFILE_ASSIGN_OR_RETURN(RowReader* const reader, readers(part.number));
    const ChosenRows chosen = RowsAt(part, indexes);
    ColumnBatch batch;
    CFILE_ASSIGN_OR_RETURN(const size_t read, reader->Read(chosen, batch));
    if (read < chosen.count) {
      (last ? places.begin : places.end) = part.places[indexes.begin + read];
    }
    if (rows.parts().size() == 1) {
      batch_ = batch.rows;
      return absl::OkStatus();
    }
    Put(batch.rows, part.places.data() + indexes.begin, base, count);
  }
  batch_ = {.values = values_.Reserve(count, encodings::WidthOf(lane_)),
            .count = count,
            .validity = null_count_ == 0 ? nullptr : validity_.data(),
            .null_count = null_count_};
  return absl::OkStatus();
}

AnyBatch MergedColumn::batch(const Places& places) const {
  AnyBatch batch = batch_;
  Truncate(places.end - places.begin, batch);
  return batch;
}

void MergedColumn::Put(const AnyBatch& values, const uint32_t* places, size_t base, size_t count) {
  encodings::VisitWidth(lane_, [&](auto width) {
    const auto* from = static_cast<const uint8_t*>(values.values);
    auto* const to = static_cast<uint8_t*>(values_.Reserve(count, width));
    for (size_t i = 0; i < values.count; ++i, from += width)
      std::memcpy(to + (places[i] - base) * width, from, width);
  });
  if (values.validity == nullptr) return;
  if (null_count_ == 0) validity_.assign((count + 7) / 8, 0xff);
  for (size_t i = 0; i < values.count; ++i) {
    if (values.IsValid(i)) continue;
    const size_t place = places[i] - base;
    validity_[place / 8] &= static_cast<uint8_t>(~(1u << place % 8));
    ++null_count_;
  }
}

}  // namespace cfile::internal
