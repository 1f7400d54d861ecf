#include "cfile/parts/scan/row_reader.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "cfile/core/read/block_cursor.h"
#include "cfile/core/read/file_cursor.h"
#include "cfile/core/read/level_block_cursor.h"
#include "cfile/core/read/reader_access.h"
#include "encodings/core/status.h"

namespace cfile::internal {

using encodings::Lane;
using encodings::ValueSpan;

void Truncate(size_t count, AnyBatch& batch) {
  if (count == batch.size()) return;
  batch.count = count;
  if (batch.validity == nullptr) return;
  batch.null_count = 0;
  for (size_t i = 0; i < count; ++i) batch.null_count += !batch.IsValid(i);
  if (batch.null_count == 0) batch.validity = nullptr;
}

void Truncate(size_t count, uint16_t max_definition, AnyLevelBatch& batch) {
  if (count == batch.num_records) return;
  size_t end = count;  // the first entry that is removed
  if (!batch.repetition.empty()) {
    size_t records = 0;
    for (end = 0; end < batch.num_entries; ++end) {
      if (batch.repetition[end] == 0 && records++ == count) break;
    }
    batch.repetition = batch.repetition.first(end);
  }
  batch.values.count = end;
  if (!batch.definition.empty()) {
    batch.definition = batch.definition.first(end);
    batch.values.count = static_cast<size_t>(
        std::count(batch.definition.begin(), batch.definition.end(), max_definition));
  }
  batch.num_entries = end;
  batch.num_records = count;
}

void Truncate(size_t count, uint16_t max_definition, ColumnBatch& batch) {
  if (batch.levels.empty()) {
    Truncate(count, batch.rows);
  } else {
    Truncate(count, max_definition, batch.levels);
  }
}

namespace {

// Opens the blocks, and reads values or records.
class BlockRows final : public RowReader, FileCursor {
 public:
  BlockRows(std::shared_ptr<FileReader> file, ShapedBlock block)
      : FileCursor(std::move(file), block.rows()),
        flat_(std::move(block.flat)),
        levels_(std::move(block.levels)),
        copies_(encodings::LaneOf(file_->info().type.physical())) {
    expected_.count = num_rows();
    ExpectBlocks(
        BlockPlan::kInOrder,
        [this](const LoadedNode& leaf, uint32_t entry) {
          return expected_.rows == nullptr
                     ? HasRowOf({expected_.first, expected_.first + expected_.count}, leaf, entry)
                     : HasRowOf({expected_.rows, expected_.count}, 0, leaf, entry);
        },
        [this](const LoadedNode& leaf, uint32_t entry) {
          return HasRowOf(possible_, leaf, entry);
        });
  }

  void Expect(const ChosenRows& rows, const OrdinalRange& possible, const ReadAhead& ahead,
              bool all) override {
    expected_ = rows;
    possible_ = possible;
    // The caller may read only the first of consecutive rows, which may be all rows of the file.
    fetcher_.SetPlan(rows.rows == nullptr && !all ? BlockPlan::kMaybeSome : BlockPlan::kSome);
    fetcher_.SetReadAhead(ahead);
  }

  void Begin(const ChosenRows& rows, bool last) override {
    SetBackward(last);
    BeginBlockOf(rows.row(last ? rows.count - 1 : 0));
  }
  bool reads_in_background() const override { return file_->reads_in_background(); }
  bool has_all_begun() const override { return fetcher_.has_all_planned(); }

  absl::StatusOr<size_t> Enter(const ChosenRows& rows) override {
    SetBackward(false);
    CFILE_RETURN_IF_ERROR(Open(rows.row(0)));
    const uint64_t end = first_ordinal_ + row_block_.num_rows();
    if (rows.rows == nullptr) return std::min<uint64_t>(rows.count, end - rows.first);
    return static_cast<size_t>(std::lower_bound(rows.rows, rows.rows + rows.count, end) -
                               rows.rows);
  }

  absl::StatusOr<size_t> EnterLast(const ChosenRows& rows) override {
    SetBackward(true);
    CFILE_RETURN_IF_ERROR(Open(rows.row(rows.count - 1)));
    const uint64_t begin = first_ordinal_;
    if (rows.rows == nullptr) return rows.first + rows.count - std::max(begin, rows.first);
    return static_cast<size_t>(rows.rows + rows.count -
                               std::lower_bound(rows.rows, rows.rows + rows.count, begin));
  }

  absl::StatusOr<size_t> Read(const ChosenRows& rows, ColumnBatch& batch) override {
    if (sink_ != nullptr) sink_->Truncate(0);
    auto count = flat_ != nullptr ? ReadValues(rows, batch.rows) : ReadLevels(rows, batch.levels);
    if (!count.ok()) return Failed(count.status());
    return count;
  }

 private:
  absl::Status Open(uint64_t row) {
    if (InBlock(row)) return absl::OkStatus();
    CFILE_RETURN_IF_ERROR(OpenBlockOf(row));
    ++blocks_read_;
    return absl::OkStatus();
  }

  // The number in the block of a row of the file.
  uint32_t InBlockRow(uint64_t row) const { return static_cast<uint32_t>(row - first_ordinal_); }

  // Implement Read. Errors do not name the block.
  absl::StatusOr<size_t> ReadValues(const ChosenRows& rows, AnyBatch& batch) {
    const uint64_t span = rows.row(rows.count - 1) - rows.row(0) + 1;
    if (span == rows.count) {
      CFILE_RETURN_IF_ERROR(flat_->SeekToRow(InBlockRow(rows.row(0))));
      if (sink_ != nullptr) return AddNext(rows.count, *sink_);
      CFILE_ASSIGN_OR_RETURN(batch, flat_->Next(rows.count));
      return batch.size();
    }
    CFILE_ASSIGN_OR_RETURN(const size_t count, ReadChosen(rows, span, batch));
    return sink_ == nullptr ? count : sink_->Add(batch, nullptr);
  }
  absl::StatusOr<size_t> ReadLevels(const ChosenRows& rows, AnyLevelBatch& batch) {
    CFILE_ASSIGN_OR_RETURN(const size_t count, ReadRecords(rows, batch));
    if (sink_ == nullptr) return count;
    CFILE_ASSIGN_OR_RETURN(const size_t added, sink_->AddLevels(batch, file_->shared_source()));
    if (added == count && row_block_.row() == row_block_.num_rows()) sink_->EndBlock();
    return added;
  }

  Lane lane() const { return copies_.lane(); }
  bool is_bytes() const { return lane() == Lane::kBytes; }

  absl::StatusOr<size_t> AddNext(size_t max_rows, RowSink& sink) {
    max_rows = std::min<size_t>({max_rows, flat_->num_rows() - flat_->row(), kMaxBatchRows});
    if (is_bytes()) {
      if (!flat_->DictionaryValues().empty()) {
        if (uint32_t* const room = sink.RoomForCodes(max_rows)) {
          CFILE_ASSIGN_OR_RETURN(const Batch<uint32_t> codes, flat_->NextCodesInto(max_rows, room));
          return sink.AddCodes(codes, flat_->DictionaryValues(), flat_->dictionary());
        }
      }
      if (encodings::PackedStrings* const packed = sink.Packed(file_->source())) {
        AnyBatch batch;
        CFILE_ASSIGN_OR_RETURN(const size_t read, flat_->NextPacked(max_rows, *packed, batch));
        if (read > 0) {
          sink.AddPacked(read, batch);
          return read;
        }
      }
    }
    void* const room = sink.Room(max_rows);
    CFILE_ASSIGN_OR_RETURN(const AnyBatch read, flat_->NextInto(max_rows, room));
    if (room != nullptr && read.values == room) {
      sink.AddWritten(read);
      return read.size();
    }
    CFILE_ASSIGN_OR_RETURN(const size_t added, sink.Add(read, file_->shared_source()));
    if (flat_->row() == flat_->num_rows()) sink.EndBlock();
    return added;
  }

  // Reads the first of `rows`, which are not consecutive. `span`: the number of rows from the first
  // to the last of them.
  absl::StatusOr<size_t> ReadChosen(const ChosenRows& rows, uint64_t span, AnyBatch& batch) {
    const bool seeks = SeeksAreFaster(lane(), rows.count, span, file().info().nullable);
    return seeks ? ReadEach(rows, batch) : ReadAndPack(rows, batch);
  }

  // ReadEach copies kCopiedStrings strings at a time, and stops when the copies have at least
  // kMaxCopiedBytes bytes, so that long strings do not fill the memory.
  static constexpr size_t kCopiedStrings = 16;
  static constexpr size_t kMaxCopiedBytes = size_t{1} << 20;
  // The rows of numbers that are decoded at a time.
  static constexpr size_t kWindowRows = 4096;

  absl::StatusOr<size_t> ReadEach(const ChosenRows& rows, AnyBatch& batch) {
    const size_t count = std::min(rows.count, kMaxBatchRows);
    in_block_.resize(count);
    for (size_t i = 0; i < count; ++i) in_block_[i] = InBlockRow(rows.row(i));
    if (is_bytes() && !flat_->DictionaryValues().empty()) return ReadEachCode(batch);
    copies_.Reset(count);
    size_t done = 0;
    size_t copied_bytes = 0;
    while (done < count && copied_bytes < kMaxCopiedBytes) {
      const auto some = std::span(in_block_).subspan(
          done, is_bytes() ? std::min(count - done, kCopiedStrings) : count);
      CFILE_RETURN_IF_ERROR(flat_->Take(some, [&](size_t first, const AnyBatch& taken) {
        copies_.SetEach(taken, [&](size_t i) { return done + first + i; });
        if (is_bytes()) copied_bytes += encodings::OwnBytes(taken.As<std::string_view>().values);
      }));
      done += some.size();
    }
    batch = copies_.batch();
    Truncate(done, batch);
    return done;
  }

  // Reads the strings of the rows in_block_ as views into the dictionary.
  absl::StatusOr<size_t> ReadEachCode(AnyBatch& batch) {
    const size_t count = in_block_.size();
    auto* const packed = static_cast<std::string_view*>(Reserve(count));
    const auto dictionary = flat_->DictionaryValues().As<std::string_view>();
    null_count_ = 0;
    SetValid(0, count);
    for (size_t i = 0; i < count; ++i) {
      CFILE_RETURN_IF_ERROR(flat_->SeekToRow(in_block_[i]));
      CFILE_ASSIGN_OR_RETURN(const Batch<uint32_t> code, flat_->NextCodes(1));
      const bool valid = code.IsValid(0);
      packed[i] = valid ? dictionary[code.values[0]] : std::string_view();
      if (valid) continue;
      ++null_count_;
      validity_[i / 8] &= static_cast<uint8_t>(~(1u << i % 8));
    }
    batch = Packed(packed, count);
    return count;
  }

  // Makes room for `count` packed values.
  void* Reserve(size_t count) {
    validity_.resize(std::max(validity_.size(), (count + 7) / 8));
    return packed_.Reserve(count, encodings::WidthOf(lane()));
  }

  AnyBatch Packed(const void* packed, size_t count) const {
    return {.values = packed,
            .count = count,
            .validity = null_count_ == 0 ? nullptr : validity_.data(),
            .null_count = null_count_};
  }

  // Decodes the rows from the first to the last one, and copies the chosen ones together.
  absl::StatusOr<size_t> ReadAndPack(const ChosenRows& rows, AnyBatch& batch) {
    const size_t count = std::min(rows.count, kMaxBatchRows);
    auto* const packed = static_cast<uint8_t*>(Reserve(count));
    null_count_ = 0;
    size_t done = 0;
    const size_t most_rows = is_bytes() ? kMaxBatchRows : kWindowRows;
    const ValueSpan dictionary = is_bytes() ? flat_->DictionaryValues() : ValueSpan();
    while (done < count) {
      const uint64_t begin = rows.row(done);
      const uint64_t window = std::min<uint64_t>(most_rows, rows.row(count - 1) - begin + 1);
      CFILE_RETURN_IF_ERROR(flat_->SeekToRow(InBlockRow(begin)));
      if (!dictionary.empty()) {
        CFILE_ASSIGN_OR_RETURN(const Batch<uint32_t> codes, flat_->NextCodes(window));
        constexpr size_t kWidth = sizeof(std::string_view);
        const auto* const from = static_cast<const uint8_t*>(dictionary.data);
        done = Pack<kWidth>(rows, begin, AnyBatch::Of(codes), done, count, packed,
                            [&](size_t i) { return from + codes.values[i] * kWidth; });
        continue;
      }
      CFILE_ASSIGN_OR_RETURN(const AnyBatch values, flat_->Next(window));
      const auto* const from = static_cast<const uint8_t*>(values.values);
      encodings::VisitWidth(lane(), [&](auto width) {
        done = Pack<width>(rows, begin, values, done, count, packed,
                           [from, width](size_t i) { return from + i * width; });
      });
      if (is_bytes()) break;  // the next call would overwrite the bytes of these strings
    }
    batch = Packed(packed, done);
    return done;
  }

  // Copies the chosen rows of `decoded`, which begins at row `begin` of the file, to `packed` from
  // `done` on, at most until `count`. value_at(i): the address of the value of row i of `decoded`.
  // Returns the new `done`.
  template <size_t kWidth, typename ValueAt>
  size_t Pack(const ChosenRows& rows, uint64_t begin, const AnyBatch& decoded, size_t done,
              size_t count, uint8_t* packed, const ValueAt& value_at) {
    const uint64_t end = begin + decoded.size();
    const size_t from = done;
    const uint64_t* const chosen = rows.rows;
    if (decoded.validity == nullptr) {
      for (; done < count && chosen[done] < end; ++done)
        std::memcpy(packed + done * kWidth, value_at(chosen[done] - begin), kWidth);
      if (null_count_ > 0) SetValid(from, done);
      return done;
    }
    if (null_count_ == 0) SetValid(0, from);
    for (; done < count && chosen[done] < end; ++done) {
      const uint64_t at = chosen[done] - begin;
      const bool valid = decoded.IsValid(at);
      if (valid) {
        std::memcpy(packed + done * kWidth, value_at(at), kWidth);
      } else {
        std::memset(packed + done * kWidth, 0, kWidth);
      }
      null_count_ += !valid;
      const auto bit = static_cast<uint8_t>(1u << done % 8);
      validity_[done / 8] = static_cast<uint8_t>((validity_[done / 8] & ~bit) | (valid ? bit : 0));
    }
    return done;
  }
  void SetValid(size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) validity_[i / 8] |= static_cast<uint8_t>(1u << i % 8);
  }

  absl::StatusOr<size_t> ReadRecords(const ChosenRows& rows, AnyLevelBatch& batch) {
    const uint64_t span = rows.row(rows.count - 1) - rows.row(0) + 1;
    if (span == rows.count) {
      CFILE_RETURN_IF_ERROR(row_block_.SeekToRow(InBlockRow(rows.row(0))));
      const auto room = [this](size_t values) {
        return sink_ == nullptr ? nullptr : sink_->RoomForLevels(values);
      };
      CFILE_ASSIGN_OR_RETURN(const AnyLevelBatch read, levels_->Next(rows.count, room));
      if (read.num_records > 0) {
        batch = read;
        return read.num_records;
      }
    }
    // Copies the chosen records together, or the pieces of a long record.
    repetition_.clear();
    definition_.clear();
    copies_ = OwnedValues(lane());
    num_entries_ = 0;
    copied_bytes_ = 0;
    const size_t most = span == rows.count ? 1 : rows.count;
    size_t done = 0;
    while (done < most && num_entries_ < kMaxBatchRows && copied_bytes_ < kMostCopiedBytes) {
      const uint64_t begin = rows.row(done);
      CFILE_RETURN_IF_ERROR(row_block_.SeekToRow(InBlockRow(begin)));
      const uint64_t window = std::min<uint64_t>(kWindowRecords, rows.row(most - 1) - begin + 1);
      CFILE_ASSIGN_OR_RETURN(const AnyLevelBatch read, levels_->Next(window));
      if (read.num_records > 0) {
        CFILE_ASSIGN_OR_RETURN(done, CopyChosen(rows, begin, read, done, most));
        continue;
      }
      CFILE_RETURN_IF_ERROR(CopyEntries(read, 0, read.num_entries, read.values));
      while (row_block_.row() == InBlockRow(begin)) {
        CFILE_ASSIGN_OR_RETURN(const AnyLevelBatch piece, levels_->Next(1));
        if (piece.empty()) return DataLoss("a record has no end");
        CFILE_RETURN_IF_ERROR(CopyEntries(piece, 0, piece.num_entries, piece.values));
      }
      ++done;
    }
    const AnyBatch values = copies_.batch();
    batch = {.num_records = done,
             .num_entries = num_entries_,
             .repetition = repetition_,
             .definition = definition_,
             .values = {values.values, values.count}};
    return done;
  }

  // The records that are decoded at a time.
  static constexpr size_t kWindowRecords = 1024;
  // A batch of copied records ends when it has this many bytes. Without this limit, a small block
  // could need much memory, because it may repeat a long string of the dictionary.
  static constexpr size_t kMostCopiedBytes = size_t{1} << 20;
  // The most bytes of a single record, as a multiple of max_block_size_bytes.
  static constexpr size_t kMostBlocksOfRecord = 64;

  // Copies chosen records of `read`, which begins at record `begin` of the file: at least one,
  // unless there is none. `done`: the number of chosen records that were copied before this call.
  // Returns this number after the call.
  absl::StatusOr<size_t> CopyChosen(const ChosenRows& rows, uint64_t begin,
                                    const AnyLevelBatch& read, size_t done, size_t most) {
    const uint16_t max_definition = file().info().levels.max_definition;
    const size_t done_before = done;
    uint64_t record = begin;
    size_t value = 0;
    for (size_t entry = 0; entry < read.num_entries && done < most; ++record) {
      const size_t first_entry = entry;
      const size_t first_value = value;
      do {
        value += read.definition.empty() || read.definition[entry] == max_definition;
        ++entry;
      } while (entry < read.num_entries && !read.repetition.empty() && read.repetition[entry] > 0);
      if (rows.row(done) != record) continue;
      if (done > done_before && copied_bytes_ >= kMostCopiedBytes) break;
      CFILE_RETURN_IF_ERROR(
          CopyEntries(read, first_entry, entry, Values(read.values, first_value, value)));
      ++done;
    }
    return done;
  }

  // kOutOfRange: the records that are copied have too many bytes.
  absl::Status CopyEntries(const AnyLevelBatch& read, size_t begin, size_t end, ValueSpan values) {
    copied_bytes_ += (end - begin) * 2 * sizeof(uint16_t) +
                     (is_bytes() ? encodings::OwnBytes(values.As<std::string_view>())
                                 : values.count * encodings::WidthOf(lane()));
    const uint64_t limit = kMostBlocksOfRecord * file().options().max_block_size_bytes;
    if (copied_bytes_ > limit) {
      return encodings::OutOfRange("a record takes ", copied_bytes_, " bytes, ",
                                   AboveLimit(limit, "max_block_size_bytes"));
    }
    const auto copy = [&](std::span<const uint16_t> levels, std::vector<uint16_t>& to) {
      if (!levels.empty()) to.insert(to.end(), levels.begin() + begin, levels.begin() + end);
    };
    copy(read.repetition, repetition_);
    copy(read.definition, definition_);
    copies_.Append({.values = values.data, .count = values.count});
    num_entries_ += end - begin;
    return absl::OkStatus();
  }

  // The values `begin` to `end` - 1 of `values`.
  ValueSpan Values(ValueSpan values, size_t begin, size_t end) const {
    return {encodings::ValueAt(values.data, lane(), begin), end - begin};
  }

  const std::unique_ptr<BlockCursor> flat_;  // null for a column with levels
  const std::unique_ptr<LevelBlockCursor> levels_;
  ChosenRows expected_;
  OrdinalRange possible_{0, 0};
  OwnedValues copies_;
  // Of a column without levels.
  std::vector<uint32_t> in_block_;
  RawBuffer packed_;
  std::vector<uint8_t> validity_;  // of the packed values, if null_count_ > 0
  uint64_t null_count_ = 0;
  // Of a column with levels.
  std::vector<uint16_t> repetition_;
  std::vector<uint16_t> definition_;
  size_t num_entries_ = 0;
  uint64_t copied_bytes_ = 0;  // levels and values
};

}  // namespace

absl::StatusOr<std::unique_ptr<RowReader>> NewRowReader(const Reader& reader) {
  const std::shared_ptr<FileReader>& file = ReaderAccess::File(reader);
  CFILE_ASSIGN_OR_RETURN(auto decoding, PrepareToRead(*file));
  return std::make_unique<BlockRows>(file, ShapedBlock(file->info(), std::move(decoding)));
}

}  // namespace cfile::internal
