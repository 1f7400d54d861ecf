#include "tools/columns/forms.h"

#include "absl/strings/str_cat.h"
#include "cfile/status.h"

namespace cfile::tools {

std::string FormsText(const std::vector<EncodingTotals>& encodings, Compression compression) {
  std::string text;
  uint64_t compressed = 0;
  for (const EncodingTotals& totals : encodings) {
    compressed += totals.compressed_blocks;
    absl::StrAppend(&text, text.empty() ? "" : ", ", EncodingName(totals.encoding), " ",
                    Plural(totals.blocks, "block"));
  }
  if (text.empty()) return "no blocks";
  return StrCat(text, "; ", compressed == 0 ? "none" : CompressionName(compression));
}

Json FormsJson(const std::vector<EncodingTotals>& encodings) {
  Json json = Json::array();
  for (const EncodingTotals& totals : encodings) {
    json.push_back({{"encoding", EncodingName(totals.encoding)},
                    {"blocks", JsonInteger(totals.blocks)},
                    {"compressed_blocks", JsonInteger(totals.compressed_blocks)},
                    {"stored_bytes", JsonInteger(totals.stored_bytes)}});
  }
  return json;
}

}  // namespace cfile::tools
