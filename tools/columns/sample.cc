#include "tools/columns/column_trials.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <span>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "cfile/io.h"
#include "cfile/status.h"

namespace cfile::tools {
namespace {

constexpr size_t kMostRanges = 16;
constexpr size_t kBatchRows = 1024;
// Work that takes longer is not repeated.
constexpr double kLongSeconds = 0.05;
constexpr int kMostRuns = 3;

double SecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// The shortest time of up to kMostRuns calls of `work`, which returns a status.
template <typename Work>
absl::StatusOr<double> ShortestTime(Work work) {
  double shortest = 0;
  double all = 0;
  for (int run = 0; run < kMostRuns && all < kLongSeconds; ++run) {
    const auto start = std::chrono::steady_clock::now();
    CFILE_RETURN_IF_ERROR(work());
    const double seconds = SecondsSince(start);
    all += seconds;
    shortest = run == 0 ? seconds : std::min(shortest, seconds);
  }
  return shortest;
}

template <typename T>
uint64_t DecodedBytes(std::span<const T> values) {
  uint64_t bytes = values.size_bytes();
  if constexpr (kIsBytes<T>) {
    for (const T& value : values) bytes += value.size();
  }
  return bytes;
}

template <typename T>
class TypedSample final : public Sample {
 public:
  explicit TypedSample(const StoredColumn& column) : column_(column) {}

  // Adds rows of `range` until it has at least `max_bytes` more bytes.
  absl::Status Add(const OrdinalRange& range, uint64_t max_bytes) {
    const uint64_t end_bytes = decoded_bytes + max_bytes;
    OrdinalRange added{range.begin, range.begin};
    CFILE_ASSIGN_OR_RETURN(const auto reader, ReadRows<T>(column_, range));
    while (decoded_bytes < end_bytes) {
      // A batch that ends within a record is followed by the rest of the record.
      uint64_t ended = 0;
      bool at_end = false;
      while (ended == 0 && !at_end) {
        CFILE_ASSIGN_OR_RETURN(const Rows<T> rows, reader(kBatchRows));
        ended = rows.num_rows();
        at_end = rows.empty();
        Append(rows);
      }
      added.end += ended;
      if (at_end) break;
    }
    if (added.size() == 0) return absl::OkStatus();
    num_rows += added.size();
    if (!ranges.empty() && ranges.back().end == added.begin) {
      ranges.back().end = added.end;
    } else {
      ranges.push_back(added);
    }
    return absl::OkStatus();
  }

  absl::StatusOr<Trial> Try(const WriterOptions& options) const override {
    Trial trial;
    std::vector<uint8_t> bytes;
    CFILE_ASSIGN_OR_RETURN(trial.encode_seconds, ShortestTime([&] {
                             bytes.clear();
                             return Write(options, bytes, trial.totals);
                           }));
    trial.file_bytes = bytes.size();
    CFILE_ASSIGN_OR_RETURN(const Reader file,
                           Reader::Open(NewMemoryViewSource(bytes),
                                        {.max_block_size_bytes = options.max_block_size_bytes,
                                         .max_dictionary_values = options.max_dictionary_values}));
    uint64_t entries = 0;
    CFILE_ASSIGN_OR_RETURN(trial.decode_seconds, ShortestTime([&] {
                             return CountEntries(file, bytes, entries, trial.decoded);
                           }));
    if (entries != num_entries) {
      return absl::InternalError(
          absl::StrCat("read ", entries, " of ", num_entries, " values again"));
    }
    return trial;
  }

 private:
  absl::Status Write(const WriterOptions& options, std::vector<uint8_t>& bytes,
                     ColumnTotals& totals) const {
    CFILE_ASSIGN_OR_RETURN(auto writer,
                           FileWriter<T>::Create(NewMemorySink(&bytes), column_, options));
    CFILE_RETURN_IF_ERROR(writer.Append(AllRows()));
    CFILE_RETURN_IF_ERROR(writer.Finish());
    totals = writer.totals();
    return absl::OkStatus();
  }

  // Reads all values of the file, whose bytes are `bytes`.
  static absl::Status CountEntries(const Reader& file, std::span<const uint8_t> bytes,
                                   uint64_t& entries, bool& decoded) {
    entries = 0;
    decoded = false;
    CFILE_ASSIGN_OR_RETURN(const auto reader, ReadRows<T>(ColumnOf(file)));
    for (;;) {
      CFILE_ASSIGN_OR_RETURN(const Rows<T> rows, reader(kMaxBatchRows));
      if (rows.empty()) return absl::OkStatus();
      entries += rows.size();
      for (const auto& values : {rows.flat.values, rows.levels.values}) {
        const auto* begin = reinterpret_cast<const uint8_t*>(values.data());
        const bool in_place = std::greater_equal<>()(begin, bytes.data()) &&
                              std::less<>()(begin, bytes.data() + bytes.size());
        decoded |= !values.empty() && !in_place;
      }
    }
  }

  void Append(const Rows<T>& rows) {
    num_entries += rows.size();
    if (column_.has_levels) {
      const LevelBatch<T>& levels = rows.levels;
      repetition_.insert(repetition_.end(), levels.repetition.begin(), levels.repetition.end());
      definition_.insert(definition_.end(), levels.definition.begin(), levels.definition.end());
      values_.Append(Batch<T>{.values = levels.values});
      num_present += levels.values.size();
      decoded_bytes += DecodedBytes(levels.values);
    } else {
      values_.Append(rows.flat);
      num_present += rows.flat.size() - rows.flat.null_count;
      decoded_bytes += DecodedBytes(rows.flat.values);
    }
  }

  Rows<T> AllRows() const {
    if (!column_.has_levels) return {.flat = values_.batch()};
    return {.levels = {.num_records = num_rows,
                       .num_entries = num_entries,
                       .repetition = repetition_,
                       .definition = definition_,
                       .values = values_.batch().values}};
  }

  const StoredColumn column_;
  OwnedBatch<T> values_;
  std::vector<uint16_t> repetition_, definition_;
};

absl::StatusOr<std::vector<OrdinalRange>> Places(const StoredColumn& column) {
  if (column.num_rows == 0) return std::vector<OrdinalRange>();
  if (column.table) return column.table->Split(column.column, kMostRanges);
  if (column.file->info().positional_index_root) return column.file->Split(kMostRanges);
  return std::vector<OrdinalRange>{{0, column.num_rows}};
}

}  // namespace

absl::StatusOr<std::unique_ptr<Sample>> TakeSample(const StoredColumn& column, size_t max_bytes) {
  return VisitType(
      column.schema.type,
      [&]<typename T>(std::type_identity<T>) -> absl::StatusOr<std::unique_ptr<Sample>> {
        auto sample = std::make_unique<TypedSample<T>>(column);
        CFILE_ASSIGN_OR_RETURN(const std::vector<OrdinalRange> places, Places(column));
        for (const OrdinalRange& place : places) {
          const uint64_t share = std::max<uint64_t>(max_bytes / places.size(), 1);
          CFILE_RETURN_IF_ERROR(sample->Add(place, share));
        }
        return sample;
      });
}

}  // namespace cfile::tools
