// Tests the properties that parquet.h documents and that the golden pages do not test.
#include "encodings/parquet.h"

#include <gmock/gmock.h>
#include <sys/mman.h>

#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace cfile::encodings::parquet_test {

using testing::HasSubstr;

// Zeros that take no memory until they are read.
class Zeros {
 public:
  explicit Zeros(size_t bytes)
      : bytes_(bytes),
        begin_(
            mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
    EXPECT_NE(begin_, MAP_FAILED);
  }
  ~Zeros() { munmap(begin_, bytes_); }
  template <typename T>
  std::span<const T> As() const {
    return {static_cast<const T*>(begin_), bytes_ / sizeof(T)};
  }

 private:
  const size_t bytes_;
  void* const begin_;
};

// Calls check(type identity, type length) for all types.
template <typename Check>
void ForEachType(Check check) {
  check(std::type_identity<bool>(), 0u);
  check(std::type_identity<int32_t>(), 0u);
  check(std::type_identity<int64_t>(), 0u);
  check(std::type_identity<Int96>(), 0u);
  check(std::type_identity<float>(), 0u);
  check(std::type_identity<double>(), 0u);
  check(std::type_identity<std::string_view>(), 0u);
  check(std::type_identity<std::string_view>(), 3u);
}

TEST(Parquet, RefusesValuesThatAreTooManyForAPage) {
  const Zeros zeros((size_t{1} << 32) + 4096);
  ForEachType([&]<typename T>(std::type_identity<T>, uint32_t length) {
    for (int number = 0; number <= 10; ++number) {
      auto encoder = parquet::MakeEncoder<T>(parquet::EncodingOf(number), length);
      if (!encoder.ok()) continue;
      SCOPED_TRACE(EncodingName(encoder->encoding));
      const auto refuses = [&](std::span<const T> values) {
        const auto page = parquet::EncodePage<T>(*encoder, values);
        EXPECT_EQ(page.status().code(), absl::StatusCode::kOutOfRange) << page.status();
      };
      std::string text;
      auto few = std::make_unique<T[]>(100);
      if constexpr (kIsBytes<T>) {
        const std::string_view all(zeros.As<char>().data(), zeros.As<char>().size());
        if (length == 0) {
          refuses(std::vector<T>{all});  // its length, truncated to 32 bits, is small
          refuses(std::vector<T>(4, all.substr(0, all.size() / 8)));
        }
        text = "xyz";
        std::fill_n(few.get(), 100, text);
      } else {
        refuses(zeros.As<T>());
        std::fill_n(few.get(), 100, T(1));
      }
      // The refused values do not change the encoder.
      const auto page = parquet::EncodePage<T>(*encoder, std::span<const T>(few.get(), 100));
      ASSERT_TRUE(page.ok()) << page.status();
      EXPECT_EQ(page->count, 100u);
      if (const auto dictionary = parquet::EncodeDictionaryPage(*encoder).value()) {
        EXPECT_EQ(dictionary->count, 1u);
      }
    }
  });
}

TEST(Parquet, RefusesValuesOfAnotherLengthThanTheType) {
  for (const int number : {0, 7, 8, 9}) {
    auto encoder = parquet::MakeEncoder<std::string_view>(parquet::EncodingOf(number), 4).value();
    for (const std::string_view wrong : {"abc", "abcde", ""}) {
      const std::vector<std::string_view> values = {"abcd", wrong};
      const auto page = parquet::EncodePage<std::string_view>(encoder, values);
      EXPECT_EQ(page.status().code(), absl::StatusCode::kInvalidArgument) << page.status();
    }
    EXPECT_FALSE(parquet::EncodeDictionaryPage(encoder).value().has_value());
  }
}

TEST(Parquet, PagesSayTheirEncodingAndHaveNoSkipTables) {
  ForEachType([&]<typename T>(std::type_identity<T>, uint32_t length) {
    const auto values = std::make_unique<T[]>(5000);
    for (size_t i = 0; i < 5000; ++i) {
      if constexpr (kIsBytes<T>) {
        values[i] = std::string_view("abcdefgh").substr(i % 5, 3);
      } else {
        values[i] = T(i % 2);
      }
    }
    for (int number = 0; number <= 10; ++number) {
      auto encoder = parquet::MakeEncoder<T>(parquet::EncodingOf(number), length);
      if (!encoder.ok()) continue;
      const auto page =
          parquet::EncodePage<T>(*encoder, std::span<const T>(values.get(), 5000)).value();
      if (number != 8) {
        EXPECT_EQ(parquet::NumberOf(page.encoding), number);
      }
      EXPECT_GE(parquet::NumberOf(page.encoding), 0);
      EXPECT_TRUE(page.skip_table.empty());
    }
  });
}

TEST(Parquet, LimitsTheDictionary) {
  std::vector<int64_t> values(20'000);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<int64_t>(i % 1000 * 0x123456789ab);
  for (const size_t limit : {7999, 8000}) {
    auto encoder = parquet::MakeEncoder<int64_t>(Encoding::kParquetDictionary, 0, limit).value();
    const auto page = parquet::EncodePage<int64_t>(encoder, values).value();
    EXPECT_EQ(page.encoding == Encoding::kParquetDictionary, limit == 8000);
  }
}

TEST(Parquet, NoValuesMayHaveNoBytes) {
  ForEachType([&]<typename T>(std::type_identity<T>, uint32_t length) {
    for (int number = 0; number <= 10; ++number) {
      const auto decoder = parquet::MakeDecoder<T>(parquet::EncodingOf(number), length);
      if (!decoder.ok()) continue;
      SCOPED_TRACE(EncodingName(parquet::EncodingOf(number)));
      const absl::Status opened = parquet::OpenPage(**decoder, 0, {});
      ASSERT_TRUE(opened.ok()) << opened;
      T out[3];
      EXPECT_EQ((*decoder)->Read(out).value(), 0u);
      EXPECT_TRUE((*decoder)->SeekTo(0).ok());
      EXPECT_EQ((*decoder)->SeekToKey(T{})->position, 0u);
      EXPECT_EQ(parquet::OpenPage(**decoder, 1, {}).code(), absl::StatusCode::kDataLoss);
    }
  });
}

TEST(Parquet, RefusesEncodingsThatAreNotParquets) {
  for (const Encoding encoding :
       {Encoding::kAuto, Encoding::kPlain, Encoding::kRle, parquet::EncodingOf(4),
        parquet::EncodingOf(99), parquet::EncodingOf(-1), parquet::EncodingOf(900),
        Encoding::kFor}) {
    EXPECT_TRUE(absl::IsUnimplemented(parquet::MakeDecoder<int32_t>(encoding).status()));
    EXPECT_TRUE(absl::IsUnimplemented(parquet::MakeEncoder<int32_t>(encoding).status()));
  }
  EXPECT_EQ(parquet::MakeEncoder<int32_t>(parquet::EncodingOf(4)).status().message(),
            "this build has no encoding 104 of int32");
}

TEST(Parquet, RefusesDictionariesOfOtherTypes) {
  const std::vector<uint8_t> bytes(24);
  const auto ints = parquet::DecodeDictionaryPage<int32_t>(6, bytes).value();
  const auto fixed = parquet::DecodeDictionaryPage<std::string_view>(8, bytes, 3).value();
  const auto texts = parquet::DecodeDictionaryPage<std::string_view>(6, bytes).value();
  const auto code = [&]<typename T>(std::type_identity<T>, auto dictionary, uint32_t length) {
    DecoderOptions options(length);
    options.dictionary = dictionary;
    return parquet::MakeDecoder<T>(Encoding::kParquetDictionary, options).status().code();
  };
  constexpr auto kWrong = absl::StatusCode::kInvalidArgument;
  EXPECT_EQ(code(std::type_identity<int32_t>(), ints, 0), absl::StatusCode::kOk);
  EXPECT_EQ(code(std::type_identity<float>(), ints, 0), kWrong);
  EXPECT_EQ(code(std::type_identity<std::string_view>(), ints, 0), kWrong);
  EXPECT_EQ(code(std::type_identity<std::string_view>(), texts, 0), absl::StatusCode::kOk);
  EXPECT_EQ(code(std::type_identity<std::string_view>(), texts, 3), kWrong);
  EXPECT_EQ(code(std::type_identity<std::string_view>(), fixed, 3), absl::StatusCode::kOk);
  EXPECT_EQ(code(std::type_identity<std::string_view>(), fixed, 4), kWrong);
  EXPECT_EQ(code(std::type_identity<Int96>(), texts, 0), kWrong);
  if (FindEncoding(Encoding::kDict) == nullptr) return;
  DecoderOptions options;
  options.dictionary = ints;
  EXPECT_EQ(
      MakeDecoder<std::string_view>(Encoding::kDict, PhysicalType::kBytes, options).status().code(),
      kWrong);
}

TEST(Parquet, PagesThatAreTooShortAreNamed) {
  const std::string page(11, '\0');
  const auto opened = [&](Encoding encoding) {
    const auto decoder = parquet::MakeDecoder<int32_t>(encoding).value();
    return std::string(parquet::OpenPage(*decoder, 3, AsBytes(page)).message());
  };
  EXPECT_EQ(opened(Encoding::kParquetPlain), "parquet-plain: 3 values take 12 bytes, found 11");
  EXPECT_EQ(opened(Encoding::kParquetByteStreamSplit),
            "parquet-byte-stream-split: 3 values of 4 bytes take 12 bytes, found 11");
  // The page has lengths 2, 3 and 4, but one byte of the data is missing.
  const std::string lengths("\x80\x01\x04\x03\x04\x02\0\0\0\0", 10);
  const auto decoder =
      parquet::MakeDecoder<std::string_view>(Encoding::kParquetDeltaLengthByteArray).value();
  const std::string strings = lengths + "abcdefgh";
  ASSERT_TRUE(parquet::OpenPage(*decoder, 3, AsBytes(strings)).ok());
  std::string_view out[3];
  EXPECT_EQ(decoder->Read(out).status().message(), "values 0 to 2 take 9 bytes of data, found 8");
}

TEST(Parquet, RefusesPrefixesOfThePageBefore) {
  // Both values of the page have a prefix of 2 bytes, but no value precedes the first one.
  const std::string lengths("\x80\x01\x04\x02\x04\0\0\0\0\0", 10);
  const std::string suffixes("\x80\x01\x04\x02\x02\0\0\0\0\0xy", 12);
  const std::string page = lengths + suffixes;
  const auto decoder =
      parquet::MakeDecoder<std::string_view>(Encoding::kParquetDeltaByteArray).value();
  ASSERT_TRUE(parquet::OpenPage(*decoder, 2, AsBytes(page)).ok());
  std::string_view out[2];
  EXPECT_THAT(std::string(decoder->Read(out).status().message()), HasSubstr("shares 2 bytes"));
}

}  // namespace cfile::encodings::parquet_test
