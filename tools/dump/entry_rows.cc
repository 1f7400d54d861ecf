#include "tools/dump/row_text.h"

#include <algorithm>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "cfile/levels.h"
#include "tools/dump/column_text.h"

namespace cfile::tools {
namespace {

// Returns kInvalidArgument in the cases that PlanEntries names.
absl::Status CheckChoice(const CommonOptions& common, const RowChoice& choice,
                         const RangeChoice& range, const RowForm& form, uint64_t num_records) {
  if (!choice.columns.empty())
    return absl::InvalidArgumentError("--columns is for tables, but this is a single column");
  if (choice.where || range.tail || range.sample || !range.from.empty() || !range.to.empty()) {
    return absl::InvalidArgumentError(
        "the column is nested: only --row, --ordinal and --limit choose its records");
  }
  if (form.format == RowFormat::kCsv || form.format == RowFormat::kJsonLines) {
    return absl::InvalidArgumentError(
        absl::StrCat("the column is nested: its records cannot be printed as ",
                     form.format == RowFormat::kCsv ? "csv" : "jsonl"));
  }
  return CheckFirst(common, range, num_records);
}

// Prints the entries of a file of T, one after the other.
template <typename T>
class EntryPrinter {
 public:
  EntryPrinter(const ColumnType& type, const LevelLimits& limits, Form form)
      : type_(type), limits_(limits), form_(form), json_(form == Form::kJson) {}

  // `record`: the ordinal of the entry's record. `value`: null if there is none.
  void Add(uint64_t record, uint16_t repetition, uint16_t definition, const T* value,
           std::string& out) {
    if (repetition == 0) {
      End(out);
      open_ = true;
      first_ = true;
      start_ = out.size();
      if (json_) {
        absl::StrAppend(&out, "{\"schema_version\":1,\"ordinal\":", record,
                        limits_.kudu_array ? ",\"value\":" : ",\"entries\":[");
      }
    }
    if (limits_.kudu_array) {
      AddElement(repetition, definition, value, out);
    } else if (json_) {
      absl::StrAppend(&out, first_ ? "" : ",", "{\"repetition\":", repetition,
                      ",\"definition\":", definition);
      if (value != nullptr) {
        out += ",\"value\":";
        AppendValue<T>(type_, *value, Form::kJson, out);
      }
      out += '}';
    } else {
      absl::StrAppend(&out, repetition, " ", definition, " ");
      if (value == nullptr) {
        out += '-';
      } else {
        AppendValue<T>(type_, *value, form_, out);
      }
      out += '\n';
    }
    first_ = false;
  }

  // Prints the end of the record that is open, if there is one.
  void End(std::string& out) {
    if (open_ && limits_.kudu_array) out += null_ ? "null" : "]";
    if (open_ && json_) out += limits_.kudu_array ? "}" : "]}";
    if (open_ && (json_ || limits_.kudu_array)) out += '\n';
    open_ = false;
  }

  // Removes the part of the open record that is still in `out`.
  void Drop(std::string& out) {
    if (open_) out.resize(start_);
    open_ = false;
  }
  // The size of this part.
  size_t PendingBytes(const std::string& out) const { return out.size() - start_; }
  // Call this when `out` has been written and is empty again.
  void Written() { start_ = 0; }

 private:
  // Prints an entry of one of Kudu's arrays. See LevelLimits::kudu_array for its levels.
  void AddElement(uint16_t repetition, uint16_t definition, const T* value, std::string& out) {
    if (repetition == 0) null_ = limits_.max_definition == 3 && definition == 0;
    if (null_) return;
    if (first_) out += '[';
    if (definition + 2 == limits_.max_definition) return;  // an empty array
    if (!first_) out += json_ ? "," : ", ";
    if (value == nullptr) {
      out += "null";
    } else {
      AppendValue<T>(type_, *value, form_ == Form::kHex ? form_ : Form::kJson, out);
    }
  }

  const ColumnType type_;
  const LevelLimits limits_;
  const Form form_;
  const bool json_;
  size_t start_ = 0;    // where the text of the open record, or its unwritten rest, begins in `out`
  bool open_ = false;   // a record has begun
  bool first_ = false;  // no entry of the record has been printed
  bool null_ = false;   // the record is a null array
};

// The records of one range of a file of T.
template <typename T>
class EntryRows final : public RowText {
 public:
  EntryRows(const ColumnType& type, Form form, LevelCursor<T> cursor, uint64_t end, FlushText flush)
      : cursor_(std::move(cursor)),
        end_(end),
        flush_(std::move(flush)),
        printer_(type, cursor_.limits(), form) {}

  absl::StatusOr<bool> Append(std::string& out) override {
    while (cursor_.record() < end_) {
      const absl::StatusOr<LevelBatch<T>> batch = cursor_.Next(
          static_cast<size_t>(std::min<uint64_t>(end_ - cursor_.record(), kMaxBatchRows)));
      if (!batch.ok()) {
        printer_.Drop(out);
        return batch.status();
      }
      uint64_t record = batch->first_record;
      const uint16_t full = cursor_.limits().max_definition;
      const T* value = batch->values.data();
      for (size_t i = 0; i < batch->num_entries; ++i) {
        const uint16_t repetition = batch->repetition.empty() ? 0 : batch->repetition[i];
        const uint16_t definition = batch->definition.empty() ? 0 : batch->definition[i];
        if (i > 0 && repetition == 0) ++record;
        printer_.Add(record, repetition, definition, definition == full ? value++ : nullptr, out);
        // Only a long record is written in pieces.
        if (flush_ && printer_.PendingBytes(out) >= kMostPendingBytes) {
          flush_(out);
          printer_.Written();
        }
      }
      // If no record ends in this batch, the next batch has more of the same record.
      if (batch->num_records > 0) {
        printer_.End(out);
        return true;
      }
    }
    return false;
  }
  uint64_t ordinal() const override { return cursor_.record(); }

 private:
  static constexpr size_t kMostPendingBytes = size_t{1} << 20;

  LevelCursor<T> cursor_;
  const uint64_t end_;
  const FlushText flush_;
  EntryPrinter<T> printer_;
};

}  // namespace

absl::StatusOr<RowPlan> PlanEntries(const Reader& file, const CommonOptions& common,
                                    const RowChoice& choice, const RangeChoice& range,
                                    const RowForm& form) {
  CFILE_RETURN_IF_ERROR(CheckChoice(common, choice, range, form, file.num_rows()));
  const Form value_form = form.format == RowFormat::kJson  ? Form::kJson
                          : form.format == RowFormat::kHex ? Form::kHex
                                                           : Form::kText;
  RowPlan plan{.one_thread = true};  // so that a long record is written in pieces
  const uint64_t count =
      std::min(range.count.value_or(UINT64_MAX), file.num_rows() - range.ordinal);
  if (count > 0) plan.ranges = {{range.ordinal, range.ordinal + count}};
  plan.open = [&file, value_form](const RowRanges& ranges, FlushText flush) {
    return VisitType(
        file.type(),
        [&]<typename T>(std::type_identity<T>) -> absl::StatusOr<std::unique_ptr<RowText>> {
          CFILE_ASSIGN_OR_RETURN(auto cursor, file.NewLevelCursor<T>());
          CFILE_RETURN_IF_ERROR(cursor.SeekToRecord(ranges.front().begin));
          return std::make_unique<EntryRows<T>>(file.type(), value_form, std::move(cursor),
                                                ranges.back().end, std::move(flush));
        });
  };
  return plan;
}

}  // namespace cfile::tools
