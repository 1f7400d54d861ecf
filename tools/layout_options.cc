#include "tools/layout_options.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "cfile/status.h"
#include "tools/command_line.h"

namespace cfile::tools {
namespace {

// Fills `choice` from `texts`, each of the form VALUE (for all columns) or COLUMN=VALUE.
template <typename T, typename Parse>
absl::Status Choose(const char* option, const std::vector<std::string>& texts, Parse parse,
                    Choice<T>& choice) {
  for (const std::string& text : texts) {
    std::string column, value;
    const bool named = SplitColumnOption(text, column, value);
    const absl::StatusOr<T> parsed = parse(named ? value : text);
    if (!parsed.ok()) {
      return absl::Status(parsed.status().code(),
                          absl::StrCat(option, " ", text, ": ", parsed.status().message()));
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

CLI::Option* AddRepeatableOption(CLI::App& command, const std::string& name,
                                 std::vector<std::string>& values, const std::string& form,
                                 const std::string& help) {
  return command.add_option(name, values, help)->type_name(form)->allow_extra_args(false);
}

WriterOptions WriterOptionsOf(const LayoutOptions& options, const std::string& column) {
  // With 10 bits for each value, about 1 % of the absent values pass the filter.
  constexpr uint32_t kBloomBits = 10;
  return {.encoding = options.encoding.Of(column),
          .goal = options.goal,
          .compression = options.compression.Of(column),
          .block_size_bytes = options.block_size_bytes,
          .bloom_filter_bits_per_value = options.bloom.contains(column) ? kBloomBits : 0,
          .version = options.version,
          .compatibility = options.compatibility};
}

void LayoutArguments::AddTo(CLI::App& command) {
  AddRepeatableOption(command, "--encoding", encodings_, "[COLUMN=]ENCODING",
                      "How to encode values; auto (default) chooses for each block");
  AddRepeatableOption(command, "--compression", compressions_, "[COLUMN=]CODEC",
                      "none, a codec such as zstd, or auto (default): with\n--encoding auto zstd "
                      "for the blocks that gain from it, otherwise none");
  command
      .add_option("--for", goal_, "The goal of --encoding auto: size, speed or balanced (default)")
      ->type_name("GOAL")
      ->check(CLI::IsMember({"balanced", "size", "speed"}).description(""));
  command
      .add_option("--block-size", block_size_bytes_,
                  "Encoded bytes in a block, e.g. 64KiB (default: 256KiB,\nat most half of "
                  "--max-block-size)")
      ->type_name("BYTES")
      ->transform(BytesIn(1, kMaxBytes / 2));
  AddRepeatableOption(command, "--bloom", bloom_, "COLUMN",
                      "Give this column a Bloom filter, which shows that a file\nhas none of the "
                      "values that a scan looks for");
  command
      .add_option("--format-version", format_version_,
                  "2 (default), or 1: without checksums, statistics and the\nother extensions of "
                  "version 2")
      ->type_name("NUMBER")
      ->check(CLI::IsMember({"1", "2"}).description(""));
  command.add_option("--compat", compatibility_, "kudu: write only what Apache Kudu can read")
      ->type_name("kudu")
      ->check(CLI::IsMember({"kudu"}).description(""));
}

absl::Status LayoutArguments::Read(LayoutOptions& options) const {
  options.goal_given = !goal_.empty();
  options.goal = goal_ == "size" ? Goal::kSize : goal_ == "speed" ? Goal::kSpeed : Goal::kBalanced;
  options.block_size_bytes = block_size_bytes_;
  options.bloom.insert(bloom_.begin(), bloom_.end());
  if (format_version_ == "1") options.version = FormatVersion::kV1;
  if (compatibility_ == "kudu") options.compatibility = Compatibility::kKudu;
  if (!bloom_.empty() && !options.has_extensions()) {
    return absl::InvalidArgumentError(StrCat("--bloom ", bloom_[0], ": ",
                                             options.version == FormatVersion::kV1
                                                 ? "files of version 1 have no Bloom filters"
                                                 : "Kudu does not read files with Bloom filters"));
  }
  CFILE_RETURN_IF_ERROR(Choose("--encoding", encodings_, ParseEncoding, options.encoding));
  return Choose("--compression", compressions_, ParseCompression, options.compression);
}

}  // namespace cfile::tools
