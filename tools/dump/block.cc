// The bytes of one data block, field by field.
#include "tools/dump/commands.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
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
    record.AddJson("name", std::string(field.name));
    record.AddJson("value", field.value);
    record.AddText("field", absl::StrCat(std::string(field.name), field.value.empty() ? "" : ": ",
                                         field.value));
  }
  return table;
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

Outcome PrintBlock(const WhichBlock& which, const CommonOptions& common, Output& output) {
  CFILE_ASSIGN_OR_RETURN(const auto reader, OpenFileAt(common.path, OptionsOf(common)));
  const auto index =
      which.index ? absl::StatusOr<uint64_t>(*which.index) : FindBlock(reader, *which.ordinal);
  if (!index.ok()) return WithoutLimit(index.status());
  const auto block = DescribeBlock(reader, *index);
  if (!block.ok()) return WithoutLimit(block.status());
  Document document(common.json, common.path, 15);
  const FileRegion& region = block->region;
  document.AddJson("index", JsonInteger(region.index));
  document.AddText("block", std::to_string(region.index));
  document.Add("offset", region.offset);
  document.Add("size", JsonInteger(region.size_bytes), Plural(region.size_bytes, "byte"));
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

}  // namespace cfile::tools
