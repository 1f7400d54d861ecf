// Tries every encoding with every codec on a sample of a column.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/file_info.h"
#include "cfile/options.h"
#include "cfile/types.h"
#include "tools/columns/sample.h"
#include "tools/columns/stored_column.h"
#include "tools/encoding_reason.h"

namespace cfile::tools {

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

// The encodings of the registry that take values of `type`, each with each codec of this build.
std::vector<StoredForm> FormsOf(const ColumnType& type);

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
// Returns the forms of the first kMostShownBlocks blocks of a file. For a column of a table, reads
// the file of the first part that has rows and a file of the column. Parts that are older than the
// column have no such file.
absl::StatusOr<FormsInUse> FindFormsInUse(const StoredColumn& column);

// Returns the options for trials. Value index and movable blocks are as in the file that
// FindFormsInUse reads, because both change the size. The encoding is kAuto.
absl::StatusOr<WriterOptions> OptionsInUse(const StoredColumn& column);

// The best of `trials` for a goal. Ignores trials in which a block got another encoding, and forms
// that are read slower than the goal's speed (cfile/options.h, Goal), unless they are read at least
// half as fast as the fastest form. Of the other forms, returns the form that is read fastest and
// is larger than the smallest form by at most the goal's factor. nullptr: no trial is left.
// `decoded_bytes`: the size of the decoded values of the sample.
const FormTrial* Recommend(const std::vector<FormTrial>& trials, Goal goal, uint64_t decoded_bytes);

}  // namespace cfile::tools
