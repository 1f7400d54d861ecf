// cfile-dump header, cfile-dump footer: the header message and the footer message of a file.
#include "tools/dump/commands.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tools/dump/dump.h"
#include "tools/location.h"

namespace cfile::tools {
namespace {

enum class Part { kHeader, kFooter };

ExitCode PrintPart(Part part, const CommonOptions& common, Output& output) {
  const auto reader = OpenFileAt(common.path, OptionsOf(common));
  if (!reader.ok()) return output.Fail(reader.status());
  const FileInfo& info = reader->info();
  const bool header = part == Part::kHeader;
  const uint64_t size = header ? info.header_size_bytes : info.footer_size_bytes;
  const uint64_t offset = header ? 0 : info.file_size_bytes - size;
  const MetadataText described = DescribeMetadata(info);
  if (common.json) {
    Json document = JsonDocument(common.path);
    document["offset"] = JsonInteger(offset);
    document["size"] = JsonInteger(size);
    const std::string& message = header ? described.header_json : described.footer_json;
    Json parsed = Json::parse(message, nullptr, false);
    if (parsed.is_discarded()) {  // strings that are not UTF-8, which protobuf accepts
      return output.Fail(
          absl::DataLossError(common.path + ": the message has strings that are not UTF-8"));
    }
    document[header ? "header" : "footer"] = std::move(parsed);
    absl::StrAppend(&output.text, document.dump(2), "\n");
  } else {
    // The first line is a comment in protobuf's text format, so that all of the output is valid.
    absl::StrAppend(&output.text, "# ", header ? "header" : "footer", ": offset ", offset, ", ",
                    size, " bytes\n", header ? described.header_text : described.footer_text);
  }
  return output.Finish(kFine);
}

}  // namespace

void AddHeaderCommand(CLI::App& app, CommonOptions& common, Action& action) {
  CLI::App* command = AddCommand(
      app, common, "header", "Print the header as text protobuf",
      "With --json the message is printed in protobuf's JSON form, with bytes as base64.\n\n"
      "Example:\n  cfile-dump header keys.cfile");
  AddColumnOptions(*command, common, kOneColumn, kOnlyPart);
  command->callback([&action] {
    action = OnFile([](const CommonOptions& options, Output& output) {
      return PrintPart(Part::kHeader, options, output);
    });
  });
}

void AddFooterCommand(CLI::App& app, CommonOptions& common, Action& action) {
  CLI::App* command = AddCommand(
      app, common, "footer", "Print the footer as text protobuf",
      "With --json the message is printed in protobuf's JSON form, with bytes as base64.\n\n"
      "Example:\n  cfile-dump footer --json keys.cfile | jq -r .footer.num_values");
  AddColumnOptions(*command, common, kOneColumn, kOnlyPart);
  command->callback([&action] {
    action = OnFile([](const CommonOptions& options, Output& output) {
      return PrintPart(Part::kFooter, options, output);
    });
  });
}

}  // namespace cfile::tools
