#include "tests/fuzz/file_parts.h"

#include <map>

#include "cfile/core/format/block_appender.h"
#include "cfile/core/format/crc32c.h"
#include "cfile/core/format/file_metadata.h"
#include "cfile/core/format/piece_table.h"
#include "tests/campaign/parts.h"

namespace cfile::fuzz {
namespace {

using encodings::ByteWriter;
using encodings::LoadLittleEndian;
using encodings::StoreLittleEndian;
using internal::IndexKeyForm;
using internal::IndexNode;
using Part = FileParts::Part;
using Kind = FileParts::Kind;

constexpr std::string_view kMagicV1 = "kuducfil";
constexpr std::string_view kMagicV2 = "kuducfl2";
[[maybe_unused]] constexpr size_t kMagicBytes = 8;

// Finds all blocks of a file by following its pointers.
class Walk {
 public:
  Walk(std::span<const uint8_t> file, const FileInfo& info)
      : source_(NewMemoryViewSource(file)), info_(info) {}

  // Adds the block at `pointer` to the parts. Returns null if the block cannot be read or was added
  // before.
  Part* Take(Kind kind, const BlockPointer& pointer) {
    internal::BlockBuffer buffer;
    const uint64_t end = info_.file_size_bytes - info_.footer_size_bytes;
    if (pointer.offset < info_.header_size_bytes || pointer.end() > end) return nullptr;
    if (blocks_.contains(pointer.offset)) return nullptr;
    if (kind == Kind::kDataBlock && info_.has_movable_blocks()) {
      Bytes bytes(pointer.size);
      if (!source_->ReadAt(pointer.offset, bytes).ok()) return nullptr;
      Part part{.kind = kind, .pointer = pointer, .bytes = std::move(bytes)};
      return &blocks_.emplace(pointer.offset, std::move(part)).first->second;
    }
    const auto block = internal::FetchBlock(*source_, internal::BlockFormatOf(info_), pointer,
                                            /*verify=*/false, kMaxBlockBytes, buffer);
    if (!block.ok()) return nullptr;
    Part part{.kind = kind,
              .pointer = pointer,
              .compressed = block->compressed,
              .bytes = ToBytes(block->bytes)};
    return &blocks_.emplace(pointer.offset, std::move(part)).first->second;
  }

  void TakeIndex(IndexKind kind, const BlockPointer& pointer, std::optional<IndexKeyForm> form,
                 uint64_t first_block_offset) {
    Part* const part = Take(Kind::kIndexNode, pointer);
    if (part == nullptr) return;
    auto node = IndexNode::Parse(part->bytes, kind, form, pointer, first_block_offset);
    if (!node.ok()) return;
    part->index = kind;
    part->node = std::make_shared<const IndexNode>(*std::move(node));
    for (uint32_t i = 0; i < part->node->num_entries(); ++i) {
      const BlockPointer& child = part->node->entry_pointer(i);
      if (part->node->leaf()) {
        Take(Kind::kDataBlock, child);
      } else {
        TakeIndex(kind, child, part->node->key_form(), part->node->subtree_begin(i));
      }
    }
  }

  std::map<uint64_t, Part>& blocks() { return blocks_; }
  static constexpr size_t kMaxBlockBytes = size_t{16} << 20;

 private:
  std::shared_ptr<const Source> source_;
  const FileInfo& info_;
  std::map<uint64_t, Part> blocks_;
};

// Returns the bytes of `part` with new pointers. `places` holds the new location of each block by
// its old offset.
Bytes Moved(const Part& part, const std::map<uint64_t, BlockPointer>& places) {
  if (part.node == nullptr) return part.bytes;
  internal::IndexNodeBuilder builder(part.node->key_form());
  for (uint32_t i = 0; i < part.node->num_entries(); ++i) {
    const BlockPointer& old = part.node->entry_pointer(i);
    const auto place = places.find(old.offset);
    const bool positional = part.index == IndexKind::kPositional;
    builder.Add(positional ? internal::OrdinalKey(part.node->ordinal(i)) : part.node->key(i),
                place == places.end() ? old : place->second);
  }
  ByteWriter out;
  builder.Finish(part.node->leaf(), out);
  return ToBytes(out.span());
}

void Move(const std::map<uint64_t, BlockPointer>& places, BlockPointerPB& pointer) {
  const auto place = places.find(static_cast<uint64_t>(pointer.offset()));
  if (place == places.end()) return;
  pointer.set_offset(static_cast<int64_t>(place->second.offset));
  pointer.set_size(static_cast<int32_t>(place->second.size));
}

// Appends magic, length and message, and for version 2 also the checksum.
void AppendHeader(std::string_view magic, std::span<const uint8_t> message, ByteWriter& out) {
  out.PutBytes(magic);
  out.PutFixed(static_cast<uint32_t>(message.size()));
  out.PutBytes(message);
  if (magic != kMagicV1) out.PutFixed(internal::Crc32c(out.span()));
}

// Appends the checksum (only for version 2), the message, the magic and the length.
void AppendFooter(std::string_view magic, std::span<const uint8_t> message, ByteWriter& out) {
  ByteWriter footer;
  footer.PutBytes(message);
  footer.PutBytes(magic);
  footer.PutFixed(static_cast<uint32_t>(message.size()));
  if (magic == kMagicV2) out.PutFixed(internal::Crc32c(footer.span()));
  out.PutBytes(footer.span());
}

}  // namespace

std::optional<FileParts> FileParts::Of(std::span<const uint8_t> file) {
  FileParts result;
  auto info = internal::ReadFileInfo(*NewMemoryViewSource(file), {});
  if (!info.ok()) return std::nullopt;
  result.info_ = *std::move(info);
  const FileInfo& read = result.info_;
  if (read.version == FormatVersion::kV2 && !read.has_checksums()) return std::nullopt;
  if (!result.footer_.ParseFromString(read.footer_message)) return std::nullopt;
  Walk walk(file, read);
  const bool v1 = read.version == FormatVersion::kV1;
  if (const auto& root = read.positional_index_root) {
    walk.TakeIndex(IndexKind::kPositional, *root,
                   v1 ? std::nullopt : std::optional(IndexKeyForm::kBytes), read.header_size_bytes);
  }
  if (const auto& root = read.value_index_root) {
    walk.TakeIndex(IndexKind::kValue, *root, IndexKeyForm::kBytes, read.header_size_bytes);
  }
  if (read.dictionary) walk.Take(Kind::kDictionary, *read.dictionary);
  if (read.statistics) walk.Take(Kind::kStatistics, *read.statistics);
  if (read.piece_directory) {
    // These blocks contain offsets, which FileParts::Write does not change. So they are right only
    // if no block has a new size.
    const Part* const part = walk.Take(Kind::kPieceDirectory, *read.piece_directory);
    const auto directory =
        part == nullptr ? absl::StatusOr<internal::PieceDirectory>(internal::PieceDirectory())
                        : internal::ParsePieceDirectory(part->bytes, *read.piece_directory);
    for (const auto& place : directory.value_or(internal::PieceDirectory()))
      walk.Take(Kind::kPieceTable, place.table);
  }
  result.parts_.push_back({.kind = Kind::kHeader, .bytes = ToBytes(read.header_message)});
  for (auto& [offset, part] : walk.blocks()) result.parts_.push_back(std::move(part));
  result.parts_.push_back({.kind = Kind::kFooter, .bytes = ToBytes(read.footer_message)});
  return result;
}

Bytes FileParts::Write(size_t changed, const std::function<void(Bytes&)>& change) const {
  const auto bytes_of = [&](size_t i, Bytes bytes) {
    if (i == changed) change(bytes);
    return bytes;
  };
  const std::string_view magic = info_.version == FormatVersion::kV1 ? kMagicV1 : kMagicV2;
  Bytes file;
  ByteWriter ends;
  AppendHeader(magic, bytes_of(0, parts_[0].bytes), ends);
  file = ToBytes(ends.span());
  const auto sink = NewMemorySink(&file);
  uint64_t offset = file.size();
  std::map<uint64_t, BlockPointer> places;
  for (size_t i = 1; i + 1 < parts_.size(); ++i) {
    const Part& part = parts_[i];
    internal::BlockStorage storage{.compress = part.compressed};
    const bool movable = part.kind == Kind::kDataBlock && info_.has_movable_blocks();
    // The block keeps its alignment.
    if (part.kind == Kind::kDataBlock && (movable || info_.compression == Compression::kNone))
      storage.align_at = -part.pointer.offset % 64;
    Bytes bytes = bytes_of(i, Moved(part, places));
    if (movable) campaign::SignMovableBlock(bytes);
    internal::BlockAppender appender(
        sink.get(), offset,
        movable ? internal::BlockFormat{.checksums = false} : internal::BlockFormatOf(info_),
        Walk::kMaxBlockBytes);
    const auto written = appender.Append({}, bytes, storage);
    if (!written.ok()) return {};
    offset = appender.offset();
    places[part.pointer.offset] = *written;
  }
  Expect(sink->Finish().ok());
  CFileFooterPB footer = footer_;
  if (footer.has_posidx_info()) Move(places, *footer.mutable_posidx_info()->mutable_root_block());
  if (footer.has_validx_info()) Move(places, *footer.mutable_validx_info()->mutable_root_block());
  if (footer.has_dict_block_ptr()) Move(places, *footer.mutable_dict_block_ptr());
  if (footer.extensions().has_statistics())
    Move(places, *footer.mutable_extensions()->mutable_statistics());
  if (footer.has_piece_directory()) Move(places, *footer.mutable_piece_directory());
  ends.Clear();
  AppendFooter(magic, bytes_of(parts_.size() - 1, ToBytes(footer.SerializeAsString())), ends);
  file.insert(file.end(), ends.data(), ends.data() + ends.size());
  return file;
}

void MutateFile(Bytes& file, Random& random) {
  if (const auto parts = random() % 4 == 0 ? std::nullopt : FileParts::Of(file)) {
    // First chooses a kind of part at random, because most parts are data blocks.
    std::map<Kind, std::vector<size_t>> kinds;
    for (size_t i = 0; i < parts->parts().size(); ++i) kinds[parts->parts()[i].kind].push_back(i);
    const auto& candidates =
        std::next(kinds.begin(), static_cast<int>(random() % kinds.size()))->second;
    const Bytes& other = parts->parts()[candidates[random() % candidates.size()]].bytes;
    Bytes changed = parts->Write(candidates[random() % candidates.size()], [&](Bytes& bytes) {
      if (random() % 16 == 0)
        bytes = other;  // puts a part in the place of another part
      else
        MutateAny(bytes);
    });
    if (!changed.empty()) {
      file = std::move(changed);
      return;
    }
  }
  MutateAny(file);
  campaign::SignMetadata(file);
}

Bytes SignedHeader(std::span<const uint8_t> message, std::string_view magic) {
  ByteWriter out;
  AppendHeader(magic, message, out);
  return ToBytes(out.span());
}

Bytes SignedFooter(std::span<const uint8_t> message) {
  ByteWriter out;
  AppendFooter(kMagicV2, message, out);
  return ToBytes(out.span());
}

}  // namespace cfile::fuzz
