// Describes the bytes of a block of FSST.
#include "encodings/own/fsst.h"

#include "encodings/core/status.h"
#include "encodings/own/fsst_layout.h"

namespace cfile::encodings {
namespace {

absl::Status DescribeGroup(const FsstGroup& group, uint32_t count, BlockDescription& description) {
  CFILE_RETURN_IF_ERROR(description.AddByte("width of the shared sizes").status());
  description.Explain(group.compressed ? "the text is compressed" : "the text is not compressed");
  description.BeginStructure();
  CFILE_RETURN_IF_ERROR(description.AddByte("width of the suffix sizes").status());
  CFILE_RETURN_IF_ERROR(description.AddVint32("size of the first suffix").status());
  CFILE_RETURN_IF_ERROR(description.AddVint32("least shared size").status());
  CFILE_RETURN_IF_ERROR(description.AddVint32("least suffix size").status());
  CFILE_RETURN_IF_ERROR(description.AddBytes(group.shared.size(), "packed shared sizes"));
  CFILE_RETURN_IF_ERROR(description.AddBytes(group.suffixes.size(), "packed suffix sizes"));
  CFILE_RETURN_IF_ERROR(description.AddBytes(group.text.size(), group.compressed ? "codes" : "text",
                                             StrCat(count, " values")));
  description.EndStructure();
  return absl::OkStatus();
}

absl::Status DescribeGroup(const FsstSeparateGroup& group, uint32_t count,
                           BlockDescription& description) {
  CFILE_RETURN_IF_ERROR(description.AddByte("width of the sizes").status());
  description.Explain(group.compressed ? "each value is compressed" : "no value is compressed");
  description.BeginStructure();
  CFILE_RETURN_IF_ERROR(description.AddVint32("least size").status());
  CFILE_RETURN_IF_ERROR(description.AddBytes(group.sizes.size(), "packed sizes"));
  CFILE_RETURN_IF_ERROR(description.AddBytes(group.text.size(), group.compressed ? "codes" : "text",
                                             StrCat(count, " values")));
  description.EndStructure();
  return absl::OkStatus();
}

}  // namespace

absl::Status FsstCodec::Describe(PhysicalType /*type*/, const DecoderOptions& /*options*/,
                                 const BlockView& block, BlockDescription& description) {
  if (block.count == 0) return absl::OkStatus();
  FsstHeader header;
  CFILE_RETURN_IF_ERROR(ParseFsstHeader(block.bytes, block.count, header));
  CFILE_RETURN_IF_ERROR(description.AddByte("form").status());
  description.Explain(header.form == FsstForm::kSeparate ? "values are compressed one by one"
                                                         : "front-coded");
  CFILE_RETURN_IF_ERROR(description.AddVint32("size of the common prefix").status());
  CFILE_RETURN_IF_ERROR(description.AddBytes(header.common.size(), "common prefix"));
  const uint32_t groups = FsstGroups(block.count);
  CFILE_RETURN_IF_ERROR(description.AddNumbers<uint32_t>(groups, "offsets of the groups"));
  for (uint32_t i = 0; i < groups && !description.full(); ++i) {
    const size_t begin = description.reader().offset();
    const std::span<const uint8_t> bytes = FsstGroupBytes(block.bytes, header, groups, i);
    const uint32_t count = FsstGroupCount(block.count, i);
    const bool separate = header.form == FsstForm::kSeparate;
    FsstGroup group;
    FsstSeparateGroup separate_group;
    if (bytes.data() != block.bytes.data() + begin ||
        !(separate ? ParseFsstSeparateGroup(bytes, count, separate_group)
                   : ParseFsstGroup(bytes, count, group)))
      return DataLoss("group ", i, " is cut off, or does not begin at byte ", begin);
    CFILE_RETURN_IF_ERROR(separate ? DescribeGroup(separate_group, count, description)
                                   : DescribeGroup(group, count, description));
  }
  description.AddRest("further groups");
  return absl::OkStatus();
}

}  // namespace cfile::encodings
