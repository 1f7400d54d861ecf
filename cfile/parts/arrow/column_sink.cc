#include "cfile/parts/arrow/column_sink.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "cfile/parts/arrow/bitmap.h"
#include "cfile/parts/arrow/value_store.h"
#include "cfile/parts/scan/row_reader.h"
#include "encodings/core/assert.h"
#include "encodings/core/lane.h"
#include "encodings/core/status.h"
#include "encodings/hybrid/validity.h"

namespace cfile::internal {
namespace {

// Borrowed values lie in the memory of one block. At the end of the block, the batch ends only if
// it has at least this many rows, or, in a column with levels, this many records. (Records are
// larger.)
constexpr size_t kFewRows = 4096;
constexpr size_t kFewRecords = 512;

class LeafSink final : public ColumnSink, public RowSink {
 public:
  LeafSink(const ColumnType& type, ArrowLayout layout, const LeafPlace& place, size_t capacity)
      : ColumnSink(place, capacity),
        rule_(place.rule),
        nullable_(place.nullable),
        lane_(encodings::LaneOf(type.physical())),
        store_(NewStore(type, layout, capacity)) {}

  RowSink* row_sink() override { return this; }
  size_t size() const override { return store_->size(); }
  bool WantsEnd() const override {
    return store_->size_bytes() >= kEnoughBytes ||
           (store_->ends_borrowed() &&
            (num_records_ >= kFewRecords || (num_records_ == 0 && store_->size() >= kFewRows)));
  }

  absl::StatusOr<size_t> Add(const AnyBatch& rows,
                             const std::shared_ptr<const Source>& source) override {
    if (!nodes_.empty()) return AddAsLevels(rows, source);
    AnyBatch some = rows;
    // Takes fewer rows if fixed bytes are long, because a null needs as much memory as a value.
    if (const size_t bytes = store_->null_bytes(); bytes > 0)
      some.count = std::min(rows.size(), std::max<size_t>(kEnoughBytes / bytes, 1));
    CFILE_ASSIGN_OR_RETURN(const size_t added, store_->Append(some, source));
    AppendValidity(rows.validity, added);
    return added;
  }

  void* Room(size_t count) override { return nodes_.empty() ? store_->Room(count) : nullptr; }
  void AddWritten(const AnyBatch& batch) override {
    store_->AddWritten(batch.size());
    AppendValidity(batch.validity, batch.size());
  }
  encodings::PackedStrings* Packed(const Source& source) override {
    return nodes_.empty() ? store_->Packed(source) : nullptr;
  }
  void AddPacked(size_t count, const AnyBatch& batch) override {
    AppendValidity(batch.validity, count);
  }
  uint32_t* RoomForCodes(size_t count) override {
    return nodes_.empty() ? store_->RoomForCodes(count) : nullptr;
  }
  absl::StatusOr<size_t> AddCodes(
      const Batch<uint32_t>& codes, encodings::ValueSpan values,
      const std::shared_ptr<const encodings::Dictionary>& dictionary) override {
    CFILE_ASSIGN_OR_RETURN(const size_t added,
                           store_->AppendCodes(codes, values.As<std::string_view>(), dictionary));
    AppendValidity(codes.validity, added);
    return added;
  }

  void* RoomForLevels(size_t count) override {
    room_ = store_->Room(count);
    return room_;
  }
  absl::StatusOr<size_t> AddLevels(const AnyLevelBatch& batch,
                                   const std::shared_ptr<const Source>& source) override {
    pending_ = batch;
    pending_source_ = source;
    pending_ends_block_ = false;
    in_room_ = room_ != nullptr && batch.values.data == room_;
    room_ = nullptr;
    // Of long strings, takes only as many records as fit.
    while (pending_->num_records > 1 && PendingBytes() > kEnoughBytes)
      Truncate(pending_->num_records / 2);
    return pending_->num_records;
  }

  void EndBlock() override {
    if (pending_) {
      pending_ends_block_ = true;
    } else {
      store_->EndBlock();
    }
  }

  void Truncate(size_t rows) override {
    room_ = nullptr;
    if (pending_) {
      if (rows == 0) {
        pending_.reset();
      } else if (rows < pending_->num_records) {
        internal::Truncate(rows, rule_.valid_definition, *pending_);
        pending_ends_block_ = false;
      }
      return;
    }
    store_->Truncate(kept_ + rows);
    validity_.Truncate(kept_ + rows);
  }

  absl::Status Commit() override {
    MarkNodes();
    kept_before_ = kept_;
    records_before_ = num_records_;
    if (pending_) {
      const absl::Status status = AppendLevels(*pending_);
      num_records_ += pending_->num_records;
      pending_.reset();
      CFILE_RETURN_IF_ERROR(status);
      if (pending_ends_block_) store_->EndBlock();
    }
    kept_ = store_->size();
    return absl::OkStatus();
  }
  void Undo() override {
    TruncateNodes();
    kept_ = kept_before_;
    num_records_ = records_before_;
    pending_.reset();
    Truncate(0);
  }

  void Finish(ArrayParts& parts) override {
    CFILE_ASSERT(kept_ == store_->size());
    validity_.Finish(parts);
    store_->Finish(parts);
    kept_ = 0;
    num_records_ = 0;
  }

 private:
  size_t PendingBytes() {
    size_t bytes = (pending_->num_entries - pending_->values.count) * store_->null_bytes();
    if (lane_ == encodings::Lane::kBytes)
      bytes += encodings::OwnBytes(pending_->values.As<std::string_view>());
    return bytes;
  }

  // Takes the rows of a column without levels, and makes one entry for each row, because the
  // structs around the column need levels.
  absl::StatusOr<size_t> AddAsLevels(const AnyBatch& batch,
                                     const std::shared_ptr<const Source>& source) {
    const size_t count = batch.size();
    AnyLevelBatch entries{
        .num_records = count, .num_entries = count, .values = {batch.values, count}};
    if (rule_.valid_definition > 0) {
      definition_.resize(std::max(definition_.size(), count));
      for (size_t i = 0; i < count; ++i) definition_[i] = batch.IsValid(i);
      entries.definition = std::span(definition_).first(count);
      if (batch.validity != nullptr) {
        void* const packed = Reserve(count, packed_);
        entries.values = {
            packed, encodings::PackValues(lane_, batch.values, batch.validity, 0, count, packed)};
      }
    }
    return AddLevels(entries, source);
  }

  absl::Status AppendLevels(const AnyLevelBatch& batch) {
    const size_t count = batch.num_entries;
    if (batch.repetition.empty() || batch.definition.empty())
      zeros_.resize(std::max(zeros_.size(), count));
    const Entries entries{
        .repetition = batch.repetition.empty() ? zeros_.data() : batch.repetition.data(),
        .definition = batch.definition.empty() ? zeros_.data() : batch.definition.data(),
        .count = count};
    for (NodeLevels& node : nodes_) CFILE_RETURN_IF_ERROR(node.Append(entries));
    const size_t present = batch.values.count;
    // All values are present if the value and all structs around it are required.
    const bool all_present = rule_.definition == rule_.valid_definition;
    if (all_present || present == count) return AppendPending(batch.values);
    const size_t found = finder_.Find(rule_, entries, 0, nullptr).values;
    const uint8_t* const validity = finder_.validity();
    if (validity == nullptr) return AppendPending(batch.values);
    void* const spread = Reserve(found, spread_);
    encodings::SpreadValues(lane_, batch.values.data, validity, found, spread);
    return AppendValues({spread, found}, validity, nullptr);
  }

  void* Reserve(size_t count, std::vector<std::byte>& buffer) const {
    buffer.resize(std::max(buffer.size(), count * encodings::WidthOf(lane_)));
    return buffer.data();
  }

  // Appends values of pending_, none of which is null.
  absl::Status AppendPending(encodings::ValueSpan values) {
    if (!in_room_) return AppendValues(values, nullptr, pending_source_);
    store_->AddWritten(values.count);
    AppendValidity(nullptr, values.count);
    return absl::OkStatus();
  }

  absl::Status AppendValues(encodings::ValueSpan values, const uint8_t* validity,
                            const std::shared_ptr<const Source>& source) {
    if (values.empty()) return absl::OkStatus();
    const AnyBatch batch{.values = values.data, .count = values.count, .validity = validity};
    CFILE_ASSIGN_OR_RETURN(const size_t added, store_->Append(batch, source));
    if (added < values.count)
      return absl::OutOfRangeError("the values of one batch need more than 2^31 bytes");
    AppendValidity(validity, added);
    return absl::OkStatus();
  }

  // A required value is never null, but if the struct around it is null, it has any contents.
  void AppendValidity(const uint8_t* validity, size_t count) {
    validity_.Append(nullable_ ? validity : nullptr, count);
  }

  const LevelRule rule_;
  const bool nullable_;
  const encodings::Lane lane_;
  const std::unique_ptr<ValueStore> store_;
  Validity validity_;
  size_t kept_ = 0;         // number of values that Truncate does not remove
  size_t num_records_ = 0;  // of a column with levels: records that Truncate does not remove
  size_t kept_before_ = 0;  // kept_ and num_records_ before the last Commit
  size_t records_before_ = 0;
  std::optional<AnyLevelBatch> pending_;  // what was added, but not kept
  std::shared_ptr<const Source> pending_source_;
  bool pending_ends_block_ = false;
  bool in_room_ = false;  // the values of pending_ begin at the end of the store
  void* room_ = nullptr;  // the last result of RoomForLevels

  // Members whose memory is used again for each batch.
  std::vector<std::byte> spread_;
  std::vector<std::byte> packed_;
  std::vector<uint16_t> definition_;
  std::vector<uint16_t> zeros_;
  ValueFinder finder_;
};

}  // namespace

std::unique_ptr<ColumnSink> NewColumnSink(const ColumnType& type, ArrowLayout layout,
                                          const LeafPlace& place, size_t capacity) {
  return std::make_unique<LeafSink>(type, layout, place, capacity);
}

}  // namespace cfile::internal
