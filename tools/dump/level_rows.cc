#include "tools/dump/level_rows.h"

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "cfile/levels.h"
#include "cfile/status.h"
#include "tools/dump/column_text.h"

namespace cfile::tools {
namespace {

// A record with more text than this is written in pieces.
constexpr size_t kMostPendingBytes = size_t{1} << 20;

// Returns kInvalidArgument in the cases that AppendLevelRows names.
absl::Status CheckChoice(const CommonOptions& common, const RowChoice& choice,
                         const RangeChoice& range, const std::string& format,
                         uint64_t num_records) {
  if (!choice.columns.empty())
    return absl::InvalidArgumentError("--columns is for tables, but this is a single column");
  if (choice.where || range.tail || range.sample || !range.from.empty() || !range.to.empty()) {
    return absl::InvalidArgumentError(
        "the column is nested: only --ordinal, --count and --head choose its records");
  }
  if (format != "text" && format != "hex") {
    return absl::InvalidArgumentError(
        absl::StrCat("the column is nested: its records cannot be printed as ", format));
  }
  if (range.ordinal > num_records) {
    return absl::InvalidArgumentError(absl::StrCat("record ", range.ordinal,
                                                   " is beyond the end: ", common.path, " has ",
                                                   Plural(num_records, "record")));
  }
  return absl::OkStatus();
}

// Prints the entries of a file of T, one after the other.
template <typename T>
class EntryPrinter {
 public:
  EntryPrinter(const ColumnType& type, const LevelLimits& limits, Form form, bool json,
               std::string& out)
      : type_(type), limits_(limits), form_(form), json_(json), out_(out) {}

  // Prints an entry. `record`: the ordinal of the record to which the entry belongs. `value`: null
  // if the entry has no value.
  void Add(uint64_t record, uint16_t repetition, uint16_t definition, const T* value) {
    if (repetition == 0) {
      End();
      open_ = true;
      first_ = true;
      start_ = out_.size();
      if (json_) {
        absl::StrAppend(&out_, "{\"schema_version\":1,\"ordinal\":", record,
                        limits_.kudu_array ? ",\"value\":" : ",\"entries\":[");
      }
    }
    if (limits_.kudu_array) {
      AddElement(repetition, definition, value);
    } else if (json_) {
      absl::StrAppend(&out_, first_ ? "" : ",", "{\"repetition\":", repetition,
                      ",\"definition\":", definition);
      if (value != nullptr) {
        out_ += ",\"value\":";
        AppendValue<T>(type_, *value, Form::kJson, out_);
      }
      out_ += '}';
    } else {
      absl::StrAppend(&out_, repetition, " ", definition, " ");
      if (value == nullptr) {
        out_ += '-';
      } else {
        AppendValue<T>(type_, *value, form_, out_);
      }
      out_ += '\n';
    }
    first_ = false;
  }

  // Prints the end of the record that is open, if there is one.
  void End() {
    if (open_ && limits_.kudu_array) out_ += null_ ? "null" : "]";
    if (open_ && json_) out_ += limits_.kudu_array ? "}" : "]}";
    if (open_ && (json_ || limits_.kudu_array)) out_ += '\n';
    open_ = false;
  }

  // Removes the part of the open record that is still in `out`.
  void Drop() {
    if (open_) out_.resize(start_);
    open_ = false;
  }

  // Call this when `out` has been written and is empty again.
  void Written() { start_ = 0; }

 private:
  // Prints an entry of one of Kudu's arrays. See LevelLimits::kudu_array for its levels.
  void AddElement(uint16_t repetition, uint16_t definition, const T* value) {
    if (repetition == 0) null_ = limits_.max_definition == 3 && definition == 0;
    if (null_) return;
    if (first_) out_ += '[';
    if (definition + 2 == limits_.max_definition) return;  // an empty array
    if (!first_) out_ += json_ ? "," : ", ";
    if (value == nullptr) {
      out_ += "null";
    } else {
      AppendValue<T>(type_, *value, form_ == Form::kHex ? form_ : Form::kJson, out_);
    }
  }

  const ColumnType& type_;
  const LevelLimits limits_;
  const Form form_;
  const bool json_;
  std::string& out_;
  size_t start_ = 0;    // where the text of the open record, or its unwritten rest, begins in `out`
  bool open_ = false;   // a record has begun
  bool first_ = false;  // no entry of the record has been printed
  bool null_ = false;   // the record is a null array
};

}  // namespace

absl::Status AppendLevelRows(const Reader& file, const CommonOptions& common,
                             const RowChoice& choice, const RangeChoice& range,
                             const std::string& format, Output& output) {
  CFILE_RETURN_IF_ERROR(CheckChoice(common, choice, range, format, file.num_rows()));
  const Form form = common.json ? Form::kJson : format == "hex" ? Form::kHex : Form::kText;
  return VisitType(file.type(), [&]<typename T>(std::type_identity<T>) -> absl::Status {
    CFILE_ASSIGN_OR_RETURN(auto cursor, file.NewLevelCursor<T>());
    CFILE_RETURN_IF_ERROR(cursor.SeekToRecord(range.ordinal));
    const uint64_t end =
        range.ordinal + std::min(range.count.value_or(UINT64_MAX), file.num_rows() - range.ordinal);
    const uint16_t full = cursor.limits().max_definition;
    EntryPrinter<T> printer(file.type(), cursor.limits(), form, common.json, output.text);
    while (cursor.record() < end) {
      const absl::StatusOr<LevelBatch<T>> batch = cursor.Next(
          static_cast<size_t>(std::min<uint64_t>(end - cursor.record(), kMaxBatchRows)));
      if (!batch.ok()) {
        printer.Drop();
        return batch.status();
      }
      uint64_t record = batch->first_record;
      const T* value = batch->values.data();
      for (size_t i = 0; i < batch->num_entries; ++i) {
        const uint16_t repetition = batch->repetition.empty() ? 0 : batch->repetition[i];
        const uint16_t definition = batch->definition.empty() ? 0 : batch->definition[i];
        if (i > 0 && repetition == 0) ++record;
        // A record is written only when all of it was read, so that it can be removed if its rest
        // is damaged. Only a record of more than kMostPendingBytes is written in pieces.
        if (repetition == 0 || output.text.size() >= kMostPendingBytes) {
          if (!output.Drain()) return absl::OkStatus();
          if (output.text.empty()) printer.Written();
        }
        printer.Add(record, repetition, definition, definition == full ? value++ : nullptr);
      }
      // If no record ends in this batch, the next batch has more of the same record.
      if (batch->num_records > 0) printer.End();
    }
    return absl::OkStatus();
  });
}

}  // namespace cfile::tools
