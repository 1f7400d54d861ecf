#include "tests/campaign/transcript.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "absl/hash/hash.h"
#include "cfile/levels.h"
#include "cfile/predicate.h"
#include "cfile/scan.h"
#include "cfile/table_scan.h"
#include "encodings/core/physical_type.h"

namespace cfile::campaign {

bool Transcript::IsFrontOf(const Transcript& whole) const {
  if (steps.size() > whole.steps.size() || (status.ok() && steps.size() != whole.steps.size()))
    return false;
  return std::equal(steps.begin(), steps.end(), whole.steps.begin());
}

template <typename T>
uint64_t HashOf(const T& value) {
  if constexpr (encodings::kIsBytes<T>) {
    return absl::HashOf(std::string_view(value).size(),
                        absl::string_view(value.data(), value.size()));
  } else {
    return absl::HashOf(absl::string_view(reinterpret_cast<const char*>(&value), sizeof(value)));
  }
}

#define CFILE_INSTANTIATE(T) template uint64_t HashOf<T>(const T&);
CFILE_FOR_EACH_VALUE_TYPE(CFILE_INSTANTIATE)
#undef CFILE_INSTANTIATE

namespace {

template <typename T>
uint64_t HashOfValues(std::span<const T> values, uint64_t seed) {
  for (const T& value : values) seed = absl::HashOf(seed, HashOf(value));
  return seed;
}

// Reads `reader` to its end or to the first error, and stores the error in `transcript`. If the
// file or its type does not support a call (kFailedPrecondition, kInvalidArgument), the code of the
// status is stored as a step.
template <typename T>
class TranscriptOf {
 public:
  TranscriptOf(const Reader& reader, Transcript& transcript)
      : reader_(reader), transcript_(transcript) {}

  void Read() {
    const FileInfo& info = reader_.info();
    Step(absl::HashOf(info.type.ToString(), info.nullable, info.num_rows, info.header_metadata,
                      info.footer_metadata));
    info.has_levels() ? ReadLevels() : ReadRows();
  }

 private:
  static constexpr size_t kBatchRows = 1000;

  void Step(uint64_t hash) { transcript_.steps.push_back(hash); }
  // Returns true if `status` is OK. Otherwise stores the error, or a step for an unsupported call.
  bool Good(const absl::Status& status) {
    if (status.ok()) return true;
    if (absl::IsFailedPrecondition(status) || absl::IsInvalidArgument(status)) {
      Step(static_cast<uint64_t>(status.code()));
    } else if (transcript_.status.ok()) {
      transcript_.status = status;
    }
    return false;
  }
  bool failed() const { return !transcript_.status.ok(); }

  uint64_t HashOfBatch(const Batch<T>& batch) {
    uint64_t hash = absl::HashOf(batch.first_ordinal, batch.size(), batch.null_count);
    for (size_t i = 0; i < batch.size(); ++i) hash = absl::HashOf(hash, batch.IsValid(i));
    return HashOfValues<T>(batch.values, hash);
  }

  void ReadRows() {
    auto cursor = reader_.NewCursor<T>();
    if (!Good(cursor.status()) || !Good(reader_.Statistics().status())) return;
    // Each batch is a step, so that batches before an error are compared, too.
    while (true) {
      const auto batch = cursor->Next(kBatchRows);
      if (!Good(batch.status()) || batch->empty()) break;
      Step(HashOfBatch(*batch));
      for (size_t i = 0; i < batch->size(); i += 1 + batch->size() / 3) Keep(*batch, i);
    }
    if (failed()) return;
    const uint64_t rows = reader_.num_rows();
    for (uint64_t ordinal = rows; ordinal-- > 0; ordinal -= std::min(ordinal, rows / 10)) {
      const auto value = cursor->Get(ordinal);
      if (Good(value.status())) Step(*value ? HashOf(**value) : 0);
      if (failed()) return;
    }
    if (reader_.info().value_index_root) SeekKeys(*cursor);
    if (!failed() && rows > 0) Filter();
    if (!failed() && rows > 0) ScanAsTable();
  }

  void Keep(const Batch<T>& batch, size_t i) {
    if (kept_.size() < 20 && batch.IsValid(i)) kept_.emplace_back(batch.values[i]);
  }

  void SeekKeys(Cursor<T>& cursor) {
    std::vector<Owned<T>> keys = kept_;
    keys.emplace_back();
    for (const Owned<T>& key : keys) {
      const auto found = cursor.SeekToKey(T(key));
      if (Good(found.status())) Step(absl::HashOf(found->ordinal, found->exact));
      if (failed()) return;
      const auto batch = cursor.Next(3);
      if (Good(batch.status())) Step(HashOfBatch(*batch));
      if (failed()) return;
    }
  }

  // Scans for the rows that are not less than a value from the middle of the file.
  void Filter() {
    const Owned<T> low = kept_.empty() ? Owned<T>() : kept_[kept_.size() / 2];
    auto scan = reader_.NewScan<T>(Predicate<T>::GreaterOrEqual(T(low)));
    if (!Good(scan.status())) return;
    while (true) {
      const auto batch = scan->Next();
      if (!Good(batch.status()) || batch->empty()) return;
      uint64_t hash = 0;
      for (const uint64_t ordinal : batch->ordinals) hash = absl::HashOf(hash, ordinal);
      Step(hash);
    }
  }

  // Scans forward and backward with a filter that reads some blocks and skips others.
  void ScanAsTable() {
    if (kept_.empty()) return;
    const T kept(kept_[kept_.size() / 2]);
    const Literal value(kept);
    const cfile::Filter filter = Or(Not(Eq("value", value)), IsNull("value"));
    for (const bool reverse : {false, true}) {
      auto scan = NewTableScan(reader_, {.where = filter, .reverse = reverse});
      if (!Good(scan.status())) return;
      while (true) {
        const auto batch = scan->Next();
        if (!Good(batch.status()) || batch->empty()) break;
        for (size_t row = 0; row < batch->num_rows(); row += 1 + batch->num_rows() / 3)
          Step(batch->ordinal(row));
        Step(HashOfBatch(batch->template column<T>(0)));
      }
      if (failed()) return;
    }
  }

  void ReadLevels() {
    auto cursor = reader_.NewLevelCursor<T>();
    if (!Good(cursor.status()) || !Good(reader_.Statistics().status())) return;
    ReadEntries(*cursor, SIZE_MAX);
    const uint64_t records = reader_.num_rows();
    for (uint64_t record = 0; record < records && !failed(); record += 1 + records / 3) {
      if (Good(cursor->SeekToRecord(record))) ReadEntries(*cursor, 2);
    }
  }

  void ReadEntries(LevelCursor<T>& cursor, size_t max_batches) {
    while (max_batches-- > 0) {
      const auto batch = cursor.Next(kBatchRows);
      if (!Good(batch.status()) || batch->empty()) return;
      uint64_t hash = absl::HashOf(batch->first_record, batch->num_records, batch->num_entries);
      hash = HashOfValues<uint16_t>(batch->repetition, hash);
      hash = HashOfValues<uint16_t>(batch->definition, hash);
      Step(HashOfValues<T>(batch->values, hash));
    }
  }

  const Reader& reader_;
  Transcript& transcript_;
  std::vector<Owned<T>> kept_;  // some of the values
};

}  // namespace

Transcript TranscriptOfFile(const absl::StatusOr<Reader>& reader) {
  Transcript transcript{.steps = {}, .status = reader.status()};
  if (!reader.ok()) return transcript;
  encodings::VisitPhysicalType(reader->type().physical(), [&](auto t) {
    TranscriptOf<typename decltype(t)::type>(*reader, transcript).Read();
  });
  return transcript;
}

}  // namespace cfile::campaign
