#include "cfile/parts/arrow/taken_column.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>

#include "cfile/batch.h"
#include "cfile/core/read/sort_numbers.h"
#include "cfile/parts/arrow/value_store.h"
#include "cfile/parts/scan/row_reader.h"
#include "cfile/types.h"
#include "encodings/core/lane.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

// A group has at most 2^kIndexBits ordinals.
constexpr int kIndexBits = 16;
static_assert(kGroupOrdinals == size_t{1} << kIndexBits);

// At most this many bytes are added to a sink at a time, unless one row has more.
constexpr size_t kAddedBytes = kEnoughBytes / 4;

// Finds the rows of a group in the parts of a table. The derived class keeps the rows.
class GroupReader : public TakenColumn {
 public:
  GroupReader(const ScanSource& source, size_t column, size_t max_requests)
      : source_(source), column_(column), max_requests_(max_requests) {}

  absl::StatusOr<size_t> Prepare(OrdinalGrouper& grouper, size_t begin, size_t max_rows) override {
    if (group_ == nullptr || begin == group_->end())
      CFILE_RETURN_IF_ERROR(ReadGroup(grouper, begin));
    return Fitting(PlacesFrom(begin, std::min(max_rows, group_->end() - begin)));
  }

  absl::StatusOr<size_t> Add(size_t begin, size_t count) override {
    return AddPlaces(PlacesFrom(begin, count));
  }

 protected:
  // The indexes of kept rows.
  using Places = std::span<const uint32_t>;

  const ColumnSchema& schema() const { return source_.schema().columns[column_]; }

  virtual absl::StatusOr<std::unique_ptr<RowReader>> NewReader(const Reader& file) = 0;
  // Removes all kept rows.
  virtual void Clear() = 0;
  // Appends the first rows of `batch` to the kept rows, as many as fit into kEnoughBytes bytes of
  // kept rows, and returns how many. The first row of all is always kept.
  virtual size_t Keep(const ColumnBatch& batch) = 0;
  virtual size_t kept_bytes() const = 0;
  // Returns how many of the first rows have at most kAddedBytes bytes together, but at least 1.
  virtual size_t Fitting(Places places) const = 0;
  virtual absl::StatusOr<size_t> AddPlaces(Places places) = 0;

 private:
  Places PlacesFrom(size_t begin, size_t count) const {
    return Places(group_->places).subspan(begin - group_->begin, count);
  }

  absl::Status ReadGroup(OrdinalGrouper& grouper, size_t begin) {
    group_ = nullptr;
    size_t most = most_ordinals_;
    while (true) {
      std::shared_ptr<const OrdinalGroup> group = grouper.GroupAt(begin, most);
      CFILE_ASSIGN_OR_RETURN(const size_t kept, KeepRows(group->rows));
      if (kept == group->rows.size()) {
        group_ = std::move(group);
        break;
      }
      // The values have too many bytes, so a smaller group is tried. One row always fits.
      const size_t count = group->places.size();
      most = std::clamp<size_t>(count * kept / group->rows.size(), 1, count / 2);
    }
    // The next group may be larger if the values of this group are few.
    const bool few = kept_bytes() < kEnoughBytes / 2;
    most_ordinals_ = few ? std::min(2 * most, kGroupOrdinals) : most;
    return absl::OkStatus();
  }

  // Keeps the first of `rows` instead of the kept rows, and returns how many.
  absl::StatusOr<size_t> KeepRows(std::span<const uint64_t> rows) {
    Clear();
    FilesAhead files(source_, column_, rows);
    size_t kept = 0;
    while (kept < rows.size()) {
      files.EnterPart();
      CFILE_RETURN_IF_ERROR(OpenPartOf(rows[kept]));
      const uint64_t first = part_.first_ordinal;
      const auto begin = rows.begin() + static_cast<ptrdiff_t>(kept);
      in_part_.assign(begin, std::lower_bound(begin, rows.end(), first + part_.part->num_rows));
      for (uint64_t& row : in_part_) row -= first;
      ChosenRows left{.rows = in_part_.data(), .count = in_part_.size()};
      reader_->Expect(left, {0, 0}, {.max_requests = max_requests_}, /*all=*/true);
      while (left.count > 0) {
        CFILE_ASSIGN_OR_RETURN(size_t in_block, reader_->Enter(left));
        while (in_block > 0) {
          ColumnBatch batch;
          CFILE_ASSIGN_OR_RETURN(const size_t read, reader_->Read(left.Part(0, in_block), batch));
          const size_t some = Keep(batch);
          kept += some;
          if (some < read) return kept;
          left = left.Part(read, left.count - read);
          in_block -= read;
        }
      }
    }
    return kept;
  }

  // Opens the part with row `row` of the table.
  absl::Status OpenPartOf(uint64_t row) {
    if (reader_ != nullptr && row >= part_.first_ordinal &&
        row - part_.first_ordinal < part_.part->num_rows) {
      return absl::OkStatus();
    }
    reader_ = nullptr;
    CFILE_ASSIGN_OR_RETURN(part_, source_.PartOfRow(row));
    CFILE_ASSIGN_OR_RETURN(const Reader file, source_.OpenColumn(part_, column_));
    CFILE_ASSIGN_OR_RETURN(reader_, NewReader(file));
    return absl::OkStatus();
  }

  const ScanSource& source_;
  const size_t column_;
  const size_t max_requests_;                  // to read blocks in advance
  std::shared_ptr<const OrdinalGroup> group_;  // whose rows are kept; null: none
  size_t most_ordinals_ = kGroupOrdinals;      // of the next group
  ManifestPart part_;                          // the part that is open
  std::unique_ptr<RowReader> reader_;          // of the column's file in part_
  std::vector<uint64_t> in_part_;              // the rows that are read from part_
};

// What columns with and without levels share.
class ColumnOfLane : public GroupReader {
 public:
  ColumnOfLane(const ScanSource& source, size_t column, size_t max_requests)
      : GroupReader(source, column, max_requests),
        lane_(encodings::LaneOf(schema().type.physical())) {}
  void SetSink(RowSink* sink) override { sink_ = sink; }

 protected:
  absl::StatusOr<std::unique_ptr<RowReader>> NewReader(const Reader& file) override {
    return NewRowReader(file);
  }

  bool is_bytes() const { return lane_ == encodings::Lane::kBytes; }
  // Returns the bytes of value i of `values` in memory.
  size_t SizeOf(const void* values, size_t i) const {
    if (!is_bytes()) return encodings::WidthOf(lane_);
    return sizeof(std::string_view) + static_cast<const std::string_view*>(values)[i].size();
  }
  // Returns memory for `count` values, which each call of AddPlaces uses again.
  void* Reserve(size_t count) {
    added_.resize(std::max(added_.size(), count * encodings::WidthOf(lane_)));
    return added_.data();
  }

  const encodings::Lane lane_;
  RowSink* sink_ = nullptr;

 private:
  std::vector<std::byte> added_;
};

class FlatColumn final : public ColumnOfLane {
 public:
  using ColumnOfLane::ColumnOfLane;

 protected:
  void Clear() override {
    kept_.Reset(0);
    kept_bytes_ = 0;
  }

  size_t Keep(const ColumnBatch& batch) override {
    AnyBatch rows = batch.rows;
    if (is_bytes()) {
      size_t count = 0;
      for (; count < rows.size(); ++count) {
        const size_t bytes = SizeOf(rows.values, count);
        if (kept_.size() + count > 0 && kept_bytes_ + bytes > kEnoughBytes) break;
        kept_bytes_ += bytes;
      }
      rows.count = count;
    }
    kept_.Append(rows);
    return rows.size();
  }
  size_t kept_bytes() const override { return kept_bytes_; }

  size_t Fitting(Places places) const override {
    if (!is_bytes()) return places.size();
    const void* const values = kept_.batch().values;
    size_t bytes = 0;
    for (size_t i = 0; i < places.size(); ++i) {
      bytes += SizeOf(values, places[i]);
      if (i > 0 && bytes > kAddedBytes) return i;
    }
    return places.size();
  }

  absl::StatusOr<size_t> AddPlaces(Places places) override {
    const size_t count = places.size();
    const AnyBatch kept = kept_.batch();
    void* const room = sink_->Room(count);
    void* const values = room == nullptr ? Reserve(count) : room;
    encodings::VisitWidth(lane_, [&](auto width) {
      const auto* const from = static_cast<const uint8_t*>(kept.values);
      auto* to = static_cast<uint8_t*>(values);
      for (const uint32_t place : places) {
        std::memcpy(to, from + place * width, width);
        to += width;
      }
    });
    AnyBatch batch{.values = values, .count = count};
    if (kept.validity != nullptr) {
      validity_.assign((count + 7) / 8, 0);
      for (size_t i = 0; i < count; ++i) {
        const bool valid = kept.IsValid(places[i]);
        validity_[i / 8] |= static_cast<uint8_t>(unsigned{valid} << i % 8);
        batch.null_count += !valid;
      }
      if (batch.null_count > 0) batch.validity = validity_.data();
    }
    if (room == nullptr) return sink_->Add(batch, nullptr);
    sink_->AddWritten(batch);
    return count;
  }

 private:
  OwnedValues kept_{lane_};
  size_t kept_bytes_ = 0;
  std::vector<uint8_t> validity_;
};

class LevelColumn final : public ColumnOfLane {
 public:
  using ColumnOfLane::ColumnOfLane;

 protected:
  void Clear() override {
    repetition_.clear();
    definition_.clear();
    values_.Reset(0);
    begins_.assign(1, Totals{});
  }

  size_t Keep(const ColumnBatch& batch) override {
    const AnyLevelBatch& read = batch.levels;
    const LevelLimits& levels = schema().levels;
    const Totals before = begins_.back();
    Totals end = before;
    size_t count = 0;
    for (; count < read.num_records; ++count) {
      Totals next = end;
      do {
        const size_t entry = next.entries - before.entries;
        const bool present =
            read.definition.empty() || read.definition[entry] == levels.max_definition;
        next.bytes += 2 * sizeof(uint16_t);
        if (present) next.bytes += SizeOf(read.values.data, next.values++ - before.values);
        ++next.entries;
      } while (next.entries - before.entries < read.num_entries && !read.repetition.empty() &&
               read.repetition[next.entries - before.entries] > 0);
      if (begins_.size() > 1 && next.bytes > kEnoughBytes) break;
      begins_.push_back(next);
      end = next;
    }
    const size_t entries = end.entries - before.entries;
    const auto append = [&](std::span<const uint16_t> from, std::vector<uint16_t>& to) {
      if (!from.empty())
        to.insert(to.end(), from.begin(), from.begin() + static_cast<ptrdiff_t>(entries));
    };
    append(read.repetition, repetition_);
    append(read.definition, definition_);
    values_.Append({.values = read.values.data, .count = end.values - before.values});
    return count;
  }
  size_t kept_bytes() const override { return begins_.back().bytes; }

  size_t Fitting(Places places) const override {
    size_t bytes = 0;
    for (size_t i = 0; i < places.size(); ++i) {
      bytes += begins_[places[i] + 1].bytes - begins_[places[i]].bytes;
      if (i > 0 && bytes > kAddedBytes) return i;
    }
    return places.size();
  }

  // The sink keeps a view of the batch until its rows are kept or removed, so the batch lies in
  // members, which do not change before the next call.
  absl::StatusOr<size_t> AddPlaces(Places places) override {
    added_repetition_.clear();
    added_definition_.clear();
    AnyLevelBatch batch{.num_records = places.size()};
    size_t num_values = 0;
    for (const uint32_t place : places)
      num_values += begins_[place + 1].values - begins_[place].values;
    const size_t width = encodings::WidthOf(lane_);
    const void* const kept = values_.batch().values;
    auto* const values = static_cast<uint8_t*>(Reserve(num_values));
    uint8_t* to = values;
    for (const uint32_t place : places) {
      const Totals& begin = begins_[place];
      const Totals& end = begins_[place + 1];
      const auto append = [&](const std::vector<uint16_t>& from, std::vector<uint16_t>& levels) {
        if (!from.empty())
          levels.insert(levels.end(), from.begin() + static_cast<ptrdiff_t>(begin.entries),
                        from.begin() + static_cast<ptrdiff_t>(end.entries));
      };
      append(repetition_, added_repetition_);
      append(definition_, added_definition_);
      const size_t bytes = (end.values - begin.values) * width;
      if (bytes > 0) std::memcpy(to, encodings::ValueAt(kept, lane_, begin.values), bytes);
      to += bytes;
      batch.num_entries += end.entries - begin.entries;
    }
    batch.repetition = added_repetition_;
    batch.definition = added_definition_;
    batch.values = {values, num_values};
    return sink_->AddLevels(batch, nullptr);
  }

 private:
  // The entries, values and bytes of all kept records before a record.
  struct Totals {
    size_t entries = 0;
    size_t values = 0;
    size_t bytes = 0;
  };

  std::vector<uint16_t> repetition_;
  std::vector<uint16_t> definition_;
  OwnedValues values_{lane_};
  std::vector<Totals> begins_;  // one for each kept record, and one for their end
  std::vector<uint16_t> added_repetition_;
  std::vector<uint16_t> added_definition_;
};

}  // namespace

std::shared_ptr<const OrdinalGroup> OrdinalGrouper::GroupAt(size_t begin, size_t most) {
  if (last_ == nullptr || last_->begin != begin || last_most_ != most) {
    last_ = Make(begin, most);
    last_most_ = most;
  }
  return last_;
}

std::shared_ptr<const OrdinalGroup> OrdinalGrouper::Make(size_t begin, size_t most) {
  const auto ordinals =
      std::span(ordinals_).subspan(begin, std::min(most, ordinals_.size() - begin));
  // Sorts the ordinals as numbers of 64 bits: the lowest kIndexBits bits are the index of an
  // ordinal, the others the ordinal, counted from the least one. The group ends before an ordinal
  // that is too far from the ordinals before it for this.
  uint64_t least = ordinals[0];
  uint64_t greatest = ordinals[0];
  size_t count = 1;
  for (; count < ordinals.size(); ++count) {
    const uint64_t low = std::min(least, ordinals[count]);
    const uint64_t high = std::max(greatest, ordinals[count]);
    if ((high - low) >> (64 - kIndexBits) != 0) break;
    least = low;
    greatest = high;
  }
  order_.resize(count);
  for (size_t i = 0; i < count; ++i) order_[i] = (ordinals[i] - least) << kIndexBits | i;
  if (!std::is_sorted(order_.begin(), order_.end())) SortNumbers(order_);
  auto group = std::make_shared<OrdinalGroup>();
  group->begin = begin;
  group->places.resize(count);
  for (const uint64_t number : order_) {
    const uint64_t row = least + (number >> kIndexBits);
    if (group->rows.empty() || group->rows.back() != row) group->rows.push_back(row);
    group->places[number % kGroupOrdinals] = static_cast<uint32_t>(group->rows.size() - 1);
  }
  return group;
}

std::unique_ptr<TakenColumn> NewTakenColumn(const ScanSource& source, size_t column,
                                            size_t max_requests) {
  const ColumnSchema& schema = source.schema().columns[column];
  if (schema.has_levels()) return std::make_unique<LevelColumn>(source, column, max_requests);
  return std::make_unique<FlatColumn>(source, column, max_requests);
}

}  // namespace cfile::internal
