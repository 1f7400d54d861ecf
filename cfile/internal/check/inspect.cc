#include "cfile/inspect.h"

#include <memory>
#include <string>

#include "cfile/internal/read/block_cursor.h"
#include "cfile/internal/read/file_reader.h"
#include "cfile/internal/read/index_walk.h"
#include "cfile/internal/read/level_block_cursor.h"
#include "cfile/internal/read/reader_access.h"
#include "cfile/reader.h"
#include "encodings/core/status.h"
#include "google/protobuf/text_format.h"
#include "google/protobuf/util/json_util.h"
#include "proto/cfile.pb.h"

namespace cfile {
namespace {

using internal::FileReader;
using internal::IndexNode;
using internal::IndexWalk;

// Does VisitBlocks for a file whose blocks are read by `Block`: BlockCursor or LevelBlockCursor.
template <typename Block>
absl::Status VisitBlocksOf(FileReader& file, IndexKind kind,
                           const std::function<bool(const BlockInfo&)>& visit) {
  const FileInfo& info = file.info();
  internal::BlockBuffer buffer;
  CFILE_ASSIGN_OR_RETURN(auto dictionary, file.Dictionary());
  Block cursor(info.type, std::move(dictionary));
  IndexWalk path(&file, kind);
  CFILE_RETURN_IF_ERROR(path.SeekToOrdinal(0));
  for (uint64_t index = 0; path.valid(); ++index) {
    CFILE_ASSIGN_OR_RETURN(const internal::FetchedBlock fetched,
                           file.FetchDataBlock(path.leaf(), path.entry(), buffer));
    BlockInfo block{.index = index,
                    .pointer = path.pointer(),
                    .stored_size_bytes = fetched.stored_size_bytes,
                    .encoded_size_bytes = fetched.bytes.size(),
                    .compressed = fetched.compressed,
                    .bytes = fetched.bytes};
    absl::Status status = [&] {
      if (info.holds_bloom_filters()) return internal::CheckBloomFilter(fetched.bytes);
      CFILE_RETURN_IF_ERROR(cursor.Open(fetched.bytes, info, std::nullopt));
      block.encoding = cursor.encoding();
      block.first_ordinal = cursor.first_ordinal();
      block.num_rows = cursor.num_rows();
      block.num_entries = cursor.num_entries();
      block.null_count = cursor.num_entries() - cursor.num_present();
      return absl::OkStatus();
    }();
    if (!status.ok()) return internal::InBlock(status, file.source().name(), path.pointer());
    if (!visit(block)) return absl::OkStatus();
    CFILE_RETURN_IF_ERROR(path.Next());
  }
  return absl::OkStatus();
}

// Shows a message in text and JSON. `serialized` is valid, because it was parsed when the file was
// opened.
template <typename Message>
void Describe(const std::string& serialized, std::string& text, std::string& json) {
  Message message;
  message.ParsePartialFromString(serialized);
  google::protobuf::TextFormat::PrintToString(message, &text);
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  (void)google::protobuf::util::MessageToJsonString(message, &json, options);
}

}  // namespace

MetadataText DescribeMetadata(const FileInfo& info) {
  MetadataText text;
  Describe<CFileHeaderPB>(info.header_message, text.header_text, text.header_json);
  Describe<CFileFooterPB>(info.footer_message, text.footer_text, text.footer_json);
  return text;
}

absl::Status VisitBlocks(const Reader& reader, const std::function<bool(const BlockInfo&)>& visit) {
  FileReader& file = *internal::ReaderAccess::File(reader);
  const IndexKind kind =
      file.info().positional_index_root ? IndexKind::kPositional : IndexKind::kValue;
  return encodings::VisitPhysicalType(file.info().type.physical(), [&](auto type) {
    using T = typename decltype(type)::type;
    return file.info().has_levels()
               ? VisitBlocksOf<internal::LevelBlockCursor<T>>(file, kind, visit)
               : VisitBlocksOf<internal::BlockCursor<T>>(file, kind, visit);
  });
}

absl::Status VisitIndex(const Reader& reader, IndexKind kind,
                        const std::function<bool(const IndexNodeInfo&)>& visit) {
  absl::Status status;
  internal::VisitIndexNodes(
      *internal::ReaderAccess::File(reader), kind, [&](const internal::VisitedNode& visited) {
        status = visited.node.status();
        if (!status.ok()) return internal::IndexVisit::kStop;
        const IndexNode& node = **visited.node;
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
