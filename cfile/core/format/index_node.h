// Builds and parses one node of an index tree (cfile/FORMAT.md, Index nodes).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "cfile/file_info.h"
#include "cfile/options.h"
#include "encodings/core/bytes.h"
#include "encodings/core/key_heads.h"

namespace cfile::internal {

// How the keys of a tree's nodes are stored.
enum class IndexKeyForm : uint8_t {
  kBytes,         // a vint length, then a value key, or an ordinal as 4 bytes big-endian
  kVint64Ordinal  // an ordinal as a vint64: in positional indexes of version-1 files
};

// Collects the entries of one node. Thread-compatible.
class IndexNodeBuilder {
 public:
  explicit IndexNodeBuilder(IndexKeyForm form) : form_(form) {}

  // `key`: the stored bytes; for kVint64Ordinal, the OrdinalKey of the ordinal.
  void Add(std::string_view key, const BlockPointer& pointer);

  size_t num_entries() const { return offsets_.size(); }
  size_t key_bytes() const { return key_bytes_; }
  // The node's estimated size, by the formula of Kudu's writer. Nodes therefore end at the same
  // entries as Kudu's nodes.
  size_t estimated_size_bytes() const { return entries_.size() + 4 * offsets_.size() + 16; }
  size_t memory_usage_bytes() const { return entries_.capacity() + 4 * offsets_.capacity(); }
  const std::string& first_key() const { return first_key_; }

  // Appends the node to `out` and resets the builder.
  void Finish(bool leaf, encodings::ByteWriter& out);

 private:
  IndexKeyForm form_;
  encodings::ByteWriter entries_;
  std::vector<uint32_t> offsets_;
  std::string first_key_;
  size_t key_bytes_ = 0;
};

// Returns `ordinal` as 4 bytes, big-endian.
std::string OrdinalKey(uint64_t ordinal);

// Returns kOutOfRange: a node needs `needed` bytes of memory, but only `room` bytes of
// ReaderOptions::max_index_size_bytes are left.
absl::Status AboveIndexRoom(size_t needed, size_t room);

// A parsed node. Parse has checked it, so searches need no further checks. Immutable.
class IndexNode {
 public:
  // Parses `bytes`, the node at `pointer`. `form`: nullopt only for the root of a version-1
  // positional index; the form is then inferred from the root's first key, which is always ordinal
  // 0.
  //
  // kDataLoss: the node is malformed, its entries are out of order, or their blocks do not follow
  // each other between `first_block_offset` and the node itself. kOutOfRange: the entries need more
  // than `memory_room` bytes; this is checked before memory is allocated.
  //
  // A file is written from front to back, so each subtree has its own range of the file. Therefore
  // no two entries share a child, and the time to walk the tree is limited by the file's size.
  static absl::StatusOr<IndexNode> Parse(std::span<const uint8_t> bytes, IndexKind kind,
                                         std::optional<IndexKeyForm> form,
                                         const BlockPointer& pointer, uint64_t first_block_offset,
                                         size_t memory_room = SIZE_MAX);
  IndexNode(IndexNode&&) = default;
  IndexNode& operator=(IndexNode&&) = default;

  const BlockPointer& pointer() const { return pointer_; }
  // The earliest offset in the file at which the subtree of entry i may begin.
  uint64_t subtree_begin(uint32_t i) const {
    return i == 0 ? first_block_offset_ : pointers_[i - 1].end();
  }
  IndexKeyForm key_form() const { return key_form_; }
  bool leaf() const { return leaf_; }
  uint32_t num_entries() const { return static_cast<uint32_t>(pointers_.size()); }
  const BlockPointer& entry_pointer(uint32_t i) const { return pointers_[i]; }
  uint64_t ordinal(uint32_t i) const { return ordinals_[i]; }  // positional index only
  std::string_view key(uint32_t i) const {                     // value index only
    return std::string_view(key_bytes_)
        .substr(key_offsets_[i], key_offsets_[i + 1] - key_offsets_[i]);
  }

  // What a reader keeps for a node and for each of its entries, beside what the node says
  // (cfile/core/read/loaded_node.h). Writers count it, because readers have a limit.
  static constexpr size_t kStateBytes = 3 * sizeof(void*);
  static constexpr size_t StateBytesOfEntry(bool leaf) { return sizeof(void*) + (leaf ? 1 : 0); }
  // Memory of this node and of the state that a reader keeps for it, without its children.
  size_t memory_usage_bytes() const;
  // The largest possible memory_usage_bytes() of a node with `num_entries` entries whose keys have
  // `key_bytes` bytes in total (0 for ordinals).
  static size_t MostMemoryBytes(IndexKind kind, bool leaf, size_t num_entries, size_t key_bytes);

  // FindOrdinal returns the last entry whose ordinal is <= `ordinal`, FindKey the last entry whose
  // key is < `key`. Both return 0 if there is no such entry. Precondition: num_entries() > 0.
  uint32_t FindOrdinal(uint64_t ordinal) const;
  uint32_t FindKey(std::string_view key) const;

 private:
  IndexNode() = default;
  absl::Status CheckOrder(IndexKind kind) const;

  BlockPointer pointer_;
  uint64_t first_block_offset_ = 0;
  IndexKeyForm key_form_ = IndexKeyForm::kBytes;
  bool leaf_ = true;
  std::vector<BlockPointer> pointers_;
  std::vector<uint64_t> ordinals_;  // positional
  // Value keys, back to back, and their offsets.
  std::string key_bytes_;
  std::vector<uint32_t> key_offsets_;
  encodings::KeyHeads key_heads_;
};

}  // namespace cfile::internal
