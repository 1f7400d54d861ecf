#include "tools/layout_options.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "cfile/filter.h"
#include "cfile/status.h"

namespace cfile::tools {
namespace {

std::vector<Encoding> AllEncodings() {
  constexpr uint32_t kEnd = 2000;  // all encodings have smaller numbers
  std::vector<Encoding> all;
  for (uint32_t number = 1; number < kEnd; ++number) {
    if (!EncodingSuits(Encoding{number}).empty()) all.push_back(Encoding{number});
  }
  return all;
}

// Fills `choice` from `texts`, each of the form VALUE (for all columns) or COLUMN=VALUE. An error
// suggests the nearest name, which is name_of(each) of one of all().
template <typename T>
absl::Status Choose(const char* option, const std::vector<std::string>& texts,
                    absl::StatusOr<T> parse(std::string_view), std::vector<T> all(),
                    std::string name_of(T), Choice<T>& choice) {
  for (const std::string& text : texts) {
    std::string column, value;
    const bool named = SplitColumnOption(text, column, value);
    const absl::StatusOr<T> parsed = parse(named ? value : text);
    if (!parsed.ok()) {
      std::vector<std::string> names;
      for (const T each : all()) names.push_back(name_of(each));
      return absl::Status(parsed.status().code(),
                          StrCat(option, " ", text, ": ", parsed.status().message(),
                                 Suggestion(named ? value : text, names)));
    }
    (named ? choice.for_column[column] : choice.for_all) = *parsed;
  }
  return absl::OkStatus();
}

}  // namespace

bool SplitColumnOption(const std::string& text, std::string& column, std::string& value) {
  const size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0) return false;
  column = text.substr(0, equals);
  value = text.substr(equals + 1);
  return true;
}

absl::Status NoSuchColumn(std::string_view option, const std::string& name,
                          const std::string& place, const std::vector<std::string>& known) {
  return absl::InvalidArgumentError(absl::StrCat(std::string(option), " ", name, ": ", place,
                                                 " has no column of that name",
                                                 Suggestion(name, known)));
}

absl::Status CheckColumn(const char* option, const std::string& name, const std::string& place,
                         const Schema& schema) {
  if (schema.Find(name)) return absl::OkStatus();
  std::vector<std::string> known;
  for (const ColumnSchema& column : schema.columns) known.push_back(column.name);
  return NoSuchColumn(option, name, place, known);
}

absl::Status CheckColumns(const std::vector<std::string>& names, const std::string& place,
                          const std::vector<std::string>& known) {
  for (const std::string& name : names) {
    if (std::ranges::count(known, name) == 0) return NoSuchColumn("--columns", name, place, known);
  }
  return absl::OkStatus();
}

bool IsFlat(const Schema& schema) {
  return !schema.tree || (schema.tree->nodes().size() == schema.columns.size() + 1 &&
                          std::ranges::none_of(schema.columns, &ColumnSchema::has_levels));
}

WriterOptions WriterOptionsOf(const LayoutOptions& options, const std::string& column) {
  // With 10 bits for each value, about 1 % of the absent values pass the filter.
  constexpr uint32_t kBloomBits = 10;
  return {.encoding = options.encoding.Of(column),
          .goal = options.goal,
          .compression = options.compression.Of(column),
          .block_size_bytes = options.block_size_bytes,
          .bloom_filter_bits_per_value = options.bloom.contains(column) ? kBloomBits : 0,
          .max_packed_part_bytes = options.max_packed_part_bytes,
          .version = options.version,
          .oldest_reader = options.oldest_reader};
}

void AddPackBelow(Command& command, size_t* max_packed_part_bytes) {
  command.Add("--pack-below BYTES", max_packed_part_bytes,
              "Write a part of a table as one file if it has at most this many\nbytes (default: "
              "8MiB; 0: always a file for each column). The table\ndoes not remember this",
              BytesIn(0, kMaxBytes));
}

void LayoutArguments::AddTo(Command& command) {
  command.Add("--encoding [COLUMN=]ENCODING", &encodings_,
              "How to encode values; auto (default) chooses for each block");
  command.Add("--compression [COLUMN=]CODEC", &compressions_,
              "none, a codec such as zstd, or auto (default): with\n--encoding auto zstd "
              "for the blocks that gain from it, otherwise none");
  command.Add("--for GOAL", &goal_,
              "The goal of --encoding auto: size, speed or balanced (default)",
              OneOf({"balanced", "size", "speed"}));
  command.Add("--block-size BYTES", &block_size_bytes_,
              "Encoded bytes in a block, e.g. 64KiB (default: 256KiB,\nat most half of "
              "--max-block-size)",
              BytesIn(1, kMaxBytes / 2));
  AddPackBelow(command, &max_packed_part_bytes_);
  command.Add("--bloom COLUMN", &bloom_,
              "Give this column a Bloom filter, which shows that a file\nhas none of the "
              "values that a scan looks for");
  command.Add("--format-version NUMBER", &format_version_,
              "2 (default), or 1: without checksums, statistics and the\nother extensions of "
              "version 2",
              OneOf({"1", "2"}));
  command.Add(
      "--oldest-reader READER", &oldest_reader_,
      "Write only what this program can read: kudu (Apache Kudu), 0.1,\n0.2 or 0.3 (versions of "
      "cfile). Default: the newest, or what the table\nto which rows are added says",
      OneOf({"kudu", "0.1", "0.2", "0.3"}));
  command.Add("--compat kudu", &oldest_reader_, "", OneOf({"kudu"})).group = "";  // until 0.3
}

absl::Status LayoutArguments::Read(LayoutOptions& options) const {
  options.goal_given = !goal_.empty();
  options.goal = goal_ == "size" ? Goal::kSize : goal_ == "speed" ? Goal::kSpeed : Goal::kBalanced;
  options.block_size_bytes = block_size_bytes_;
  options.max_packed_part_bytes = max_packed_part_bytes_;
  options.bloom.insert(bloom_.begin(), bloom_.end());
  if (format_version_ == "1") options.version = FormatVersion::kV1;
  if (!oldest_reader_.empty()) {
    CFILE_ASSIGN_OR_RETURN(options.oldest_reader, ParseOldestReader(oldest_reader_));
  }
  if (!bloom_.empty() && !options.has_extensions()) {
    return absl::InvalidArgumentError(StrCat("--bloom ", bloom_[0], ": ",
                                             options.version == FormatVersion::kV1
                                                 ? "files of version 1 have no Bloom filters"
                                                 : "Kudu does not read files with Bloom filters"));
  }
  CFILE_RETURN_IF_ERROR(Choose("--encoding", encodings_, ParseEncoding, AllEncodings, EncodingName,
                               options.encoding));
  return Choose("--compression", compressions_, ParseCompression, AllCompressions, CompressionName,
                options.compression);
}

}  // namespace cfile::tools
