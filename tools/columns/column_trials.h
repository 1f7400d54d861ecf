// The trials of one column: the size and the speed of each encoding with each codec, and the form
// that automatic choice takes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/columns/sample.h"
#include "tools/columns/stored_column.h"
#include "tools/columns/trials.h"
#include "tools/dump/dump.h"
#include "tools/progress.h"

namespace cfile::tools {

struct TrialOptions {
  size_t sample_bytes = size_t{16} << 20;  // the most decoded bytes of the sample
  std::string sort = "size";               // order of the trials: "size", "decode" or "encode"
  std::string goal = "balanced";  // goal of automatic choice: "size", "balanced" or "speed"
};

// The results of the trials of one column.
struct ColumnTrials {
  StoredColumn column;
  std::unique_ptr<Sample> sample;
  FormsInUse in_use;
  Trial automatic;                // the trial of the form that automatic choice takes
  absl::Status automatic_status;  // if not OK, `automatic` has no meaning
  std::vector<FormTrial> trials;  // sorted; trials that failed are last

  std::optional<StoredForm> form_in_use() const {
    return MainForm(in_use.encodings, in_use.compression);
  }
  std::optional<StoredForm> automatic_form() const {
    return MainForm(automatic.totals.encodings, automatic.totals.compression);
  }
  bool has_all_rows() const { return sample->num_rows == column.num_rows; }
};

// Tries all forms on a sample of the column. A form that fails is in the result, with its error.
// Errors: those of reading the column; kCancelled, after a signal.
absl::StatusOr<ColumnTrials> TryAll(const StoredColumn& column, const CommonOptions& common,
                                    const TrialOptions& options, Progress& progress);

// What the user should know about a trial: blocks that have another encoding than the chosen one,
// or that the codec did not make smaller.
std::string NoteOf(const FormTrial& trial);

// The size of the smallest file, in bytes; at least 1.
uint64_t SmallestOf(const std::vector<FormTrial>& trials);
// Returns `amount` per second, or 0 if `seconds` is 0.
double PerSecond(uint64_t amount, double seconds);

// Returns whether reading the sample decodes values. The reader does not decode some forms, but
// returns the values where they are in the block. This function recognizes such a form by a reading
// speed that is higher than the speed at which a core can write memory.
bool IsDecoded(const Sample& sample, const Trial& trial);

// Returns the options of cfile-import that store a column in this form. The options contain the
// name of the column. For a file, this name is kFileColumn.
std::string ImportOptionsOf(const StoredColumn& column, const StoredForm& form);

// The object that `cfile-dump whatif --json` prints for a column.
Json ToJson(const ColumnTrials& trials, const TrialOptions& options);

}  // namespace cfile::tools
