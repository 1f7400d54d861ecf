// Tries every encoding with every codec on a sample of a column.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/options.h"
#include "cfile/types.h"
#include "tools/columns/sample.h"
#include "tools/columns/stored_column.h"

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

// The blocks of a file or of the first part with rows of a table: at most kMostShownBlocks. For a
// table whose first part lacks the column, because the column is newer: nothing.
struct FormsInUse {
  std::vector<EncodingTotals> encodings;
  Compression compression = Compression::kNone;  // of the compressed blocks
};
inline constexpr uint64_t kMostShownBlocks = 64;
absl::StatusOr<FormsInUse> FindFormsInUse(const StoredColumn& column);

// The options with which the files of the column were written, as far as they concern the size and
// the speed: whether there is a value index, and whether blocks are movable. The encoding is
// kAuto.
absl::StatusOr<WriterOptions> OptionsInUse(const StoredColumn& column);

// The best of `trials` for a goal. Ignores forms that are read slower than the goal's speed
// (cfile/options.h, Goal), but never those that are read at least half as fast as the fastest.
// Takes the fastest of those that are at most the goal's factor larger than the smallest.
// Ignores trials in which a block got another encoding. nullptr: no trial is left.
// `decoded_bytes`: of the sample.
const FormTrial* Recommend(const std::vector<FormTrial>& trials, Goal goal, uint64_t decoded_bytes);

struct NamedGoal {
  Goal goal;
  std::string_view name;  // of --for
};
inline constexpr NamedGoal kGoals[] = {
    {Goal::kSize, "size"}, {Goal::kBalanced, "balanced"}, {Goal::kSpeed, "speed"}};

}  // namespace cfile::tools
