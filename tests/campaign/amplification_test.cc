// The tests make files with right checksums whose contents would take far more memory than the file
// has bytes. A reader refuses such a file, or reads it within the bounds of memory.
#include <cstdint>
#include <string>
#include <vector>

#include "cfile/core/format/compress.h"
#include "cfile/core/format/crc32c.h"
#include "cfile/core/format/file_metadata.h"
#include "cfile/core/format/index_node.h"
#include "cfile/inspect.h"
#include "cfile/reader.h"
#include "cfile/writer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/campaign/amount.h"
#include "tests/campaign/heap.h"

namespace cfile {
namespace {

using campaign::kMostHeapBytes;
using campaign::MostHeapBytes;
using encodings::ByteWriter;
using testing::HasSubstr;
using Bytes = std::vector<uint8_t>;

void Append(std::span<const uint8_t> bytes, Bytes& file) {
  file.insert(file.end(), bytes.begin(), bytes.end());
}

// A file of three rows with a value index and zstd, without a footer. Tests add blocks, and a
// footer that points to these blocks.
class Forgery {
 public:
  Forgery() {
    auto writer = Writer<int32_t>::Create(NewMemorySink(&file_), ColumnType::Int32(),
                                          {.encoding = Encoding::kPlain,
                                           .compression = Compression::kZstd,
                                           .positional_index = false,
                                           .value_index = true,
                                           .statistics = false});
    const std::vector<int32_t> rows = {1, 2, 3};
    EXPECT_TRUE(writer->Append(rows).ok() && writer->Finish().ok());
    info_ = Reader::Open(NewMemoryViewSource(file_))->info();
    file_.resize(file_.size() - info_.footer_size_bytes);
  }

  FileInfo& info() { return info_; }
  Bytes& bytes() { return file_; }

  BlockPointer AddBlock(std::span<const uint8_t> block) {
    ByteWriter stored;
    stored.PutFixed(static_cast<uint32_t>(block.size()));
    EXPECT_TRUE(internal::Compress(Compression::kZstd, block, stored, 19).ok());
    stored.PutFixed(internal::Crc32c(stored.span()));
    const BlockPointer pointer{.offset = file_.size(),
                               .size = static_cast<uint32_t>(stored.size())};
    Append(stored.span(), file_);
    return pointer;
  }

  Bytes Finish() {
    ByteWriter footer;
    internal::AppendFooter(info_, /*extensions=*/true, footer);
    Append(footer.span(), file_);
    return file_;
  }

 private:
  Bytes file_;
  FileInfo info_;
};

// Reads the file by an index walk, a cursor and Verify. EXPECTs that the heap memory stays within
// its bound. Returns the first error.
absl::Status ReadAll(const Bytes& file, const ReaderOptions& options = {},
                     uint64_t most_damages = 999) {
  absl::Status status;
  EXPECT_LE(MostHeapBytes([&] {
              const auto reader = Reader::Open(NewMemoryViewSource(file), options);
              status = reader.status();
              if (!reader.ok()) return;
              status =
                  VisitIndex(*reader, IndexKind::kValue, [](const IndexNodeInfo&) { return true; });
              if (auto cursor = reader->NewCursor<int32_t>(); cursor.ok()) {
                (void)cursor->Next(10);
                (void)cursor->SeekToKey(2);
              }
              const VerifyReport report = Verify(*reader);
              EXPECT_LE(report.damages.size() + report.more_damages, most_damages);
              EXPECT_LE(report.limits.size() + report.more_limits, most_damages);
              if (!status.ok() || report.ok()) return;
              status = (report.damages.empty() ? report.limits : report.damages)[0].status;
            }),
            kMostHeapBytes);
  campaign::Done("forged_files", 1);
  return status;
}

// EXPECTs an error about damage. If `message` begins with "raise", EXPECTs an error about this
// limit instead.
void ExpectRefused(const absl::Status& status, std::string_view message) {
  const bool limit = message.starts_with("raise ");
  EXPECT_TRUE(limit ? absl::IsOutOfRange(status) : absl::IsDataLoss(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(std::string(message)));
}

// An index node claims millions of entries that all have the same offset. The reader refuses the
// node.
TEST(Amplification, IndexNodeOfMillionsOfEntries) {
  Forgery forgery;
  ByteWriter node;
  node.PutVint(0u);
  node.PutVint(static_cast<uint32_t>(forgery.info().header_size_bytes));
  node.PutVint(0u);
  constexpr uint32_t kEntries = 4'000'000;
  for (uint32_t i = 0; i < kEntries; ++i) node.PutFixed(uint32_t{0});
  // The trailer has the fields num_entries and type; the type is a leaf.
  ByteWriter trailer;
  trailer.PutFixed(uint8_t{0x08});
  trailer.PutVint(kEntries);
  trailer.PutBytes(std::string_view("\x10\x00", 2));
  node.PutBytes(trailer.span());
  node.PutFixed(static_cast<uint32_t>(trailer.size()));
  forgery.info().value_index_root = forgery.AddBlock(node.span());
  ExpectRefused(ReadAll(forgery.Finish()), "claims 4000000 entries, but only");
}

// No entry of the index points to a valid block. Verify reports each entry as damage.
TEST(Amplification, IndexOfBlocksThatAreNone) {
  constexpr uint32_t kBlocks = 300'000;
  constexpr uint32_t kBlockBytes = 4;
  Forgery forgery;
  internal::IndexNodeBuilder builder(internal::IndexKeyForm::kBytes);
  for (uint32_t i = 0; i < kBlocks; ++i) {
    builder.Add(internal::OrdinalKey(i), {.offset = forgery.bytes().size(), .size = kBlockBytes});
    forgery.bytes().resize(forgery.bytes().size() + kBlockBytes);
  }
  ByteWriter node;
  builder.Finish(/*leaf=*/true, node);
  forgery.info().positional_index_root = forgery.AddBlock(node.span());
  forgery.info().value_index_root.reset();
  const Bytes file = forgery.Finish();
  ExpectRefused(ReadAll(file, {}, 2 * kBlocks), "");
  const VerifyReport report = Verify(*Reader::Open(NewMemoryViewSource(file)));
  EXPECT_EQ(report.damages.size(), VerifyReport::kMostDamages);
  EXPECT_GE(report.damages.size() + report.more_damages, kBlocks);
  // The reader refuses the node because of its number of entries.
  EXPECT_LT(MostHeapBytes([&] {
              const auto reader =
                  Reader::Open(NewMemoryViewSource(file), {.max_index_size_bytes = 1 << 20});
              ExpectRefused(reader->NewCursor<int32_t>()->Next(1).status(),
                            "raise max_index_size_bytes");
            }),
            8 << 20);
}

// An index has keys of 15 MiB that a codec compresses well. The reader refuses the index, because
// its size in memory exceeds the limit.
TEST(Amplification, IndexOfLongKeys) {
  Forgery forgery;
  const std::string key(15 << 20, 'x');
  internal::IndexNodeBuilder root(internal::IndexKeyForm::kBytes);
  const uint64_t begin = forgery.info().header_size_bytes;
  forgery.bytes().resize(begin);
  for (int i = 0; i < 30; ++i) {
    const uint64_t at = forgery.bytes().size();
    forgery.bytes().resize(at + 40);
    internal::IndexNodeBuilder leaf(internal::IndexKeyForm::kBytes);
    leaf.Add("", {.offset = at, .size = 20});
    leaf.Add(key, {.offset = at + 20, .size = 20});
    ByteWriter node;
    leaf.Finish(/*leaf=*/true, node);
    root.Add("", forgery.AddBlock(node.span()));
  }
  ByteWriter node;
  root.Finish(/*leaf=*/false, node);
  forgery.info().value_index_root = forgery.AddBlock(node.span());
  const Bytes file = forgery.Finish();
  EXPECT_LT(file.size(), 100'000u);
  ExpectRefused(ReadAll(file, {.max_index_size_bytes = 32 << 20}), "raise max_index_size_bytes");
}

// A footer of 16 MiB has fields that take few bytes in the file but much memory. The reader refuses
// the footer, because this memory exceeds the limit of metadata.
TEST(Amplification, FooterOfMillionsOfFields) {
  const Bytes whole = Forgery().Finish();
  const FileInfo info = Reader::Open(NewMemoryViewSource(whole))->info();
  // Each footer repeats one field: an empty pair of metadata, or an unknown field that holds empty
  // bytes, a number or a group.
  for (const std::string_view field :
       {std::string_view("\x3a\x00", 2), std::string_view("\xfa\x06\x00", 3),
        std::string_view("\xf8\x06\x00", 3), std::string_view("\xfb\x06\xfc\x06", 4)}) {
    std::string message = info.footer_message;
    while (message.size() + field.size() <= (16u << 20)) message += field;
    ByteWriter footer;
    footer.PutBytes(std::string_view(message));
    footer.PutBytes(std::string_view("kuducfl2"));
    footer.PutFixed(static_cast<uint32_t>(message.size()));
    ByteWriter checksum;
    checksum.PutFixed(internal::Crc32c(footer.span()));
    Bytes file(whole.begin(), whole.end() - static_cast<ptrdiff_t>(info.footer_size_bytes));
    Append(checksum.span(), file);
    Append(footer.span(), file);
    ExpectRefused(ReadAll(file), "raise max_metadata_size_bytes");
  }
}

// A dictionary has millions of one-byte values, and each value would need a view in memory. The
// reader refuses the dictionary.
TEST(Amplification, DictionaryOfMillionsOfValues) {
  for (const size_t values : {size_t{3'000'000}, size_t{15'000'000}}) {
    Bytes file;
    auto writer = Writer<std::string_view>::Create(NewMemorySink(&file), ColumnType::FixedBytes(1),
                                                   {.encoding = Encoding::kParquetDictionary,
                                                    .compression = Compression::kZstd,
                                                    .statistics = false});
    ASSERT_TRUE(writer.ok()) << writer.status();
    const std::vector<std::string_view> rows(100, "x");
    ASSERT_TRUE(writer->Append(rows).ok() && writer->Finish().ok());
    FileInfo info = Reader::Open(NewMemoryViewSource(file))->info();
    ASSERT_TRUE(info.dictionary.has_value());
    file.resize(file.size() - info.footer_size_bytes);
    // A dictionary consists of the number of values and the values (cfile/FORMAT.md,
    // RLE_DICTIONARY).
    ByteWriter dictionary, stored;
    dictionary.PutVint(static_cast<uint32_t>(values));
    dictionary.PutBytes(std::string_view(std::string(values, 'x')));
    stored.PutFixed(static_cast<uint32_t>(dictionary.size()));
    ASSERT_TRUE(internal::Compress(Compression::kZstd, dictionary.span(), stored, 19).ok());
    stored.PutFixed(internal::Crc32c(stored.span()));
    info.dictionary = {.offset = file.size(), .size = static_cast<uint32_t>(stored.size())};
    Append(stored.span(), file);
    ByteWriter footer;
    internal::AppendFooter(info, /*extensions=*/true, footer);
    Append(footer.span(), file);
    absl::Status status;
    EXPECT_LE(MostHeapBytes([&] {
                const auto reader = Reader::Open(NewMemoryViewSource(file));
                ASSERT_TRUE(reader.ok()) << reader.status();
                status = reader->Get<std::string_view>(0).status();
              }),
              kMostHeapBytes);
    if (values > (1 << 22)) {
      ExpectRefused(status, "raise max_dictionary_values");
    } else {
      EXPECT_EQ(status, absl::OkStatus());
    }
    campaign::Done("forged_files", 1);
  }
}

}  // namespace
}  // namespace cfile
