// Tests the manifest: the list of the parts of a table. table.cft describes the last parts itself.
// The other parts are described by files that are called chunks. A chunk of height 0 describes
// parts. A chunk of a greater height names chunks.
#include "cfile/parts/table/manifest/manifest.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cfile/core/format/feature_bits.h"
#include "cfile/core/format/key_codec.h"
#include "cfile/parts/table/manifest/manifest_edit.h"
#include "cfile/parts/table/manifest/part_bounds.h"
#include "cfile/parts/table/manifest/sealed_message.h"
#include "cfile/parts/table/manifest/table_file.h"
#include "cfile/table.h"
#include "cfile/table_scan.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/table.pb.h"
#include "tests/cfile/table_fixture.h"

namespace cfile::internal::manifest_test {

using testing::HasSubstr;
using Random = std::mt19937;

constexpr size_t kLimit = 64 << 20;

std::string Key(int64_t value) {
  std::string key;
  AppendKey(value, key);
  return key;
}

// `key` has a value index, `text` has nulls and bounds that may be cut, `flag` has no bounds.
Schema ThreeColumns() {
  return {.columns = {{.name = "key", .type = ColumnType::Int64()},
                      {.name = "text", .type = ColumnType::String(), .nullable = true},
                      {.name = "flag", .type = ColumnType::Bool()}}};
}

// False if no value within the bounds has a memcmp form in [low, high).
bool MayHold(const BlockStatistics& bounds, std::string_view low, std::string_view high) {
  return bounds.present_count > bounds.nan_count && !(bounds.max_key && *bounds.max_key < low) &&
         !(bounds.min_key && *bounds.min_key >= high);
}

// Visits the parts that may hold values of a column without levels in [low, high), and reads only
// the chunks that may.
absl::Status ForEachPartHolding(const Manifest& manifest, size_t column, std::string_view low,
                                std::string_view high, const Manifest::VisitPart& visit) {
  const ColumnSchema& schema = manifest.layout().columns()[column];
  return manifest.ForEachPart(
      [&](const ChunkInfo& chunk) {
        return !chunk.columns[column] || MayHold(*chunk.columns[column], low, high);
      },
      [&](const ManifestPart& place) -> absl::StatusOr<bool> {
        if (!MayHold(BoundsOf(place.part->columns[column], schema), low, high)) return true;
        return visit(place);
      });
}

// Returns a part of `rows` rows. Its least key is `first`, its greatest key is `last`.
TablePart MakePart(uint64_t number, uint64_t rows, int64_t first, int64_t last) {
  TablePart part{.directory = absl::StrCat("part-", absl::Dec(number, absl::kZeroPad6)),
                 .num_rows = rows};
  TablePartColumn column{.size_bytes = 100, .num_rows = rows};
  for (const char* name : {"key", "text", "flag"}) {
    column.file_name = ColumnFileName(part.columns.size(), name);
    part.columns.push_back(column);
  }
  if (rows == 0) return part;
  part.columns[0].min_key = Key(first);
  part.columns[0].max_key = Key(last);
  part.columns[1].null_count = number % 3 == 0 ? rows : number % 2;
  // Some parts have no bounds of `text`.
  if (part.columns[1].null_count < rows && number % 50 != 4) {
    part.columns[1].lower_bound = std::string(number % 70, 'a') + absl::StrCat(first);
    part.columns[1].upper_bound = std::string(number % 70, 'z') + absl::StrCat(last);
    if (part.columns[1].lower_bound > part.columns[1].upper_bound) {
      std::swap(part.columns[1].lower_bound, part.columns[1].upper_bound);
    }
  }
  return part;
}

std::string Text(const TablePart& part) {
  std::string text = absl::StrCat(part.directory, " ", part.num_rows);
  for (const TablePartColumn& column : part.columns) {
    absl::StrAppend(&text, "|", column.file_name, " ", column.size_bytes, " ", column.num_rows, " ",
                    column.null_count, " ", column.nan_count, " ", column.missing);
    for (const auto& bound :
         {column.min_key, column.max_key, column.lower_bound, column.upper_bound}) {
      absl::StrAppend(&text, " ", bound.value_or("-"));
    }
  }
  return text;
}

// A table in memory: its table.cft and its chunks.
class Store {
 public:
  explicit Store(const Schema& schema) { Put({.schema = schema}); }

  // `limit` is the number of bytes of chunks that the manifest may keep in memory.
  std::unique_ptr<Manifest> Open(size_t limit = kLimit) {
    auto root = ParseTable(root_, "t/table.cft");
    EXPECT_TRUE(root.ok()) << root.status();
    if (!root.ok()) root = TableContents{.schema = ThreeColumns()};
    return std::make_unique<Manifest>(
        *std::move(root), "t", limit,
        [this](const std::string& name, uint64_t) -> absl::StatusOr<std::string> {
          ++reads;
          const auto file = files.find(name);
          if (file == files.end()) return absl::NotFoundError("no such file");
          return file->second;
        });
  }

  absl::Status Change(const Manifest& manifest, ManifestChange change) {
    auto edit = EditManifest(manifest, std::move(change));
    if (!edit.ok()) return edit.status();
    written_bytes = 0;
    written_chunks = edit->new_chunks.size();
    for (NewChunk& chunk : edit->new_chunks) {
      EXPECT_TRUE(IsChunkName(chunk.info.file_name));
      written_bytes += chunk.bytes.size();
      EXPECT_TRUE(files.emplace(chunk.info.file_name, std::move(chunk.bytes)).second);
    }
    Put(edit->root);
    return absl::OkStatus();
  }

  void Put(const TableContents& contents) {
    root_ = SerializeTable(contents);
    written_bytes += root_.size();
  }
  std::string& root() { return root_; }

  std::map<std::string, std::string> files;
  size_t reads = 0;
  size_t written_bytes = 0;  // how many bytes the last change has written
  size_t written_chunks = 0;

 private:
  std::string root_;
};

void ExpectEqual(const Manifest& manifest, const std::vector<TablePart>& model, Random& random) {
  ASSERT_EQ(manifest.num_parts(), model.size());
  std::vector<uint64_t> starts = {0};
  for (const TablePart& part : model) starts.push_back(starts.back() + part.num_rows);
  ASSERT_EQ(manifest.num_rows(), starts.back());
  size_t next = 0;
  const absl::Status visited =
      manifest.ForEachPart([&](const ManifestPart& place) -> absl::StatusOr<bool> {
        EXPECT_EQ(place.number, next);
        EXPECT_EQ(place.first_ordinal, starts[next]);
        EXPECT_EQ(Text(*place.part), Text(model[next]));
        ++next;
        return !testing::Test::HasFailure();
      });
  ASSERT_TRUE(visited.ok()) << visited;
  ASSERT_EQ(next, model.size());
  for (int i = 0; i < 20 && !model.empty(); ++i) {
    const size_t number = random() % model.size();
    const auto place = manifest.Part(number);
    ASSERT_TRUE(place.ok()) << place.status();
    ASSERT_EQ(place->number, number);
    ASSERT_EQ(place->first_ordinal, starts[number]);
    ASSERT_EQ(place->part->directory, model[number].directory);
    if (starts.back() == 0) continue;
    const uint64_t ordinal = random() % starts.back();
    const auto of_row = manifest.PartOfRow(ordinal);
    ASSERT_TRUE(of_row.ok()) << of_row.status();
    ASSERT_LE(of_row->first_ordinal, ordinal);
    ASSERT_LT(ordinal, of_row->first_ordinal + of_row->part->num_rows);
    ASSERT_EQ(of_row->part->directory, model[of_row->number].directory);
  }
  for (const size_t column : {0, 1, 2}) {
    const int64_t low = static_cast<int64_t>(random() % 100000);
    const std::string from =
        column == 1 ? std::string(random() % 70, static_cast<char>('a' + random() % 26)) : Key(low);
    const std::string to = column == 1 ? from + "y" : Key(low + 100);
    std::vector<std::string> expected, found;
    for (const TablePart& part : model) {
      const auto bounds = BoundsOf(part.columns[column], manifest.layout().columns()[column]);
      if (MayHold(bounds, from, to)) expected.push_back(part.directory);
    }
    const auto status = ForEachPartHolding(manifest, column, from, to,
                                           [&](const ManifestPart& place) -> absl::StatusOr<bool> {
                                             found.push_back(place.part->directory);
                                             return true;
                                           });
    ASSERT_TRUE(status.ok()) << status;
    ASSERT_EQ(found, expected);
  }
}

void ExpectShape(const Manifest& manifest) {
  EXPECT_LE(manifest.root().parts.size(), kMaxChunkEntries);
  std::map<uint32_t, size_t> of_height;
  for (const ChunkInfo& chunk : manifest.root().chunks) ++of_height[chunk.height];
  for (const auto& [height, count] : of_height) EXPECT_LE(count, kMaxChunkEntries) << height;
  EXPECT_EQ((manifest.root().incompatible_features & kTableFeatureChunks) != 0,
            !manifest.root().chunks.empty());
}

TEST(Manifest, BehavesLikeAListOfParts) {
  for (const unsigned seed : {1u, 2u, 3u}) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Store store(ThreeColumns());
    std::vector<TablePart> model;
    uint64_t next_name = 0;
    // With the small limit, the manifest drops chunks from memory while the test uses them.
    auto manifest = store.Open(seed == 2 ? 60000 : kLimit);
    const auto new_part = [&] {
      const auto first = static_cast<int64_t>(next_name * 10 + random() % 500);
      return MakePart(next_name++, random() % 4, first, first + 20);
    };
    for (int step = 0; step < 60; ++step) {
      SCOPED_TRACE(step);
      ManifestChange change;
      std::set<size_t> chosen;
      const auto choose = [&](size_t count) {
        // Chooses neighbouring parts, or parts anywhere in the table.
        const size_t begin = random() % model.size();
        const bool run = random() % 2 == 0;
        for (size_t i = 0; i < count; ++i) {
          chosen.insert((run ? begin + i : random()) % model.size());
        }
      };
      const unsigned kind = random() % 8;
      if (kind < 4 || model.empty()) {
        for (size_t count = random() % (kind == 0 ? 700 : 100); count > 0; --count) {
          change.added.push_back(new_part());
        }
        model.insert(model.end(), change.added.begin(), change.added.end());
      } else if (kind == 4) {
        choose(1 + random() % 5);
        for (const size_t number : chosen) {
          TablePart part = MakePart(0, model[number].num_rows, 5, 90000);
          part.directory = model[number].directory;
          model[number] = part;
          change.updated.push_back(part);
        }
      } else {
        choose(1 + random() % (kind == 5 ? 400 : 10));
        if (kind > 6) {
          for (size_t count = random() % 3; count > 0; --count) change.added.push_back(new_part());
          if (step % 10 == 0) {
            for (size_t i = 0; i < 200; ++i) change.added.push_back(new_part());
          }
        }
        std::vector<TablePart> rest;
        for (size_t i = 0; i < model.size(); ++i) {
          if (i == *chosen.begin()) {
            rest.insert(rest.end(), change.added.begin(), change.added.end());
          }
          if (chosen.contains(i)) {
            change.removed.push_back(model[i].directory);
          } else {
            rest.push_back(model[i]);
          }
        }
        std::shuffle(change.removed.begin(), change.removed.end(), random);
        model = std::move(rest);
      }
      const absl::Status status = store.Change(*manifest, std::move(change));
      ASSERT_TRUE(status.ok()) << status;
      manifest = store.Open(manifest->max_metadata_size_bytes());
      ExpectShape(*manifest);
      ExpectEqual(*manifest, model, random);
      if (HasFatalFailure() || HasFailure()) return;
      if (random() % 4 == 0) {
        // Collects garbage: removes the chunks that the table no longer names.
        const auto named = manifest->ChunkFiles();
        ASSERT_TRUE(named.ok()) << named.status();
        std::erase_if(store.files, [&](const auto& file) { return !named->contains(file.first); });
        EXPECT_EQ(store.files.size(), named->size());
      }
    }
  }
}

// Returns a schema of `count` columns. WidePart gives the first column a value index.
Schema ManyColumns(size_t count) {
  Schema schema;
  for (size_t i = 0; i < count; ++i) {
    schema.columns.push_back({.name = absl::StrCat("column_", i), .type = ColumnType::Int64()});
  }
  return schema;
}

// Returns a part of 1000 rows. The keys ascend from part to part.
TablePart WidePart(uint64_t number, size_t columns) {
  const auto first = static_cast<int64_t>(number * 1000);
  TablePart part{
      .directory = absl::StrCat("part-", absl::Hex(number, absl::kZeroPad16), "0123456789abcdef"),
      .num_rows = 1000};
  for (size_t i = 0; i < columns; ++i) {
    part.columns.push_back({.file_name = ColumnFileName(i, absl::StrCat("column_", i)),
                            .size_bytes = 5000,
                            .num_rows = 1000});
    if (i == 0) {
      part.columns[i].min_key = Key(first);
      part.columns[i].max_key = Key(first + 999);
    } else {
      part.columns[i].lower_bound = Key(-first);
      part.columns[i].upper_bound = Key(first);
    }
  }
  return part;
}

TEST(Manifest, TenThousandParts) {
  constexpr size_t kParts = 10000;
  constexpr size_t kColumns = 19;
  Store store(ManyColumns(kColumns));
  size_t most_bytes = 0;
  size_t total_bytes = 0;
  size_t appends = 0;
  std::string largest_root;
  for (size_t number = 0; number < kParts;) {
    // Appends parts one by one while a chunk of height 1 is made, and also at the end.
    // Appends all other parts in large groups.
    const bool one = (number >= 8000 && number < 8400) || number >= kParts - 100;
    ManifestChange change;
    for (const size_t end = one ? number + 1 : number < 8000 ? 8000 : kParts - 100; number < end;) {
      change.added.push_back(WidePart(number++, kColumns));
    }
    auto manifest = store.Open();
    ASSERT_TRUE(store.Change(*manifest, std::move(change)).ok());
    if (!one) continue;
    ASSERT_LE(store.written_chunks, 2u);
    most_bytes = std::max(most_bytes, store.written_bytes);
    total_bytes += store.written_bytes;
    ++appends;
    if (store.root().size() > largest_root.size()) largest_root = store.root();
  }
  EXPECT_EQ(store.reads, 0u);  // an append reads only table.cft
  // The descriptions of all parts take 10 MB.
  // An append writes the descriptions of at most 64 parts, and writes each description twice.
  // For each of two heights, an append writes the descriptions of at most 64 chunks.
  EXPECT_LT(most_bytes, 300000u);
  EXPECT_LT(total_bytes / appends, 150000u);

  std::swap(store.root(), largest_root);
  const auto begin = std::chrono::steady_clock::now();
  auto manifest = store.Open();
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
  std::printf(
      "open: %.2f ms, table.cft of %zu bytes, %zu parts in it; an append writes %zu bytes on "
      "average, "
      "at most %zu\n",
      time.count(), store.root().size(), manifest->root().parts.size(), total_bytes / appends,
      most_bytes);
  std::swap(store.root(), largest_root);
  manifest = store.Open();
  EXPECT_EQ(manifest->num_parts(), kParts);
  EXPECT_EQ(manifest->num_rows(), kParts * 1000);
  EXPECT_EQ(store.reads, 0u);

  // Each key is in one part. A search reads only the chunks on the path to this part.
  for (const uint64_t number :
       {uint64_t{0}, uint64_t{63}, uint64_t{64}, uint64_t{5000}, uint64_t{kParts - 1}}) {
    manifest = store.Open();
    store.reads = 0;
    const auto key = static_cast<int64_t>(number * 1000 + 500);
    std::vector<uint64_t> found;
    const auto status = ForEachPartHolding(*manifest, 0, Key(key), Key(key + 1),
                                           [&](const ManifestPart& place) -> absl::StatusOr<bool> {
                                             found.push_back(place.number);
                                             return true;
                                           });
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_EQ(found, std::vector<uint64_t>{number});
    EXPECT_LE(store.reads, 2u);
    const size_t reads = store.reads;
    ASSERT_TRUE(manifest->PartOfRow(number * 1000).ok());
    EXPECT_EQ(store.reads, reads);  // the chunks are in memory
  }

  // A change that removes a part in the middle writes only the chunks on the path to this part.
  manifest = store.Open();
  ASSERT_TRUE(store.Change(*manifest, {.removed = {WidePart(5000, kColumns).directory}}).ok());
  EXPECT_LE(store.written_chunks, 2u);
  EXPECT_EQ(store.Open()->num_parts(), kParts - 1);
}

// A part's description stays valid after the manifest has dropped the part's chunk from memory.
TEST(Manifest, PartsOutliveTheMemoryOfTheManifest) {
  Store store(ThreeColumns());
  ManifestChange change;
  for (uint64_t i = 0; i < 640; ++i) change.added.push_back(MakePart(i, 1, 0, 1));
  ASSERT_TRUE(store.Change(*store.Open(), change).ok());
  size_t largest = 0;
  for (const auto& [name, bytes] : store.files) largest = std::max(largest, bytes.size());
  auto manifest = store.Open(largest);
  std::vector<ManifestPart> places;
  for (uint64_t i = 0; i < 640; i += 64) {
    const auto place = manifest->Part(i);
    ASSERT_TRUE(place.ok()) << place.status();
    places.push_back(*place);
  }
  EXPECT_EQ(store.reads, 9u);  // table.cft describes the last parts
  ASSERT_TRUE(manifest->Part(0).ok());
  EXPECT_EQ(store.reads, 10u);
  manifest.reset();
  for (uint64_t i = 0; i < places.size(); ++i) {
    EXPECT_EQ(Text(*places[i].part), Text(MakePart(64 * i, 1, 0, 1)));
  }
  const auto refused = store.Open(largest - 1)->Part(0);
  const auto whole = store.Open();
  for (const auto& chunk : whole->root().chunks) {
    if (chunk.size_bytes < largest) continue;
    const auto status = store.Open(largest - 1)->Read(chunk).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange);
    EXPECT_THAT(std::string(status.message()), HasSubstr("raise max_metadata_size_bytes"));
  }
}

// A chunk has a lower bound only if each of its parts that has values has a lower bound.
// The same holds for upper bounds.
TEST(Manifest, BoundsOfChunks) {
  const auto summary = [](std::vector<TablePart> parts) {
    ChunkInfo chunk;
    EXPECT_TRUE(Summarize(parts, ThreeColumns().columns, chunk));
    return chunk.columns[1];
  };
  TablePart low = MakePart(1, 3, 0, 0);
  low.columns[1].lower_bound = "b";
  low.columns[1].upper_bound = std::string(100, 'c');
  TablePart high = low;
  high.columns[1].lower_bound = "d";
  high.columns[1].upper_bound = "e";
  const TablePart only_nulls = MakePart(0, 3, 0, 0);
  auto bounds = summary({only_nulls, high, low, MakePart(2, 0, 0, 0)});
  EXPECT_EQ(bounds->min_key, "b");
  EXPECT_EQ(bounds->max_key, "e");
  EXPECT_EQ(bounds->null_count, 5u);
  EXPECT_EQ(bounds->present_count, 4u);
  EXPECT_EQ(summary({low})->max_key, std::string(63, 'c') + "d");
  high.columns[1].lower_bound.reset();
  for (const auto& parts : {std::vector{high, low}, std::vector{low, high}}) {
    bounds = summary(parts);
    EXPECT_EQ(bounds->min_key, std::nullopt);
    EXPECT_EQ(bounds->max_key, "e");
  }
}

TEST(Manifest, ChunksThatWouldBeTooLargeAreSplit) {
  Store store(ThreeColumns());
  ManifestChange change;
  for (uint64_t i = 0; i < 200; ++i) change.added.push_back(MakePart(i, 1, 0, 1));
  ASSERT_TRUE(store.Change(*store.Open(8000), change).ok());
  for (const auto& [name, bytes] : store.files) EXPECT_LE(bytes.size(), 8000u);
  Random random;
  ExpectEqual(*store.Open(8000), change.added, random);
  change.removed = {"part-000003"};
  change.added = {MakePart(200, 1, 0, 1)};
  const auto status = EditManifest(*store.Open(8000), {.removed = {"none"}}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr("t/table.cft: the table has no part none"));
}

Store DamagedStore() {
  Store store(ThreeColumns());
  ManifestChange change;
  for (uint64_t i = 0; i < 70; ++i) change.added.push_back(MakePart(i, 2, 0, 1));
  EXPECT_TRUE(store.Change(*store.Open(), change).ok());
  EXPECT_EQ(store.files.size(), 1u);
  return store;
}

TEST(Manifest, EachDamagedByteIsFound) {
  Store store = DamagedStore();
  std::string& chunk = store.files.begin()->second;
  const std::string good = chunk;
  const auto expect_damage = [&] {
    const absl::Status status = store.Open()->Part(0).status();
    ASSERT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
    ASSERT_THAT(std::string(status.message()), HasSubstr("t/" + store.files.begin()->first));
  };
  for (size_t i = 0; i < good.size(); ++i) {
    chunk = good;
    chunk[i] = static_cast<char>(chunk[i] ^ 0x10);
    expect_damage();
    if (i % 7 == 0) {
      chunk = good.substr(0, i);
      expect_damage();
    }
  }
  chunk = good + "x";
  expect_damage();
  chunk = good;
  EXPECT_TRUE(store.Open()->Part(0).ok());
  const std::string root = store.root();
  for (size_t i = 0; i < root.size(); ++i) {
    std::string bytes = root;
    bytes[i] = static_cast<char>(bytes[i] ^ 0x10);
    ASSERT_EQ(ParseTable(bytes, "t").status().code(), absl::StatusCode::kDataLoss);
    ASSERT_FALSE(ParseTable(root.substr(0, i), "t").ok());
  }
  store.files.clear();
  const absl::Status status = store.Open()->Part(0).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr("t/chunk-"));
}

// The checksums of these chunks are right, but their contents contradict themselves or table.cft.
TEST(Manifest, ChunksThatContradictThemselves) {
  const auto expect_damage = [](const std::string& what, const auto& change) {
    SCOPED_TRACE(what);
    Store store = DamagedStore();
    std::string& chunk = store.files.begin()->second;
    ChunkContentsPB contents;
    ASSERT_TRUE(contents.ParseFromString(std::string(MessageIn(chunk))));
    auto root = ParseTable(store.root(), "t");
    ASSERT_TRUE(root.ok());
    change(contents, root->chunks[0]);
    chunk = SealMessage("cfilech1", contents.SerializeAsString());
    root->chunks[0].crc32c = Crc32cIn(chunk);
    root->chunks[0].size_bytes = chunk.size();
    store.Put(*root);
    auto status = ParseTable(store.root(), "t").status();
    if (status.ok()) status = store.Open()->Part(0).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(what));
  };
  using C = ChunkContentsPB;
  expect_damage("64 parts with 128 rows expected by the file that names the chunk, found 63",
                [](C& c, ChunkInfo&) { c.mutable_parts()->RemoveLast(); });
  expect_damage("found 64 parts with 126 rows", [](C& c, ChunkInfo&) {
    c.mutable_parts(1)->set_num_rows(0);
    for (auto& column : *c.mutable_parts(1)->mutable_columns()) {
      column.set_num_values(0);
      column.set_null_count(0);
    }
  });
  expect_damage("only parts expected, found chunks", [](C& c, ChunkInfo&) { c.add_chunks(); });
  expect_damage("only chunks expected, found parts", [](C&, ChunkInfo& info) { info.height = 1; });
  expect_damage("the file name of a chunk expected", [](C& c, ChunkInfo& info) {
    info.height = 1;
    c.clear_parts();
    c.add_chunks()->set_file_name("../chunk");
  });
  expect_damage("height 1 expected, found 0", [](C& c, ChunkInfo& info) {
    info.height = 2;
    c.clear_parts();
    c.add_chunks()->set_file_name(*NewChunkName());
    c.mutable_chunks(0)->set_num_parts(1);
  });
  expect_damage("rows expected by the file that names the chunk", [](C& c, ChunkInfo& info) {
    info.height = 1;
    c.clear_parts();
    for (int i = 0; i < 4; ++i) {
      c.add_chunks()->set_file_name(*NewChunkName());
      c.mutable_chunks(i)->set_num_parts(uint64_t{1} << 62);
    }
  });
  for (const char* name : {"", ".", "..", "a/b"}) {
    expect_damage("a part's directory expected",
                  [&](C& c, ChunkInfo&) { c.mutable_parts(0)->set_directory(name); });
    expect_damage("a file name expected", [&](C& c, ChunkInfo&) {
      c.mutable_parts(0)->mutable_columns(0)->set_file_name(name);
    });
    expect_damage("the file name of a chunk expected",
                  [&](C&, ChunkInfo& info) { info.file_name = name; });
  }
  expect_damage("3 columns expected",
                [](C& c, ChunkInfo&) { c.mutable_parts(0)->mutable_columns()->RemoveLast(); });
  expect_damage("the lower bound is above", [](C& c, ChunkInfo&) {
    c.mutable_parts(1)->mutable_columns(1)->set_lower_bound("zzzz");
    c.mutable_parts(1)->mutable_columns(1)->set_upper_bound("a");
  });
  expect_damage("1 NaN found in a column of type",
                [](C& c, ChunkInfo&) { c.mutable_parts(1)->mutable_columns(1)->set_nan_count(1); });
  expect_damage("a height up to 8 expected, found 9", [](C&, ChunkInfo& info) { info.height = 9; });
  expect_damage("one part or more expected", [](C&, ChunkInfo& info) { info.num_parts = 0; });
  expect_damage("2^62",
                [](C&, ChunkInfo& info) { info.num_parts = std::numeric_limits<uint64_t>::max(); });
  expect_damage("values and nulls expected", [](C&, ChunkInfo& info) { ++info.num_rows; });
  expect_damage("parts with 129 rows expected", [](C&, ChunkInfo& info) {
    ++info.num_rows;
    info.columns.assign(3, std::nullopt);
  });
  expect_damage("not a value of type", [](C&, ChunkInfo& info) { info.columns[0]->min_key = "a"; });
  // A chunk claims a very large number of parts, but it does not have them.
  // A reader does not allocate memory for this number.
  expect_damage("rows expected by the file", [](C&, ChunkInfo& info) {
    info.num_parts = uint64_t{1} << 30;
    info.num_rows = uint64_t{1} << 61;
    info.columns.assign(3, std::nullopt);
  });
}

// Each chunk is named only once. Otherwise a few bytes could stand for any number of parts.
TEST(Manifest, ChunksAreNamedOnce) {
  const TableContents table{.schema = ThreeColumns(), .parts = {}};
  const PartLayout layout(table);
  const std::vector<TablePart> parts = {MakePart(1, 1, 1, 1)};
  const NewChunk leaf = *MakeChunk(std::span<const TablePart>(parts), layout, kLimit);
  const auto make = [&](std::vector<ChunkInfo> chunks) {
    return *MakeChunk(std::span<const ChunkInfo>(chunks), layout, kLimit);
  };
  const NewChunk twice = make({leaf.info, leaf.info});
  const NewChunk once = make({leaf.info}), again = make({leaf.info});
  for (const std::vector<ChunkInfo>& chunks :
       {std::vector{twice.info}, std::vector{once.info, again.info},
        std::vector{once.info, leaf.info}, std::vector{leaf.info, leaf.info}}) {
    Store store(ThreeColumns());
    for (const NewChunk& chunk : {leaf, twice, once, again})
      store.files[chunk.info.file_name] = chunk.bytes;
    TableContents root = table;
    root.chunks = chunks;
    store.Put(root);
    const absl::Status status =
        store.Open()->ForEachPart([](const ManifestPart&) -> absl::StatusOr<bool> { return true; });
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("is named twice"));
  }
}

TEST(Manifest, RootsThatContradictThemselves) {
  Store store = DamagedStore();
  const auto good = ParseTable(store.root(), "t");
  ASSERT_TRUE(good.ok());
  EXPECT_TRUE(store.root().starts_with("cfiletb2"));
  const auto expect_damage = [&](const std::string& what, const auto& change) {
    TablePB table;
    ASSERT_TRUE(table.ParseFromString(std::string(MessageIn(store.root()))));
    change(table);
    const auto status =
        ParseTable(SealMessage(table.incompatible_features() != 0 ? "cfiletb2" : "cfiletb1",
                               table.SerializeAsString()),
                   "t")
            .status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(what));
  };
  expect_damage("found only the bit", [](TablePB& table) { table.clear_chunks(); });
  expect_damage("found only chunks", [](TablePB& table) { table.clear_incompatible_features(); });
  expect_damage("a height up to 0 expected", [](TablePB& table) {
    *table.add_chunks() = table.chunks(0);
    table.mutable_chunks(1)->set_height(1);
  });
  expect_damage("found only metadata", [](TablePB& table) { table.add_metadata()->set_key("a"); });
  expect_damage("metadata and incompatible feature bit 5 expected together, found only the bit",
                [](TablePB& table) {
                  table.set_incompatible_features(kTableFeatureChunks | kTableFeatureMetadata);
                });
  expect_damage("bit 3 is not set", [](TablePB& table) { table.set_next_column_id(3); });
  expect_damage("bit 3 is not set", [](TablePB& table) {
    table.mutable_parts(0)->mutable_columns(0)->set_column_id(0);
  });
  const auto by_id = [](const auto& change) {
    return [change](TablePB& table) {
      table.set_incompatible_features(kTableFeatureChunks | kTableFeatureColumnIds);
      table.set_next_column_id(5);
      change(table);
    };
  };
  expect_damage("an id below 5 expected, found 5", by_id([](TablePB& table) {
                  table.mutable_schema()->mutable_children(1)->set_column_id(5);
                }));
  expect_damage("another column has the id 0", by_id([](TablePB& table) {
                  table.mutable_schema()->mutable_children(1)->set_column_id(0);
                }));
  expect_damage("the default is not a value", by_id([](TablePB& table) {
                  table.mutable_schema()->mutable_children(0)->set_default_value("abc");
                }));
  expect_damage("column id 1 found twice", by_id([](TablePB& table) {
                  table.mutable_parts(0)->mutable_columns(0)->set_column_id(1);
                }));
  expect_damage("a column id below 5 expected, found 7", by_id([](TablePB& table) {
                  table.mutable_parts(0)->mutable_columns(0)->set_column_id(7);
                }));
  expect_damage("column key expected", by_id([](TablePB& table) {
                  table.mutable_parts(0)->mutable_columns(0)->set_column_id(4);
                }));
  expect_damage("column flag expected", by_id([](TablePB& table) {
                  table.mutable_parts(0)->mutable_columns()->RemoveLast();
                }));
}

// Columns are added, dropped and moved. Older parts keep their files. Some of these parts are
// described by a chunk, others by table.cft.
TEST(Manifest, ColumnsHaveIds) {
  Store store = DamagedStore();
  auto manifest = store.Open();
  ColumnIdentities identities = IdentitiesOf(manifest->root());
  EXPECT_EQ(identities.ids, (std::vector<uint32_t>{0, 1, 2}));
  EXPECT_EQ(identities.next_id, 3u);

  // Column `text` is dropped, `flag` becomes the first column, and `number` and `note` are new.
  const Schema schema{
      .columns = {{.name = "flag", .type = ColumnType::Bool()},
                  {.name = "number", .type = ColumnType::Int64()},
                  {.name = "id", .type = ColumnType::Int64()},
                  {.name = "note", .type = ColumnType::String(), .nullable = true}}};
  identities = {.ids = {2, 3, 0, 4}, .defaults = {{}, Key(7), {}, {}}, .next_id = 5};
  auto without_default = identities;
  without_default.defaults[1].reset();
  EXPECT_EQ(WithSchema(manifest->root(), schema, without_default).status().code(),
            absl::StatusCode::kInvalidArgument);
  TableContents before = manifest->root();
  before.condemned = {"part-000007"};
  const auto changed = WithSchema(before, schema, identities);
  ASSERT_TRUE(changed.ok()) << changed.status();
  EXPECT_EQ(changed->condemned, before.condemned);
  store.Put(*changed);
  manifest = store.Open();
  EXPECT_EQ(manifest->root().schema, schema);
  EXPECT_EQ(manifest->root().incompatible_features, kTableFeatureChunks | kTableFeatureColumnIds);
  EXPECT_EQ(manifest->root().chunks[0].columns[2]->min_key, Key(0));
  EXPECT_FALSE(manifest->root().chunks[0].columns[1].has_value());
  const auto expect_old = [&](const TablePart& part) {
    ASSERT_EQ(part.columns.size(), 4u);
    EXPECT_EQ(part.columns[0].file_name, "0002-flag.cfile");
    EXPECT_TRUE(part.columns[1].missing);
    EXPECT_EQ(part.columns[1].null_count, 0u);
    EXPECT_EQ(part.columns[1].lower_bound, Key(7));
    EXPECT_EQ(part.columns[2].file_name, "0000-key.cfile");
    EXPECT_EQ(part.columns[2].max_key, Key(1));
    EXPECT_TRUE(part.columns[3].missing);
    EXPECT_EQ(part.columns[3].null_count, part.num_rows);
  };
  for (const uint64_t number : {0, 69}) {
    const auto place = manifest->Part(number);
    ASSERT_TRUE(place.ok()) << place.status();
    expect_old(*place->part);
  }

  // One old part gets a file of a new column. This change writes the part's chunk again.
  TablePart part = *manifest->Part(3)->part;
  part.columns[3] = {.file_name = "0004-note.cfile", .num_rows = 2, .null_count = 1};
  ASSERT_TRUE(store.Change(*manifest, {.updated = {part}}).ok());
  EXPECT_EQ(store.written_chunks, 1u);
  manifest = store.Open();
  EXPECT_EQ(Text(*manifest->Part(3)->part), Text(part));
  expect_old(*manifest->Part(4)->part);
  const ChunkInfo& chunk = manifest->root().chunks[0];
  EXPECT_EQ(chunk.columns[1]->max_key, Key(7));
  EXPECT_EQ(chunk.columns[3]->null_count, chunk.num_rows - 1);
  EXPECT_EQ(chunk.columns[3]->min_key, std::nullopt);  // the new file's bounds are not known
}

TEST(Manifest, TheKeyIndexHasAnId) {
  Schema schema = ThreeColumns();
  schema.key_columns = {0};
  TableContents contents{.schema = schema};
  TablePart part = MakePart(0, 1, 0, 1);
  part.columns.push_back(
      {.file_name = "0003-key_index.cfile", .num_rows = 1, .min_key = "a", .max_key = "b"});
  contents.parts = {part};
  ColumnIdentities identities = IdentitiesOf(contents);
  EXPECT_EQ(identities.ids, (std::vector<uint32_t>{0, 1, 2, 3}));
  EXPECT_EQ(identities.next_id, 4u);
  schema.columns.push_back({.name = "note", .type = ColumnType::String(), .nullable = true});
  identities.ids = {0, 1, 2, 4, 3};
  identities.defaults.resize(4);
  identities.next_id = 5;
  const auto changed = WithSchema(contents, schema, identities);
  ASSERT_TRUE(changed.ok()) << changed.status();
  const auto parsed = ParseTable(SerializeTable(*changed), "t");
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  ASSERT_EQ(parsed->parts[0].columns.size(), 5u);
  EXPECT_TRUE(parsed->parts[0].columns[3].missing);
  EXPECT_EQ(parsed->parts[0].columns[4].file_name, "0003-key_index.cfile");
}

using PartBoundsTest = TableTestBase;

// Scans skip parts by the bounds of columns that have no value index.
TEST_F(PartBoundsTest, OfColumnsWithoutValueIndex) {
  const Schema schema{.columns = {{.name = "x", .type = ColumnType::Double(), .nullable = true},
                                  {.name = "s", .type = ColumnType::String()}}};
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::string shared(100, 'm');
  for (const double base : {10.0, 20.0, nan}) {
    auto writer = CreateOrAppend(path_, schema);
    ASSERT_TRUE(writer.ok()) << writer.status();
    const std::vector<double> numbers = {base, base + 1, nan};
    const std::string text = shared + absl::StrCat(base);
    const std::vector<std::string_view> texts = {text, text, "z"};
    ASSERT_TRUE(writer->Append<double>(0, numbers).ok());
    ASSERT_TRUE(writer->Append<std::string_view>(1, texts).ok());
    ASSERT_TRUE(writer->Finish().ok());
  }
  const TableReader table = OpenTable();
  const BlockStatistics bounds = *table.part_bounds(1, 0);
  EXPECT_EQ(bounds.Min<double>(), 20);
  EXPECT_EQ(bounds.Max<double>(), 21);
  EXPECT_EQ(bounds.nan_count, 1u);
  EXPECT_FALSE(bounds.min_exact);
  EXPECT_EQ(table.part_bounds(2, 0)->Min<double>(), std::nullopt);
  EXPECT_EQ(table.part_bounds(0, 1)->Min<std::string_view>(), shared.substr(0, 64));
  for (size_t part = 0; part < 3; ++part) {
    for (const size_t column : {0, 1}) {
      const VerifyReport report = table.VerifyColumn(part, column);
      EXPECT_TRUE(report.ok()) << report.damages[0].status;
    }
  }
  const auto count = [&](const Filter& filter, uint64_t skipped) {
    auto scan = table.NewScan({.where = filter});
    EXPECT_TRUE(scan.ok()) << scan.status();
    uint64_t rows = 0;
    for (const auto& batch : scan->Batches()) {
      EXPECT_TRUE(batch.ok()) << batch.status();
      if (batch.ok()) rows += batch->num_rows();
    }
    EXPECT_EQ(scan->counters().parts_skipped, skipped);
    return rows;
  };
  EXPECT_EQ(count(Eq("x", 21), 1), 1u);               // the part with only NaN has no bounds
  EXPECT_EQ(count(Not(Between("x", 0, 30)), 0), 5u);  // NaN matches
  EXPECT_EQ(count(Eq("s", "a"), 3), 0u);
  EXPECT_EQ(count(Eq("s", shared + "20"), 0), 2u);  // the bounds are cut, so no part is excluded
}

}  // namespace cfile::internal::manifest_test
