// Strings and blocks for the tests of FSST.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "encodings/own/fsst.h"
#include "gtest/gtest.h"
#include "tests/encodings/blocks.h"
#include "tests/encodings/guarded_bytes.h"

namespace cfile::encodings {

inline const Pair kFsst = {Encoding::kFsst, PhysicalType::kBytes};

// Strings like the URLs of a site, in random order.
inline std::vector<std::string> RandomUrls(size_t count) {
  std::mt19937_64 random(3);
  const std::vector<std::string> words = {"apple", "bread", "cheese", "dates", "eggs"};
  std::vector<std::string> urls(count);
  for (std::string& url : urls) {
    url = "https://www.shop.example/" + words[random() % 5] + "/" + words[random() % 5] +
          "?id=" + std::to_string(random() % 1'000'000);
  }
  return urls;
}
// The same strings, sorted.
inline std::vector<std::string> Urls(size_t count) {
  std::vector<std::string> urls = RandomUrls(count);
  std::sort(urls.begin(), urls.end());
  return urls;
}

inline std::vector<std::string_view> Views(const std::vector<std::string>& texts) {
  return {texts.begin(), texts.end()};
}

inline std::vector<Block> EncodeAll(const std::vector<std::string>& texts,
                                    EncoderOptions options = {}) {
  const std::vector<std::string_view> views = Views(texts);
  return Encode<std::string_view>(kFsst, views, options);
}
inline Block EncodeOne(const std::vector<std::string>& texts) {
  std::vector<Block> blocks = EncodeAll(texts);
  EXPECT_EQ(blocks.size(), 1u);
  return std::move(blocks.front());
}

inline std::unique_ptr<BlockDecoder<std::string_view>> DecoderOf(const Block& block) {
  DecoderOptions options;
  options.dictionary = block.dictionary;
  return MakeDecoder<std::string_view>(Encoding::kFsst, PhysicalType::kBytes, options).value();
}

inline absl::StatusOr<std::vector<std::string>> Decode(const Block& block, size_t batch = 1000) {
  const auto decoder = DecoderOf(block);
  CFILE_RETURN_IF_ERROR(decoder->Open(GuardedView(block)));
  std::vector<std::string> texts;
  std::vector<std::string_view> out(batch);
  while (texts.size() < decoder->count()) {
    CFILE_ASSIGN_OR_RETURN(const size_t read, decoder->Read(out));
    texts.insert(texts.end(), out.begin(), out.begin() + static_cast<ptrdiff_t>(read));
  }
  return texts;
}

}  // namespace cfile::encodings
