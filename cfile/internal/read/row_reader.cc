#include "cfile/internal/read/row_reader.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "cfile/internal/read/block_cursor.h"
#include "cfile/internal/read/file_cursor.h"
#include "cfile/internal/read/level_block_cursor.h"
#include "cfile/internal/read/reader_access.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

void TruncateTo(size_t, uint16_t, std::monostate&) {}

template <typename T>
void TruncateTo(size_t count, uint16_t /*max_definition*/, Batch<T>& batch) {
  if (count == batch.size()) return;
  batch.values = batch.values.first(count);
  if (batch.validity == nullptr) return;
  batch.null_count = 0;
  for (size_t i = 0; i < count; ++i) batch.null_count += !batch.IsValid(i);
  if (batch.null_count == 0) batch.validity = nullptr;
}

template <typename T>
void TruncateTo(size_t count, uint16_t max_definition, LevelBatch<T>& batch) {
  if (count == batch.num_records) return;
  size_t end = count;  // the first entry that is removed
  if (!batch.repetition.empty()) {
    size_t records = 0;
    for (end = 0; end < batch.num_entries; ++end) {
      if (batch.repetition[end] == 0 && records++ == count) break;
    }
    batch.repetition = batch.repetition.first(end);
  }
  size_t num_values = end;
  if (!batch.definition.empty()) {
    batch.definition = batch.definition.first(end);
    num_values = static_cast<size_t>(
        std::count(batch.definition.begin(), batch.definition.end(), max_definition));
  }
  batch.values = batch.values.first(num_values);
  batch.num_entries = end;
  batch.num_records = count;
}

// Opens the blocks. The derived class has the block, and reads its values.
class BlockRows : public RowReader, protected FileCursor {
 public:
  BlockRows(std::shared_ptr<FileReader> file, RowBlock& block)
      : FileCursor(std::move(file), block) {
    expected_.count = num_rows();
    ExpectBlocks(
        BlockPlan::kInOrder,
        [this](const IndexNode& leaf, uint32_t entry) {
          return expected_.rows == nullptr
                     ? HasRowOf({expected_.first, expected_.first + expected_.count}, leaf, entry)
                     : HasRowOf({expected_.rows, expected_.count}, 0, leaf, entry);
        },
        [this](const IndexNode& leaf, uint32_t entry) { return HasRowOf(possible_, leaf, entry); });
  }

  void Expect(const ChosenRows& rows, const OrdinalRange& possible, const ReadAhead& ahead,
              bool all) override {
    expected_ = rows;
    possible_ = possible;
    // Consecutive rows may be all rows of the file.
    // The caller may then read only the first of them.
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
    auto count = ReadFromBlock(rows, batch);
    if (!count.ok()) return Failed(count.status());
    return count;
  }

 protected:
  // Implements Read. Errors do not name the block.
  virtual absl::StatusOr<size_t> ReadFromBlock(const ChosenRows& rows, ColumnBatch& batch) = 0;

  absl::Status Open(uint64_t row) {
    if (InBlock(row)) return absl::OkStatus();
    CFILE_RETURN_IF_ERROR(OpenBlockOf(row));
    ++blocks_read_;
    return absl::OkStatus();
  }

  // The number in the block of a row of the file.
  uint32_t InBlockRow(uint64_t row) const { return static_cast<uint32_t>(row - first_ordinal_); }

 private:
  ChosenRows expected_;
  OrdinalRange possible_{0, 0};
};

template <typename T>
class FlatRows final : public BlockRows {
 public:
  FlatRows(std::shared_ptr<FileReader> file,
           std::shared_ptr<const encodings::Dictionary> dictionary)
      : BlockRows(file, block_), block_(file->info().type, std::move(dictionary)) {}

 protected:
  absl::StatusOr<size_t> ReadFromBlock(const ChosenRows& rows, ColumnBatch& batch) override {
    auto* const sink = static_cast<ValueSink<T>*>(sink_);
    const uint64_t span = rows.row(rows.count - 1) - rows.row(0) + 1;
    if (span == rows.count) {
      CFILE_RETURN_IF_ERROR(block_.SeekToRow(InBlockRow(rows.row(0))));
      if (sink != nullptr) return AddNext(rows.count, *sink);
      CFILE_ASSIGN_OR_RETURN(const Batch<T> read, block_.Next(rows.count));
      batch = read;
      return read.size();
    }
    if (sink != nullptr) {
      ColumnBatch chosen;
      CFILE_RETURN_IF_ERROR(ReadChosen(rows, span, chosen).status());
      return sink->Add(std::get<Batch<T>>(chosen), nullptr);
    }
    return ReadChosen(rows, span, batch);
  }

 private:
  // Adds the next rows to the sink.
  absl::StatusOr<size_t> AddNext(size_t max_rows, ValueSink<T>& sink) {
    max_rows = std::min<size_t>({max_rows, block_.num_rows() - block_.row(), kMaxBatchRows});
    if constexpr (kIsBytes<T>) {
      if (!block_.DictionaryValues().empty()) {
        if (uint32_t* const room = sink.RoomForCodes(max_rows)) {
          CFILE_ASSIGN_OR_RETURN(const Batch<uint32_t> codes, block_.NextCodesInto(max_rows, room));
          return sink.AddCodes(codes, block_.DictionaryValues(), block_.dictionary());
        }
      }
      if (encodings::PackedStrings* const packed = sink.Packed(file_->source())) {
        Batch<T> batch;
        CFILE_ASSIGN_OR_RETURN(const size_t read, block_.NextPacked(max_rows, *packed, batch));
        if (read > 0) {
          sink.AddPacked(read, batch);
          return read;
        }
      }
    }
    T* const room = sink.Room(max_rows);
    CFILE_ASSIGN_OR_RETURN(const Batch<T> read, room == nullptr ? block_.Next(max_rows)
                                                                : block_.NextInto(max_rows, room));
    if (room != nullptr && read.values.data() == room) {
      sink.AddWritten(read);
      return read.size();
    }
    CFILE_ASSIGN_OR_RETURN(const size_t added, sink.Add(read, file_->shared_source()));
    if (block_.row() == block_.num_rows()) sink.EndBlock();
    return added;
  }

  // Reads the first of `rows`. These rows are not consecutive.
  // `span`: the number of rows from the first to the last of them.
  absl::StatusOr<size_t> ReadChosen(const ChosenRows& rows, uint64_t span, ColumnBatch& batch) {
    const bool seeks = SeeksAreFaster<T>(rows.count, span, file().info().nullable);
    return seeks ? ReadEach(rows, batch) : ReadAndPack(rows, batch);
  }

  // ReadEach copies kCopiedStrings strings at a time. It stops when the copies have at least
  // kMaxCopiedBytes bytes, so that long strings do not fill the memory.
  static constexpr size_t kCopiedStrings = 16;
  static constexpr size_t kMaxCopiedBytes = size_t{1} << 20;
  // The rows that are decoded at a time.
  static constexpr size_t kWindowRows = kIsBytes<T> ? kMaxBatchRows : 4096;

  absl::StatusOr<size_t> ReadEach(const ChosenRows& rows, ColumnBatch& batch) {
    const size_t count = std::min(rows.count, kMaxBatchRows);
    in_block_.resize(count);
    for (size_t i = 0; i < count; ++i) in_block_[i] = InBlockRow(rows.row(i));
    if (kIsBytes<T> && !block_.DictionaryValues().empty()) return ReadEachCode(batch);
    copies_.Reset(count);
    size_t done = 0;
    size_t copied_bytes = 0;
    while (done < count && copied_bytes < kMaxCopiedBytes) {
      const auto some = std::span(in_block_).subspan(
          done, kIsBytes<T> ? std::min(count - done, kCopiedStrings) : count);
      CFILE_RETURN_IF_ERROR(block_.Take(
          some,
          [&](size_t i, const T& value) {
            copies_.Set(done + i, value);
            if constexpr (kIsBytes<T>) copied_bytes += value.size();
          },
          [&](size_t i) { copies_.SetNull(done + i); }));
      done += some.size();
    }
    Batch<T> copied = copies_.batch();
    TruncateTo(done, 0, copied);
    batch = copied;
    return done;
  }

  // Reads the strings of the rows in_block_ as views into the dictionary.
  absl::StatusOr<size_t> ReadEachCode(ColumnBatch& batch) {
    const size_t count = in_block_.size();
    Reserve(count);
    null_count_ = 0;
    SetValid(0, count);
    for (size_t i = 0; i < count; ++i) {
      CFILE_RETURN_IF_ERROR(block_.SeekToRow(in_block_[i]));
      CFILE_ASSIGN_OR_RETURN(const Batch<uint32_t> code, block_.NextCodes(1));
      const bool valid = code.IsValid(0);
      packed_[i] = valid ? block_.DictionaryValues()[code.values[0]] : T{};
      if (valid) continue;
      ++null_count_;
      validity_[i / 8] &= static_cast<uint8_t>(~(1u << i % 8));
    }
    batch = Packed(count);
    return count;
  }

  // Makes room for `count` values in packed_.
  void Reserve(size_t count) {
    if (count <= capacity_) return;
    packed_.reset(new T[count]);
    validity_.resize((count + 7) / 8);
    capacity_ = count;
  }

  Batch<T> Packed(size_t count) const {
    return {.values = {packed_.get(), count},
            .validity = null_count_ == 0 ? nullptr : validity_.data(),
            .null_count = null_count_};
  }

  // Decodes the rows from the first to the last one, and copies the chosen ones together.
  absl::StatusOr<size_t> ReadAndPack(const ChosenRows& rows, ColumnBatch& batch) {
    const size_t count = std::min(rows.count, kMaxBatchRows);
    Reserve(count);
    null_count_ = 0;
    size_t done = 0;
    const std::span<const T> dictionary =
        kIsBytes<T> ? block_.DictionaryValues() : std::span<const T>();
    while (done < count) {
      const uint64_t begin = rows.row(done);
      const uint64_t window = std::min<uint64_t>(kWindowRows, rows.row(count - 1) - begin + 1);
      CFILE_RETURN_IF_ERROR(block_.SeekToRow(InBlockRow(begin)));
      if (!dictionary.empty()) {
        CFILE_ASSIGN_OR_RETURN(const Batch<uint32_t> codes, block_.NextCodes(window));
        done = Pack(rows, begin, codes, done, count,
                    [&](uint32_t code) -> const T& { return dictionary[code]; });
        continue;
      }
      CFILE_ASSIGN_OR_RETURN(const Batch<T> values, block_.Next(window));
      done =
          Pack(rows, begin, values, done, count, [](const T& value) -> const T& { return value; });
      if (kIsBytes<T>) break;  // the next call would overwrite the bytes of these strings
    }
    batch = Packed(done);
    return done;
  }

  // Copies the chosen rows of `decoded`, which begins at row `begin` of the file, to packed_ from
  // `done` on, at most until `count`. Returns the new `done`.
  template <typename V, typename ValueOf>
  size_t Pack(const ChosenRows& rows, uint64_t begin, const Batch<V>& decoded, size_t done,
              size_t count, const ValueOf& value_of) {
    const uint64_t end = begin + decoded.size();
    const size_t from = done;
    T* const packed = packed_.get();
    if (decoded.validity == nullptr) {
      for (; done < count && rows.rows[done] < end; ++done)
        packed[done] = value_of(decoded.values[rows.rows[done] - begin]);
      if (null_count_ > 0) SetValid(from, done);
      return done;
    }
    if (null_count_ == 0) SetValid(0, from);
    for (; done < count && rows.rows[done] < end; ++done) {
      const uint64_t at = rows.rows[done] - begin;
      const bool valid = decoded.IsValid(at);
      packed[done] = valid ? value_of(decoded.values[at]) : T{};
      null_count_ += !valid;
      const auto bit = static_cast<uint8_t>(1u << done % 8);
      validity_[done / 8] = static_cast<uint8_t>((validity_[done / 8] & ~bit) | (valid ? bit : 0));
    }
    return done;
  }
  void SetValid(size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) validity_[i / 8] |= static_cast<uint8_t>(1u << i % 8);
  }

  BlockCursor<T> block_;
  std::vector<uint32_t> in_block_;
  OwnedBatch<T> copies_;
  std::unique_ptr<T[]> packed_;
  size_t capacity_ = 0;            // of packed_ and validity_, in values
  std::vector<uint8_t> validity_;  // of packed_, if null_count_ > 0
  uint64_t null_count_ = 0;
};

template <typename T>
class LevelRows final : public BlockRows {
 public:
  LevelRows(std::shared_ptr<FileReader> file,
            std::shared_ptr<const encodings::Dictionary> dictionary)
      : BlockRows(file, block_), block_(file->info().type, std::move(dictionary)) {}

 protected:
  absl::StatusOr<size_t> ReadFromBlock(const ChosenRows& rows, ColumnBatch& batch) override {
    auto* const sink = static_cast<ValueSink<T>*>(sink_);
    CFILE_ASSIGN_OR_RETURN(const size_t count, ReadRecords(rows, sink, batch));
    if (sink == nullptr) return count;
    CFILE_ASSIGN_OR_RETURN(const size_t added,
                           sink->AddLevels(std::get<LevelBatch<T>>(batch), file_->shared_source()));
    if (added == count && block_.row() == block_.num_rows()) sink->EndBlock();
    return added;
  }

 private:
  absl::StatusOr<size_t> ReadRecords(const ChosenRows& rows, ValueSink<T>* sink,
                                     ColumnBatch& batch) {
    const uint64_t span = rows.row(rows.count - 1) - rows.row(0) + 1;
    if (span == rows.count) {
      CFILE_RETURN_IF_ERROR(block_.SeekToRow(InBlockRow(rows.row(0))));
      CFILE_ASSIGN_OR_RETURN(const LevelBatch<T> read, block_.Next(rows.count, sink));
      if (read.num_records > 0) {
        batch = read;
        return read.num_records;
      }
    }
    // Copies the chosen records together, or the pieces of a long record.
    repetition_.clear();
    definition_.clear();
    values_ = OwnedBatch<T>();
    num_entries_ = 0;
    copied_bytes_ = 0;
    const size_t most = span == rows.count ? 1 : rows.count;
    size_t done = 0;
    while (done < most && num_entries_ < kMaxBatchRows && copied_bytes_ < kMostCopiedBytes) {
      const uint64_t begin = rows.row(done);
      CFILE_RETURN_IF_ERROR(block_.SeekToRow(InBlockRow(begin)));
      const uint64_t window = std::min<uint64_t>(kWindowRecords, rows.row(most - 1) - begin + 1);
      CFILE_ASSIGN_OR_RETURN(const LevelBatch<T> read, block_.Next(window));
      if (read.num_records > 0) {
        CFILE_ASSIGN_OR_RETURN(done, CopyChosen(rows, begin, read, done, most));
        continue;
      }
      CFILE_RETURN_IF_ERROR(CopyEntries(read, 0, read.num_entries, read.values));
      while (block_.row() == InBlockRow(begin)) {
        CFILE_ASSIGN_OR_RETURN(const LevelBatch<T> piece, block_.Next(1));
        if (piece.empty()) return encodings::DataLoss("a record has no end");
        CFILE_RETURN_IF_ERROR(CopyEntries(piece, 0, piece.num_entries, piece.values));
      }
      ++done;
    }
    batch = LevelBatch<T>{.num_records = done,
                          .num_entries = num_entries_,
                          .repetition = repetition_,
                          .definition = definition_,
                          .values = values_.batch().values};
    return done;
  }

  // The records that are decoded at a time.
  static constexpr size_t kWindowRecords = 1024;
  // A batch of copied records ends when it has this many bytes. Without this limit, a small block
  // could need much memory, because it may repeat a long string of the dictionary.
  static constexpr size_t kMostCopiedBytes = size_t{1} << 20;
  // The most bytes of a single record, as a multiple of max_block_size_bytes.
  static constexpr size_t kMostBlocksOfRecord = 64;

  // Copies the chosen records of `read`. The first record of `read` is record `begin` of the file.
  // `done`: the number of chosen records that were copied before this call.
  // Returns the number of chosen records that were copied. Those before this call count, too.
  // Copies at least one chosen record, unless `read` has none.
  absl::StatusOr<size_t> CopyChosen(const ChosenRows& rows, uint64_t begin,
                                    const LevelBatch<T>& read, size_t done, size_t most) {
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
      CFILE_RETURN_IF_ERROR(CopyEntries(read, first_entry, entry,
                                        read.values.subspan(first_value, value - first_value)));
      ++done;
    }
    return done;
  }

  // kOutOfRange: the records that are copied have too many bytes.
  absl::Status CopyEntries(const LevelBatch<T>& read, size_t begin, size_t end,
                           std::span<const T> values) {
    copied_bytes_ += (end - begin) * 2 * sizeof(uint16_t) + encodings::OwnBytes(values);
    const uint64_t limit = kMostBlocksOfRecord * file().options().max_block_size_bytes;
    if (copied_bytes_ > limit) {
      return encodings::OutOfRange("a record takes ", copied_bytes_, " bytes, ",
                                   encodings::AboveLimit(limit, "max_block_size_bytes"));
    }
    const auto copy = [&](std::span<const uint16_t> levels, std::vector<uint16_t>& to) {
      if (!levels.empty()) to.insert(to.end(), levels.begin() + begin, levels.begin() + end);
    };
    copy(read.repetition, repetition_);
    copy(read.definition, definition_);
    values_.Append({.values = values});
    num_entries_ += end - begin;
    return absl::OkStatus();
  }

  LevelBlockCursor<T> block_;
  std::vector<uint16_t> repetition_;
  std::vector<uint16_t> definition_;
  OwnedBatch<T> values_;
  size_t num_entries_ = 0;
  uint64_t copied_bytes_ = 0;  // levels and values
};

}  // namespace

template <ValueType T>
absl::StatusOr<std::unique_ptr<RowReader>> NewRowReader(const Reader& reader) {
  const std::shared_ptr<FileReader>& file = ReaderAccess::File(reader);
  CFILE_ASSIGN_OR_RETURN(auto dictionary, PrepareToRead<T>(*file));
  std::unique_ptr<RowReader> rows;
  if (file->info().has_levels()) {
    rows = std::make_unique<LevelRows<T>>(file, std::move(dictionary));
  } else {
    rows = std::make_unique<FlatRows<T>>(file, std::move(dictionary));
  }
  return rows;
}

void Truncate(size_t count, uint16_t max_definition, ColumnBatch& batch) {
  std::visit([&](auto& typed) { TruncateTo(count, max_definition, typed); }, batch);
}

#define CFILE_INSTANTIATE(T) \
  template absl::StatusOr<std::unique_ptr<RowReader>> NewRowReader<T>(const Reader&);
CFILE_FOR_EACH_VALUE_TYPE(CFILE_INSTANTIATE)
#undef CFILE_INSTANTIATE

}  // namespace cfile::internal
