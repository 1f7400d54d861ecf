#include "cfile/inspect.h"

#include <memory>
#include <string_view>
#include <utility>

#include "cfile/core/read/block_walk.h"
#include "cfile/core/read/file_reader.h"
#include "cfile/core/read/index_walk.h"
#include "cfile/core/read/level_block_cursor.h"
#include "cfile/core/read/reader_access.h"
#include "cfile/core/wire/messages.h"
#include "cfile/parts/inspect/describe_message.h"
#include "cfile/parts/inspect/index_nodes.h"
#include "cfile/reader.h"
#include "encodings/core/status.h"

namespace cfile {
namespace {

using internal::FileReader;
using internal::IndexWalk;
using internal::LoadedNode;

// Implements VisitBlocks.
class BlockVisitor : internal::BlockWalk {
 public:
  // `block` opens the blocks of this file.
  BlockVisitor(std::shared_ptr<FileReader> file, internal::RowBlock& block)
      : BlockWalk(std::move(file), block) {}

  absl::Status Run(IndexKind kind, const std::function<bool(const BlockInfo&)>& visit) {
    uint64_t end = 0;  // of the rows of the blocks so far
    IndexWalk path(file_.get(), kind);
    CFILE_RETURN_IF_ERROR(path.SeekToOrdinal(0));
    if (num_rows() > 0) CFILE_RETURN_IF_ERROR(CheckFound(path));
    for (uint64_t index = 0; path.valid(); ++index) {
      CFILE_ASSIGN_OR_RETURN(const internal::FetchedBlock fetched,
                             file_->FetchDataBlock(path.leaf(), path.entry(), buffer_));
      BlockInfo block{.index = index,
                      .pointer = path.pointer(),
                      .stored_size_bytes = fetched.stored_size_bytes,
                      .encoded_size_bytes = fetched.bytes.size(),
                      .compressed = fetched.compressed,
                      .bytes = fetched.bytes};
      if (file_->info().holds_bloom_filters()) {
        CFILE_RETURN_IF_ERROR(
            internal::InBlock(internal::CheckBloomFilter(fetched.bytes), name(), path.pointer()));
      } else {
        CFILE_RETURN_IF_ERROR(OpenFetchedBlock(path, fetched.bytes, end));
        block.encoding = row_block_.encoding();
        block.first_ordinal = first_ordinal_;
        block.num_rows = row_block_.num_rows();
        block.num_entries = row_block_.num_entries();
        block.null_count = row_block_.num_entries() - row_block_.num_present();
        end += block.num_rows;
      }
      if (!visit(block)) return absl::OkStatus();
      if (path.at_last() && end == num_rows()) break;
      CFILE_RETURN_IF_ERROR(GoToNext(path, end));
    }
    return absl::OkStatus();
  }
};

}  // namespace

MetadataText DescribeMetadata(const FileInfo& info) {
  MetadataText text;
  // The messages are valid: the reader parsed them when it opened the file.
  internal::DescribeMessage(info.header_message, internal::wire::CFileHeader::kType,
                            text.header_text, text.header_json);
  internal::DescribeMessage(info.footer_message, internal::wire::CFileFooter::kType,
                            text.footer_text, text.footer_json);
  return text;
}

std::string_view RegionKindName(RegionKind kind) {
  constexpr std::string_view kNames[] = {"header",
                                         "data block",
                                         "node of the positional index",
                                         "node of the value index",
                                         "dictionary",
                                         "statistics",
                                         "piece table",
                                         "piece directory",
                                         "footer",
                                         "gap"};
  static_assert(std::size(kNames) == static_cast<size_t>(RegionKind::kGap) + 1);
  return kNames[static_cast<size_t>(kind)];
}

absl::Status VisitBlocks(const Reader& reader, const std::function<bool(const BlockInfo&)>& visit) {
  const std::shared_ptr<FileReader> file = internal::ReaderAccess::File(reader);
  const FileInfo& info = file->info();
  const IndexKind kind = info.positional_index_root ? IndexKind::kPositional : IndexKind::kValue;
  CFILE_ASSIGN_OR_RETURN(const auto dictionary, file->Dictionary());
  const internal::ShapedBlock block(info, {dictionary});
  return BlockVisitor(file, block.rows()).Run(kind, visit);
}

absl::Status VisitIndex(const Reader& reader, IndexKind kind,
                        const std::function<bool(const IndexNodeInfo&)>& visit) {
  absl::Status status;
  internal::VisitIndexNodes(
      *internal::ReaderAccess::File(reader), kind, [&](const internal::VisitedNode& visited) {
        status = visited.node.status();
        if (!status.ok()) return internal::IndexVisit::kStop;
        const LoadedNode& node = **visited.node;
        IndexNodeInfo info{.pointer = node.pointer(),
                           .depth = static_cast<uint32_t>(visited.depth),
                           .leaf = node.leaf()};
        info.entries.reserve(node.num_entries());
        for (uint32_t i = 0; i < node.num_entries(); ++i) {
          IndexEntryInfo& entry = info.entries.emplace_back();
          entry.pointer = node.entry_pointer(i);
          if (kind == IndexKind::kPositional) {
            entry.ordinal = node.ordinal(i);
          } else {
            entry.key = node.key(i);
          }
        }
        return visit(info) ? internal::IndexVisit::kDescend : internal::IndexVisit::kStop;
      });
  return status;
}

}  // namespace cfile
