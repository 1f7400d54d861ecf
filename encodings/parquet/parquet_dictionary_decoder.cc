// Loads dictionaries, and decodes pages of codes.
#include "encodings/parquet/parquet_dictionary.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "encodings/core/assert.h"
#include "encodings/core/bytes.h"
#include "encodings/core/packed_strings.h"
#include "encodings/core/value_dictionary.h"
#include "encodings/hybrid/describe_runs.h"
#include "encodings/hybrid/fill_run.h"
#include "encodings/hybrid/rle_hybrid.h"
#include "encodings/hybrid/runs_index.h"
#include "encodings/kernels/bit_packing.h"

namespace cfile::encodings {
namespace {

template <typename... Found>
absl::Status DamagedPage(uint64_t count, const Found&... found) {
  return DataLoss("dictionary page of ", count, " values: ", found...);
}

// Reads the BYTE_ARRAY values of a page: for each a length (fixed32), then its bytes. Copies the
// bytes to `text`.
absl::Status ReadByteArrays(uint64_t count, std::span<const uint8_t> page, uint8_t* text,
                            std::string_view* values) {
  ByteReader reader(page);
  for (uint64_t i = 0; i < count; ++i) {
    uint32_t size;
    std::span<const uint8_t> bytes;
    const size_t at = reader.offset();
    if (!reader.ReadFixed(size) || !reader.ReadBytes(size, bytes)) {
      return DamagedPage(count, "value ", i, " at byte ", at, " does not end within ", page.size(),
                         " bytes");
    }
    if (size > 0) std::memcpy(text, bytes.data(), size);
    values[i] = AsString({text, size});
    text += size;
  }
  if (!reader.empty()) {
    return DamagedPage(count, reader.remaining(), " bytes follow the last value, at byte ",
                       reader.offset());
  }
  return absl::OkStatus();
}

// Checks that the page can hold `count` values, before anything is allocated. `value_size`: the
// size of each value in bytes, or 0 if each value is stored with its own length. `bits`: each value
// is one bit, and `value_size` is not 0.
absl::Status CheckPageSize(uint64_t count, uint64_t value_size, bool bits, size_t page_size,
                           size_t max_values) {
  if (count > UINT32_MAX) return DamagedPage(count, "codes have at most 32 bits");
  const uint64_t expected = bits ? count / 8 + (count % 8 != 0) : count * value_size;
  if (value_size == 0 && count > page_size / sizeof(uint32_t)) {
    return DamagedPage(count, "their lengths alone take more than the page's ", page_size,
                       " bytes");
  }
  if (value_size > 0 && page_size != expected)
    return DamagedPage(count, expected, " bytes expected, found ", page_size);
  return CheckDictionarySize(count, max_values);
}

template <typename P>
absl::StatusOr<std::shared_ptr<const Dictionary>> LoadPage(uint32_t type_length, uint64_t count,
                                                           std::span<const uint8_t> page,
                                                           size_t max_values) {
  constexpr bool kBits = std::is_same_v<P, bool>;
  CFILE_RETURN_IF_ERROR(
      CheckPageSize(count, kIsBytes<P> ? type_length : sizeof(P), kBits, page.size(), max_values));
  const auto dictionary = std::make_shared<ValueDictionary<P>>();
  dictionary->size = static_cast<uint32_t>(count);
  dictionary->type_length = type_length;
  dictionary->values.reset(new P[static_cast<size_t>(count)]);
  P* const values = dictionary->values.get();
  if constexpr (kIsBytes<P>) {
    dictionary->text = std::make_unique<uint8_t[]>(page.size() + PackedStrings::kAhead);
    if (type_length == 0) {
      CFILE_RETURN_IF_ERROR(ReadByteArrays(count, page, dictionary->text.get(), values));
    } else {
      if (!page.empty()) std::memcpy(dictionary->text.get(), page.data(), page.size());
      const std::span<const uint8_t> text(dictionary->text.get(), page.size());
      for (uint64_t i = 0; i < count; ++i)
        values[i] = AsString(text.subspan(static_cast<size_t>(i * type_length), type_length));
    }
  } else if constexpr (kBits) {
    for (uint64_t i = 0; i < count; ++i) values[i] = (page[i / 8] >> (i % 8) & 1) != 0;
  } else if (!page.empty()) {
    std::memcpy(values, page.data(), page.size());
  }
  return dictionary;
}

template <typename P>
class DictionaryDecoder final : public BlockDecoder<P> {
 public:
  explicit DictionaryDecoder(std::shared_ptr<const Dictionary> dictionary)
      : dictionary_(std::static_pointer_cast<const ValueDictionary<P>>(std::move(dictionary))) {
    CFILE_ASSERT(dictionary_ == nullptr ||
                 dynamic_cast<const ValueDictionary<P>*>(dictionary_.get()) != nullptr);
  }

  absl::Status Open(const BlockView& block) override {
    this->count_ = this->position_ = 0;
    this->first_ordinal_ = block.first_ordinal;
    runs_.Open({}, 0);
    // A page without values needs neither a width nor a dictionary.
    if (block.count == 0) return absl::OkStatus();
    if (block.bytes.empty()) {
      return DataLoss("dictionary codes: expected a byte with the width of ", block.count,
                      " codes, found 0 bytes");
    }
    const int width = block.bytes[0];
    if (width > 32) {
      return DataLoss("dictionary codes: width ", width, " at byte 0, expected at most 32");
    }
    if (dictionary_ == nullptr) return MissingDictionary("dictionary codes", block.count);
    runs_.Open(block.bytes.subspan(1), width, RunsIndex::CheckpointsOf(block.seek_index));
    this->count_ = block.count;
    return absl::OkStatus();
  }

  absl::Status SeekTo(uint32_t position) override {
    CFILE_ASSERT(position <= this->count_);
    CFILE_RETURN_IF_ERROR(runs_.SeekTo(position));
    this->position_ = position;
    return absl::OkStatus();
  }

  absl::StatusOr<size_t> Read(std::span<P> out) override {
    const size_t wanted = this->Left(out.size());
    HybridCursor cursor = runs_.cursor();
    for (size_t done = 0; done < wanted;) {
      CFILE_ASSIGN_OR_RETURN(const size_t taken, NextCodes(cursor, wanted - done, done));
      const P* const values = dictionary_->values.get();
      P* const to = out.data() + done;
      if (cursor.literals == nullptr) {
        FillRun(to, taken, wanted - done, values[cursor.value]);
      } else {
        for (size_t i = 0; i < taken; ++i) to[i] = values[codes_[i]];
      }
      cursor.Pass(taken);
      done += taken;
    }
    runs_.MoveTo(cursor, wanted);
    this->position_ += static_cast<uint32_t>(wanted);
    return wanted;
  }

  absl::StatusOr<size_t> ReadPacked(size_t max, PackedStrings& out) override {
    if constexpr (kIsBytes<P>) {
      const size_t wanted = this->Left(max);
      PackedBudget budget(out);
      uint32_t* const ends = out.ReserveOffsets(wanted);
      HybridCursor cursor = runs_.cursor();
      size_t done = 0;
      while (done < wanted) {
        const auto taken = NextCodes(cursor, std::min(wanted - done, kChunk), done);
        if (!taken.ok()) {
          if (done == 0) return taken.status();
          break;
        }
        if (cursor.literals == nullptr)
          std::fill_n(codes_, *taken, static_cast<uint32_t>(cursor.value));
        const size_t fitting = Pack(*taken, budget, out, ends + done);
        cursor.Pass(fitting);
        done += fitting;
        if (fitting < *taken) break;
      }
      runs_.MoveTo(cursor, done);
      this->position_ += static_cast<uint32_t>(done);
      return done;
    } else {
      return BlockDecoder<P>::ReadPacked(max, out);
    }
  }

  std::span<const P> DictionaryValues() const override {
    if (dictionary_ == nullptr) return {};
    return {dictionary_->values.get(), dictionary_->size};
  }

  absl::StatusOr<size_t> ReadCodes(std::span<uint32_t> out) override {
    const size_t wanted = this->Left(out.size());
    HybridCursor cursor = runs_.cursor();
    for (size_t done = 0; done < wanted;) {
      CFILE_ASSIGN_OR_RETURN(const size_t taken, NextCodes(cursor, wanted - done, done));
      if (cursor.literals == nullptr) {
        FillRun(out.data() + done, taken, wanted - done, static_cast<uint32_t>(cursor.value));
      } else {
        std::copy_n(codes_, taken, out.data() + done);
      }
      cursor.Pass(taken);
      done += taken;
    }
    runs_.MoveTo(cursor, wanted);
    this->position_ += static_cast<uint32_t>(wanted);
    return wanted;
  }

  absl::StatusOr<LowerBound> SeekToKey(const P& key) override {
    return SeekToKeyByReading<P>(*this, key);
  }

  std::unique_ptr<const SeekIndex> BuildSeekIndex() override {
    return RunsIndex::Build(runs_, this->count_);
  }

 private:
  static constexpr size_t kChunk = 1024;  // a multiple of 8

  // Unpacks and checks up to `max` next codes, all of one run; enters the next run if no code of
  // the current one is left. Returns how many codes it checked. Codes of a literal run are written
  // to codes_; the code of a repeated run is cursor.value. Does not move `cursor` past them.
  // `done` is the number of values that the caller has already read, for messages.
  absl::StatusOr<size_t> NextCodes(HybridCursor& cursor, size_t max, size_t done) {
    if (cursor.left == 0 && !cursor.NextRun()) return runs_.Damaged(cursor, this->position_ + done);
    size_t taken = static_cast<size_t>(std::min<uint64_t>(cursor.left, max));
    if (cursor.literals == nullptr) {
      if (cursor.value >= dictionary_->size) return NoSuchCode(cursor.value, done);
      return taken;
    }
    taken = std::min(taken, kChunk);
    // Read only up to a group boundary: from there on unpacking is fast.
    if (cursor.first % 8 != 0)
      taken = std::min<size_t>(taken, 8 - static_cast<size_t>(cursor.first % 8));
    const uint32_t largest =
        UnpackIndexes(cursor.packed(), cursor.width, cursor.first, codes_, taken);
    if (largest >= dictionary_->size) return NoSuchCode(largest, done);
    return taken;
  }

  // Appends the values of the first `count` codes in codes_ to `out`, or as many as fit, and writes
  // their end offsets to `ends`. Returns how many values it appended.
  size_t Pack(size_t count, PackedBudget& budget, PackedStrings& out, uint32_t* ends) const {
    constexpr size_t kWide = PackedStrings::kAhead;
    const std::string_view* const values = dictionary_->values.get();
    size_t done = 0;
    while (done < count) {
      // Copy short values, in wide steps that include bytes after each value, and then one value of
      // any size.
      const size_t room = std::min(budget.left(), (count - done) * kWide);
      const auto before = static_cast<uint32_t>(out.data().size());
      uint8_t* to = out.ReserveData(room);
      size_t used = 0;
      const size_t first = done;
      for (; done < count; ++done) {
        const std::string_view value = values[codes_[done]];
        if (value.size() > kWide || value.size() > room - used) break;
        const auto* const from = reinterpret_cast<const uint8_t*>(value.data());
        CopyWide<16>(from, to + used);
        if (value.size() > 16) CopyWide<kWide - 16>(from + 16, to + used + 16);
        used += value.size();
        ends[done] = before + static_cast<uint32_t>(used);
      }
      budget.Use(used);
      out.Add(done - first, used);
      if (done == count) break;
      const std::string_view value = values[codes_[done]];
      if (!budget.Take(value.size())) break;
      out.Append({&value, 1});
      ++done;
    }
    return done;
  }

  absl::Status NoSuchCode(uint64_t code, size_t done) const {
    return DataLoss("dictionary codes: code ", code, " at or after value ", this->position_ + done,
                    ", the dictionary has ", dictionary_->size, " values");
  }

  const std::shared_ptr<const ValueDictionary<P>> dictionary_;
  RleHybridReader runs_;
  uint32_t codes_[kChunk];
};

}  // namespace

absl::StatusOr<std::shared_ptr<const Dictionary>> ReadParquetDictionaryPage(
    PhysicalType type, uint32_t type_length, uint64_t count, std::span<const uint8_t> page,
    size_t max_values) {
  CFILE_ASSERT(type != PhysicalType::kFixedBytes || type_length > 0);
  return VisitPhysicalType(
      type,
      [&]<typename T>(std::type_identity<T>) -> absl::StatusOr<std::shared_ptr<const Dictionary>> {
        const uint32_t length = PageTypeLength<T>(type, type_length);
        CFILE_ASSIGN_OR_RETURN(auto dictionary,
                               LoadPage<PageType<T>>(length, count, page, max_values));
        if constexpr (kIsWidened<T>) {
          const auto& words = static_cast<const ValueDictionary<int32_t>&>(*dictionary);
          const absl::Status status =
              CheckRange({words.values.get(), words.size}, 0, std::numeric_limits<T>::min(),
                         std::numeric_limits<T>::max());
          if (!status.ok()) return DamagedPage(words.size, status.message());
        }
        return dictionary;
      });
}

absl::StatusOr<std::shared_ptr<const Dictionary>> ParquetDictionaryCodec::LoadDictionary(
    PhysicalType type, uint32_t type_length, std::span<const uint8_t> bytes, size_t max_values) {
  ByteReader reader(bytes);
  uint64_t count;
  if (!reader.ReadVint64(count)) {
    return DataLoss("dictionary: its number of values is not a vint in its ", bytes.size(),
                    " bytes");
  }
  return ReadParquetDictionaryPage(type, type_length, count, reader.rest(), max_values);
}

template <typename P>
std::unique_ptr<BlockDecoder<P>> ParquetDictionaryCodec::MakePageDecoder(
    const DecoderOptions& options) {
  return std::make_unique<DictionaryDecoder<P>>(options.dictionary);
}

absl::Status ParquetDictionaryCodec::Describe(PhysicalType /*type*/,
                                              const DecoderOptions& /*options*/,
                                              const BlockView& block,
                                              BlockDescription& description) {
  if (block.count == 0 && block.bytes.empty()) return absl::OkStatus();
  CFILE_ASSIGN_OR_RETURN(const uint32_t width, description.AddByte("width of the codes"));
  if (block.count == 0) return absl::OkStatus();
  if (width > 32) return DataLoss("codes of ", width, " bits, expected at most 32");
  return DescribeRuns(static_cast<int>(width), block.count, description.reader().remaining(),
                      description);
}

#define CFILE_INSTANTIATE(P) CFILE_INSTANTIATE_PAGE_DECODER(ParquetDictionaryCodec, P)
CFILE_FOR_EACH_PAGE_TYPE(CFILE_INSTANTIATE)
#undef CFILE_INSTANTIATE

}  // namespace cfile::encodings
