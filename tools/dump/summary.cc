// cfile-dump without a subcommand: the summary of a file or a table.
#include "tools/dump/summary.h"

#include <algorithm>

#include "tools/location.h"

namespace cfile::tools {
namespace {

constexpr uint64_t kChecksumBytes = 4;

// True if the totals can be computed from the positional index alone, without reading data blocks.
bool IndexKnowsAll(const FileInfo& info) {
  return info.positional_index_root && !info.nullable && info.compression == Compression::kNone &&
         !info.has_extended_blocks() && !info.has_levels();
}

}  // namespace

void BlockTotals::Add(const Reader& reader) {
  const FileInfo& info = reader.info();
  if (!IndexKnowsAll(info)) {
    status.Update(VisitBlocks(reader, [&](const BlockInfo& block) {
      AddBlock(block.encoding, block.stored_size_bytes, block.encoded_size_bytes, block.compressed);
      nulls += block.null_count;
      entries += block.num_entries;
      return true;
    }));
    return;
  }
  status.Update(VisitIndex(reader, IndexKind::kPositional, [&](const IndexNodeInfo& node) {
    if (!node.leaf) return true;
    for (const IndexEntryInfo& entry : node.entries) {
      const uint64_t bytes = entry.pointer.size - (info.has_checksums() ? kChecksumBytes : 0);
      AddBlock(info.encoding, bytes, bytes, /*compressed=*/false);
    }
    return true;
  }));
}

void BlockTotals::AddBlock(Encoding encoding, uint64_t stored, uint64_t encoded, bool compressed) {
  ++blocks;
  stored_bytes += stored;
  encoded_bytes += encoded;
  auto totals = std::find_if(encodings.begin(), encodings.end(),
                             [&](const EncodingTotals& each) { return each.encoding == encoding; });
  if (totals == encodings.end()) {
    encodings.push_back({.encoding = encoding});
    totals = encodings.end() - 1;
  }
  ++totals->blocks;
  totals->compressed_blocks += compressed;
  totals->stored_bytes += stored;
}

std::vector<std::string> BlockTotals::EncodingNames() const {
  std::vector<std::string> names;
  for (const EncodingTotals& each : encodings) names.push_back(EncodingName(each.encoding));
  return names;
}

uint64_t BlockTotals::compressed_blocks() const {
  uint64_t count = 0;
  for (const EncodingTotals& each : encodings) count += each.compressed_blocks;
  return count;
}

TreeTotals MeasureTree(const Reader& reader, IndexKind kind) {
  TreeTotals totals;
  totals.status = VisitIndex(reader, kind, [&](const IndexNodeInfo& node) {
    totals.levels = std::max<uint64_t>(totals.levels, node.depth + 1);
    ++totals.nodes;
    totals.bytes += node.pointer.size;
    return true;
  });
  return totals;
}

void AddName(const std::string& name, std::vector<std::string>& names) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

double BitsPerValue(uint64_t bytes, uint64_t values) {
  return values == 0 ? 0 : 8.0 * static_cast<double>(bytes) / static_cast<double>(values);
}

double Rounded(double value) {
  return static_cast<double>(static_cast<int64_t>(value * 100 + 0.5)) / 100;
}

ExitCode PrintSummary(const CommonOptions& common, Output& output) {
  if (!common.column.empty()) {
    const auto file = [](const CommonOptions& chosen, Output& to) {
      const auto reader = OpenFileAt(chosen.path, OptionsOf(chosen));
      return reader.ok() ? SummarizeFile(chosen, *reader, to) : to.Fail(reader.status());
    };
    return OnFile(file)(common, output);
  }
  const auto input = OpenInput(common);
  if (!input.ok()) return output.Fail(input.status());
  return input->file ? SummarizeFile(common, *input->file, output)
                     : SummarizeTable(common, *input->table, output);
}

}  // namespace cfile::tools
