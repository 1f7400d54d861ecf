#include "cfile/table_scan.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cfile/internal/read/row_reader.h"
#include "cfile/internal/table/bound_filter.h"
#include "cfile/internal/table/condition_counts.h"
#include "cfile/internal/table/file_as_table.h"
#include "cfile/internal/table/filter_tree.h"
#include "cfile/internal/table/key_range.h"
#include "cfile/internal/table/open_files.h"
#include "cfile/internal/table/open_table.h"
#include "cfile/internal/table/scan_source.h"
#include "encodings/core/status.h"
#include "encodings/kernels/match_range.h"

namespace cfile {

// The values of a batch.
class internal::ColumnBatches {
 public:
  std::vector<ColumnBatch> columns;
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

// Goes through the parts. In each part, finds rows that match (chosen_), then reads the columns at
// these rows.
class TableScan::Impl {
 public:
  static absl::StatusOr<std::unique_ptr<Impl>> Create(std::shared_ptr<const ScanSource> source,
                                                      const TableScanOptions& options) {
    CFILE_ASSIGN_OR_RETURN(
        std::vector<size_t> columns,
        internal::BindColumns(options.columns, source->schema(), source->name()));
    CFILE_ASSIGN_OR_RETURN(BoundFilter filter,
                           internal::BindFilter(options.where, source->schema(), source->name()));
    return std::make_unique<Impl>(std::move(source), options, std::move(columns),
                                  std::move(filter));
  }

  Impl(std::shared_ptr<const ScanSource> source, const TableScanOptions& options,
       std::vector<size_t> columns, BoundFilter filter)
      : source_(std::move(source)),
        columns_(std::move(columns)),
        filter_(std::move(filter)),
        keys_(internal::KeyRangeOf(filter_, source_->schema())),
        reverse_(options.reverse),
        cancelled_(options.cancelled),
        max_ranges_(internal::MaxRangesOfScan(source_->options())),
        left_(options.limit) {
    batches_.columns.resize(columns_.size());
    range_.end = std::min(options.range.end, source_->num_rows());
    range_.begin = std::min(options.range.begin, range_.end);
    counters_.blocks_read.resize(columns_.size());
    internal::NameConditions(filter_, source_->schema(), counters_.conditions);
  }

  const std::vector<size_t>& columns() const { return columns_; }
  const TableScanCounters& counters() const { return counters_; }
  const ScanSource& source() const { return *source_; }
  bool reverse() const { return reverse_; }
  void SetSinks(std::vector<internal::RowSink*> sinks) {
    sinks_ = std::move(sinks);
    readers_.clear();
  }
  // Adds at most `max_rows` rows.
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
        // Rows that were found before an error are returned before the error.
        failed_ = Choose();
        if (tree_) counted_.Add(*tree_, counters_.conditions);
        continue;
      }
      CFILE_ASSIGN_OR_RETURN(const bool more, EnterPart());
      if (!more) break;
    }
    return TableBatch();
  }

 private:
  // Finds the parts with rows of the range, and sets next_part_ and stop_part_.
  // Does nothing if called again.
  absl::Status FindParts() {
    if (stop_part_.has_value()) return absl::OkStatus();
    size_t begin = 0;
    size_t end = range_.begin < range_.end ? source_->num_parts() : 0;
    if (end > 0 && range_.begin > 0) {
      CFILE_ASSIGN_OR_RETURN(const ManifestPart part, source_->PartOfRow(range_.begin));
      begin = part.number;
    }
    if (end > 0 && range_.end < source_->num_rows()) {
      CFILE_ASSIGN_OR_RETURN(const ManifestPart part, source_->PartOfRow(range_.end - 1));
      end = part.number + 1;
    }
    next_part_ = reverse_ ? end : begin;
    stop_part_ = reverse_ ? begin : end;
    return absl::OkStatus();
  }

  // Goes to the next part that has rows of the range and is not excluded by its bounds.
  // Returns false if there is no such part.
  absl::StatusOr<bool> EnterPart() {
    tree_.reset();
    readers_.clear();
    CFILE_RETURN_IF_ERROR(FindParts());
    while (next_part_ != *stop_part_) {
      const auto excluded = [&](ScanSource::BoundsOfColumn bounds_of, const OrdinalRange& rows) {
        return JudgeRows(bounds_of, rows) == Verdict::kNone;
      };
      CFILE_ASSIGN_OR_RETURN(size_t next, source_->PassOver(next_part_, reverse_, excluded));
      next = reverse_ ? std::max(next, *stop_part_) : std::min(next, *stop_part_);
      if (next != next_part_) {
        counters_.parts_skipped += reverse_ ? next_part_ - next : next - next_part_;
        next_part_ = next;
        continue;
      }
      CFILE_ASSIGN_OR_RETURN(const ManifestPart part,
                             source_->Part(reverse_ ? next_part_ - 1 : next_part_));
      const uint64_t first = part.first_ordinal;
      const uint64_t rows_of_part = part.part->num_rows;
      uint64_t begin = std::max(range_.begin, first);
      uint64_t end = std::min(range_.end, first + rows_of_part);
      Verdict verdict = Verdict::kNone;
      if (begin < end) {
        verdict =
            JudgeRows([&](size_t column) { return source_->Bounds(part, column); }, {begin, end});
        if (verdict == Verdict::kNone) ++counters_.parts_skipped;
      }
      uint64_t excluded_by_keys = 0;
      if (verdict == Verdict::kSome && keys_) {
        CFILE_ASSIGN_OR_RETURN(const OrdinalRange rows, RowsOfKeys(part, rows_of_part));
        excluded_by_keys = end - begin;
        begin = std::clamp(rows.begin + first, begin, end);
        end = std::clamp(rows.end + first, begin, end);
        excluded_by_keys -= end - begin;
        if (begin == end) verdict = Verdict::kNone;
      }
      if (verdict == Verdict::kSome) {
        CFILE_ASSIGN_OR_RETURN(tree_, FilterTree::Open(filter_, *source_, part, opened_));
        opened_.clear();
        counted_.Begin(counters_.conditions.size());
      }
      // Nothing fails after this line, so a repeated call does not count these rows again.
      if (keys_) {
        counters_.conditions[keys_->condition].rows_excluded_by_value_index += excluded_by_keys;
      }
      next_part_ += reverse_ ? size_t{0} - 1 : 1;
      if (verdict == Verdict::kNone) continue;
      part_ = part;
      part_begin_ = first;
      begin_ = begin - first;
      end_ = end - first;
      if (tree_) {
        tree_->VisitConditions([&](size_t, internal::RowFilter& condition) {
          condition.Expect({begin_, end_}, reverse_);
        });
      }
      return true;
    }
    return false;
  }

  // Says what bounds tell about `rows`. These are rows of one part or of several parts.
  // If the bounds exclude the rows, counts those rows that are in range_.
  Verdict JudgeRows(ScanSource::BoundsOfColumn bounds_of, const OrdinalRange& rows) {
    const FilterTree::Judgement judgement = internal::JudgeBounds(filter_, bounds_of);
    if (judgement.rows.verdict == Verdict::kNone &&
        judgement.condition < counters_.conditions.size()) {
      const uint64_t begin = std::max(rows.begin, range_.begin);
      const uint64_t end = std::min(rows.end, range_.end);
      counters_.conditions[judgement.condition].rows_excluded_by_bounds += end - begin;
    }
    return judgement.rows.verdict;
  }

  // Returns the rows of a part whose compound keys are in keys_.
  absl::StatusOr<OrdinalRange> RowsOfKeys(const ManifestPart& part, uint64_t num_rows) const {
    const size_t key_index = *source_->schema().key_index();
    const BlockStatistics bounds = source_->Bounds(part, key_index);
    if (bounds.max_key && *bounds.max_key < keys_->low) return OrdinalRange{num_rows, num_rows};
    if (bounds.min_key && keys_->high && *bounds.min_key >= *keys_->high) return OrdinalRange{};
    CFILE_ASSIGN_OR_RETURN(const Reader reader, source_->OpenColumn(part, key_index));
    CFILE_ASSIGN_OR_RETURN(auto cursor, reader.NewCursor<std::string_view>());
    CFILE_ASSIGN_OR_RETURN(const KeyPosition low, cursor.SeekToKey(keys_->low));
    OrdinalRange rows{low.ordinal, num_rows};
    if (keys_->high) {
      CFILE_ASSIGN_OR_RETURN(const KeyPosition high, cursor.SeekToKey(*keys_->high));
      rows.end = std::max(rows.begin, high.ordinal);
    }
    return rows;
  }

  // Finds rows that match among the rows begin_ to end_ - 1 of the part, sets chosen_, and moves
  // begin_ (if reverse_: end_) past the rows it has examined.
  absl::Status Choose() {
    if (!tree_) {
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
      const FilterTree::Judgement judgement = tree_->Judge(begin_);
      const uint64_t end = std::min(judgement.rows.rows.end, end_);
      if (judgement.rows.verdict == Verdict::kNone) {
        internal::CountExcluded(judgement, end - begin_, counters_.conditions);
        begin_ = end;
        continue;
      }
      if (judgement.rows.verdict == Verdict::kAll) {
        if (ordinals_.empty()) {
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

  // Finds the matching rows of one window at the end of the rows.
  absl::Status ChooseBackward() {
    while (begin_ < end_ && ordinals_.empty()) {
      CFILE_RETURN_IF_ERROR(CheckCancelled());
      const FilterTree::Judgement judgement = tree_->Judge(end_ - 1);
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
    CFILE_ASSIGN_OR_RETURN(const size_t examined, tree_->Match(begin, count, bits_));
    if (examined % 8 != 0) bits_[examined / 8] &= static_cast<uint8_t>((1u << examined % 8) - 1);
    const size_t before = ordinals_.size();
    ordinals_.resize(before + examined);
    ordinals_.resize(before +
                     encodings::PositionsOfOnes(bits_, examined, begin, ordinals_.data() + before));
    return examined;
  }

  // Reads the values of the first chosen rows. If reverse_, reads the last chosen rows.
  absl::StatusOr<TableBatch> Read() {
    CFILE_RETURN_IF_ERROR(OpenReaders());
    ExpectRows();
    size_t count =
        static_cast<size_t>(std::min<uint64_t>({left_, chosen_.count, most_rows_, max_rows_}));
    const auto part = [&] { return chosen_.Part(reverse_ ? chosen_.count - count : 0, count); };
    for (const auto& reader : readers_) {
      CFILE_ASSIGN_OR_RETURN(count, reverse_ ? reader->EnterLast(part()) : reader->Enter(part()));
    }
    // A column may return only the first of the rows, for example because of long strings.
    // A reverse batch must end with the last row.
    // So the next batch gets the rows that this column has not returned.
    bool cut = false;
    while (true) {
      CFILE_ASSIGN_OR_RETURN(const size_t read, ReadColumns(part()));
      if (read == count) break;
      cut = true;
      count = reverse_ ? count - read : read;
      if (!reverse_) break;
    }
    // If one column returns few rows, the other columns should not decode more rows,
    // because these rows would be cut off.
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
    for (size_t i = 0; i < readers_.size(); ++i) {
      counters_.blocks_read[i] += readers_[i]->blocks_read() - reader_blocks_[i];
      reader_blocks_[i] = readers_[i]->blocks_read();
    }
    TableBatch batch;
    batch.first_ordinal_ = rows.rows == nullptr ? part_begin_ + rows.first : part_begin_;
    batch.ordinals_ = rows.rows;
    batch.num_rows_ = count;
    batch.columns_ = &batches_;
    return batch;
  }

  // Tells the columns which rows will be read. So the columns can read blocks in advance.
  void ExpectRows() {
    const size_t count = static_cast<size_t>(std::min<uint64_t>(left_, chosen_.count));
    const ChosenRows rows = chosen_.Part(reverse_ ? chosen_.count - count : 0, count);
    const size_t max_requests =
        std::max<size_t>(max_ranges_ / std::max<size_t>(readers_.size(), 1), 1);
    // The scan may still read rows that were not examined yet.
    const OrdinalRange possible = count < left_ ? OrdinalRange{begin_, end_} : OrdinalRange{0, 0};
    for (const auto& reader : readers_) reader->Expect(rows, possible, max_requests);
  }

  // Reads all columns. Returns the number of rows, at least 1.
  absl::StatusOr<size_t> ReadColumns(const ChosenRows& rows) {
    size_t count = rows.count;
    for (size_t i = 0; i < readers_.size(); ++i) {
      CFILE_ASSIGN_OR_RETURN(const size_t read,
                             readers_[i]->Read(rows.Part(0, count), batches_.columns[i]));
      count = std::min(count, read);
    }
    for (internal::RowSink* const sink : sinks_) sink->Truncate(count);
    for (size_t i = 0; i < readers_.size(); ++i) {
      if (!sinks_.empty()) break;
      const ColumnSchema& column = source_->schema().columns[columns_[i]];
      internal::Truncate(count, column.levels.max_definition, batches_.columns[i]);
    }
    return count;
  }

  // Opens the part's files of the columns to return.
  absl::Status OpenReaders() {
    while (readers_.size() < columns_.size()) {
      const size_t column = columns_[readers_.size()];
      CFILE_ASSIGN_OR_RETURN(const Reader file, source_->OpenColumn(part_, column));
      const ColumnType& type = source_->schema().columns[column].type;
      CFILE_RETURN_IF_ERROR(VisitType(type, [&]<typename T>(std::type_identity<T>) {
        CFILE_ASSIGN_OR_RETURN(auto reader, internal::NewRowReader<T>(file));
        if (!sinks_.empty()) reader->SetSink(sinks_[readers_.size()]);
        readers_.push_back(std::move(reader));
        return absl::OkStatus();
      }));
      reader_blocks_.resize(readers_.size());
      reader_blocks_.back() = 0;
    }
    return absl::OkStatus();
  }

  const std::shared_ptr<const ScanSource> source_;
  const std::vector<size_t> columns_;
  const BoundFilter filter_;
  const std::optional<internal::KeyRange> keys_;  // the keys that filter_ allows
  const bool reverse_;
  const std::atomic<bool>* const cancelled_;
  const size_t max_ranges_;  // for all columns together; each column may always read one range
  OrdinalRange range_;
  uint64_t left_;  // rows until the limit
  TableScanCounters counters_;

  // The part that is scanned. Rows of the part count from 0.
  size_t next_part_ = 0;             // the next part; if reverse_: plus 1
  std::optional<size_t> stop_part_;  // next_part_ at the end of the scan; nullopt: not known yet
  ManifestPart part_;
  uint64_t part_begin_ = 0;         // the ordinal of its first row
  std::optional<FilterTree> tree_;  // nullopt: all rows match
  // Conditions of the next part that are open already.
  // Set if a further condition could not be opened.
  FilterTree::OpenConditions opened_;
  uint64_t begin_ = 0;  // the rows that were not examined: begin_ to end_ - 1
  uint64_t end_ = 0;
  ChosenRows chosen_;    // matching rows that were found and not returned yet
  absl::Status failed_;  // the error that ended the search for matching rows
  std::vector<uint64_t> ordinals_;
  uint8_t bits_[internal::RowFilter::kMaxRows / 8];

  std::vector<std::unique_ptr<RowReader>> readers_;  // of the columns; opened when needed
  size_t most_rows_ = kBatchRows;                    // of the next batch
  size_t max_rows_ = kBatchRows;
  internal::ColumnBatches batches_;
  std::vector<internal::RowSink*> sinks_;  // one for each column; empty: rows go to batches_
  // What was counted of the part's readers and conditions.
  std::vector<uint64_t> reader_blocks_;
  internal::CountedConditions counted_;
};

template <ValueType T>
const Batch<T>& TableBatch::column(size_t column) const {
  assert(columns_ != nullptr && column < columns_->columns.size());
  assert(std::holds_alternative<Batch<T>>(columns_->columns[column]));
  return std::get<Batch<T>>(columns_->columns[column]);
}
template <ValueType T>
const LevelBatch<T>& TableBatch::levels(size_t column) const {
  assert(columns_ != nullptr && column < columns_->columns.size());
  assert(std::holds_alternative<LevelBatch<T>>(columns_->columns[column]));
  return std::get<LevelBatch<T>>(columns_->columns[column]);
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
  CFILE_ASSIGN_OR_RETURN(auto scan, TableScan::Impl::Create(impl_, options));
  return TableScan(std::move(scan));
}

absl::StatusOr<TableScan> NewTableScan(const Reader& reader, const TableScanOptions& options) {
  CFILE_ASSIGN_OR_RETURN(
      auto scan, TableScan::Impl::Create(std::make_shared<internal::FileAsTable>(reader), options));
  return TableScan(std::move(scan));
}

#define CFILE_INSTANTIATE(T)                                    \
  template const Batch<T>& TableBatch::column<T>(size_t) const; \
  template const LevelBatch<T>& TableBatch::levels<T>(size_t) const;
CFILE_FOR_EACH_VALUE_TYPE(CFILE_INSTANTIATE)
#undef CFILE_INSTANTIATE

}  // namespace cfile
