// A sample of a column in memory, and its trials: the size and the speed of each encoding with each
// codec, and the form that automatic choice takes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/file_info.h"
#include "cfile/options.h"
#include "cfile/types.h"
#include "tools/columns/stored_column.h"
#include "tools/document.h"
#include "tools/progress.h"

namespace cfile::tools {

// What one choice of WriterOptions does to a sample.
struct Trial {
  // The size of a file that has only the rows of the sample: blocks, indexes, statistics, header
  // and footer.
  uint64_t file_bytes = 0;
  ColumnTotals totals;
  double encode_seconds = 0;  // to write this file into memory
  double decode_seconds = 0;  // to read all its values from memory
  bool decoded = false;       // false: the reader returned all values where they are in the blocks
};

class Sample {
 public:
  virtual ~Sample() = default;

  // Writes the sample into memory and reads it again. Short work is repeated, at most twice, and
  // the shortest time counts. Uses one thread. Memory: the size of the new file. Errors: those of
  // Writer::Create and Append; kInternal if the file has other values than the sample.
  virtual absl::StatusOr<Trial> Try(const WriterOptions& options) const = 0;

  // The rows of the column that the sample has, in ascending order, without overlap.
  std::vector<OrdinalRange> ranges;
  uint64_t num_rows = 0;
  uint64_t num_entries = 0;  // rows, or entries of a column with levels
  uint64_t num_present = 0;  // entries that hold a value
  // The bytes of the values as a reader returns them: a string counts as its bytes plus 16 bytes
  // for its view. Nulls count as values, except in a column with levels.
  uint64_t decoded_bytes = 0;
};

// Reads a sample of about `max_bytes` decoded bytes: up to 16 ranges of rows, spread evenly over
// the column. Each range begins with the first row of a block. The sample of a smaller column has
// all its rows. If a file has no positional index, the sample has the first rows. Memory: about
// twice the size of the sample. Errors: those of Reader::Split and Cursor::Next.
absl::StatusOr<std::unique_ptr<Sample>> TakeSample(const StoredColumn& column, size_t max_bytes);

// An encoding with a codec.
struct StoredForm {
  Encoding encoding = Encoding::kPlain;
  Compression compression = Compression::kNone;
  friend bool operator==(const StoredForm&, const StoredForm&) = default;
};

struct FormTrial {
  StoredForm form;
  absl::StatusOr<Trial> result;
};

// The form of the blocks that take the most bytes. The codec is kNone if most of these blocks are
// not compressed. nullopt: there are no blocks.
std::optional<StoredForm> MainForm(const std::vector<EncodingTotals>& encodings,
                                   Compression compression);

// The forms in which the first blocks of a column are stored.
struct FormsInUse {
  std::vector<EncodingTotals> encodings;
  Compression compression = Compression::kNone;  // of the compressed blocks
  std::optional<ChoiceInfo> choice;              // of the file
};
inline constexpr uint64_t kMostShownBlocks = 64;
// The best of `trials` for a goal: the form that is read fastest among those that are larger than
// the smallest form by at most the goal's factor. Ignores trials in which a block got another
// encoding. Also ignores forms that are read slower than the goal's speed (cfile/options.h, Goal)
// and less than half as fast as the fastest form. nullptr: no trial is left. `decoded_bytes`: the
// size of the decoded values of the sample.
const FormTrial* Recommend(const std::vector<FormTrial>& trials, Goal goal, uint64_t decoded_bytes);

struct TrialOptions {
  size_t sample_bytes = size_t{16} << 20;  // the most decoded bytes of the sample
  std::string sort = "size";               // order of the trials: "size", "decode" or "encode"
  std::string goal = "balanced";  // goal of automatic choice: "size", "balanced" or "speed"
};

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

// Returns the options of cfile-import, with the name of the column (kFileColumn for a file), that
// store a column in this form.
std::string ImportOptionsOf(const StoredColumn& column, const StoredForm& form);

// What `cfile-dump whatif` prints for a column.
Document DocumentOf(const ColumnTrials& trials, const TrialOptions& options, bool json);

}  // namespace cfile::tools
