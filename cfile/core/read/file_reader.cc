#include "cfile/core/read/file_reader.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "cfile/core/format/file_metadata.h"
#include "cfile/core/format/file_policy.h"
#include "cfile/core/format/statistics_block.h"
#include "encodings/core/status.h"
#include "encodings/registry.h"
#include "encodings/value_places.h"

namespace cfile::internal {

namespace {

// When a mapped file is opened, this many bytes at its end, usually with the footer, are fetched
// with one request.
constexpr uint64_t kMappedTailBytes = 8 * 1024;
// Blocks that have fewer bytes are always read whole, because reading a part of a block takes two
// requests: one for the head, and one for the part.
constexpr uint32_t kLeastBytesOfParts = 16 * 1024;
// See ReaderOptions::blocks_up_to_file_size.
constexpr uint64_t kMostGrowth = 64;

// Returns the identity of a file's blocks in the cache, with the options that say how blocks are
// checked before they enter it.
std::string CacheIdentity(const Source& source, const ReaderOptions& options) {
  const std::string identity = source.identity();
  if (identity.empty()) return identity;
  return StrCat(options.verify_checksums ? "verified " : "", options.max_block_size_bytes, " ",
                identity);
}

size_t MemoryOf(const FileStatistics& statistics) {
  size_t bytes = sizeof(statistics) + statistics.bloom_filter.capacity() +
                 statistics.blocks.capacity() * sizeof(BlockStatistics);
  for (const BlockStatistics& block : statistics.blocks) {
    for (const auto* key : {&block.min_key, &block.max_key}) {
      if (*key && (*key)->capacity() > std::string().capacity()) bytes += (*key)->capacity();
    }
  }
  return bytes;
}

}  // namespace

size_t MaxBlockSize(const ReaderOptions& options, uint64_t file_bytes, Compression compression) {
  if (!options.blocks_up_to_file_size) return options.max_block_size_bytes;
  constexpr uint64_t kMostBytes = std::numeric_limits<int32_t>::max();
  const uint64_t growth = compression == Compression::kNone ? 1 : kMostGrowth;
  return std::max<uint64_t>(options.max_block_size_bytes,
                            std::min(std::min(file_bytes, kMostBytes) * growth, kMostBytes));
}

absl::StatusOr<std::shared_ptr<FileReader>> FileReader::Open(std::shared_ptr<const Source> source,
                                                             const ReaderOptions& options,
                                                             std::shared_ptr<SharedUsage> usage,
                                                             bool whole) {
  auto ends = std::dynamic_pointer_cast<const BufferedEnds>(source);
  if (ends != nullptr) {
    // Its ends are in memory already.
  } else if (source->InMemory().empty()) {
    CFILE_ASSIGN_OR_RETURN(ends,
                           BufferEnds(std::move(source), options.max_requests_in_flight, whole));
    source = ends;
  } else {
    const uint64_t size = source->size();
    source->WillRead(0, std::min<uint64_t>(size, kBufferedHeadBytes));
    const uint64_t tail = std::min<uint64_t>(size, kMappedTailBytes);
    source->WillRead(size - tail, tail);
  }
  auto info = ReadFileInfo(*source, options);
  if (absl::IsDataLoss(info.status()) && source->Forget(0, source->size()))
    info = ReadFileInfo(*source, options);
  CFILE_RETURN_IF_ERROR(info.status());
  return std::shared_ptr<FileReader>(new FileReader(std::move(source), std::move(ends), options,
                                                    *std::move(info), std::move(usage)));
}

FileReader::FileReader(std::shared_ptr<const Source> source,
                       std::shared_ptr<const BufferedEnds> ends, const ReaderOptions& options,
                       FileInfo info, std::shared_ptr<SharedUsage> usage)
    : source_(std::move(source)),
      options_(options),
      info_(std::move(info)),
      format_(DataBlockFormatOf(info_)),
      seek_index_bytes_left_(static_cast<int64_t>(
          std::min<size_t>(options.max_seek_index_bytes, std::numeric_limits<int64_t>::max()))),
      usage_(std::move(ends), std::move(usage)) {
  options_.max_block_size_bytes = MaxBlockSize(options_, source_->size(), info_.compression);
  if (options_.block_cache == nullptr) options_.block_cache = BlockCache::Default();
  cache_file_ = CachedBlocks::FileOf(CacheIdentity(*source_, options_));
  usage_.AddMemory(sizeof(FileReader) + info_.header_size_bytes);
}

FileReader::~FileReader() {
  for (auto& root : roots_) delete root.load();
}

bool FileReader::HasRoomForSeekIndex(size_t bytes) const {
  return seek_index_bytes_left_.load(std::memory_order_relaxed) > 0 && usage_.has_room(bytes);
}

absl::StatusOr<FetchedBlock> FileReader::FetchOnce(const BlockPointer& pointer,
                                                   size_t max_size_bytes,
                                                   BlockBuffer& buffer) const {
  if (in_memory()) source_->WillRead(pointer.offset, pointer.size);
  return FetchBlock(*source_, BlockFormatOf(info_), pointer, options_.verify_checksums,
                    max_size_bytes, buffer);
}

absl::StatusOr<std::unique_ptr<LoadedNode>> FileReader::LoadNode(
    IndexKind kind, const BlockPointer& pointer, std::optional<IndexKeyForm> form,
    uint64_t first_block_offset) const {
  BlockBuffer buffer;
  auto node = [&]() -> absl::StatusOr<std::unique_ptr<LoadedNode>> {
    CFILE_ASSIGN_OR_RETURN(const FetchedBlock block,
                           FetchOnce(pointer, options_.max_block_size_bytes, buffer));
    usage_.CountIndexNode();
    const size_t taken = index_bytes_.load(std::memory_order_acquire);
    const size_t room =
        options_.max_index_size_bytes - std::min(options_.max_index_size_bytes, taken);
    CFILE_ASSIGN_OR_RETURN(
        auto parsed, IndexNode::Parse(block.bytes, kind, form, pointer, first_block_offset, room));
    if (const size_t needed = parsed.memory_usage_bytes(); needed > room)
      return AboveIndexRoom(needed, room);
    // Detects a node in the wrong place: a node that takes the place of its parent or the root
    // would describe only some of the blocks.
    const bool leftmost = first_block_offset == info_.header_size_bytes;
    if (leftmost && parsed.leaf() && parsed.num_entries() > 0) {
      const uint64_t first = parsed.entry_pointer(0).offset;
      if (first - first_block_offset >= kAlignment) {
        return DataLoss("the index's first block lies at offset ", first,
                        ", expected the offset after the header, ", first_block_offset);
      }
    }
    return std::make_unique<LoadedNode>(std::move(parsed));
  }();
  if (!node.ok()) return InBlock(node.status(), source_->name(), pointer);
  return node;
}

absl::StatusOr<const LoadedNode*> FileReader::IndexRoot(IndexKind kind) {
  auto& slot = roots_[static_cast<size_t>(kind)];
  if (const LoadedNode* root = slot.load(std::memory_order_acquire); root != nullptr) return root;
  const auto& pointer =
      kind == IndexKind::kPositional ? info_.positional_index_root : info_.value_index_root;
  if (!pointer) {
    return absl::FailedPreconditionError(
        StrCat(source_->name(), ": the file has no ",
               kind == IndexKind::kPositional ? "positional" : "value", " index"));
  }
  if (in_memory()) return LoadRoot(kind, *pointer);
  return node_requests_.Share({nullptr, static_cast<uint32_t>(kind)},
                              [&] { return LoadRoot(kind, *pointer); });
}

absl::StatusOr<const LoadedNode*> FileReader::LoadRoot(IndexKind kind,
                                                       const BlockPointer& pointer) {
  auto& slot = roots_[static_cast<size_t>(kind)];
  // Another thread may have stored the root while this thread waited.
  if (const LoadedNode* root = slot.load(std::memory_order_acquire); root != nullptr) return root;
  std::optional<IndexKeyForm> form = IndexKeyForm::kBytes;
  if (kind == IndexKind::kPositional && PolicyOf(info_.version).vint_ordinals) form.reset();
  auto loaded = LoadNode(kind, pointer, form, info_.header_size_bytes);
  const LoadedNode* kept = slot.load(std::memory_order_acquire);
  if (kept != nullptr) return kept;  // another thread was first, or there is no room left
  CFILE_ASSIGN_OR_RETURN(std::unique_ptr<LoadedNode> root, std::move(loaded));
  if (!slot.compare_exchange_strong(kept, root.get(), std::memory_order_acq_rel)) return kept;
  const size_t bytes = root->memory_usage_bytes();
  index_bytes_.fetch_add(bytes, std::memory_order_release);
  usage_.AddMemory(bytes);
  return root.release();
}

absl::StatusOr<const LoadedNode*> FileReader::IndexChild(IndexKind kind, const LoadedNode& parent,
                                                         uint32_t entry) {
  if (const LoadedNode* child = parent.child(entry); child != nullptr) return child;
  if (in_memory()) return LoadChild(kind, parent, entry);
  return node_requests_.Share({&parent, entry}, [&] { return LoadChild(kind, parent, entry); });
}

absl::StatusOr<const LoadedNode*> FileReader::LoadChild(IndexKind kind, const LoadedNode& parent,
                                                        uint32_t entry) {
  // Another thread may have stored the child while this thread waited.
  if (const LoadedNode* child = parent.child(entry); child != nullptr) return child;
  const BlockPointer& pointer = parent.entry_pointer(entry);
  auto loaded = LoadNode(kind, pointer, parent.key_form(), parent.subtree_begin(entry));
  // Another thread may have stored the child first.
  if (const LoadedNode* kept = parent.child(entry); kept != nullptr) return kept;
  CFILE_ASSIGN_OR_RETURN(std::unique_ptr<LoadedNode> child, std::move(loaded));
  const auto damaged = [&](const auto&... parts) {
    return InBlock(DataLoss(parts...), source_->name(), pointer);
  };
  if (child->num_entries() == 0) return damaged("an index node below the root has no entries");
  if (kind == IndexKind::kPositional) {
    const uint64_t first = child->ordinal(0);
    const uint64_t last = child->ordinal(child->num_entries() - 1);
    const bool past_next = entry + 1 < parent.num_entries() && last >= parent.ordinal(entry + 1);
    if (first != parent.ordinal(entry) || past_next) {
      return damaged("the index node's ordinals ", first, " to ", last,
                     " do not fit its parent's entry, which says ", parent.ordinal(entry));
    }
  } else if (child->key(0) != parent.key(entry)) {
    return damaged("the index node's first key is not the key of its parent's entry");
  }
  const size_t bytes = child->memory_usage_bytes();
  const LoadedNode* const offered = child.get();
  const LoadedNode* const kept = parent.SetChild(entry, std::move(child));
  if (kept == offered) {
    index_bytes_.fetch_add(bytes, std::memory_order_release);
    usage_.AddMemory(bytes);
  }
  return kept;
}

absl::Status FileReader::CheckNumValues() {
  if (info_.num_rows > 0 || info_.holds_bloom_filters()) return absl::OkStatus();
  for (const IndexKind kind : {IndexKind::kPositional, IndexKind::kValue}) {
    const bool positional = kind == IndexKind::kPositional;
    if (!(positional ? info_.positional_index_root : info_.value_index_root)) continue;
    CFILE_ASSIGN_OR_RETURN(const LoadedNode* root, IndexRoot(kind));
    if (root->num_entries() == 0) continue;
    return DataLoss(source_->name(), ": the footer says 0 rows, the ",
                    positional ? "positional" : "value", " index has blocks");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<const encodings::Dictionary>> FileReader::Dictionary() {
  if (!info_.dictionary) return nullptr;
  return dictionary_.Get([&]() -> absl::StatusOr<std::shared_ptr<const encodings::Dictionary>> {
    BlockBuffer buffer;
    const auto block = FetchOnce(*info_.dictionary, options_.max_block_size_bytes, buffer);
    absl::Status status = block.status();
    if (block.ok()) {
      auto dictionary =
          encodings::LoadDictionary(info_.encoding, info_.type.physical(), info_.type.type_length,
                                    block->bytes, options_.max_dictionary_values);
      // A decoded dictionary takes its bytes and 16 bytes for each value: for values of 8 bytes, 3
      // times the size of the block.
      if (dictionary.ok()) usage_.AddMemory(3 * block->bytes.size());
      if (dictionary.ok()) return dictionary;
      status = dictionary.status();
    }
    return InBlock(status, source_->name(), *info_.dictionary);
  });
}

absl::StatusOr<std::shared_ptr<const FileStatistics>> FileReader::Statistics() {
  if (!info_.statistics || info_.statistics_above_limit) return nullptr;
  return statistics_.Get([&]() -> absl::StatusOr<std::shared_ptr<const FileStatistics>> {
    auto statistics = ReadStatistics();
    // The statistics are too large. The footer does not have the uncompressed size, so this is
    // known only now.
    if (absl::IsOutOfRange(statistics.status())) return nullptr;
    CFILE_RETURN_IF_ERROR(statistics.status());
    usage_.AddMemory(MemoryOf(*statistics));
    return std::make_shared<const FileStatistics>(*std::move(statistics));
  });
}

absl::StatusOr<FileStatistics> FileReader::ReadStatistics() const {
  BlockBuffer buffer;
  const uint64_t limit = StatisticsLimit(options_);
  auto statistics = [&]() -> absl::StatusOr<FileStatistics> {
    const auto block = FetchOnce(*info_.statistics, limit, buffer);
    if (absl::IsOutOfRange(block.status())) {
      return OutOfRange("the statistics are ", AboveLimit(limit, "max_bloom_filter_bytes"));
    }
    CFILE_RETURN_IF_ERROR(block.status());
    return ParseStatistics(block->bytes, info_);
  }();
  if (!statistics.ok()) return InBlock(statistics.status(), source_->name(), *info_.statistics);
  return statistics;
}

absl::StatusOr<FetchedBlock> FileReader::FetchDataBlock(const LoadedNode& leaf, uint32_t entry,
                                                        BlockBuffer& buffer) const {
  const BlockPointer& pointer = leaf.entry_pointer(entry);
  // Bytes in memory do not change after they were verified. Bytes of other sources are verified
  // each time they are read.
  const bool verify = options_.verify_checksums && !(leaf.verified(entry) && in_memory());
  auto block =
      FetchBlock(*source_, format_, pointer, verify, options_.max_block_size_bytes, buffer);
  if (!block.ok()) {
    // The next try has to read the block again.
    buffer.stored.Clear();
    return InBlock(block.status(), source_->name(), pointer);
  }
  // If the bytes in memory are damaged, the block was read again, into the buffer.
  if (!in_memory() || !buffer.Holds(pointer)) leaf.SetVerified(entry, block->in_source);
  usage_.CountBlockRead();
  return block;
}

absl::StatusOr<LoadedBlock> FileReader::LoadDataBlock(const LoadedNode& leaf, uint32_t entry,
                                                      BlockAccess access, BlockFetcher& fetcher,
                                                      BlockBuffer& buffer) {
  const BlockPointer& pointer = leaf.entry_pointer(entry);
  const CachedBlocks::Key key{cache_file_, pointer};
  CachedBlocks& cache = options_.block_cache->blocks();
  // True if the source is asked to fetch exactly the bytes of this block. This is so for a seek in
  // a mapped file if the block has not been read and verified as a whole, and if the cursor will
  // not also read the next blocks.
  const bool is_mapped = in_memory() && !usage_.has_source();
  const bool reads_alone = access != BlockAccess::kScan && is_mapped && !leaf.verified(entry) &&
                           !fetcher.ReadsOn(leaf, entry);
  if (access == BlockAccess::kFewRows) {
    if (reads_alone) {
      CFILE_ASSIGN_OR_RETURN(LoadedBlock part, LoadPart(leaf, entry, buffer));
      if (part.in_part) return part;
    }
    access = BlockAccess::kSeek;
  }
  LoadedBlock loaded;
  const bool may_be_cached =
      !in_memory() || (format_.compression != Compression::kNone && !leaf.in_place(entry));
  if (may_be_cached) loaded.resident = cache.Find(key);
  loaded.seen_before = loaded.resident != nullptr;
  if (loaded.seen_before) usage_.CountBlockCached();
  if (loaded.resident == nullptr) {
    const bool verified = leaf.verified(entry);
    bool shared = false;
    if (!in_memory()) {
      const auto is_cached = [&](const BlockPointer& block) {
        return cache.Peek({cache_file_, block}) != nullptr;
      };
      fetcher.Prepare(*source_, options_, leaf, entry, access, is_cached, buffer);
      shared = access == BlockAccess::kSeek && !buffer.Holds(pointer);
    } else if (reads_alone) {
      source_->WillRead(pointer.offset, pointer.size);
    }
    if (shared) {
      using Resident = absl::StatusOr<std::shared_ptr<const ResidentBlock>>;
      bool read = false;
      CFILE_ASSIGN_OR_RETURN(
          loaded.resident, block_requests_.Share({pointer.offset, pointer.size}, [&]() -> Resident {
            // Another thread may have stored the block since it was looked up.
            if (auto resident = cache.Peek(key); resident != nullptr) return resident;
            read = true;
            CFILE_ASSIGN_OR_RETURN(const FetchedBlock fetched, FetchDataBlock(leaf, entry, buffer));
            return KeepBlock(fetched, key, buffer);
          }));
      if (!read) usage_.CountBlockCached();
    } else {
      CFILE_ASSIGN_OR_RETURN(const FetchedBlock fetched, FetchDataBlock(leaf, entry, buffer));
      loaded.bytes = fetched.bytes;
      loaded.head = fetched.head;
      if (access == BlockAccess::kSeek && fetched.in_source) {
        loaded.seek_index = &leaf.seek_index(entry);
        // If there is no room for a seek index, no seek index is built.
        loaded.seen_before = verified && HasRoomForSeekIndex(1);
      }
      if (access == BlockAccess::kScan || fetched.in_source) return loaded;
      loaded.resident = KeepBlock(fetched, key, buffer);
    }
  }
  loaded.bytes = loaded.resident->bytes.span();
  loaded.head = format_.movable ? &loaded.resident->head : nullptr;
  if (access == BlockAccess::kSeek) loaded.seek_index = &loaded.resident->seek_index;
  return loaded;
}

FileReader::PlacedBlock FileReader::Prefetch(const LoadedNode& leaf, uint32_t entry) const {
  if (!in_memory() || !leaf.in_place(entry)) return {};
  const BlockPointer& pointer = leaf.entry_pointer(entry);
  const bool has_checksum = format_.checksums && !format_.movable;
  const size_t size = pointer.size - (has_checksum ? kChecksumBytes : 0);
  const PlacedBlock block{.bytes = source_->InMemory().subspan(pointer.offset, size),
                          .index = leaf.seek_index(entry).get()};
  constexpr size_t kHeadersBytes = 64;
  encodings::PrefetchBytes(block.bytes, 0, kHeadersBytes);
  if (block.index == nullptr) {
    encodings::PrefetchBytes(block.bytes, size - 1, size);
  } else {  // a decoder uses the index, and not the end of the block
    constexpr size_t kIndexBytes = 128;
    encodings::PrefetchBytes({reinterpret_cast<const uint8_t*>(block.index), kIndexBytes}, 0,
                             kIndexBytes);
  }
  return block;
}

absl::StatusOr<LoadedBlock> FileReader::LoadPart(const LoadedNode& leaf, uint32_t entry,
                                                 BlockBuffer& buffer) const {
  LoadedBlock loaded;
  const BlockPointer& pointer = leaf.entry_pointer(entry);
  // A cursor that leaves such a block after a few rows needs the positional index to find the next
  // row.
  if (!format_.movable || !options_.verify_checksums || pointer.size < kLeastBytesOfParts ||
      !leaf.MayReadPart(entry) || !info_.positional_index_root)
    return loaded;
  source_->WillRead(pointer.offset, std::min<uint64_t>(pointer.size, HeadBytesOf(pointer.size)));
  const auto stored = FetchStoredBlock(*source_, format_, pointer, /*verify_parts=*/false,
                                       options_.max_block_size_bytes, buffer);
  // If this read fails, the caller reads the whole block, and returns the error if that fails too.
  const bool has_places = stored.ok() && !stored->head.compressed() &&
                          stored->head.sections[kLevels].size == 0 &&
                          stored->head.sections[kSkipTable].size == 0 &&
                          encodings::HasValuePlaces(stored->head.encoding, info_.type.physical());
  if (!has_places) {
    leaf.StopPartReads(entry);
    return loaded;
  }
  leaf.CountPartRead(entry);
  usage_.CountBlockRead();
  buffer.head = stored->head;
  loaded.bytes = stored->bytes;
  loaded.head = &buffer.head;
  loaded.in_part = true;
  CFILE_RETURN_IF_ERROR(CheckPart(pointer, loaded, 0, encodings::kMostBytesOfOpen));
  return loaded;
}

absl::Status FileReader::CheckPart(const BlockPointer& pointer, const LoadedBlock& block,
                                   uint64_t begin, uint64_t end) const {
  const uint64_t size = block.bytes.size() - block.head->size_bytes();
  end = std::min(end, size);
  if (begin >= end) return absl::OkStatus();
  begin -= begin % kPartBytes;
  end = std::min(size, end + (kPartBytes - end % kPartBytes) % kPartBytes);
  source_->WillRead(pointer.offset + block.head->size_bytes() + begin, end - begin);
  return InBlock(CheckParts(*block.head, block.bytes, begin, end), source_->name(), pointer);
}

void FileReader::BeginToLoad(const LoadedNode& leaf, uint32_t entry, BlockAccess access,
                             BlockFetcher& fetcher, const BlockBuffer& buffer) const {
  CachedBlocks& cache = options_.block_cache->blocks();
  const auto is_cached = [&](const BlockPointer& block) {
    return cache.Peek({cache_file_, block}) != nullptr;
  };
  if (!reads_in_background() || is_cached(leaf.entry_pointer(entry))) return;
  fetcher.BeginToPrepare(*source_, options_, leaf, entry, access, is_cached, buffer);
}

absl::StatusOr<StoredBlock> FileReader::FetchStored(const LoadedNode& leaf, uint32_t entry,
                                                    BlockFetcher& fetcher,
                                                    BlockBuffer& buffer) const {
  const BlockPointer& pointer = leaf.entry_pointer(entry);
  if (!in_memory()) {
    const auto is_cached = [](const BlockPointer&) { return false; };
    fetcher.Prepare(*source_, options_, leaf, entry, BlockAccess::kScan, is_cached, buffer);
  }
  auto block = FetchStoredBlock(*source_, format_, pointer, /*verify_parts=*/true,
                                options_.max_block_size_bytes, buffer);
  if (!block.ok()) {
    buffer.stored.Clear();  // so the next try reads the block again
    return InBlock(block.status(), source_->name(), pointer);
  }
  return block;
}

std::shared_ptr<const ResidentBlock> FileReader::KeepBlock(const FetchedBlock& fetched,
                                                           const CachedBlocks::Key& key,
                                                           BlockBuffer& buffer) {
  auto resident = std::make_shared<ResidentBlock>();
  if (fetched.head != nullptr) resident->head = *fetched.head;
  if (fetched.compressed) {
    resident->bytes = std::move(buffer.uncompressed);
  } else {
    resident->bytes.PutBytes(fetched.bytes);
  }
  options_.block_cache->blocks().Insert(key, resident);
  return resident;
}

const encodings::SeekIndex* FileReader::KeepSeekIndex(
    const LoadedBlock& block, const BlockPointer& pointer,
    std::unique_ptr<const encodings::SeekIndex> index) {
  const size_t size_bytes = index->memory_usage_bytes();
  const bool cached = block.resident != nullptr;
  // If an index does not fit into the budget of the file, the whole budget counts as used, so that
  // no other index is built.
  const auto needed = static_cast<int64_t>(size_bytes);
  if (!cached) {
    if (!HasRoomForSeekIndex(size_bytes)) {
      seek_index_bytes_left_.store(0, std::memory_order_relaxed);
      return nullptr;
    }
    if (seek_index_bytes_left_.fetch_sub(needed, std::memory_order_relaxed) < needed)
      return nullptr;
  }
  const encodings::SeekIndex* offered = index.get();
  const encodings::SeekIndex* kept = block.seek_index->Set(std::move(index));
  if (cached && kept == offered) {
    options_.block_cache->blocks().Grow({cache_file_, pointer}, size_bytes);
  } else if (!cached && kept == offered) {
    usage_.AddMemory(size_bytes);
  } else if (!cached) {
    seek_index_bytes_left_.fetch_add(needed, std::memory_order_relaxed);
  }
  return kept;
}

}  // namespace cfile::internal
