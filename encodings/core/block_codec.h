// The interfaces that every encoding of data blocks implements: BlockEncoder makes one block after
// another, BlockDecoder reads one block at a time.
//
// Files, nulls and compression are handled elsewhere. One virtual call handles a batch of values,
// never a single value. The classes are thread-compatible: only one thread at a time may use an
// object, unless the comment of its class says more.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <typeinfo>
#include <utility>
#include <vector>

#include "encodings/core/assert.h"
#include "encodings/core/block_piece.h"
#include "encodings/core/bytes.h"
#include "encodings/core/encoding.h"
#include "encodings/core/export.h"
#include "encodings/core/key_order.h"
#include "encodings/core/lane.h"
#include "encodings/core/lower_bound.h"
#include "encodings/core/packed_strings.h"
#include "encodings/core/physical_type.h"
#include "encodings/core/status.h"

namespace cfile::encodings {

// Default limit for the number of values in a dictionary. A reader needs 16 bytes of memory for
// each value.
inline constexpr size_t kMaxDictionaryValues = size_t{1} << 22;

struct EncoderOptions {
  // Target size of a block: an encoder reports its block as full at about this many encoded bytes.
  size_t block_size_bytes = 256 * 1024;
  // For PREFIX: the number of values from one restart point to the next, at least 1.
  uint32_t restart_interval = 16;
  // Bytes of one value of kFixedBytes; 0 for other types.
  uint32_t type_length = 0;
  // Ends blocks and runs exactly where Apache Kudu's writer ends them (cfile/FORMAT.md, Kudu's own
  // writer), so that files are byte-identical to Kudu's.
  bool kudu_exact = false;
  // RLE_DICTIONARY: limit for the size of the dictionary's page, at most 2^32 - 2. A block whose
  // values would make the page larger is stored without codes. FSST: limit for the table of
  // symbols.
  size_t max_dictionary_bytes = size_t{1} << 20;
  // DICT, RLE_DICTIONARY: limit for the number of values in the dictionary, at most 2^31 - 1. A
  // block that would add more is stored without codes. FSST: limit for the number of symbols.
  size_t max_dictionary_values = kMaxDictionaryValues;
  // Limit for the size of a block (skip table included) and of DICT's dictionary. A block or a
  // dictionary that has only one value may be larger. Must be at least twice block_size_bytes,
  // unless whole_records is set.
  size_t max_block_size_bytes = SIZE_MAX;
  // The caller ends blocks where records end, and blocks must stay below block_size_bytes. Encoders
  // of Parquet pages still accept values of more than block_size_bytes bytes in total, because they
  // encode only in Finish. The caller must check the size of the finished block.
  bool whole_records = false;
  // Encodings that have pieces (BlockPiece): the least size of a piece, in bytes. 0: blocks have no
  // pieces.
  size_t piece_bytes = 0;
  // Parquet's encodings: whether blocks get skip tables. This does not change the other bytes of a
  // block, except that RLE_DICTIONARY counts the skip table when it chooses an encoding for a block
  // without codes.
  bool skip_tables = true;
};

// Estimated time that a scan needs to decode values, in picoseconds of one core: `number` or
// `string` for each value, plus `byte` for each byte of the decoded values (1 byte for a bool; only
// the contents of strings, not their views). Values that a scan uses in place cost nothing.
// Automatic choice of an encoding compares these costs. They were measured once, with the data of
// tests/benchmarks, and are not guaranteed.
struct ScanCost {
  uint32_t number = 0;
  uint32_t string = 0;
  uint32_t byte = 0;
  // A search by key must decode many values: it cannot compare them in place.
  bool decodes_to_search = false;
  // Reading one value takes several microseconds, because many other values must be decoded first.
  bool decodes_to_read = false;
};

// A finished block. The encoder keeps no reference to its bytes.
struct EncodedBlock {
  ByteWriter bytes;
  // Positions where a decoder can begin, for encodings that can otherwise only be read from the
  // front. Empty: no table. The encoding defines the layout (cfile/FORMAT.md).
  ByteWriter skip_table;
  // The pieces of the block, in order: together they have all its values. Empty: the block has no
  // pieces, or would have only one.
  std::vector<BlockPiece> pieces;
  uint32_t count = 0;
  // The encoding of this block if the encoder has chosen another one than its own (for example,
  // because codes would not save bytes). kAuto: the encoder's own encoding.
  Encoding encoding = Encoding::kAuto;
  // Offset in `bytes` of fixed-width values that lie back to back, if there are such values. A file
  // may then align them, so that a reader can use them in place.
  std::optional<uint32_t> aligned_values_offset;
  // Whether a file with compression should try to compress this block.
  bool compressible = true;

  // Empties the block and keeps its memory.
  void Clear() {
    bytes.Clear();
    skip_table.Clear();
    pieces.clear();
    count = 0;
    aligned_values_offset.reset();
    compressible = true;
    encoding = Encoding::kAuto;
  }
};

// Speeds up seeks in one block whose layout makes seeks slow: positions where decoding can begin,
// or keys that can be searched without reading the block. BlockDecoder::BuildSeekIndex builds it
// once; the caller keeps it in memory and passes it to every decoder that opens the same block
// (BlockView::seek_index). Thread-safe: decoders in several threads may share it, and searches may
// add to it, for the searches after them.
class CFILE_EXPORT SeekIndex {
 public:
  virtual ~SeekIndex() = default;
  virtual size_t memory_usage_bytes() const = 0;

  // Prepare a search for a key in a block. A caller with many searches calls PrefetchKeys for all
  // of them, then FindPart for all, then PrefetchPart for all. Each call asks the CPU to fetch what
  // the next call, and then the search, reads, so that the searches wait for memory at the same
  // time. FindPart returns the number of the part of the block in which the search probably begins:
  // the `part` of PrefetchPart. `block`: bytes that end with the block for which the index was
  // built. By default, and for an index without keys, the functions do nothing.
  virtual void PrefetchKeys(std::span<const uint8_t> /*block*/) const {}
  virtual uint32_t FindPart(std::string_view /*key*/) const { return 0; }
  virtual void PrefetchPart(uint32_t /*part*/, std::string_view /*key*/,
                            std::span<const uint8_t> /*block*/) const {}
};

// Casts `index` to Kind. Returns nullptr if `index` is null or of another class.
template <typename Kind>
const Kind* OfKind(const SeekIndex* index) {
  const bool is_one = index != nullptr && typeid(*index) == typeid(Kind);
  return is_one ? static_cast<const Kind*>(index) : nullptr;
}

// A block to decode. It does not own the bytes. Blocks of Kudu's encodings store their own count
// and first ordinal; `count` and `first_ordinal` are then ignored. Blocks of other encodings
// (encoding numbers from kFirstExtendedNumber on) store neither; a block of a Parquet encoding is
// the bytes of a Parquet page.
struct BlockView {
  BlockView() = default;
  // A block of Kudu's encodings, which stores its own count and first ordinal.
  template <typename Bytes>
  requires std::convertible_to<Bytes, std::span<const uint8_t>> BlockView(const Bytes& block)
      : bytes(block) {}  // NOLINT: a span is a view
  // A block that an encoder has finished, which must outlive the view. `ordinal`: of its first
  // value.
  BlockView(const EncodedBlock& block, uint64_t ordinal)
      : bytes(block.bytes.span()),
        skip_table(block.skip_table.span()),
        count(block.count),
        first_ordinal(static_cast<uint32_t>(ordinal)) {}

  std::span<const uint8_t> bytes;
  std::span<const uint8_t> skip_table;
  uint32_t count = 0;
  uint32_t first_ordinal = 0;
  // The result of BuildSeekIndex for the same bytes, type and encoding, or nullptr. Must stay valid
  // as long as `bytes` (see BlockDecoder::Open). An index of another class is ignored. An index of
  // other bytes leads to wrong answers, but not to undefined behaviour.
  const SeekIndex* seek_index = nullptr;
};

// The values that the codes of a dictionary encoding stand for, or symbols of which values are made
// (EncodingRow::has_codes says which). All blocks of a file share one dictionary. Immutable:
// decoders and threads may share it.
class CFILE_EXPORT Dictionary {
 public:
  virtual ~Dictionary() = default;
  // True if the dictionary is a ValueDictionary (value_dictionary.h).
  virtual bool has_values() const { return false; }
};

struct DecoderOptions {
  DecoderOptions(uint32_t length = 0,  // NOLINT: most decoders need no more
                 std::shared_ptr<const Dictionary> values = nullptr)
      : type_length(length), dictionary(std::move(values)) {}

  // Bytes of one value of kFixedBytes; 0 for other types.
  uint32_t type_length;
  // The dictionary of the file or column chunk, for encodings that have one. Made by LoadDictionary
  // for the same encoding and type, or by ReadParquetDictionaryPage for the same type.
  std::shared_ptr<const Dictionary> dictionary;
};

// Encodes values into blocks: the interface without the type of the values.
class CFILE_EXPORT AnyBlockEncoder {
 public:
  virtual ~AnyBlockEncoder() = default;

  // BlockEncoder::Append for values of the encoder's type.
  virtual size_t AppendAny(ValueSpan values) = 0;

  // True if the block takes no more values: call Finish. A block without values is never full.
  virtual bool full() const = 0;

  // True if the block should end soon because its dictionary is filling up. Differs from full()
  // only with EncoderOptions::whole_records.
  virtual bool nearly_full() const { return full(); }

  // count: the number of values in the block so far. size_bytes: approximately how many bytes
  // Finish would make of these values.
  virtual uint32_t count() const = 0;
  virtual size_t size_bytes() const = 0;

  // Bytes of memory of the dictionary, which the encoder keeps after Finish. The encoder's buffers
  // do not count.
  virtual size_t retained_bytes() const { return 0; }

  // Completes the block and moves it into `block`, whose memory is reused. `first_ordinal` is the
  // ordinal in the file of the block's first value; the format stores its low 32 bits. The encoder
  // is empty afterwards. A block without values is valid.
  virtual void Finish(uint64_t first_ordinal, EncodedBlock& block) = 0;

  // Adds the values of `dictionary` to this encoder's dictionary, and has FinishDictionary write
  // them. Blocks of codes may then be put among the blocks of this encoder, if codes[c] replaces
  // each code c of `dictionary`, or, if `codes` is empty, as they are. Returns false, and changes
  // no dictionary, if the encoder has no dictionary of this kind, or if the dictionary would exceed
  // a limit of the options. The first dictionary may be larger than max_dictionary_bytes.
  // Precondition: `dictionary` was made by ReadParquetDictionaryPage for the type of this encoder.
  virtual bool AdoptDictionary(const Dictionary& /*dictionary*/, std::vector<uint32_t>& /*codes*/) {
    return false;
  }

  // Appends the dictionary of all blocks finished so far to `out` and returns true. Returns false
  // if the encoding has no dictionary or no block needs it. Call once, after the last block.
  virtual bool FinishDictionary(ByteWriter& /*out*/) { return false; }
};

// Encodes values of type T.
template <typename T>
class CFILE_EXPORT BlockEncoder : public AnyBlockEncoder {
 public:
  // Copies values from the front of `values` into the block until the block is full or no value is
  // left. Returns how many values it took: at least one, unless the block is full or `values` is
  // empty. Preconditions: each value of kFixedBytes has type_length bytes; the values of a block
  // take less than 2^32 bytes.
  virtual size_t Append(std::span<const T> values) = 0;

  size_t AppendAny(ValueSpan values) final { return Append(values.As<T>()); }
};

// The position of the first value that is not less than a key.
struct LowerBound {
  uint32_t position = 0;  // count() if all values are less
  bool exact = false;     // the value at `position` equals the key
};

// The largest number of values that one call of Read or ReadPacked returns.
inline constexpr size_t kMaxBatchValues = 65536;

// Decodes one block at a time. Open a block, then read forwards or seek. Open again for the next
// block; the decoder keeps its buffers. Errors: all functions that return a Status or a StatusOr
// return kDataLoss if the part of the block that they use is damaged. What they wrote to their
// output is then unspecified. The decoder can still be used, but position() may have changed: Read
// returns the values from position() on or fails again, and SeekTo moves to another position. After
// a failed Open the decoder behaves as on an empty block.
//
// Memory: a decoder's buffers take at most a small multiple of the block's bytes plus the values of
// one batch (kMaxBatchValues). A count in a block never makes a decoder allocate more than the
// block's bytes justify. A decoder reads no byte outside the block.
//
// AnyBlockDecoder is the interface without the type of the values. A `void*` and a ValueSpan have
// values of the block's type.
class CFILE_EXPORT AnyBlockDecoder {
 public:
  virtual ~AnyBlockDecoder() = default;

  // Opens `block`. Its bytes, its skip table and its seek index must stay valid and unchanged until
  // the next Open or the end of the decoder. If the layout allows it, the time does not depend on
  // the number of values; the values are then checked when they are read. kDataLoss: the block is
  // damaged.
  virtual absl::Status Open(const BlockView& block) = 0;

  // count: the number of values in the block. first_ordinal: the low 32 bits of the ordinal of the
  // block's first value, as the block or the BlockView gives them. position: the position of the
  // value that Read returns next.
  uint32_t count() const { return count_; }
  uint32_t first_ordinal() const { return first_ordinal_; }
  uint32_t position() const { return position_; }

  // Moves to `position`. Precondition: position <= count(). The default is for decoders that can
  // read from any position without preparation.
  virtual absl::Status SeekTo(uint32_t position) {
    CFILE_ASSERT(position <= count_);
    position_ = position;
    return absl::OkStatus();
  }

  // Strings only: decodes up to `max` of the next values, appends them to `out` and returns how
  // many.
  //
  // Returns fewer if the PackedBudget (packed_strings.h) is used up, or if a later value is
  // damaged; the next call then reports the damage. If values are left, returns 0 only if the next
  // value does not fit in `out`. kDataLoss: the next value is damaged; nothing is appended. Some
  // encodings decode values in groups (a vector, a miniblock, a chunk of lengths): there, damage in
  // the next value's group has this effect. Preconditions: the values are strings; max <=
  // kMaxBatchValues.
  virtual absl::StatusOr<size_t> ReadPacked(size_t max, PackedStrings& out) = 0;

  // Like Read, but returns codes: indexes into DictionaryValues(). Precondition: DictionaryValues()
  // is not empty.
  virtual absl::StatusOr<size_t> ReadCodes(std::span<uint32_t> /*out*/) {
    CFILE_ASSERT(false && "not a block of codes");
    return size_t{0};
  }

  // Builds a SeekIndex for the open block, which may take as long as decoding the block. Returns
  // nullptr if seeks are fast without an index, or if the block is damaged; then position() is
  // unchanged. Otherwise position() is unspecified, and this decoder does not use the index: open
  // the block again with it.
  virtual std::unique_ptr<const SeekIndex> BuildSeekIndex() { return nullptr; }

  // The most values that ReadMatchesOfAny compares with.
  static constexpr size_t kMostMatches = 8;

  // The comments of BlockDecoder describe these functions: Read, Borrow, DictionaryValues,
  // ReadMatches, ReadMatchesOfAny, SeekToKey, SeekToKeys, Gather. `out` has room for `count`
  // values, or for one value for each position.
  virtual absl::StatusOr<size_t> ReadAny(void* out, size_t count) = 0;
  virtual ValueSpan BorrowAny(size_t max) = 0;
  virtual ValueSpan AnyDictionaryValues() const = 0;
  virtual absl::StatusOr<bool> ReadAnyMatches(const void* low, const void* high, size_t count,
                                              uint8_t* bits) = 0;
  virtual absl::StatusOr<bool> ReadAnyMatchesOfAny(ValueSpan wanted, size_t count,
                                                   uint8_t* bits) = 0;
  virtual absl::StatusOr<LowerBound> SeekToAnyKey(const void* key) = 0;
  virtual absl::Status SeekToAnyKeys(ValueSpan keys, std::span<LowerBound> bounds) = 0;
  virtual absl::Status GatherAny(std::span<const uint32_t> positions, void* out) = 0;

 protected:
  // Returns how many values are left to read, at most `max`.
  size_t Left(size_t max) const { return std::min<size_t>(max, count_ - position_); }

  uint32_t count_ = 0;
  uint32_t first_ordinal_ = 0;
  uint32_t position_ = 0;
};

// A decoder of values of type T.
template <typename T>
class CFILE_EXPORT BlockDecoder : public AnyBlockDecoder {
 public:
  // Decodes the next values into the front of `out` and returns how many: at least 1, unless `out`
  // is empty or no value is left, and at most out.size(). It returns fewer than possible only if
  // the decoder's buffer has no room for the bytes of more strings. Strings in `out` point to the
  // buffer or to the block's bytes: they are valid until the next call on this decoder, and only
  // while the block's bytes are. Precondition: out.size() <= kMaxBatchValues.
  virtual absl::StatusOr<size_t> Read(std::span<T> out) = 0;

  absl::StatusOr<size_t> ReadPacked(size_t max, PackedStrings& out) override;

  // Returns up to `max` of the next values in place, without copying them, and moves past them.
  // Returns an empty span if the values are not available in place: use Read. The values become
  // invalid as the views of Read do.
  virtual std::span<const T> Borrow(size_t /*max*/) { return {}; }

  // The dictionary's values, indexed by code, if this is a block of codes; empty otherwise. Valid
  // as long as the dictionary.
  virtual std::span<const T> DictionaryValues() const { return {}; }

  // Compares the next `count` values with the range from `low` to `high` in their encoded form, and
  // moves past them. Sets bit i % 8 of bits[i / 8] to 1 if low <= value i <= high, otherwise to 0.
  // `bits` has (count + 7) / 8 bytes, whose old contents do not matter. Returns false, and does
  // nothing, if this decoder has no such function, or not for this range: for strings, only if low
  // == high. kDataLoss: a value is damaged. (Values that are not compared may be damaged, too.)
  // Preconditions: count <= count() - position(); T is not a float.
  virtual absl::StatusOr<bool> ReadMatches(const T& /*low*/, const T& /*high*/, size_t /*count*/,
                                           uint8_t* /*bits*/) {
    return false;
  }

  // ReadMatches for a set: sets the bit of a value to 1 if the value is one of `wanted`.
  // Preconditions: also 1 <= wanted.size() <= kMostMatches.
  virtual absl::StatusOr<bool> ReadMatchesOfAny(std::span<const T> /*wanted*/, size_t /*count*/,
                                                uint8_t* /*bits*/) {
    return false;
  }

  // Finds the first value that does not come before `key` in the order of KeyLess, and moves to it.
  // To find the first of several zeros, search FirstEqualKey(key). Precondition: the block's values
  // ascend in this order. If they do not, the result is some position of the block.
  virtual absl::StatusOr<LowerBound> SeekToKey(const T& key) = 0;

  // SeekToKey for each of `keys`, with several memory accesses in flight at the same time where the
  // encoding allows it. Afterwards position() is unspecified. Precondition: bounds.size() ==
  // keys.size().
  virtual absl::Status SeekToKeys(std::span<const T> keys, std::span<LowerBound> bounds);

  // Writes the values at `positions` to `out`. Afterwards position() is unspecified. Preconditions:
  // T has a fixed width (not std::string_view); out.size() == positions.size(); the positions
  // ascend (equal ones are allowed) and are less than count().
  virtual absl::Status Gather(std::span<const uint32_t> positions, std::span<T> out);

  absl::StatusOr<size_t> ReadAny(void* out, size_t count) final {
    return Read({static_cast<T*>(out), count});
  }
  ValueSpan BorrowAny(size_t max) final { return Borrow(max); }
  ValueSpan AnyDictionaryValues() const final { return DictionaryValues(); }
  absl::StatusOr<bool> ReadAnyMatches(const void* low, const void* high, size_t count,
                                      uint8_t* bits) final {
    return ReadMatches(*static_cast<const T*>(low), *static_cast<const T*>(high), count, bits);
  }
  absl::StatusOr<bool> ReadAnyMatchesOfAny(ValueSpan wanted, size_t count, uint8_t* bits) final {
    return ReadMatchesOfAny(wanted.As<T>(), count, bits);
  }
  absl::StatusOr<LowerBound> SeekToAnyKey(const void* key) final {
    return SeekToKey(*static_cast<const T*>(key));
  }
  absl::Status SeekToAnyKeys(ValueSpan keys, std::span<LowerBound> bounds) final {
    return SeekToKeys(keys.As<T>(), bounds);
  }
  absl::Status GatherAny(std::span<const uint32_t> positions, void* out) final {
    return Gather(positions, {static_cast<T*>(out), positions.size()});
  }

 protected:
  // Implements SeekToKey for decoders that can compare any value: value_at(i) returns value i.
  template <typename ValueAt>
  LowerBound SeekToKeyInPlace(const T& key, ValueAt&& value_at) {
    position_ = FindLowerBound(count_, [&](uint32_t i) { return KeyLess<T>(value_at(i), key); });
    return {position_, position_ < count_ && value_at(position_) == key};
  }
};

// Default: searches one key after another.
template <typename T>
absl::Status BlockDecoder<T>::SeekToKeys(std::span<const T> keys, std::span<LowerBound> bounds) {
  CFILE_ASSERT(bounds.size() == keys.size());
  for (size_t i = 0; i < keys.size(); ++i) {
    CFILE_ASSIGN_OR_RETURN(bounds[i], SeekToKey(keys[i]));
  }
  return absl::OkStatus();
}

template <typename T>
absl::Status BlockDecoder<T>::Gather(std::span<const uint32_t> positions, std::span<T> out) {
  CFILE_ASSERT(out.size() == positions.size());
  for (size_t i = 0; i < positions.size(); ++i) {
    CFILE_RETURN_IF_ERROR(SeekTo(positions[i]));
    CFILE_ASSIGN_OR_RETURN(const size_t read, Read(out.subspan(i, 1)));
    if (read == 0) return DataLoss("the block's values end at value ", position_);
  }
  return absl::OkStatus();
}

// Default: calls Read and copies the values.
template <typename T>
absl::StatusOr<size_t> BlockDecoder<T>::ReadPacked(size_t max, PackedStrings& out) {
  CFILE_ASSERT(kIsBytes<T> && max <= kMaxBatchValues);
  size_t done = 0;
  if constexpr (kIsBytes<T>) {
    PackedBudget budget(out);
    T values[256];
    while (done < max && position_ < count_) {
      const uint32_t first = position_;
      const auto read = Read({values, std::min(std::size(values), max - done)});
      if (!read.ok()) {
        if (done == 0) return read.status();
        break;  // the next call reports the error
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
