// Compares our page encodings with those of Arrow C++, in one process on the same data: pages of
// 65,536 values, decoded into reused memory by one thread. A row shows the best of several turns.
// In each turn Arrow, our code and memcpy of the same decoded bytes run one after the other, so
// that other work of the machine affects all of them.
//
//   arrow_comparison [PART_OF_A_ROW'S_NAME [TURNS]]
//
// "views" means string_view and ByteArray; "packed" means PackedStrings and Arrow's BinaryArray. If
// an encoding has a dictionary, the times include the encoding or loading of the dictionary's page.
#include <arrow/api.h>
#include <parquet/encoding.h>
#include <parquet/types.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "comparison_data.h"
#include "encodings/parquet/alp.h"
#include "encodings/parquet/byte_stream_split.h"
#include "encodings/parquet/delta_binary_packed.h"
#include "encodings/parquet/delta_byte_array.h"
#include "encodings/parquet/delta_length_byte_array.h"
#include "encodings/parquet/parquet_dictionary.h"
#include "encodings/parquet/parquet_plain.h"
#include "encodings/parquet/parquet_rle.h"

namespace cfile::encodings {
namespace {

using ArrowEncoding = parquet::Encoding;

constexpr size_t kPage = 65536;
// The pages fit into the processor's caches, so that the times are those of the codecs and not of
// the memory.
constexpr size_t kColumnValues = 8 * kPage;
std::string_view wanted;
int turns = 15;

void Check(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "failed: %s\n", what);
  std::exit(1);
}
template <typename Result>
auto OrDie(Result result) {
  Check(result.ok(), result.ok() ? "" : result.status().ToString().c_str());
  return *std::move(result);
}
void Keep(const void* p) { asm volatile("" : : "g"(p) : "memory"); }

// Keeps the shortest processor time of several runs of the same work.
class Best {
 public:
  template <typename Work>
  void Time(const Work& work) {
    const double begin = Now();
    work();
    seconds_ = std::min(seconds_, Now() - begin);
  }
  double seconds() const { return seconds_; }

 private:
  static double Now() {
    timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  }
  double seconds_ = std::numeric_limits<double>::infinity();
};

// The functions by which one library, Arrow or ours, encodes and decodes one column.
struct Side {
  std::function<size_t(bool keep)> encode;  // returns the number of bytes
  std::function<void()> decode;
};
void Row(const std::string& name, size_t count, Side arrow, Side ours,
         const std::function<void()>& copy) {
  Best arrow_encode, arrow_decode, our_encode, our_decode, memcpy_time;
  size_t arrow_bytes = 0;
  size_t our_bytes = 0;
  for (int turn = 0; turn < turns; ++turn) {
    our_encode.Time([&] { our_bytes = ours.encode(false); });
    our_decode.Time(ours.decode);
    memcpy_time.Time(copy);
    if (arrow.encode == nullptr) continue;
    arrow_encode.Time([&] { arrow_bytes = arrow.encode(false); });
    arrow_decode.Time(arrow.decode);
  }
  const auto rate = [&](const Best& best) {
    return static_cast<double>(count) / best.seconds() / 1e9;
  };
  const auto times = [&](const Best& a, const Best& b) { return b.seconds() / a.seconds(); };
  std::printf(
      "| %-44s | %6.3f | %5.2f | %6.3f | %5.2f | %5.2f | %6.3f | %6.3f | %5.2f | %9zu | %9zu |\n",
      name.c_str(), rate(arrow_decode), times(arrow_decode, memcpy_time), rate(our_decode),
      times(our_decode, memcpy_time), times(our_decode, arrow_decode), rate(arrow_encode),
      rate(our_encode), times(our_encode, arrow_encode), arrow_bytes, our_bytes);
  std::fflush(stdout);
}

// Holds a column, which is created when a row first needs it.
template <typename Make>
class Lazy {
 public:
  explicit Lazy(Make make) : make_(make) {}
  const auto& get() {
    if (!made_) made_.emplace(make_(kColumnValues));
    return *made_;
  }

 private:
  const Make make_;
  std::optional<std::invoke_result_t<Make, size_t>> made_;
};

template <typename T>
std::span<const T> PageOf(std::span<const T> values, size_t page) {
  return values.subspan(page * kPage, std::min(kPage, values.size() - page * kPage));
}
size_t Pages(size_t count) { return (count + kPage - 1) / kPage; }

// One of our encodings. `type` is the type of the values in its dictionary.
template <typename P>
struct Ours {
  std::function<std::unique_ptr<PageEncoder<P>>()> encoder;
  std::function<std::unique_ptr<BlockDecoder<P>>(std::shared_ptr<const Dictionary>)> decoder;
  PhysicalType type;

  std::vector<EncodedBlock> pages;
  EncodedBlock passing;
  ByteWriter dictionary;

  // Returns the number of bytes. If `keep`, keeps all pages for Decode. Otherwise each page reuses
  // the memory of the page before, as in a writer.
  size_t Encode(std::span<const P> values, bool keep) {
    const auto made = encoder();
    pages.resize(Pages(values.size()));
    size_t bytes = 0;
    for (size_t i = 0; i < pages.size(); ++i) {
      EncodedBlock& page = keep ? pages[i] : passing;
      page.Clear();
      made->Encode(PageOf(values, i), page);
      Check(page.encoding == Encoding::kAuto, "our encoder fell back");
      page.count = static_cast<uint32_t>(PageOf(values, i).size());
      bytes += page.bytes.size();
    }
    dictionary.Clear();
    made->FinishDictionary(dictionary);
    return bytes + dictionary.size();
  }
  // Calls read(decoder) for each page.
  template <typename Read>
  void Decode(const Read& read) const {
    std::shared_ptr<const Dictionary> loaded;
    if (!dictionary.empty())
      loaded = OrDie(ParquetDictionaryCodec::LoadDictionary(type, 0, dictionary.span()));
    const auto made = decoder(loaded);
    for (const EncodedBlock& page : pages) {
      Check(made->Open(BlockView(page, 0)).ok(), "our page opens");
      read(*made, page.count);
    }
  }
};

// One of Arrow's encodings, and the pages of one column in this encoding.
template <typename D>
struct Arrows {
  ArrowEncoding::type encoding;

  std::vector<std::shared_ptr<arrow::Buffer>> pages;
  std::shared_ptr<arrow::Buffer> dictionary;
  int dictionary_values = 0;

  // Returns the number of bytes. put(encoder, page) puts the values of a page into the encoder. If
  // `keep`, keeps all pages for Decode.
  template <typename Put>
  size_t Encode(size_t count, bool keep, const Put& put) {
    const bool has_dictionary = encoding == ArrowEncoding::RLE_DICTIONARY;
    const auto encoder = parquet::MakeTypedEncoder<D>(
        has_dictionary ? ArrowEncoding::PLAIN : encoding, has_dictionary);
    size_t bytes = 0;
    for (size_t i = 0; i < Pages(count); ++i) {
      put(*encoder, i);
      auto page = encoder->FlushValues();
      bytes += static_cast<size_t>(page->size());
      if (keep) pages.push_back(std::move(page));
    }
    if (has_dictionary) {
      auto* const made = dynamic_cast<parquet::DictEncoder<D>*>(encoder.get());
      dictionary_values = made->num_entries();
      dictionary = OrDie(arrow::AllocateBuffer(made->dict_encoded_size()));
      made->WriteDict(dictionary->mutable_data());
      bytes += static_cast<size_t>(dictionary->size());
    }
    return bytes;
  }
  // Calls read(decoder, number of values, page) for each page.
  template <typename Read>
  void Decode(size_t count, const Read& read) const {
    std::unique_ptr<parquet::TypedDecoder<D>> plain;
    std::unique_ptr<parquet::DictDecoder<D>> with_dictionary;
    parquet::TypedDecoder<D>* decoder;
    if (dictionary != nullptr) {
      plain = parquet::MakeTypedDecoder<D>(ArrowEncoding::PLAIN);
      plain->SetData(dictionary_values, dictionary->data(), static_cast<int>(dictionary->size()));
      with_dictionary = parquet::MakeDictDecoder<D>();
      with_dictionary->SetDict(plain.get());
      decoder = with_dictionary.get();
    } else {
      plain = parquet::MakeTypedDecoder<D>(encoding);
      decoder = plain.get();
    }
    for (size_t i = 0; i < pages.size(); ++i) {
      const auto values = static_cast<int>(std::min(kPage, count - i * kPage));
      decoder->SetData(values, pages[i]->data(), static_cast<int>(pages[i]->size()));
      read(*decoder, values, i);
    }
  }
};

// Measures an encoding of numbers or bools. D is void if Arrow lacks the encoding.
template <typename D, typename P, typename Column>
void Fixed(const std::string& name, Column& column, ArrowEncoding::type encoding, Ours<P> ours) {
  if (name.find(wanted) == std::string::npos) return;
  const auto& held = column.get();
  const std::span<const P> values(reinterpret_cast<const P*>(held.data()), held.size());
  const auto page = std::make_unique<P[]>(kPage);
  bool compare = true;
  const auto expect = [&](size_t i) {
    Keep(page.get());
    const auto expected = PageOf(values, i);
    if (compare)
      Check(std::memcmp(page.get(), expected.data(), expected.size_bytes()) == 0, name.c_str());
  };
  Side our_side = {[&](bool keep) { return ours.Encode(values, keep); },
                   [&] {
                     size_t i = 0;
                     ours.Decode([&](BlockDecoder<P>& decoder, size_t count) {
                       Check(OrDie(decoder.Read({page.get(), count})) == count, "our page ends");
                       expect(i++);
                     });
                   }};
  our_side.encode(true);
  our_side.decode();
  Arrows<std::conditional_t<std::is_void_v<D>, parquet::Int32Type, D>> arrows{encoding};
  Side arrow_side;
  if constexpr (!std::is_void_v<D>) {
    arrow_side = {[&](bool keep) {
                    return arrows.Encode(values.size(), keep, [&](auto& encoder, size_t i) {
                      const auto some = PageOf(values, i);
                      encoder.Put(some.data(), static_cast<int>(some.size()));
                    });
                  },
                  [&] {
                    arrows.Decode(values.size(), [&](auto& decoder, int count, size_t i) {
                      Check(decoder.Decode(page.get(), count) == count, "Arrow's page ends");
                      expect(i);
                    });
                  }};
    arrow_side.encode(true);
    arrow_side.decode();
  }
  compare = false;
  Row(name, values.size(), arrow_side, our_side, [&] {
    for (size_t i = 0; i < Pages(values.size()); ++i) {
      const auto some = PageOf(values, i);
      std::memcpy(page.get(), some.data(), some.size_bytes());
      Keep(page.get());
    }
  });
}

template <typename Column>
void Strings(const std::string& name, Column& lazy, ArrowEncoding::type encoding,
             Ours<std::string_view> ours) {
  if (name.find(wanted) == std::string::npos) return;
  const StringColumn& column = lazy.get();
  using D = parquet::ByteArrayType;
  const std::span<const std::string_view> values = column.values;
  const arrow::BinaryArray array(static_cast<int64_t>(values.size()),
                                 arrow::Buffer::Wrap(column.offsets),
                                 arrow::Buffer::FromString(column.text));
  std::vector<std::shared_ptr<arrow::Array>> slices;
  for (size_t i = 0; i < Pages(values.size()); ++i)
    slices.push_back(array.Slice(static_cast<int64_t>(i * kPage), kPage));
  Arrows<D> arrows{encoding};
  const auto our_encode = [&](bool keep) { return ours.Encode(values, keep); };
  const auto arrow_encode = [&](bool keep) {
    return arrows.Encode(values.size(), keep,
                         [&](auto& encoder, size_t i) { encoder.Put(*slices[i]); });
  };
  our_encode(true);
  arrow_encode(true);

  std::vector<parquet::ByteArray> byte_arrays(kPage);
  std::vector<std::string_view> views(kPage);
  PackedStrings packed;
  bool compare = true;
  const Side our_views = {
      our_encode, [&] {
        size_t i = 0;
        ours.Decode([&](auto& decoder, size_t count) {
          for (size_t done = 0; done < count;) {
            const size_t n = OrDie(decoder.Read({views.data(), count - done}));
            Keep(views.data());
            if (compare)
              Check(std::equal(views.begin(), views.begin() + static_cast<ptrdiff_t>(n),
                               PageOf(values, i).begin() + static_cast<ptrdiff_t>(done)),
                    name.c_str());
            done += n;
          }
          ++i;
        });
      }};
  const Side our_packed = {our_encode, [&] {
                             size_t i = 0;
                             ours.Decode([&](auto& decoder, size_t count) {
                               packed.Clear();
                               Check(OrDie(decoder.ReadPacked(count, packed)) == count,
                                     "our page ends");
                               Keep(packed.data().data());
                               const auto expected = PageOf(values, i++);
                               for (size_t j = 0; compare && j < count; ++j)
                                 Check(packed[j] == expected[j], name.c_str());
                             });
                           }};
  const Side arrow_views = {arrow_encode, [&] {
                              arrows.Decode(values.size(), [&](auto& decoder, int count, size_t) {
                                Check(decoder.Decode(byte_arrays.data(), count) == count,
                                      "Arrow's page ends");
                                Keep(byte_arrays.data());
                              });
                            }};
  const Side arrow_packed = {
      arrow_encode, [&] {
        arrows.Decode(values.size(), [&](auto& decoder, int count, size_t i) {
          typename parquet::EncodingTraits<D>::Accumulator builder;
          builder.builder = std::make_unique<arrow::BinaryBuilder>();
          Check(decoder.DecodeArrow(count, 0, nullptr, 0, &builder) == count, "Arrow's page ends");
          const auto made = OrDie(builder.builder->Finish());
          Keep(made.get());
          if (compare) Check(made->Equals(*slices[i]), name.c_str());
        });
      }};
  for (const Side* side : {&our_views, &our_packed, &arrow_views, &arrow_packed}) side->decode();
  compare = false;
  std::vector<uint32_t> offsets(kPage);
  std::string text(column.text.size(), ' ');
  const auto copy = [&] {
    for (size_t i = 0; i < Pages(values.size()); ++i) {
      const size_t begin = i * kPage;
      const size_t end = std::min(values.size(), begin + kPage);
      std::memcpy(offsets.data(), column.offsets.data() + begin, (end - begin) * sizeof(uint32_t));
      const auto from = static_cast<size_t>(column.offsets[begin]);
      std::memcpy(text.data(), column.text.data() + from,
                  static_cast<size_t>(column.offsets[end]) - from);
      Keep(text.data());
    }
  };
  Row(name + " packed", values.size(), arrow_packed, our_packed, copy);
  Row(name + " views", values.size(), arrow_views, our_views, copy);
}

// Returns our encoding `Codec`. `type` is the type of the column; only codecs with a dictionary
// need it.
template <typename Codec, typename P>
Ours<P> PagesOf(PhysicalType type = {}) {
  return {[] { return Codec::template MakePageEncoder<P>(); },
          [](auto dictionary) {
            return Codec::template MakePageDecoder<P>({0, std::move(dictionary)});
          },
          type};
}

template <typename D, typename P, typename Make>
void Numbers(const std::string& data, Make make, PhysicalType type, bool dictionary) {
  Lazy column(make);
  if constexpr (std::is_integral_v<P>)
    Fixed<D, P>("DELTA_BINARY_PACKED " + data, column, ArrowEncoding::DELTA_BINARY_PACKED,
                PagesOf<DeltaBinaryPackedCodec, P>());
  Fixed<D, P>("BYTE_STREAM_SPLIT " + data, column, ArrowEncoding::BYTE_STREAM_SPLIT,
              PagesOf<ByteStreamSplitCodec, P>());
  if (dictionary)
    Fixed<D, P>("RLE_DICTIONARY " + data, column, ArrowEncoding::RLE_DICTIONARY,
                PagesOf<ParquetDictionaryCodec, P>(type));
}

template <typename Make>
void Bools(const std::string& data, Make make) {
  Lazy column(make);
  Fixed<parquet::BooleanType, bool>("PLAIN " + data, column, ArrowEncoding::PLAIN,
                                    PagesOf<ParquetPlainCodec, bool>());
  Fixed<parquet::BooleanType, bool>("RLE " + data, column, ArrowEncoding::RLE,
                                    PagesOf<ParquetRleCodec, bool>());
}

template <typename Make>
void AllStrings(const std::string& data, Make make, bool dictionary) {
  Lazy column(make);
  Strings("PLAIN " + data, column, ArrowEncoding::PLAIN,
          PagesOf<ParquetPlainCodec, std::string_view>());
  Strings("DELTA_LENGTH_BYTE_ARRAY " + data, column, ArrowEncoding::DELTA_LENGTH_BYTE_ARRAY,
          PagesOf<DeltaLengthByteArrayCodec, std::string_view>());
  Strings("DELTA_BYTE_ARRAY " + data, column, ArrowEncoding::DELTA_BYTE_ARRAY,
          PagesOf<DeltaByteArrayCodec, std::string_view>());
  if (dictionary)
    Strings("RLE_DICTIONARY " + data, column, ArrowEncoding::RLE_DICTIONARY,
            PagesOf<ParquetDictionaryCodec, std::string_view>(PhysicalType::kBytes));
}

}  // namespace

void RunAll() {
  std::printf(
      "| encoding and data | Arrow decode, G values/s | x memcpy | ours | x memcpy | x Arrow | "
      "Arrow encode | ours | x Arrow | Arrow's bytes | ours |\n"
      "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
  using parquet::Int32Type, parquet::Int64Type, parquet::DoubleType;
  Numbers<Int32Type, int32_t>("int32 sequential", SequentialInts<int32_t>, PhysicalType::kInt32,
                              false);
  Numbers<Int32Type, int32_t>("int32 0..1000", SmallInts<int32_t>, PhysicalType::kInt32, true);
  Numbers<Int64Type, int64_t>("int64 sequential", SequentialInts<int64_t>, PhysicalType::kInt64,
                              false);
  Numbers<Int64Type, int64_t>("int64 random", RandomInts<int64_t>, PhysicalType::kInt64, false);
  Numbers<DoubleType, double>("double walk", WalkDoubles, PhysicalType::kDouble, false);
  Numbers<DoubleType, double>("double prices", Prices, PhysicalType::kDouble, true);
  Lazy prices(Prices);
  Fixed<void, double>("ALP double prices", prices, ArrowEncoding::PLAIN,
                      PagesOf<AlpCodec, double>());
  Bools("bool random", RandomBools);
  Bools("bool runs", RunBools);
  AllStrings("sorted keys", SortedKeys, false);
  AllStrings("words", Words, true);
  AllStrings("sorted URLs", SortedUrls, false);
}

}  // namespace cfile::encodings

int main(int argc, char** argv) {
  if (argc > 1) cfile::encodings::wanted = argv[1];
  if (argc > 2) cfile::encodings::turns = std::atoi(argv[2]);
  cfile::encodings::RunAll();
}
