// What every encoding of data blocks implements: an encoder that fills one block after another and
// a decoder that opens one.
//
// Neither knows files, nulls or compression. One virtual call serves a batch, never a value. All of
// it is thread-compatible: an object may be used by one thread at a time.
#pragma once

#include <algorithm>
#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <typeinfo>

#include "encodings/bytes.h"
#include "encodings/encoding.h"
#include "encodings/packed_strings.h"
#include "encodings/physical_type.h"
#include "encodings/status.h"

namespace cfile::encodings {

// The values that a dictionary has at most, where nothing else is said. A reader takes 16 bytes of
// memory for each.
inline constexpr size_t kMaxDictionaryValues = size_t{1} << 22;

struct EncoderOptions {
  // An encoder says that its block is full when about this many bytes are encoded.
  size_t block_size_bytes = 256 * 1024;
  // PREFIX: values between two restart points, at least 1.
  uint32_t restart_interval = 16;
  // Bytes of one value of kFixedBytes; 0 for other types.
  uint32_t type_length = 0;
  // Ends blocks and runs exactly where Apache Kudu's writer ends them (cfile/FORMAT.md, Kudu's own
  // writer), for byte-identical files.
  bool kudu_exact = false;
  // RLE_DICTIONARY: a block for whose values the dictionary's page would grow beyond this has no
  // codes. At most 2^32 - 2.
  size_t max_dictionary_bytes = size_t{1} << 20;
  // DICT, RLE_DICTIONARY: a block that would give the dictionary more values than this has no
  // codes. At most 2^31 - 1.
  size_t max_dictionary_values = kMaxDictionaryValues;
  // A block of two or more values takes at most this many bytes, skip table included, and so does
  // DICT's dictionary. At least twice block_size_bytes, unless whole_records is set.
  size_t max_block_size_bytes = SIZE_MAX;
  // The caller ends blocks where records end, and block_size_bytes is the size that a block must
  // not reach. Pages take more values before encoding; the caller checks what they became.
  bool whole_records = false;
  // Of Parquet's encodings: whether blocks get skip tables. Without them their bytes are the same.
  bool skip_tables = true;
};

// About what a scan takes to decode an encoding's values, in picoseconds of one core: so much for
// each number or string, and for each byte of the decoded values (a bool and a view have none).
// What is pointed at where it lies takes none. It orders encodings for automatic choice and was
// measured once, with the data of tests/benchmarks: no promise.
struct ScanCost {
  uint32_t number = 0;
  uint32_t string = 0;
  uint32_t byte = 0;
  // A key is found by decoding many values, not where they lie.
  bool decodes_to_search = false;
};

// A finished block: a value that the encoder hands on and keeps nothing of.
struct EncodedBlock {
  ByteWriter bytes;
  // Where a decoder may begin inside a block that can otherwise be read from its front only; empty:
  // none is needed. Its layout is part of the encoding (cfile/FORMAT.md).
  ByteWriter skip_table;
  uint32_t count = 0;
  // What the block is encoded with, where that is not the encoder's own encoding (a dictionary that
  // does not pay); kAuto: its own.
  Encoding encoding = Encoding::kAuto;
  // Where fixed-width values lie back to back, if they do, so that a file may align them and a
  // reader point at them: bytes from the block's start.
  std::optional<uint32_t> aligned_values_offset;
  // Whether a file that compresses should try to compress this block.
  bool compressible = true;

  // Begins a further block in the same memory.
  void Clear() {
    bytes.Clear();
    skip_table.Clear();
    count = 0;
    aligned_values_offset.reset();
    compressible = true;
    encoding = Encoding::kAuto;
  }
};

// What makes seeks in one block fast where its layout does not: places to begin at, keys to search
// without touching the block. Built once (BlockDecoder::BuildSeekIndex), kept in memory beside the
// block, handed to each decoder that opens on it. Immutable, shared by decoders and threads.
class SeekIndex {
 public:
  virtual ~SeekIndex() = default;
  virtual size_t memory_usage_bytes() const = 0;
};

// `index` as a Kind, or nullptr if it is none.
template <typename Kind>
const Kind* OfKind(const SeekIndex* index) {
  const bool is_one = index != nullptr && typeid(*index) == typeid(Kind);
  return is_one ? static_cast<const Kind*>(index) : nullptr;
}

// A block to decode. Blocks of Kudu's encodings say their count and first ordinal themselves and
// ignore those given here; blocks of numbers from kFirstExtendedNumber on are the bytes of a
// Parquet page, which says neither.
struct BlockView {
  BlockView() = default;
  // Bytes that say all themselves.
  template <typename Bytes>
  requires std::convertible_to<Bytes, std::span<const uint8_t>> BlockView(const Bytes& block)
      : bytes(block) {}  // NOLINT: a span is a view
  // What an encoder made of the values from `ordinal` on. `block` must outlive the view.
  BlockView(const EncodedBlock& block, uint64_t ordinal)
      : bytes(block.bytes.span()),
        skip_table(block.skip_table.span()),
        count(block.count),
        first_ordinal(static_cast<uint32_t>(ordinal)) {}

  std::span<const uint8_t> bytes;
  std::span<const uint8_t> skip_table;
  uint32_t count = 0;
  uint32_t first_ordinal = 0;
  // What BuildSeekIndex of a decoder of the same type and encoding made of these bytes, or nullptr;
  // outlives the view. (One of another kind is ignored; one of other bytes gives wrong answers, and
  // is safe.)
  const SeekIndex* seek_index = nullptr;
};

// What the blocks of a file share: the values that a dictionary encoding's codes stand for.
// Immutable, shared by decoders and threads.
class Dictionary {
 public:
  virtual ~Dictionary() = default;
};

struct DecoderOptions {
  DecoderOptions(uint32_t length = 0)
      : type_length(length) {}  // NOLINT: most decoders need no more

  // Bytes of one value of kFixedBytes; 0 for other types.
  uint32_t type_length;
  // Of the file or column chunk, for encodings that have one; made by LoadDictionary for the same
  // encoding and type, or ReadParquetDictionaryPage for the same type.
  std::shared_ptr<const Dictionary> dictionary;
};

// Encodes values of type T into blocks.
template <typename T>
class BlockEncoder {
 public:
  virtual ~BlockEncoder() = default;

  // Takes values from the front of `values` until the block is full or none is left; returns how
  // many it took. Takes at least one unless the block is full or `values` is empty. Copies what it
  // takes. Preconditions: for kFixedBytes each is of type_length bytes; those of a block take less
  // than 2^32 bytes.
  virtual size_t Append(std::span<const T> values) = 0;

  // No further value goes into this block: Finish it. (A non-empty block only.)
  virtual bool full() const = 0;

  // The block should end soon, because the dictionary that it needs is filling up. Only with
  // EncoderOptions::whole_records.
  virtual bool nearly_full() const { return full(); }

  // Values in the block so far, and about how many bytes Finish would make of them.
  virtual uint32_t count() const = 0;
  virtual size_t size_bytes() const = 0;

  // Bytes of memory that it keeps from block to block beside its buffers: a dictionary.
  virtual size_t retained_bytes() const { return 0; }

  // Completes the block, whose first value has this ordinal in its file (cut to 32 bits, as the
  // format stores it), and moves it into `block`, whose memory is reused. The encoder is then
  // empty. A block of no values is valid.
  virtual void Finish(uint64_t first_ordinal, EncodedBlock& block) = 0;

  // Appends the dictionary of all blocks finished so far to `out` and returns true, if the encoding
  // has one and a block needs it. Called once, after the last block.
  virtual bool FinishDictionary(ByteWriter& /*out*/) { return false; }
};

// Where the first value not less than a key stands.
struct LowerBound {
  uint32_t position = 0;  // count() if all values are less
  bool exact = false;     // the value there equals the key
};

// The most values that one Read or ReadPacked yields.
inline constexpr size_t kMaxBatchValues = 65536;

// Decodes one block at a time. Open, then read forwards or seek; open again for the next block
// (buffers are kept).
//
// After an error of SeekTo, SeekToKey, Read or ReadPacked (each: kDataLoss, the block is damaged)
// the decoder is good for more: position() says where it stands, which may be anywhere; Read gives
// the values from there or fails again, and SeekTo goes elsewhere. After one of Open it is as on an
// empty block.
//
// Memory: a decoder's own buffers are bounded by a small multiple of the block's bytes plus the
// values of one batch (kMaxBatchValues), never by a count the bytes do not earn. Nothing outside
// the block's bytes is read.
template <typename T>
class BlockDecoder {
 public:
  virtual ~BlockDecoder() = default;

  // Opens on `block`, whose bytes must stay valid and unchanged until the next Open or the end.
  // Checks in time independent of the number of values where the layout allows it; the rest is
  // checked as it is read. kDataLoss: the block is damaged.
  virtual absl::Status Open(const BlockView& block) = 0;

  // Values in the block; the ordinal of its first one as the block says (its low 32 bits); the
  // position that Read continues at.
  uint32_t count() const { return count_; }
  uint32_t first_ordinal() const { return first_ordinal_; }
  uint32_t position() const { return position_; }

  // Goes to `position`. Precondition: position <= count().
  virtual absl::Status SeekTo(uint32_t position) = 0;

  // Decodes the next values into the front of `out` and returns how many: at least 1 unless `out`
  // is empty or the block is at its end, at most out.size(); fewer than both allow only where the
  // values' bytes would outgrow the decoder's buffer. Views handed out are valid until the next
  // call on this decoder, and no longer than the block's bytes. On failure `out` is unspecified.
  // Precondition: out.size() <= kMaxBatchValues.
  virtual absl::StatusOr<size_t> Read(std::span<T> out) = 0;

  // Strings only: decodes up to `max` next values to the end of `out` and returns how many. Fewer
  // than max and the block allow where a PackedBudget ends, and before damage, which the next call
  // then reports; 0, with values left, only where the next one does not fit in `out`. kDataLoss,
  // with nothing added, where the next value, or what it is decoded together with (of its encoding:
  // a vector, a miniblock, a chunk of lengths), is damaged. Preconditions: T is std::string_view;
  // max <= kMaxBatchValues.
  virtual absl::StatusOr<size_t> ReadPacked(size_t max, PackedStrings& out);

  // Up to `max` next values where they lie in the block ready for use, moving past them; empty if
  // they do not (then Read). Valid as long as the block's bytes or until the next call on this
  // decoder, whichever is shorter.
  virtual std::span<const T> Borrow(size_t /*max*/) { return {}; }

  // If the block is one of codes: the dictionary's values, by code. Else empty. They stay as long
  // as the dictionary.
  virtual std::span<const T> DictionaryValues() const { return {}; }

  // As Read, but the codes: each is a place in DictionaryValues(). Precondition: that is not empty.
  virtual absl::StatusOr<size_t> ReadCodes(std::span<uint32_t> /*out*/) {
    assert(false && "not a block of codes");
    return size_t{0};
  }

  // Finds the first value >= `key` and goes there. Precondition: the block is in ascending KeyLess
  // order (in a block that is not, the answer is some position, and safe).
  virtual absl::StatusOr<LowerBound> SeekToKey(const T& key) = 0;

  // SeekToKey for each of `keys`, to the front of `bounds`, with the waits for memory overlapping
  // where the encoding can do that. Ends at any position. Precondition: bounds.size() ==
  // keys.size().
  virtual absl::Status SeekToKeys(std::span<const T> keys, std::span<LowerBound> bounds);

  // The values at `positions`, which ascend (equal ones may follow each other) and are less than
  // count(), to the front of `out`; ends at any position. For values of a fixed width, not views.
  // Precondition: out.size() == positions.size().
  virtual absl::Status Gather(std::span<const uint32_t> positions, std::span<T> out);

  // Builds the index for the block that is open, which may take as long as decoding it, and moves
  // to any position; nullptr where seeks are fast without one, or the block is damaged. This
  // decoder itself does not use it: open again.
  virtual std::unique_ptr<const SeekIndex> BuildSeekIndex() { return nullptr; }

 protected:
  uint32_t count_ = 0;
  uint32_t first_ordinal_ = 0;
  uint32_t position_ = 0;
};

// One by one: for decoders that gain nothing from more.
template <typename T>
absl::Status BlockDecoder<T>::SeekToKeys(std::span<const T> keys, std::span<LowerBound> bounds) {
  assert(bounds.size() == keys.size());
  for (size_t i = 0; i < keys.size(); ++i) {
    CFILE_ASSIGN_OR_RETURN(bounds[i], SeekToKey(keys[i]));
  }
  return absl::OkStatus();
}

template <typename T>
absl::Status BlockDecoder<T>::Gather(std::span<const uint32_t> positions, std::span<T> out) {
  assert(out.size() == positions.size());
  for (size_t i = 0; i < positions.size(); ++i) {
    CFILE_RETURN_IF_ERROR(SeekTo(positions[i]));
    CFILE_ASSIGN_OR_RETURN(const size_t read, Read(out.subspan(i, 1)));
    if (read == 0) return DataLoss("the block's values end at ", position_);
  }
  return absl::OkStatus();
}

// By Read: for decoders whose values lie ready somewhere.
template <typename T>
absl::StatusOr<size_t> BlockDecoder<T>::ReadPacked(size_t max, PackedStrings& out) {
  assert(kIsBytes<T> && max <= kMaxBatchValues);
  size_t done = 0;
  if constexpr (kIsBytes<T>) {
    PackedBudget budget(out);
    T values[256];
    while (done < max && position_ < count_) {
      const uint32_t first = position_;
      const auto read = Read({values, std::min(std::size(values), max - done)});
      if (!read.ok()) {
        if (done == 0) return read.status();
        break;  // the next call will see it
      }
      size_t fitting = 0;
      while (fitting < *read && budget.Take(values[fitting].size())) ++fitting;
      out.Append({values, fitting});
      done += fitting;
      if (fitting < *read) {
        CFILE_RETURN_IF_ERROR(SeekTo(first + static_cast<uint32_t>(fitting)));
        break;
      }
    }
  }
  return done;
}

}  // namespace cfile::encodings
