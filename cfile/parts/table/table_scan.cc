#include "cfile/table_scan.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "cfile/core/read/reader_access.h"
#include "cfile/parts/scan/row_reader.h"
#include "cfile/parts/table/bound_filter.h"
#include "cfile/parts/table/filter_tree.h"
#include "cfile/parts/table/merge/newest_rows.h"
#include "cfile/parts/table/open_files.h"
#include "cfile/parts/table/open_table.h"
#include "cfile/parts/table/scan_parts.h"
#include "cfile/parts/table/scan_source.h"
#include "encodings/core/assert.h"
#include "encodings/core/status.h"
#include "encodings/kernels/count_ones.h"
#include "encodings/kernels/match_range.h"

namespace cfile {

// The values of a batch.
class internal::ColumnBatches {
 public:
  std::vector<ColumnBatch> columns;
  std::vector<const ColumnSchema*> schemas;  // of `columns`
};

using internal::BoundFilter;
using internal::ChosenRows;
using internal::FilterTree;
using internal::ManifestPart;
using internal::RowReader;
using internal::ScanSource;
using internal::Verdict;

namespace {

// The number of rows of a batch: few enough that the values of several columns stay in the cache.
constexpr size_t kBatchRows = 8192;

}  // namespace

// Goes through the parts: finds rows that match (chosen_), then reads the columns at these rows. If
// the files are read in the background, also begins to read the next parts.
class TableScan::Impl {
 public:
  static absl::StatusOr<std::unique_ptr<Impl>> Create(
      std::shared_ptr<const ScanSource> source, const TableScanOptions& options,
      std::optional<internal::RowVersions> versions = std::nullopt) {
    CFILE_ASSIGN_OR_RETURN(
        std::vector<size_t> columns,
        internal::BindColumns(options.columns, source->schema(), source->name()));
    Filter where = options.where;
    if (const internal::AppliedRule* const rule = source->rule();
        rule != nullptr && !rule->columns().empty()) {
      where = And(std::move(where), rule->Remaining(source->schema()));
    }
    CFILE_ASSIGN_OR_RETURN(BoundFilter filter,
                           internal::BindFilter(where, source->schema(), source->name()));
    return std::make_unique<Impl>(std::move(source), options, std::move(columns), std::move(filter),
                                  std::move(versions));
  }

  Impl(std::shared_ptr<const ScanSource> source, const TableScanOptions& options,
       std::vector<size_t> columns, BoundFilter filter,
       std::optional<internal::RowVersions> versions)
      : source_(std::move(source)),
        columns_(std::move(columns)),
        filter_(std::move(filter)),
        reverse_(options.reverse),
        cancelled_(options.cancelled),
        read_ahead_(internal::ReadAheadOfColumn(source_->options(), columns_.size())),
        range_(RowsOf(options.range, source_->num_rows())),
        left_(options.limit),
        reads_all_(range_.size() < source_->num_rows() && range_.size() <= left_),
        parts_(*source_, filter_, columns_, range_, reverse_, reads_all_, cancelled_,
               std::move(versions), counters_) {
    batches_.columns.resize(columns_.size());
    for (const size_t column : columns_)
      batches_.schemas.push_back(&source_->schema().columns[column]);
    counters_.blocks_read.resize(columns_.size());
    internal::NameConditions(filter_, source_->schema(), counters_.conditions);
  }

  const std::vector<size_t>& columns() const { return columns_; }
  const TableScanCounters& counters() const { return counters_; }
  const ScanSource& source() const { return *source_; }
  bool reverse() const { return reverse_; }
  void SetSinks(std::vector<internal::RowSink*> sinks) {
    sinks_ = std::move(sinks);
    part_.readers.clear();
    for (internal::ScannedPart& part : ahead_) part.readers.clear();
  }
  absl::StatusOr<size_t> AddRows(size_t max_rows) {
    max_rows_ = max_rows;
    CFILE_ASSIGN_OR_RETURN(const TableBatch batch, Next());
    return batch.num_rows();
  }

  absl::StatusOr<std::optional<Reader>> FirstFile(size_t column) const {
    if (range_.size() == 0) return std::nullopt;
    CFILE_ASSIGN_OR_RETURN(const ManifestPart part, source_->PartOfRow(range_.begin));
    CFILE_ASSIGN_OR_RETURN(Reader file, source_->OpenColumn(part, columns_[column]));
    return file;
  }

  absl::StatusOr<TableBatch> Next() {
    while (left_ > 0) {
      CFILE_RETURN_IF_ERROR(CheckCancelled());
      if (chosen_.count > 0) return Read();
      if (!failed_.ok()) return std::exchange(failed_, absl::OkStatus());
      if (begin_ < end_) {
        LookAhead();
        // Rows that were found before an error are returned before the error.
        failed_ = Choose();
        if (part_.tree) counted_.Add(*part_.tree, counters_.conditions);
        continue;
      }
      CFILE_ASSIGN_OR_RETURN(const bool more, EnterPart());
      if (!more) break;
    }
    return TableBatch();
  }

 private:
  static constexpr uint64_t kManyRows = 1024;  // so many consecutive rows are read by themselves

  static OrdinalRange RowsOf(const OrdinalRange& range, uint64_t num_rows) {
    const uint64_t end = std::min(range.end, num_rows);
    return {std::min(range.begin, end), end};
  }

  // Goes to the next part that the scan reads; false if there is none.
  absl::StatusOr<bool> EnterPart() {
    part_ = {};
    look_ahead_failed_ = false;
    if (!ahead_.empty()) {
      part_ = std::move(ahead_.front());
      ahead_.pop_front();
    } else {
      CFILE_ASSIGN_OR_RETURN(auto part, parts_.Next());
      if (!part) return false;
      part_ = *std::move(part);
    }
    ++parts_entered_;
    most_ahead_ = std::min(2 * most_ahead_, kMostPartsAhead);
    begin_ = part_.rows.begin;
    end_ = part_.rows.end;
    counted_.Begin(counters_.conditions.size());
    BeginFewRows();
    return true;
  }

  // If keys have left only few rows of the part, begins to read their columns in the background,
  // together with the conditions.
  void BeginFewRows() {
    constexpr uint64_t kFewRows = 64;
    const uint64_t count = end_ - begin_;
    bool in_background = false;
    if (part_.tree && count <= std::min(kFewRows, left_)) {
      part_.tree->VisitConditions([&](size_t, const internal::RowFilter& condition) {
        in_background = in_background || condition.reads_in_background();
      });
    }
    if (!in_background || !OpenReaders(part_).ok()) return;  // Read returns the error
    BeginRows(part_, {.first = begin_, .rows = nullptr, .count = count});
  }

  // Begins to read the columns of consecutive rows in the background.
  void BeginRows(internal::ScannedPart& part, const ChosenRows& rows) {
    for (const auto& reader : part.readers) {
      reader->Expect(rows, {0, 0}, read_ahead_, /*all=*/false);
      reader->Begin(rows, reverse_);
    }
  }

  // Begins to read the next parts in the background, if all blocks of this part were begun.
  void LookAhead() {
    if (reverse_ || left_ <= chosen_.count || look_ahead_failed_) return;
    bool all_begun = true, any_in_background = false;
    const auto check = [&](const auto& reader) {
      any_in_background = any_in_background || reader.reads_in_background();
      all_begun = all_begun && (!reader.reads_in_background() || reader.has_all_begun());
    };
    if (part_.tree) {
      part_.tree->VisitConditions(
          [&](size_t, const internal::RowFilter& condition) { check(condition); });
    }
    for (const auto& reader : part_.readers) check(*reader);
    if (!all_begun || !any_in_background) return;
    const size_t most = std::min(
        most_ahead_,
        std::max<size_t>(
            source_->options().max_requests_in_flight / std::max<size_t>(columns_.size(), 1), 1));
    while (ahead_.size() < most) {
      auto part = parts_.Next();
      // The scan returns the error when it comes to the part.
      look_ahead_failed_ = !part.ok();
      if (!part.ok() || !part->has_value()) return;
      ahead_.push_back(**std::move(part));
      internal::ScannedPart& next = ahead_.back();
      if (next.tree || !OpenReaders(next).ok()) continue;
      BeginRows(next, {.first = next.rows.begin, .rows = nullptr, .count = next.rows.size()});
    }
  }

  // Finds rows that match among the rows begin_ to end_ - 1 of the part, sets chosen_, and moves
  // begin_ (if reverse_: end_) past the rows it has examined.
  absl::Status Choose() {
    if (!part_.tree) {
      chosen_ = {.first = begin_, .rows = nullptr, .count = end_ - begin_};
      begin_ = end_;
      return absl::OkStatus();
    }
    ordinals_.clear();
    const absl::Status status = reverse_ ? ChooseBackward() : ChooseForward();
    if (!ordinals_.empty()) chosen_ = {.rows = ordinals_.data(), .count = ordinals_.size()};
    return status;
  }

  absl::Status CheckCancelled() const {
    if (cancelled_ == nullptr || !cancelled_->load(std::memory_order_relaxed))
      return absl::OkStatus();
    return absl::CancelledError(absl::StrCat(source_->name(), ": the scan was cancelled"));
  }

  absl::Status ChooseForward() {
    while (begin_ < end_ && ordinals_.size() < std::min<uint64_t>(kBatchRows, left_)) {
      CFILE_RETURN_IF_ERROR(CheckCancelled());
      const FilterTree::Judgement judgement = part_.tree->Judge(begin_);
      const uint64_t end = std::min(judgement.rows.rows.end, end_);
      if (judgement.rows.verdict == Verdict::kNone) {
        internal::CountExcluded(judgement, end - begin_, counters_.conditions);
        begin_ = end;
        continue;
      }
      if (judgement.rows.verdict == Verdict::kAll) {
        // Few rows of a key are read together with the rows of the next keys.
        if (ordinals_.empty() && (end - begin_ >= kManyRows || !MayMatchFrom(end))) {
          chosen_ = {.first = begin_, .rows = nullptr, .count = end - begin_};
          begin_ = end;
          return absl::OkStatus();
        }
        const uint64_t part = std::min<uint64_t>(end - begin_, kBatchRows);
        for (uint64_t i = 0; i < part; ++i) ordinals_.push_back(begin_ + i);
        begin_ += part;
        continue;
      }
      CFILE_ASSIGN_OR_RETURN(const size_t examined, Match(begin_, end));
      begin_ += examined;
    }
    return absl::OkStatus();
  }

  // Returns false if it is known, without reading values, that no row from `row` on matches.
  bool MayMatchFrom(uint64_t row) const {
    if (row >= end_) return false;
    const internal::JudgedRows rows = part_.tree->Judge(row).rows;
    return rows.verdict != Verdict::kNone || rows.rows.end < end_;
  }

  // Finds the matching rows of one window at the end of the rows.
  absl::Status ChooseBackward() {
    while (begin_ < end_ && ordinals_.empty()) {
      CFILE_RETURN_IF_ERROR(CheckCancelled());
      const FilterTree::Judgement judgement = part_.tree->Judge(end_ - 1);
      uint64_t begin = std::max(judgement.rows.rows.begin, begin_);
      if (judgement.rows.verdict == Verdict::kNone) {
        internal::CountExcluded(judgement, end_ - begin, counters_.conditions);
      } else if (judgement.rows.verdict == Verdict::kAll) {
        chosen_ = {.first = begin, .rows = nullptr, .count = end_ - begin};
        end_ = begin;
        return absl::OkStatus();
      } else {
        begin = std::max(begin, end_ - std::min<uint64_t>(end_, internal::RowFilter::kMaxRows));
        for (uint64_t row = begin; row < end_;) {
          const absl::StatusOr<size_t> examined = Match(row, end_);
          if (!examined.ok()) ordinals_.clear();  // the next call repeats the window
          CFILE_RETURN_IF_ERROR(examined.status());
          row += *examined;
        }
      }
      end_ = begin;
    }
    return absl::OkStatus();
  }

  // Appends the matching rows among the rows from `begin` on to ordinals_. Returns how many rows
  // were examined: at least 1, at most end - begin.
  absl::StatusOr<size_t> Match(uint64_t begin, uint64_t end) {
    const size_t count = std::min<uint64_t>(end - begin, internal::RowFilter::kMaxRows);
    std::memset(bits_, 0xff, (count + 7) / 8);
    CFILE_ASSIGN_OR_RETURN(const size_t examined, part_.tree->Match(begin, count, bits_));
    if (examined % 8 != 0) bits_[examined / 8] &= static_cast<uint8_t>((1u << examined % 8) - 1);
    // Counts first: resize clears the new ordinals, and most filters match few rows.
    const size_t before = ordinals_.size();
    const uint64_t matches = encodings::CountOnes({bits_, (examined + 7) / 8}, 0, examined);
    ordinals_.resize(before + static_cast<size_t>(matches));
    if (matches > 0) encodings::PositionsOfOnes(bits_, examined, begin, ordinals_.data() + before);
    return examined;
  }

  // Reads the values of the first chosen rows or, if reverse_, of the last.
  absl::StatusOr<TableBatch> Read() {
    CFILE_RETURN_IF_ERROR(OpenReaders(part_));
    ExpectRows();
    LookAhead();
    size_t count =
        static_cast<size_t>(std::min<uint64_t>({left_, chosen_.count, most_rows_, max_rows_}));
    const auto part = [&] { return chosen_.Part(reverse_ ? chosen_.count - count : 0, count); };
    for (const auto& reader : part_.readers) {
      CFILE_ASSIGN_OR_RETURN(count, reverse_ ? reader->EnterLast(part()) : reader->Enter(part()));
    }
    // A column may return only the first of the rows, for example because of long strings. A
    // reverse batch must end with the last row, so the next batch gets the rows that this column
    // has not returned.
    bool cut = false;
    while (true) {
      CFILE_ASSIGN_OR_RETURN(const size_t read, ReadColumns(part()));
      if (read == count) break;
      cut = true;
      count = reverse_ ? count - read : read;
      if (!reverse_) break;
    }
    // If one column returns few rows, the other columns should not decode more, because they would
    // be cut off.
    most_rows_ = cut ? count : std::min(kBatchRows, most_rows_ + most_rows_ / 4 + 1);
    const size_t skip = reverse_ ? chosen_.count - count : 0;
    const ChosenRows rows = chosen_.Part(skip, count);
    if (reverse_) {
      chosen_.count = skip;
    } else {
      chosen_ = chosen_.Part(count, chosen_.count - count);
    }
    left_ -= count;
    counters_.rows_returned += count;
    const auto& readers = part_.readers;
    for (size_t i = 0; i < readers.size(); ++i) {
      counters_.blocks_read[i] += readers[i]->TakeBlocksRead();
    }
    TableBatch batch;
    batch.first_ordinal_ = part_.part.first_ordinal + (rows.rows == nullptr ? rows.first : 0);
    batch.ordinals_ = rows.rows;
    batch.num_rows_ = count;
    batch.columns_ = &batches_;
    return batch;
  }

  // Tells the columns which rows will be read, so that they can read blocks in advance.
  void ExpectRows() {
    const size_t count = static_cast<size_t>(std::min<uint64_t>(left_, chosen_.count));
    const ChosenRows rows = chosen_.Part(reverse_ ? chosen_.count - count : 0, count);
    // The scan may still read rows that were not examined yet.
    const OrdinalRange possible = count < left_ ? OrdinalRange{begin_, end_} : OrdinalRange{0, 0};
    // A scan that has come to the second part will likely read all of it.
    const bool all = reads_all_ || parts_entered_ > 1;
    for (const auto& reader : part_.readers) reader->Expect(rows, possible, read_ahead_, all);
    for (const auto& reader : part_.readers) reader->Begin(rows, reverse_);
  }

  // Reads all columns. Returns the number of rows, at least 1.
  absl::StatusOr<size_t> ReadColumns(const ChosenRows& rows) {
    size_t count = rows.count;
    for (size_t i = 0; i < part_.readers.size(); ++i) {
      CFILE_ASSIGN_OR_RETURN(const size_t read,
                             part_.readers[i]->Read(rows.Part(0, count), batches_.columns[i]));
      count = std::min(count, read);
    }
    for (internal::RowSink* const sink : sinks_) sink->Truncate(count);
    for (size_t i = 0; i < part_.readers.size(); ++i) {
      if (!sinks_.empty()) break;
      const ColumnSchema& column = source_->schema().columns[columns_[i]];
      internal::Truncate(count, column.levels.max_definition, batches_.columns[i]);
    }
    return count;
  }

  // Opens the part's files of the columns to return.
  absl::Status OpenReaders(internal::ScannedPart& part) {
    std::vector<std::unique_ptr<RowReader>>& readers = part.readers;
    while (readers.size() < columns_.size()) {
      const size_t column = columns_[readers.size()];
      CFILE_ASSIGN_OR_RETURN(const Reader file, source_->OpenColumn(part.part, column));
      CFILE_ASSIGN_OR_RETURN(auto reader, internal::NewRowReader(file));
      if (!sinks_.empty()) reader->SetSink(sinks_[readers.size()]);
      readers.push_back(std::move(reader));
    }
    return absl::OkStatus();
  }

  const std::shared_ptr<const ScanSource> source_;
  const std::vector<size_t> columns_;
  const BoundFilter filter_;
  const bool reverse_;
  const std::atomic<bool>* const cancelled_;
  const internal::ReadAhead read_ahead_;  // of one column
  const OrdinalRange range_;
  uint64_t left_;  // rows until the limit
  // The caller likely reads to the end, because it has chosen the rows and has no limit.
  const bool reads_all_;
  TableScanCounters counters_;

  internal::ScanParts parts_;
  internal::ScannedPart part_;               // the part that is scanned
  std::deque<internal::ScannedPart> ahead_;  // the parts after it that were begun
  bool look_ahead_failed_ = false;           // while the scan was in part_
  size_t parts_entered_ = 0;
  size_t most_ahead_ = 1;  // of ahead_; it doubles with each part, because the caller may stop
  static constexpr size_t kMostPartsAhead = 64;
  uint64_t begin_ = 0;  // the rows that were not examined: begin_ to end_ - 1
  uint64_t end_ = 0;
  ChosenRows chosen_;    // matching rows that were found and not returned yet
  absl::Status failed_;  // the error that ended the search for matching rows
  std::vector<uint64_t> ordinals_;
  uint8_t bits_[internal::RowFilter::kMaxRows / 8];

  size_t most_rows_ = kBatchRows;  // of the next batch
  size_t max_rows_ = kBatchRows;
  internal::ColumnBatches batches_;
  std::vector<internal::RowSink*> sinks_;  // one for each column; empty: rows go to batches_
  internal::CountedConditions counted_;    // of part_
};

template <typename T, typename>
Batch<T> TableBatch::column(size_t column) const {
  CFILE_ASSERT(columns_ != nullptr && column < columns_->columns.size());
  CFILE_ASSERT(HoldsType<T>(columns_->schemas[column]->type) &&
               !columns_->schemas[column]->has_levels());
  return columns_->columns[column].rows.As<T>();
}
template <typename T, typename>
LevelBatch<T> TableBatch::levels(size_t column) const {
  CFILE_ASSERT(columns_ != nullptr && column < columns_->columns.size());
  CFILE_ASSERT(HoldsType<T>(columns_->schemas[column]->type) &&
               columns_->schemas[column]->has_levels());
  return columns_->columns[column].levels.As<T>();
}

TableScan::TableScan(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TableScan::TableScan(TableScan&&) noexcept = default;
TableScan& TableScan::operator=(TableScan&&) noexcept = default;
TableScan::~TableScan() = default;
const std::vector<size_t>& TableScan::columns() const { return impl_->columns(); }
absl::StatusOr<TableBatch> TableScan::Next() { return impl_->Next(); }
const TableScanCounters& TableScan::counters() const { return impl_->counters(); }

const ScanSource& internal::TableScanAccess::Source(const TableScan& scan) {
  return scan.impl_->source();
}
bool internal::TableScanAccess::IsReverse(const TableScan& scan) { return scan.impl_->reverse(); }
absl::StatusOr<std::optional<Reader>> internal::TableScanAccess::FirstFile(const TableScan& scan,
                                                                           size_t column) {
  return scan.impl_->FirstFile(column);
}
void internal::TableScanAccess::SetSinks(TableScan& scan, std::vector<RowSink*> sinks) {
  scan.impl_->SetSinks(std::move(sinks));
}
absl::StatusOr<size_t> internal::TableScanAccess::AddRows(TableScan& scan, size_t max_rows) {
  return scan.impl_->AddRows(max_rows);
}

absl::StatusOr<TableScan> TableReader::NewScan(const TableScanOptions& options) const {
  std::optional<internal::RowVersions> versions;
  if (impl_->rule() != nullptr) {
    versions = {*this, impl_->SharedRows([] { return std::make_shared<internal::NewestRows>(); })};
  }
  CFILE_ASSIGN_OR_RETURN(auto scan, TableScan::Impl::Create(impl_, options, std::move(versions)));
  return TableScan(std::move(scan));
}

absl::StatusOr<TableScan> NewTableScan(const Reader& reader, const TableScanOptions& options) {
  const FileInfo& info = reader.info();
  if (info.has_levels() && info.levels == LevelLimits()) {
    return absl::UnimplementedError(
        absl::StrCat(internal::ReaderAccess::File(reader)->source().name(),
                     ": a table has no column with blocks of levels whose maxima are 0: read the "
                     "file with a LevelCursor"));
  }
  CFILE_ASSIGN_OR_RETURN(
      auto scan, TableScan::Impl::Create(std::make_shared<internal::FileAsTable>(reader), options));
  return TableScan(std::move(scan));
}

#define CFILE_INSTANTIATE(T)                             \
  template Batch<T> TableBatch::column<T>(size_t) const; \
  template LevelBatch<T> TableBatch::levels<T>(size_t) const;
CFILE_FOR_EACH_VALUE_TYPE(CFILE_INSTANTIATE)
#undef CFILE_INSTANTIATE

}  // namespace cfile
