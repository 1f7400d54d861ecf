#include "encodings/registry.h"

#include <array>
#include <iterator>
#include <tuple>
#include <type_traits>
#include <utility>

#include "encodings/core/assert.h"
#include "encodings/core/block_description.h"
#include "encodings/core/status.h"
#include "encodings/core/value_dictionary.h"
#include "encodings/kudu/bit_shuffle.h"
#include "encodings/kudu/dict.h"
#include "encodings/kudu/frame_of_reference.h"
#include "encodings/kudu/plain.h"
#include "encodings/kudu/prefix.h"
#include "encodings/kudu/rle.h"
#include "encodings/own/alp_rd.h"
#include "encodings/own/compact.h"
#include "encodings/own/for.h"
#include "encodings/own/fsst.h"
#include "encodings/parquet/alp.h"
#include "encodings/parquet/byte_stream_split.h"
#include "encodings/parquet/delta_binary_packed.h"
#include "encodings/parquet/delta_byte_array.h"
#include "encodings/parquet/delta_length_byte_array.h"
#include "encodings/parquet/page_codec.h"
#include "encodings/parquet/parquet_dictionary.h"
#include "encodings/parquet/parquet_group_varint.h"
#include "encodings/parquet/parquet_plain.h"
#include "encodings/parquet/parquet_rle.h"
#include "encodings/value_places.h"

namespace cfile::encodings {
namespace {

// The codec structs of all encodings (encodings/ADDING.md), in the order of the encoding numbers.
template <typename... Codec>
struct CodecList {};
template <typename... A, typename... B>
CodecList<A..., B...> operator+(CodecList<A...>, CodecList<B...>);

using NoCodecs = CodecList<>;
using Lz4Codecs = CodecList<DictCodec, BitShuffleCodec>;
using OtherCodecs =
    CodecList<ParquetPlainCodec, ParquetGroupVarintCodec, ParquetRleCodec, DeltaBinaryPackedCodec,
              DeltaLengthByteArrayCodec, DeltaByteArrayCodec, ParquetDictionaryCodec,
              ByteStreamSplitCodec, AlpCodec, ForCodec, FsstCodec, CompactCodec, AlpRdCodec>;
#ifdef CFILE_WITH_LZ4
constexpr bool kWithLz4 = true;
#else
constexpr bool kWithLz4 = false;
#endif
#ifdef CFILE_ONLY_KUDU_ENCODINGS
constexpr bool kOnlyKudu = true;
#else
constexpr bool kOnlyKudu = false;
#endif
using Codecs = decltype(CodecList<PlainCodec, PrefixCodec, GroupVarintCodec, RleCodec>() +
                        std::conditional_t<kWithLz4, Lz4Codecs, NoCodecs>() +
                        std::conditional_t<kOnlyKudu, NoCodecs, OtherCodecs>());

// The name of `encoding` in a list of codecs that this build lacks, and `why` it lacks them; empty
// if it is not in the list.
template <typename... Codec>
std::string AbsentName(CodecList<Codec...>, Encoding encoding, std::string_view why) {
  std::string name;
  ((Codec::kEncoding == encoding ? void(name = StrCat(Codec::kName, " (built ", why, ")"))
                                 : void()),
   ...);
  return name;
}

template <typename Codec>
constexpr bool HasDictionary = requires {
  &Codec::LoadDictionary;
};

template <typename Codec>
constexpr bool HasPlaces = requires {
  &Codec::VisitValuePlaces;
};

template <typename Codec>
constexpr EncodingRow RowOf() {
  uint32_t types = 0;
  for (uint32_t type = 0; type < kNumPhysicalTypes; ++type) {
    if (Codec::Supports(static_cast<PhysicalType>(type))) types |= uint32_t{1} << type;
  }
  return {Codec::kEncoding,
          Codec::kName,
          Codec::kSuits,
          Codec::kOlderNumber,
          types,
          Codec::kWorstExtraBytesPerValue,
          Codec::kWorstExtraBytesPerBlock,
          Codec::kScanCost,
          Codec::kAutomatic,
          HasDictionary<Codec>,
          HasDictionary<Codec> && Codec::kHasCodes,
          Codec::kFrontCodes};
}

template <typename... Codec>
constexpr std::array<EncodingRow, sizeof...(Codec)> RowsOf(CodecList<Codec...>) {
  return {RowOf<Codec>()...};
}
constexpr auto kRows = RowsOf(Codecs());

static_assert(
    [] {
      for (size_t i = 0; i < kRows.size(); ++i) {
        for (size_t j = 0; j < i; ++j) {
          if (kRows[j].encoding >= kRows[i].encoding || kRows[j].name == kRows[i].name) {
            return false;
          }
        }
        // An older number is not the number of another encoding.
        for (const EncodingRow& row : kRows) {
          if (row.older_number == kRows[i].encoding ||
              (&row != &kRows[i] && row.older_number && row.older_number == kRows[i].older_number))
            return false;
        }
      }
      return true;
    }(),
    "numbers ascend, numbers and names differ");

static_assert(
    [] {
      for (uint32_t type = 0; type < kNumPhysicalTypes; ++type) {
        int dictionaries = 0;
        for (const EncodingRow& row : kRows) {
          dictionaries += row.automatic != Automatic::kNever && row.has_codes &&
                          row.Supports(static_cast<PhysicalType>(type));
        }
        if (dictionaries > 1) return false;
      }
      return true;
    }(),
    "automatic choice has at most one encoding with a dictionary of values for each type");

// The C++ type of each PhysicalType, in the order of the enum.
#define CFILE_IDENTITY(T) std::type_identity<T>,
using ValueTypes =
    std::tuple<CFILE_FOR_EACH_VALUE_TYPE(CFILE_IDENTITY) std::type_identity<std::string_view>>;
#undef CFILE_IDENTITY
static_assert(std::tuple_size_v<ValueTypes> == kNumPhysicalTypes);

// True if the encoding supports a physical type whose C++ type is T.
template <typename Codec, typename T, size_t... kType>
constexpr bool Takes(std::index_sequence<kType...>) {
  return ((std::is_same_v<std::tuple_element_t<kType, ValueTypes>, std::type_identity<T>> &&
           Codec::Supports(static_cast<PhysicalType>(kType))) ||
          ...);
}

// Returns make(codec), where `codec` is the std::type_identity of the codec struct of `encoding`,
// or nullptr if this build has no such encoding of `type`. T is the C++ type of the values.
template <typename T, typename Result, typename Make, typename... Codec>
Result MakeWith(CodecList<Codec...>, Encoding encoding, PhysicalType type, Make make) {
  Result result;
  const auto try_codec = [&]<typename C>(std::type_identity<C> codec) {
    if constexpr (Takes<C, T>(std::make_index_sequence<kNumPhysicalTypes>())) {
      if (C::kEncoding == encoding && C::Supports(type)) result = make(codec);
    }
  };
  (try_codec(std::type_identity<Codec>()), ...);
  return result;
}

Encoding DecodedAs(Encoding encoding) {
  const EncodingRow* const row = FindDecoding(encoding);
  return row == nullptr ? encoding : row->encoding;
}

// Calls function(codec), where `codec` is the std::type_identity of the codec struct that decodes
// blocks of `encoding`.
template <typename Function, typename... Codec>
void WithCodec(CodecList<Codec...>, Encoding encoding, Function function) {
  const Encoding decoded = DecodedAs(encoding);
  ((Codec::kEncoding == decoded ? function(std::type_identity<Codec>()) : void()), ...);
}

absl::Status NoSuchPair(Encoding encoding, PhysicalType type) {
  return absl::UnimplementedError(
      StrCat("this build has no ", EncodingName(encoding), " of ", PhysicalTypeName(type)));
}

// True if there is no dictionary of values, or if its values are of this type.
template <typename T>
bool FitsDictionary(PhysicalType type, const DecoderOptions& options) {
  using P = PageType<T>;
  if (options.dictionary == nullptr || !options.dictionary->has_values()) return true;
  const auto* found = dynamic_cast<const ValueDictionary<P>*>(options.dictionary.get());
  return found != nullptr &&
         (!kIsBytes<P> || found->type_length == PageTypeLength<T>(type, options.type_length));
}

}  // namespace

std::span<const EncodingRow> Encodings() { return kRows; }

const EncodingRow* FindEncoding(Encoding encoding) {
  for (const EncodingRow& row : kRows) {
    if (row.encoding == encoding) return &row;
  }
  return nullptr;
}

const EncodingRow* FindEncoding(std::string_view name) {
  for (const EncodingRow& row : kRows) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

const EncodingRow* FindDecoding(Encoding encoding) {
  for (const EncodingRow& row : kRows) {
    if (row.encoding == encoding || row.older_number == encoding) return &row;
  }
  return nullptr;
}

bool HasCodes(Encoding encoding) {
  const EncodingRow* row = FindDecoding(encoding);
  return row != nullptr && row->has_codes;
}

std::string EncodingName(Encoding encoding) {
  if (const EncodingRow* row = FindEncoding(encoding)) return std::string(row->name);
  std::string name;
  if constexpr (!kWithLz4) name = AbsentName(Lz4Codecs(), encoding, "without LZ4");
  if constexpr (kOnlyKudu) {
    if (name.empty()) name = AbsentName(OtherCodecs(), encoding, "with CFILE_ENCODINGS=kudu");
  }
  if (!name.empty()) return name;
  return StrCat("encoding ", static_cast<uint32_t>(encoding));
}

std::string_view EncodingSuits(Encoding encoding) {
  const EncodingRow* const row = FindDecoding(encoding);
  return row == nullptr ? std::string_view() : row->suits;
}

template <typename T>
absl::StatusOr<std::unique_ptr<BlockEncoder<T>>> MakeEncoder(Encoding encoding, PhysicalType type,
                                                             const EncoderOptions& options) {
  CFILE_ASSERT(HoldsType<T>(type));
  auto encoder = MakeWith<T, std::unique_ptr<BlockEncoder<T>>>(
      Codecs(), encoding, type,
      [&]<typename C>(std::type_identity<C>) { return C::template MakeEncoder<T>(type, options); });
  if (encoder == nullptr) return NoSuchPair(encoding, type);
  return encoder;
}

absl::StatusOr<std::unique_ptr<AnyBlockEncoder>> MakeAnyEncoder(Encoding encoding,
                                                                PhysicalType type,
                                                                const EncoderOptions& options) {
  using Result = absl::StatusOr<std::unique_ptr<AnyBlockEncoder>>;
  return VisitPhysicalType(type, [&]<typename T>(std::type_identity<T>) -> Result {
    return MakeEncoder<T>(encoding, type, options);
  });
}

template <typename T>
absl::StatusOr<std::unique_ptr<BlockDecoder<T>>> MakeDecoder(Encoding encoding, PhysicalType type,
                                                             const DecoderOptions& options) {
  CFILE_ASSERT(HoldsType<T>(type));
  if (!FitsDictionary<T>(type, options)) {
    return absl::InvalidArgumentError(StrCat("the dictionary given to a decoder of ",
                                             EncodingName(encoding), " has no values of ",
                                             PhysicalTypeName(type)));
  }
  // In a damaged file, a block may have codes although the dictionary consists of symbols.
  DecoderOptions fitting = options;
  if (HasCodes(encoding) && options.dictionary != nullptr && !options.dictionary->has_values())
    fitting.dictionary = nullptr;
  auto decoder = MakeWith<T, std::unique_ptr<BlockDecoder<T>>>(
      Codecs(), DecodedAs(encoding), type,
      [&]<typename C>(std::type_identity<C>) { return C::template MakeDecoder<T>(type, fitting); });
  if (decoder == nullptr) return NoSuchPair(encoding, type);
  return decoder;
}

template <typename T>
absl::StatusOr<std::unique_ptr<AnyBlockDecoder>> MakeDecoderOf(Encoding encoding, PhysicalType type,
                                                               const DecoderOptions& options) {
  return MakeDecoder<T>(encoding, type, options);
}

absl::StatusOr<std::unique_ptr<AnyBlockDecoder>> MakeAnyDecoder(Encoding encoding,
                                                                PhysicalType type,
                                                                const DecoderOptions& options) {
  return VisitPhysicalType(type, [&]<typename T>(std::type_identity<T>) {
    return MakeDecoderOf<T>(encoding, type, options);
  });
}

absl::StatusOr<std::shared_ptr<const Dictionary>> LoadDictionary(Encoding encoding,
                                                                 PhysicalType type,
                                                                 uint32_t type_length,
                                                                 std::span<const uint8_t> bytes,
                                                                 size_t max_values) {
  absl::StatusOr<std::shared_ptr<const Dictionary>> result = NoSuchPair(encoding, type);
  WithCodec(Codecs(), encoding, [&]<typename C>(std::type_identity<C>) {
    if constexpr (HasDictionary<C>) {
      if (C::Supports(type)) result = C::LoadDictionary(type, type_length, bytes, max_values);
    }
  });
  return result;
}

absl::Status CheckWithoutDictionary(Encoding encoding, BlockView& block) {
  absl::Status status =
      absl::UnimplementedError(StrCat("this build has no dictionary of ", EncodingName(encoding)));
  WithCodec(Codecs(), encoding, [&]<typename C>(std::type_identity<C>) {
    if constexpr (HasDictionary<C>) status = C::CheckWithoutDictionary(block);
  });
  return status;
}

bool HasValuePlaces(Encoding encoding, PhysicalType type) {
  bool result = false;
  WithCodec(Codecs(), encoding, [&]<typename C>(std::type_identity<C>) {
    if constexpr (HasPlaces<C>) result = C::HasValuePlaces(type);
  });
  return result;
}

absl::Status VisitValuePlaces(Encoding encoding, PhysicalType type, uint32_t type_length,
                              const BlockView& block, uint32_t position, NeedBytes need) {
  CFILE_ASSERT(HasValuePlaces(encoding, type) && position < block.count);
  absl::Status status;
  WithCodec(Codecs(), encoding, [&]<typename C>(std::type_identity<C>) {
    if constexpr (HasPlaces<C>)
      status = C::VisitValuePlaces(type, type_length, block, position, need);
  });
  return status;
}

absl::Status DescribeBlock(Encoding encoding, PhysicalType type, const DecoderOptions& options,
                           const BlockView& block, std::vector<BlockField>& fields,
                           size_t max_fields) {
  BlockDescription description(block.bytes, max_fields);
  absl::Status status = NoSuchPair(encoding, type);
  WithCodec(Codecs(), encoding, [&]<typename C>(std::type_identity<C>) {
    if (!C::Supports(type)) return;
    status = C::Describe(type, options, block, description);
  });
  description.AddRest(status.ok() ? "bytes after the last value" : "unknown bytes");
  fields = std::move(description).TakeFields();
  return status;
}

#define CFILE_INSTANTIATE(T)                                                                       \
  template absl::StatusOr<std::unique_ptr<BlockEncoder<T>>> MakeEncoder<T>(Encoding, PhysicalType, \
                                                                           const EncoderOptions&); \
  template absl::StatusOr<std::unique_ptr<BlockDecoder<T>>> MakeDecoder<T>(Encoding, PhysicalType, \
                                                                           const DecoderOptions&); \
  template DecoderMaker MakeDecoderOf<T>;
CFILE_FOR_EACH_VALUE_TYPE(CFILE_INSTANTIATE)
#undef CFILE_INSTANTIATE

std::string_view PhysicalTypeName(PhysicalType type) {
  constexpr std::string_view kNames[] = {"bool",  "int8",   "uint8",  "int16",  "uint16",
                                         "int32", "uint32", "int64",  "uint64", "int128",
                                         "int96", "float",  "double", "bytes",  "fixed bytes"};
  static_assert(std::size(kNames) == kNumPhysicalTypes);
  return kNames[static_cast<size_t>(type)];
}

}  // namespace cfile::encodings
