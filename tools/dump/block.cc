// The bytes of one data block, field by field.
#include "tools/dump/commands.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cfile/inspect.h"
#include "tools/dump/dump.h"
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
Json ToJson(const std::vector<BlockField>& fields, const std::vector<uint8_t>& bytes,
            uint64_t begin) {
  Json list = Json::array();
  for (const BlockField& field : fields) {
    list.push_back({{"offset", JsonInteger(begin + field.offset)},
                    {"size", JsonInteger(field.size)},
                    {"hex", ShortHex(bytes, field)},
                    {"name", std::string(field.name)},
                    {"value", field.value}});
  }
  return list;
}

void AppendFields(const std::vector<BlockField>& fields, const std::vector<uint8_t>& bytes,
                  uint64_t begin, std::string& out) {
  absl::StrAppendFormat(&out, "%13s %9s  %-19s  %s\n", "offset", "size", "bytes", "field");
  for (const BlockField& field : fields) {
    absl::StrAppendFormat(&out, "%13u %9u  %-19s  %s%s%s\n", begin + field.offset, field.size,
                          ShortHex(bytes, field), std::string(field.name),
                          field.value.empty() ? "" : ": ", field.value);
  }
}

Json ToJson(const RegionDetails& block, const CommonOptions& common, const FileInfo& info) {
  Json json = JsonDocument(common.path);
  json["index"] = JsonInteger(block.region.index);
  json["offset"] = JsonInteger(block.region.offset);
  json["size"] = JsonInteger(block.region.size_bytes);
  if (block.region.first_ordinal) json["first_ordinal"] = JsonInteger(*block.region.first_ordinal);
  json["compression"] = CodecOf(block.compressed, info);
  json["encoding"] = EncodingName(block.encoding);
  json["stored_fields"] = ToJson(block.stored_fields, block.stored_bytes, block.region.offset);
  json["fields"] = ToJson(block.fields, block.bytes, 0);
  if (!block.status.ok()) json["error"] = JsonError(block.status);
  return json;
}

void AppendRegion(const RegionDetails& block, const FileInfo& info, std::string& out) {
  const FileRegion& region = block.region;
  absl::StrAppend(&out, "block          ", region.index, "\noffset         ", region.offset,
                  "\nsize           ", Plural(region.size_bytes, "byte"), "\n");
  if (region.first_ordinal) absl::StrAppend(&out, "first ordinal  ", *region.first_ordinal, "\n");
  absl::StrAppend(&out, "compression    ", CodecOf(block.compressed, info), "\nencoding       ",
                  EncodingName(block.encoding), "\n\nin the file\n");
  AppendFields(block.stored_fields, block.stored_bytes, region.offset, out);
  if (block.bytes.empty()) return;
  absl::StrAppend(&out, "\nin the block, before compression\n");
  AppendFields(block.fields, block.bytes, 0, out);
}

// Returns `status` with the code that leads to the right exit code. kOutOfRange has two meanings
// here: a limit is exceeded, or the file has no such block or row. The latter is wrong use, so the
// code becomes kInvalidArgument.
absl::Status WithoutLimit(const absl::Status& status) {
  const bool limit = absl::StrContains(status.message(), ": raise ");
  return absl::IsOutOfRange(status) && !limit ? absl::InvalidArgumentError(status.message())
                                              : status;
}

}  // namespace

ExitCode PrintBlock(const WhichBlock& which, const CommonOptions& common, Output& output) {
  const auto reader = OpenFileAt(common.path, OptionsOf(common));
  if (!reader.ok()) return output.Fail(reader.status());
  const auto index =
      which.index ? absl::StatusOr<uint64_t>(*which.index) : FindBlock(*reader, *which.ordinal);
  if (!index.ok()) return output.Fail(WithoutLimit(index.status()));
  const auto block = DescribeBlock(*reader, *index);
  if (!block.ok()) return output.Fail(WithoutLimit(block.status()));
  if (common.json) {
    absl::StrAppend(&output.text, ToJson(*block, common, reader->info()).dump(2), "\n");
  } else {
    AppendRegion(*block, reader->info(), output.text);
  }
  return block->status.ok() ? output.Finish(kFine) : output.Fail(block->status);
}

}  // namespace cfile::tools
