// The options that say how the values of columns are stored: --encoding, --compression, --for,
// --block-size, --pack-below, --bloom, --format-version and --oldest-reader. All tools that write
// columns have these options.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "cfile/options.h"
#include "cfile/schema.h"
#include "cfile/types.h"
#include "tools/command.h"

namespace cfile::tools {

// A choice for all columns, and choices for named columns that override it.
template <typename T>
struct Choice {
  T for_all{};
  std::map<std::string, T> for_column;

  const T& Of(const std::string& column) const {
    const auto found = for_column.find(column);
    return found == for_column.end() ? for_all : found->second;
  }
};

struct LayoutOptions {
  Choice<Encoding> encoding{.for_all = Encoding::kAuto, .for_column = {}};
  Choice<Compression> compression{.for_all = Compression::kDefault, .for_column = {}};
  Goal goal = Goal::kBalanced;
  bool goal_given = false;  // true if the user has given --for
  size_t block_size_bytes = WriterOptions().block_size_bytes;
  std::set<std::string> bloom;  // columns that get a Bloom filter
  size_t max_packed_part_bytes = WriterOptions().max_packed_part_bytes;
  FormatVersion version = FormatVersion::kV2;
  OldestReader oldest_reader = OldestReader::kDefault;

  // True if files may have the extensions of this library, such as statistics.
  bool has_extensions() const {
    return version != FormatVersion::kV1 && oldest_reader != OldestReader::kKudu;
  }
};

// Calls visit(option, name) for each column that an option names.
template <typename Visitor>
void VisitLayoutColumns(const LayoutOptions& options, Visitor visit) {
  for (const auto& [name, encoding] : options.encoding.for_column) visit("--encoding", name);
  for (const auto& [name, codec] : options.compression.for_column) visit("--compression", name);
  for (const std::string& name : options.bloom) visit("--bloom", name);
}

// kInvalidArgument: an option names a column that `place`, with the columns `known`, does not have.
absl::Status NoSuchColumn(std::string_view option, const std::string& name,
                          const std::string& place, const std::vector<std::string>& known);
// CheckColumn: the same error if `schema` does not have the column `name`. CheckColumns: the same
// error if one of `names`, the value of --columns, is not in `known`.
absl::Status CheckColumn(const char* option, const std::string& name, const std::string& place,
                         const Schema& schema);
absl::Status CheckColumns(const std::vector<std::string>& names, const std::string& place,
                          const std::vector<std::string>& known);

// False if a row of the table may be a record with groups or lists.
bool IsFlat(const Schema& schema);

// The writer's options for a column. The limits of a writer keep their default values.
WriterOptions WriterOptionsOf(const LayoutOptions& options, const std::string& column);

// Adds the option --pack-below for WriterOptions::max_packed_part_bytes, even to tools that have
// none of the other options.
void AddPackBelow(Command& command, size_t* max_packed_part_bytes);

// The options on a command line.
class LayoutArguments {
 public:
  // Adds the options to `command`. This object must outlive the parsing.
  void AddTo(Command& command);
  // Sets `options` to what the user has given. kInvalidArgument: an option is wrong.
  // kUnimplemented: this build does not have the encoding or the codec. The error names the option.
  absl::Status Read(LayoutOptions& options) const;

 private:
  std::vector<std::string> encodings_, compressions_, bloom_;
  std::string goal_, format_version_ = "2", oldest_reader_;
  size_t block_size_bytes_ = WriterOptions().block_size_bytes;
  size_t max_packed_part_bytes_ = WriterOptions().max_packed_part_bytes;
};

// Splits COLUMN=VALUE at the last =, because the name of a column may contain =, but a value does
// not, except a format of dates. Returns false if there is no =, or if the name is empty.
bool SplitColumnOption(const std::string& text, std::string& column, std::string& value);

}  // namespace cfile::tools
