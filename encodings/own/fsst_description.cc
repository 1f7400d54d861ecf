// Describes the bytes of a block of FSST.
#include "encodings/own/fsst.h"

#include "encodings/own/fsst_layout.h"

namespace cfile::encodings {

absl::Status FsstCodec::Describe(PhysicalType /*type*/, const DecoderOptions& /*options*/,
                                 const BlockView& block, BlockDescription& description) {
  if (block.count == 0) return absl::OkStatus();
  FsstHeader header;
  CFILE_RETURN_IF_ERROR(ParseFsstHeader(block.bytes, block.count, header));
  const bool separate = header.form == FsstForm::kSeparate;
  CFILE_RETURN_IF_ERROR(description.AddByte("form").status());
  description.Explain(separate ? "values are compressed one by one" : "front-coded");
  CFILE_RETURN_IF_ERROR(description.AddVint32("size of the common prefix").status());
  CFILE_RETURN_IF_ERROR(description.AddBytes(header.common.size(), "common prefix"));
  const uint32_t groups = FsstGroups(block.count);
  CFILE_RETURN_IF_ERROR(description.AddNumbers<uint32_t>(groups, "offsets of the groups"));
  for (uint32_t i = 0; i < groups && !description.full(); ++i) {
    const size_t begin = description.reader().offset();
    const std::span<const uint8_t> bytes = FsstGroupBytes(block.bytes, header, groups, i);
    const uint32_t count = FsstGroupCount(block.count, i);
    FsstGroup group;
    if (bytes.data() != block.bytes.data() + begin ||
        !ParseFsstGroup(header.form, bytes, count, group))
      return DataLoss("group ", i, " is cut off, or does not begin at byte ", begin);
    const char* const width = separate ? "width of the sizes" : "width of the shared sizes";
    CFILE_RETURN_IF_ERROR(description.AddByte(width).status());
    description.Explain(!group.compressed ? "the text is not compressed"
                        : separate        ? "each value is compressed"
                                          : "the text is compressed");
    description.BeginStructure();
    if (!separate) {
      CFILE_RETURN_IF_ERROR(description.AddByte("width of the suffix sizes").status());
      CFILE_RETURN_IF_ERROR(description.AddVint32("size of the first suffix").status());
      CFILE_RETURN_IF_ERROR(description.AddVint32("least shared size").status());
    }
    CFILE_RETURN_IF_ERROR(
        description.AddVint32(separate ? "least size" : "least suffix size").status());
    CFILE_RETURN_IF_ERROR(description.AddBytes(group.shared.size(), "packed shared sizes"));
    CFILE_RETURN_IF_ERROR(description.AddBytes(group.suffixes.size(),
                                               separate ? "packed sizes" : "packed suffix sizes"));
    CFILE_RETURN_IF_ERROR(description.AddBytes(
        group.text.size(), group.compressed ? "codes" : "text", StrCat(count, " values")));
    description.EndStructure();
  }
  description.AddRest("further groups");
  return absl::OkStatus();
}

absl::Status FsstCodec::CheckWithoutDictionary(BlockView& block) {
  FsstHeader header;
  CFILE_RETURN_IF_ERROR(ParseFsstHeader(block.bytes, block.count, header));
  const uint32_t groups = FsstGroups(block.count);
  for (uint32_t i = 0; i < groups; ++i) {
    const std::span<const uint8_t> bytes = FsstGroupBytes(block.bytes, header, groups, i);
    FsstGroup group;
    if (!ParseFsstGroup(header.form, bytes, FsstGroupCount(block.count, i), group))
      return DataLoss("fsst: group ", i, " is cut off, or its offset is wrong");
  }
  return absl::OkStatus();
}

}  // namespace cfile::encodings
