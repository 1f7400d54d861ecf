// cfile-dump blocks: one line per data block.
#include "tools/dump/commands.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cfile/inspect.h"
#include "cfile/status.h"
#include "tools/document.h"
#include "tools/location.h"

namespace cfile::tools {
namespace {

// The first bytes of `field`, a field of `bytes`.
std::string ShortHex(const std::vector<uint8_t>& bytes, const BlockField& field) {
  constexpr size_t kShownBytes = 8;
  const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return Hex(all.substr(field.offset, std::min(field.size, kShownBytes))) +
         (field.size > kShownBytes ? "..." : "");
}

// `begin`: the offset of the first of `bytes`.
Table FieldsOf(const std::vector<BlockField>& fields, const std::vector<uint8_t>& bytes,
               uint64_t begin, bool json) {
  Table table(json, {{"offset", kNumberColumn}, {"size", kNumberColumn}, {"bytes"}, {"field"}});
  for (const BlockField& field : fields) {
    Record& record = table.Add();
    record.Add("offset", begin + field.offset);
    record.Add("size", field.size);
    record.AddBytes("hex", ShortHex(bytes, field));
    record.AddJson({{"name", std::string(field.name)}, {"value", field.value}});
    record.AddText("field", absl::StrCat(std::string(field.name), field.value.empty() ? "" : ": ",
                                         field.value));
  }
  return table;
}

// `status` with the right exit code. kOutOfRange is a limit, or a block or row that the file has
// not, which is wrong use.
absl::Status WithoutLimit(const absl::Status& status) {
  const bool limit = absl::StrContains(status.message(), ": raise ");
  return absl::IsOutOfRange(status) && !limit ? absl::InvalidArgumentError(status.message())
                                              : status;
}

// The number of a block, or a row of the block; one of the two is set.
struct WhichBlock {
  std::optional<uint64_t> index = {};
  std::optional<uint64_t> ordinal = {};
};

// Prints the bytes of a block, field by field.
Outcome PrintBlock(const WhichBlock& which, const CommonOptions& common, Output& output) {
  CFILE_ASSIGN_OR_RETURN(const auto reader, OpenFileAt(common.path, OptionsOf(common)));
  const auto index =
      which.index ? absl::StatusOr<uint64_t>(*which.index) : FindBlock(reader, *which.ordinal);
  if (!index.ok()) return WithoutLimit(index.status());
  const auto block = DescribeBlock(reader, *index);
  if (!block.ok()) return WithoutLimit(block.status());
  Document document(common.json, common.path, 15);
  const FileRegion& region = block->region;
  document.AddJson({{"index", region.index}});
  document.AddText("block", std::to_string(region.index));
  document.Add("offset", region.offset);
  document.Add("size", region.size_bytes, Plural(region.size_bytes, "byte"));
  if (region.first_ordinal) document.Add("first_ordinal", *region.first_ordinal);
  document.AddBytes("compression", CodecOf(block->compressed, reader.info()));
  document.AddBytes("encoding", EncodingName(block->encoding));
  document.Append("\nin the file\n");
  document.AddTable("stored_fields", FieldsOf(block->stored_fields, block->stored_bytes,
                                              region.offset, common.json));
  if (!block->bytes.empty()) document.Append("\nin the block, before compression\n");
  document.AddTable("fields", FieldsOf(block->fields, block->bytes, 0, common.json));
  document.AddError(block->status);
  document.PrintTo(output);
  return block->status;
}

constexpr size_t kBoundBytes = 24;
constexpr size_t kBoundCells = kBoundBytes + 3;  // with "..."

// The statistics of `block`; null if the file has no statistics per block.
const BlockStatistics* StatisticsOf(const FileStatistics* file, const BlockInfo& block) {
  const bool known = file != nullptr && block.index < file->blocks.size();
  return known ? &file->blocks[block.index] : nullptr;
}

// Lines are printed one by one, so the widths are computed from the size of the file and its number
// of rows, which the numbers in a line seldom exceed.
// If the terminal is narrow, the bounds of values are shortened first, and then the names of
// encodings. If this is not enough, columns are left out: `cfile-dump stats` shows the bounds, too.
std::vector<Heading> HeadingsOf(const FileInfo& info, bool with_bounds) {
  const auto digits = [](uint64_t most) { return std::to_string(most).size(); };
  const size_t offset = digits(info.file_size_bytes), ordinal = digits(info.num_rows);
  constexpr size_t kMostBytes = 9, kMostBlocks = 7, kEncodingCells = 12;
  const size_t bytes = std::min(offset, kMostBytes);
  std::vector<Heading> headings = {
      {"index", {.right = true, .drop = 5}, std::min(ordinal, kMostBlocks)},
      {"offset", kNumberColumn, offset},
      {"size", kNumberColumn, bytes},
      {"first row", kNumberColumn, ordinal},
      {"rows", kNumberColumn, std::min(ordinal, kMostBytes)},
      {"nulls", {.right = true, .drop = 4}, std::min(ordinal, kMostBytes)},
      {"encoding",
       {.shorten = 2, .least = kEncodingCells, .drop = 8},
       std::max(kEncodingCells, EncodingName(info.encoding).size())},
      {"codec", {.drop = 7}, CompressionName(info.compression).size()},
      {"stored", {.right = true, .drop = 1}, bytes},
      {"encoded", {.right = true, .drop = 2}, kMostBytes},
      {"ratio", {.right = true, .drop = 6}, 6}};
  for (const char* bound : {"minimum", "maximum"}) {
    if (with_bounds) headings.push_back({bound, {.shorten = 1, .drop = 3}, kBoundCells});
  }
  return headings;
}

Record RecordOf(const BlockInfo& block, const FileInfo& info, const BlockStatistics* statistics,
                bool json) {
  Record record(json);
  record.Add("index", block.index);
  record.Add("offset", block.pointer.offset);
  record.Add("size", block.pointer.size);
  record.Add("first_ordinal", block.first_ordinal);
  record.Add("rows", block.num_rows);
  if (info.has_levels()) record.AddJson({{"entries", block.num_entries}});
  record.Add("nulls", block.null_count);
  record.AddBytes("encoding", EncodingName(block.encoding));
  record.AddJson({{"compressed", block.compressed}});
  record.AddBytes("compression", CodecOf(block.compressed, info));
  record.Add("stored", block.stored_size_bytes);
  record.Add("encoded", block.encoded_size_bytes);
  record.AddText("ratio",
                 absl::StrFormat("%.2f", Ratio(block.encoded_size_bytes, block.stored_size_bytes)));
  if (statistics != nullptr) {
    record.AddBounds(info.type, *statistics, kBoundBytes);
    record.AddJson({{"nan", statistics->nan_count}});
  }
  return record;
}

Outcome PrintBlocks(const CommonOptions& common, bool with_bytes, Output& output) {
  CFILE_ASSIGN_OR_RETURN(const auto reader, OpenFileAt(common.path, OptionsOf(common)));
  // If the statistics are damaged, the blocks are shown without statistics, and the error is
  // returned at the end.
  const auto statistics = reader.Statistics();
  const FileStatistics* const known = statistics.ok() ? statistics->get() : nullptr;
  List list(Document(common.json, common.path), "blocks",
            HeadingsOf(reader.info(), known != nullptr && !known->blocks.empty()), output);
  absl::Status status = VisitBlocks(reader, [&](const BlockInfo& block) {
    Record record = RecordOf(block, reader.info(), StatisticsOf(known, block), common.json);
    const std::string bytes =
        with_bytes ? absl::BytesToHexString(std::string(block.bytes.begin(), block.bytes.end()))
                   : "";
    if (with_bytes) record.AddJson({{"bytes", bytes}});
    list.Add(record);
    if (with_bytes && !common.json) absl::StrAppend(&output.text, bytes, "\n");
    return output.Drain();
  });
  status.Update(statistics.status());
  list.Finish(status);
  return status;
}

}  // namespace

void AddBlocksCommand(Command& app, CommonOptions& common, Action& action) {
  Command& command = AddCommand(
      app, common, "blocks", "List the data blocks, or show the bytes of one block",
      "offset and size are bytes in the file, with the checksum; stored is the size without it;\n"
      "encoded is the size before compression, and ratio is encoded / stored. rows includes\n"
      "nulls. codec is none for a block that is stored without compression.\n"
      "--json also has the entries if a row is a record of several values. minimum and maximum\n"
      "are printed for files that have statistics. They are bounds: long strings are cut, and\n"
      "--json then says that exact is false.\n\n"
      "With --block or --ordinal, the first table has the block as it is in the file; its offsets\n"
      "are those of the file. The second table has the block before compression; its offsets\n"
      "begin at 0. The first 8 bytes of each field are shown, in hexadecimal. Of a block with\n"
      "very many fields, the last ones are one field. A damaged block is described as far as\n"
      "possible, then the error is printed. With --ignore-checksums, a wrong checksum is not an\n"
      "error.\n\n"
      "Examples:\n"
      "  cfile-dump blocks keys.cfile\n"
      "  cfile-dump blocks flights --column carrier\n"
      "  cfile-dump blocks keys.cfile --block 3\n"
      "  cfile-dump blocks keys.cfile --ordinal 123456\n"
      "  cfile-dump blocks --json keys.cfile | jq '.blocks[] | select(.nulls > 0)'\n"
      "  tail -c +$((OFFSET + 1)) keys.cfile | head -c SIZE | xxd  # one block");
  command.aliases = {{.word = "block", .places = {"--block"}}};
  AddColumnOptions(command, common, kOneColumn, kAllParts);
  struct Arguments {
    bool with_bytes = false;
    WhichBlock which;
  };
  const auto arguments = std::make_shared<Arguments>();
  command.Add("--block N", &arguments->which.index,
              "Show the bytes of this block, field by field; the first block has number 0",
              NumberIn(0, UINT64_MAX));
  command
      .Add("--ordinal N", &arguments->which.ordinal, "Show the block that holds this row",
           NumberIn(0, UINT64_MAX))
      .excludes = {"--block"};
  command
      .Add("--bytes", &arguments->with_bytes,
           "Show each block's bytes too, before compression, in hexadecimal")
      .excludes = {"--block", "--ordinal"};
  const Action list = OnEachFile([arguments](const CommonOptions& options, Output& output) {
    return PrintBlocks(options, arguments->with_bytes, output);
  });
  const Action show = OnFile([arguments](const CommonOptions& options, Output& output) {
    return PrintBlock(arguments->which, options, output);
  });
  SetAction(command, action, [=](const CommonOptions& options, Output& output) {
    const bool one = arguments->which.index || arguments->which.ordinal;
    return (one ? show : list)(options, output);
  });
}

}  // namespace cfile::tools
