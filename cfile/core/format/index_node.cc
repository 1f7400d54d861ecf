#include "cfile/core/format/index_node.h"

#include "cfile/core/wire/messages.h"
#include "cfile/core/wire/parse_message.h"
#include "cfile/core/wire/write_message.h"
#include "encodings/core/assert.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

using encodings::AsBytes;
using encodings::AsString;
using encodings::ByteReader;
using encodings::ByteWriter;
using encodings::KeyHeads;

constexpr size_t kOrdinalKeyBytes = 4;
// The fewest bytes that a block takes in a file.
constexpr uint64_t kLeastBlockBytes = 4;

uint64_t OrdinalOf(std::string_view key) {
  uint64_t ordinal = 0;
  for (const char byte : key) ordinal = ordinal << 8 | static_cast<uint8_t>(byte);
  return ordinal;
}

}  // namespace

std::string OrdinalKey(uint64_t ordinal) {
  std::string key(kOrdinalKeyBytes, '\0');
  for (size_t i = 0; i < kOrdinalKeyBytes; ++i)
    key[i] = static_cast<char>(static_cast<uint8_t>(ordinal >> (24 - 8 * i)));
  return key;
}

void IndexNodeBuilder::Add(std::string_view key, const BlockPointer& pointer) {
  if (offsets_.empty()) first_key_ = key;
  key_bytes_ += key.size();
  offsets_.push_back(static_cast<uint32_t>(entries_.size()));
  if (form_ == IndexKeyForm::kVint64Ordinal) {
    entries_.PutVint(OrdinalOf(key));
  } else {
    entries_.PutLengthPrefixed(AsBytes(key));
  }
  entries_.PutVint(pointer.offset);
  entries_.PutVint(pointer.size);
}

void IndexNodeBuilder::Finish(bool leaf, ByteWriter& out) {
  out.PutBytes(entries_.span());
  for (const uint32_t offset : offsets_) out.PutFixed(offset);
  wire::IndexBlockTrailer trailer;
  trailer.num_entries = static_cast<int32_t>(offsets_.size());
  trailer.type = leaf ? wire::IndexBlockTrailer::LEAF : wire::IndexBlockTrailer::INTERNAL;
  const std::string message = wire::Serialize(trailer);
  out.PutBytes(std::string_view(message));
  out.PutFixed(static_cast<uint32_t>(message.size()));
  entries_.Clear();
  offsets_.clear();
  first_key_.clear();
  key_bytes_ = 0;
}

absl::Status AboveIndexRoom(size_t needed, size_t room) {
  return OutOfRange("the index nodes need at least ", needed - room,
                    " bytes of memory more than the limit: raise max_index_size_bytes");
}

absl::StatusOr<IndexNode> IndexNode::Parse(std::span<const uint8_t> bytes, IndexKind kind,
                                           std::optional<IndexKeyForm> form,
                                           const BlockPointer& pointer, uint64_t first_block_offset,
                                           size_t memory_room) {
  constexpr size_t kLengthBytes = 4;
  if (bytes.size() < kLengthBytes)
    return DataLoss("expected an index node, found ", bytes.size(), " bytes");
  const auto trailer_size =
      encodings::LoadLittleEndian<uint32_t>(bytes.data() + bytes.size() - kLengthBytes);
  bytes = bytes.first(bytes.size() - kLengthBytes);
  if (trailer_size > bytes.size()) {
    return DataLoss("the index node's trailer claims ", trailer_size, " bytes, there are ",
                    bytes.size());
  }
  wire::IndexBlockTrailer trailer;
  constexpr uint64_t kMaxTrailerBytes = 64;
  if (!wire::ParseMessage(AsString(bytes.last(trailer_size)), kMaxTrailerBytes, trailer).ok() ||
      !trailer.num_entries || !trailer.type) {
    return DataLoss("the index node's trailer does not parse");
  }
  bytes = bytes.first(bytes.size() - trailer_size);
  constexpr size_t kOffsetBytes = 4;
  if (*trailer.num_entries < 0 ||
      static_cast<uint64_t>(*trailer.num_entries) > bytes.size() / kOffsetBytes) {
    return DataLoss("the index node claims ", *trailer.num_entries, " entries in ", bytes.size(),
                    " bytes");
  }
  const auto num_entries = static_cast<uint32_t>(*trailer.num_entries);
  // Do not allocate memory for more entries than there can be blocks before the node.
  const uint64_t room = pointer.offset - std::min(pointer.offset, first_block_offset);
  if (num_entries > room / kLeastBlockBytes) {
    return DataLoss("the index node claims ", num_entries, " entries, but only ", room,
                    " bytes of blocks lie before it");
  }
  const bool leaf = *trailer.type == wire::IndexBlockTrailer::LEAF;
  const size_t entry_bytes = sizeof(BlockPointer) + StateBytesOfEntry(leaf) +
                             (kind == IndexKind::kPositional ? sizeof(uint64_t) : sizeof(uint32_t));
  if (num_entries > memory_room / entry_bytes)
    return AboveIndexRoom(num_entries * entry_bytes, memory_room);
  const auto offsets = bytes.last(kOffsetBytes * num_entries);
  bytes = bytes.first(bytes.size() - offsets.size());

  IndexNode node;
  node.pointer_ = pointer;
  node.first_block_offset_ = first_block_offset;
  node.leaf_ = leaf;
  node.pointers_.reserve(num_entries);
  if (kind == IndexKind::kPositional) {
    node.ordinals_.reserve(num_entries);
  } else {
    node.key_offsets_.reserve(size_t{num_entries} + 1);
    node.key_offsets_.push_back(0);
  }
  for (uint32_t i = 0; i < num_entries; ++i) {
    const auto offset = encodings::LoadLittleEndian<uint32_t>(offsets.data() + kOffsetBytes * i);
    if (offset >= bytes.size()) {
      return DataLoss("index entry ", i, " claims to begin at byte ", offset, " of ", bytes.size());
    }
    ByteReader reader(bytes.subspan(offset));
    std::span<const uint8_t> key;
    uint64_t ordinal = 0;
    if (!form) form = bytes[offset] == 0 ? IndexKeyForm::kVint64Ordinal : IndexKeyForm::kBytes;
    const bool vint_keys = *form == IndexKeyForm::kVint64Ordinal;
    if (vint_keys ? !reader.ReadVint64(ordinal) : !reader.ReadLengthPrefixed(key)) {
      return DataLoss("the key of index entry ", i, " at byte ", offset,
                      " runs past the entries' end");
    }
    BlockPointer target;
    if (!reader.ReadVint64(target.offset) || !reader.ReadVint32(target.size)) {
      return DataLoss("the pointer of index entry ", i, " runs past the entries' end");
    }
    const uint64_t begin = i == 0 ? first_block_offset : node.pointers_.back().end();
    if (target.offset < begin || target.offset > pointer.offset ||
        target.size > pointer.offset - target.offset || target.size < kLeastBlockBytes) {
      return DataLoss("index entry ", i, " points to offset ", target.offset, ", ", target.size,
                      " bytes, outside of bytes ", begin, " to ", pointer.offset);
    }
    node.pointers_.push_back(target);
    if (kind == IndexKind::kPositional) {
      if (!vint_keys && key.size() != kOrdinalKeyBytes) {
        return DataLoss("the ordinal of index entry ", i, " has ", key.size(),
                        " bytes, expected 4");
      }
      node.ordinals_.push_back(vint_keys ? ordinal : OrdinalOf(AsString(key)));
    } else {
      // Overlapping entries must not add up to more key bytes than the node has.
      if (key.size() > bytes.size() - node.key_bytes_.size()) {
        return DataLoss("the keys of index entries 0 to ", i, " overlap");
      }
      node.key_bytes_.append(AsString(key));
      node.key_offsets_.push_back(static_cast<uint32_t>(node.key_bytes_.size()));
    }
  }
  node.key_form_ = form.value_or(IndexKeyForm::kBytes);
  CFILE_RETURN_IF_ERROR(node.CheckOrder(kind));
  if (kind == IndexKind::kValue)
    node.key_heads_ = KeyHeads(num_entries, [&](uint32_t i) { return node.key(i); });
  if (!leaf && num_entries == 0) return DataLoss("an inner index node has no entries");
  return node;
}

absl::Status IndexNode::CheckOrder(IndexKind kind) const {
  for (uint32_t i = 1; i < num_entries(); ++i) {
    if (kind == IndexKind::kPositional ? ordinals_[i - 1] >= ordinals_[i] : key(i - 1) > key(i)) {
      return DataLoss("index entries ", i - 1, " and ", i, " are out of order");
    }
  }
  return absl::OkStatus();
}

size_t IndexNode::memory_usage_bytes() const {
  return sizeof(*this) + kStateBytes + num_entries() * StateBytesOfEntry(leaf_) +
         pointers_.capacity() * sizeof(BlockPointer) + ordinals_.capacity() * sizeof(uint64_t) +
         key_bytes_.capacity() + key_offsets_.capacity() * sizeof(uint32_t) +
         key_heads_.memory_usage_bytes();
}

size_t IndexNode::MostMemoryBytes(IndexKind kind, bool leaf, size_t num_entries, size_t key_bytes) {
  // Strings have a capacity even if they are empty.
  constexpr size_t kShortStrings = 64;
  const size_t bytes = sizeof(IndexNode) + kStateBytes + kShortStrings +
                       num_entries * (StateBytesOfEntry(leaf) + sizeof(BlockPointer));
  if (kind == IndexKind::kPositional) return bytes + num_entries * sizeof(uint64_t);
  // The keys' buffer grows by doubling. KeyHeads keeps a prefix of at most one key's length.
  return bytes + (num_entries + 1) * sizeof(uint32_t) + 3 * key_bytes +
         encodings::KeyHeads::MostBytesOfHeads(num_entries);
}

uint32_t IndexNode::FindOrdinal(uint64_t ordinal) const {
  CFILE_ASSERT(num_entries() > 0);
  const uint32_t not_after = encodings::CountLess(ordinals_, ordinal + 1);
  return not_after == 0 ? 0 : not_after - 1;
}

uint32_t IndexNode::FindKey(std::string_view wanted) const {
  CFILE_ASSERT(num_entries() > 0);
  const uint32_t less = key_heads_.CountKeysLess(wanted, [this](uint32_t i) { return key(i); });
  return less == 0 ? 0 : less - 1;
}

}  // namespace cfile::internal
