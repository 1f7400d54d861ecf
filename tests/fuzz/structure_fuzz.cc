// Fuzz targets for table.cft and for the structures of a file other than blocks of values. An input
// consists of the bytes that a checksum covers, without the checksum.
#include "cfile/compound_key.h"
#include "cfile/core/format/block_appender.h"
#include "cfile/core/format/crc32c.h"
#include "cfile/core/format/file_metadata.h"
#include "cfile/core/format/level_block.h"
#include "cfile/core/format/piece_table.h"
#include "cfile/core/format/statistics_block.h"
#include "cfile/inspect.h"
#include "cfile/packed_file.h"
#include "cfile/parts/table/manifest/chunk_file.h"
#include "cfile/parts/table/manifest/sealed_message.h"
#include "cfile/parts/table/manifest/table_file.h"
#include "cfile/parts/table/packed/packed_directory.h"
#include "cfile/reader.h"
#include "encodings/hybrid/levels.h"
#include "tests/cfile/column_testing.h"
#include "tests/cfile/wire_comparison.h"
#include "tests/fuzz/file_parts.h"
#include "tests/fuzz/seed_files.h"

namespace cfile::fuzz {
namespace {

using encodings::ByteReader;
using encodings::ByteWriter;
using Kind = FileParts::Kind;

// Targets read at most this many levels or rows. Reading more would only take more time.
constexpr size_t kMost = 100'000;

// Takes `numbers` from the front of the input. The rest of the input is the bytes of the structure.
// Returns false if the input is too short.
template <typename... Numbers>
bool TakeNumbers(std::span<const uint8_t>& bytes, Numbers&... numbers) {
  ByteReader reader(bytes);
  if (!(reader.ReadFixed(numbers) && ...)) return false;
  bytes = reader.rest();
  return true;
}
template <typename... Numbers>
Bytes WithNumbers(std::span<const uint8_t> bytes, Numbers... numbers) {
  ByteWriter out;
  (out.PutFixed(numbers), ...);
  out.PutBytes(bytes);
  return ToBytes(out.span());
}

// Returns a seed for each part of this kind in the seed files. `add` makes the seed from the part.
template <typename Add>
std::vector<Bytes> PartSeeds(Kind kind, const Add& add) {
  std::vector<Bytes> seeds;
  for (const Bytes& file : SeedFiles()) {
    const auto parts = FileParts::Of(file);
    if (!parts) continue;
    for (const FileParts::Part& part : parts->parts()) {
      if (part.kind == kind) seeds.push_back(add(*parts, part));
    }
  }
  std::sort(seeds.begin(), seeds.end());
  seeds.erase(std::unique(seeds.begin(), seeds.end()), seeds.end());
  return seeds;
}

std::vector<Bytes> MessageSeeds(Kind kind) {
  return PartSeeds(kind, [](const FileParts&, const FileParts::Part& part) { return part.bytes; });
}

void OpenFile(const Bytes& file) {
  const auto reader = Reader::Open(NewMemorySource(file));
  if (!reader.ok()) return ExpectBadData(reader.status());
  (void)DescribeMetadata(reader->info());
  Expect(Validate(reader->type()).ok());
  (void)reader->type().ToString();
  encodings::VisitPhysicalType(reader->type().physical(), [&](auto t) {
    (void)reader->template Get<typename decltype(t)::type>(0);
    (void)ReadDictionary<typename decltype(t)::type>(*reader);
  });
  uint64_t end = 0;
  for (const FileRegion& region : ListRegions(*reader).regions) {
    Expect(region.offset == end);
    end = region.end();
    (void)DescribeRegion(*reader, region);
  }
  Expect(end == file.size());
}

// Opens a file that has this header and no values.
void Header(std::span<const uint8_t> message) {
  static const Bytes footer = [] {
    FileInfo info;
    info.type = ColumnType::Int32();
    info.incompatible_features = kFeatureChecksums;
    ByteWriter out;
    internal::AppendFooter(info, /*extensions=*/true, out);
    return ToBytes(out.span());
  }();
  Bytes file = SignedHeader(message);
  file.insert(file.end(), footer.begin(), footer.end());
  OpenFile(file);
}

// Opens a file that has this footer, and zeros to which the footer may point.
void Footer(std::span<const uint8_t> message) {
  Bytes file = SignedHeader({});
  file.resize(4096);
  const Bytes footer = SignedFooter(message);
  file.insert(file.end(), footer.begin(), footer.end());
  OpenFile(file);
}

void IndexNode(std::span<const uint8_t> bytes) {
  uint8_t kind_and_form;
  if (!TakeNumbers(bytes, kind_and_form)) return;
  const auto kind = kind_and_form % 2 == 0 ? IndexKind::kPositional : IndexKind::kValue;
  std::optional<internal::IndexKeyForm> form = internal::IndexKeyForm::kBytes;
  if (kind == IndexKind::kPositional && kind_and_form % 4 == 2) form.reset();
  const auto node = internal::IndexNode::Parse(
      bytes, kind, form, {.offset = 1 << 20, .size = static_cast<uint32_t>(bytes.size())}, 16);
  if (!node.ok()) return ExpectBadData(node.status());
  for (uint32_t i = 0; i < node->num_entries(); ++i) {
    // Entries point to blocks before the node. A search for the ordinal or the key of an entry
    // finds this entry, or an earlier entry with an equal key.
    Expect(node->subtree_begin(i) <= node->entry_pointer(i).offset &&
           node->entry_pointer(i).end() <= 1 << 20);
    if (kind == IndexKind::kPositional) {
      Expect(node->FindOrdinal(node->ordinal(i)) == i);
    } else {
      Expect(node->FindKey(node->key(i)) <= i);
    }
  }
}

std::vector<Bytes> IndexNodeSeeds() {
  return PartSeeds(Kind::kIndexNode, [](const FileParts& parts, const FileParts::Part& part) {
    const bool v1 = parts.info().version == FormatVersion::kV1;
    const bool value = part.index == IndexKind::kValue;
    return WithNumbers(part.bytes, static_cast<uint8_t>(value ? 1 : v1 ? 2 : 0));
  });
}

// Input: the maximum levels or the kind of array, followed by a block of levels or arrays. The
// target reads the entries in steps.
void LevelBlock(std::span<const uint8_t> bytes) {
  uint8_t repetition, definition, array;
  if (!TakeNumbers(bytes, repetition, definition, array)) return;
  FileInfo info;
  info.type = ColumnType::Int32();
  info.num_rows = array / 4 % 16 == 0 ? UINT32_MAX : kMost;  // UINT32_MAX is rare: it takes longer
  info.num_entries = uint64_t{1} << 40;
  info.levels =
      array % 4 == 0 ? LevelLimits{repetition, definition} : LevelLimits::KuduArray(array % 2 == 0);
  info.nullable = info.levels.max_definition > (info.levels.kudu_array ? 2 : 0);
  info.incompatible_features =
      kFeatureChecksums | (info.levels.kudu_array ? kFeatureArrayBlocks
                                                  : kFeatureNestedBlocks | kFeatureExtendedBlocks);
  const auto block = internal::ParseLevelBlock(bytes, info);
  if (!block.ok()) return ExpectBadData(block.status());
  internal::LevelDecoder decoder;
  decoder.Open(*block, info.levels);
  const auto most = std::min<size_t>(block->num_entries, kMost);
  const auto levels = std::make_unique<uint16_t[]>(2 * most);
  for (size_t done = 0, step = 1; done < most; done += step, step = 2 * step + 1) {
    step = std::min(step, most - done);
    const absl::Status status = decoder.Read(levels.get() + done, levels.get() + most + done, step);
    if (!status.ok()) return ExpectBadData(status);
    for (size_t i = done; i < done + step; ++i) {
      Expect(levels[i] <= info.levels.max_repetition || info.levels.max_repetition == 0);
      Expect(levels[most + i] <= info.levels.max_definition || info.levels.max_definition == 0);
    }
  }
}

std::vector<Bytes> LevelBlockSeeds() {
  return PartSeeds(Kind::kDataBlock, [](const FileParts& parts, const FileParts::Part& part) {
    const LevelLimits& limits = parts.info().levels;
    if (!parts.info().has_levels()) return Bytes{};
    return WithNumbers(part.bytes, static_cast<uint8_t>(limits.max_repetition),
                       static_cast<uint8_t>(limits.max_definition),
                       static_cast<uint8_t>(!limits.kudu_array      ? 0
                                            : parts.info().nullable ? 2
                                                                    : 1));
  });
}

// Input: the width and the number of levels, followed by the levels of a page. The target reads the
// levels in all forms.
void PageLevels(std::span<const uint8_t> bytes) {
  uint8_t width;
  uint32_t count;
  if (!TakeNumbers(bytes, width, count)) return;
  const auto exercise = [&](auto level) {
    using T = decltype(level);
    std::vector<T> levels(count % 5000);
    const std::span<T> out(levels);
    ByteReader with_length(bytes), packed(bytes);
    for (const absl::Status& status :
         {encodings::ReadHybrid<T>(bytes, width, out), encodings::ReadIndexes<T>(bytes, out),
          encodings::ReadHybridWithLength<T>(with_length, width, out),
          encodings::ReadBitPacked<T>(packed, width, out)}) {
      if (!status.ok()) ExpectBadData(status);
    }
  };
  exercise(uint16_t{});
  exercise(uint32_t{});
}

std::vector<Bytes> PageLevelSeeds() {
  std::vector<Bytes> seeds;
  std::mt19937_64 random(1);
  for (const int width : {0, 1, 2, 3, 8, 13, 32}) {
    std::vector<uint32_t> levels(100);
    const auto largest = static_cast<uint32_t>((uint64_t{1} << width) - 1);
    for (size_t i = 0; i < levels.size(); ++i)
      levels[i] = i % 40 < 20 ? largest : static_cast<uint32_t>(random()) & largest;
    const std::span<const uint32_t> span(levels);
    ByteWriter hybrid, indexes, with_length, packed;
    encodings::PutHybrid(span, width, hybrid);
    encodings::PutIndexes(span, width, indexes);
    encodings::PutHybridWithLength(span, width, with_length);
    encodings::PutBitPacked(span, width, packed);
    for (const ByteWriter* out : {&hybrid, &indexes, &with_length, &packed})
      seeds.push_back(WithNumbers(out->span(), static_cast<uint8_t>(width), uint32_t{100}));
  }
  return seeds;
}

// Input: a number of rows and their validity. The target reads the validity in steps, and again
// after seeks. Both results must be equal.
void Bitmap(std::span<const uint8_t> bytes) {
  uint32_t count;
  if (!TakeNumbers(bytes, count)) return;
  encodings::ValidityDecoder decoder;
  if (const absl::Status status = decoder.Open(bytes, count); !status.ok())
    return ExpectBadData(status);
  std::vector<uint8_t> bits(kMost / 8 + 1);
  std::vector<uint32_t> valid_before;
  uint32_t valid = 0;
  for (uint32_t step = 1; decoder.position() < std::min<size_t>(count, kMost);
       step = 2 * step + 1) {
    valid_before.push_back(valid);
    const auto ones = decoder.Read(
        std::min<uint32_t>(step, std::min<uint32_t>(count, kMost) - decoder.position()),
        bits.data());
    if (!ones.ok()) return ExpectBadData(ones.status());
    valid += *ones;
  }
  for (size_t i = valid_before.size(); i > 0; --i) {
    // The steps began at the rows 0, 1, 4, 11, ...
    uint32_t position = 0;
    for (uint32_t step = 1, j = 1; j < i; ++j, step = 2 * step + 1) position += step;
    const auto before = decoder.SeekTo(position);
    Expect(before.ok() && *before == valid_before[i - 1] && decoder.position() == position);
  }
  if (const auto end = decoder.SeekTo(count); !end.ok()) ExpectBadData(end.status());
}

std::vector<Bytes> BitmapSeeds() {
  std::vector<Bytes> seeds;
  std::mt19937_64 random(1);
  for (const int shape : {0, 1, 2, 3}) {
    encodings::ValidityEncoder encoder(shape == 3);
    for (int i = 0; i < 50; ++i) encoder.AddRun(i % 2 == 0, 1 + random() % (shape == 0 ? 3 : 90));
    const auto count = static_cast<uint32_t>(encoder.count());
    ByteWriter out;
    encoder.Finish(out);
    seeds.push_back(WithNumbers(out.span(), count));
  }
  return seeds;
}

// Input: a type, a number of rows and a block of statistics.
void Statistics(std::span<const uint8_t> bytes) {
  static const std::vector<ColumnType> types = testing_support::AllColumnTypes();
  uint8_t type;
  uint32_t rows;
  if (!TakeNumbers(bytes, type, rows)) return;
  FileInfo info;
  info.type = types[type % types.size()];
  info.nullable = type >= 128;
  info.levels.max_definition = info.nullable ? 1 : 0;
  info.num_rows = rows;
  info.file_size_bytes = 1 << 20;
  const auto statistics = internal::ParseStatistics(bytes, info);
  if (!statistics.ok()) return ExpectBadData(statistics.status());
  Expect(statistics->file.num_entries() == rows);
  encodings::VisitPhysicalType(info.type.physical(), [&](auto t) {
    using T = typename decltype(t)::type;
    const auto least = statistics->file.template Min<T>();
    (void)statistics->file.template Max<T>();
    (void)statistics->template MightContain<T>(least ? T(*least) : T{});
    for (const BlockStatistics& block : statistics->blocks) {
      (void)block.template Min<T>();
      (void)block.template Max<T>();
    }
  });
}

std::vector<Bytes> StatisticsSeeds() {
  const std::vector<ColumnType> types = testing_support::AllColumnTypes();
  return PartSeeds(Kind::kStatistics, [&](const FileParts& parts, const FileParts::Part& part) {
    const FileInfo& info = parts.info();
    const auto type = std::find(types.begin(), types.end(), info.type) - types.begin();
    return WithNumbers(part.bytes, static_cast<uint8_t>(type + (info.nullable ? 128 : 0)),
                       static_cast<uint32_t>(info.num_entries.value_or(info.num_rows)));
  });
}

// Returns a table of two parts.
// If `changed`, the columns of the table were changed after the first part was written.
// Then the first part lacks the last column if this column may be missing.
internal::TableContents TableOf(const Schema& schema, bool changed) {
  internal::TableContents table{.schema = schema, .parts = {}};
  if (schema.merge_rule && schema.merge_rule->time_column) table.time_bound = -7;
  const std::vector<ColumnSchema> columns = internal::StoredColumns(schema);
  if (changed) {
    auto& identities = table.identities.emplace();
    for (uint32_t i = 0; i < columns.size(); ++i) identities.ids.push_back(i * 2);
    identities.defaults.resize(schema.columns.size());
    identities.next_id = static_cast<uint32_t>(2 * columns.size());
  }
  for (size_t part = 0; part < 2; ++part) {
    auto& to = table.parts.emplace_back(internal::TablePart{
        .directory = part == 0 ? "part-000000" : "part-000001", .num_rows = 3 + part});
    for (size_t i = 0; i < columns.size(); ++i) {
      to.columns.push_back({.file_name = internal::ColumnFileName(i, columns[i].name),
                            .size_bytes = 100,
                            .num_rows = to.num_rows});
    }
    const size_t last = schema.columns.size() - 1;
    if (changed && part == 0 && schema.columns[last].nullable && !schema.columns[last].has_levels())
      to.columns[last] = {.num_rows = 3, .null_count = 3, .missing = true};
  }
  return table;
}

std::vector<Schema> TableSchemas() {
  const auto tree = RecordSchema::Parse(
      "message m { required int64 id; optional group tags (LIST) { repeated group list { optional "
      "binary element (STRING); } } optional group m (MAP) { repeated group kv { required int32 k; "
      "optional double v; } } }");
  Schema keyed{.columns = {{"a", ColumnType::Decimal(9, 2)}, {"b", ColumnType::Uuid(), true}},
               .key_columns = {0}};
  Schema keyed_by_nulls = keyed;
  keyed_by_nulls.key_columns = {1, 0};
  keyed_by_nulls.nulls_last = {1};
  std::vector<Schema> schemas = {Schema::OfRecords(*tree), keyed, keyed_by_nulls};
  keyed_by_nulls.columns.push_back({"deleted", ColumnType::Bool(), true});
  keyed_by_nulls.columns.push_back({"day", ColumnType::Date(), true});
  for (const MergeRule& rule : {MergeRule(), MergeRule{.deleted_column = 2},
                                MergeRule{.deleted_column = 2, .time_column = 3}}) {
    schemas.push_back(keyed_by_nulls);
    schemas.back().merge_rule = rule;
  }
  return schemas;
}

// Input: a number, then the message of table.cft.
// Bit 0 of the number says whether the table has features.
void TableFile(std::span<const uint8_t> message) {
  uint8_t features;
  if (!TakeNumbers(message, features)) return;
  const Bytes file = SignedHeader(message, features % 2 != 0 ? "cfiletb2" : "cfiletb1");
  const auto table = internal::ParseTable(encodings::AsString(file), "table.cft");
  if (!table.ok()) return ExpectBadData(table.status());
  Expect(internal::ValidateSchema(table->schema).ok());
  (void)table->schema.Records();
  const std::string written = internal::SerializeTable(*table);
  const auto again = internal::ParseTable(written, "table.cft");
  Expect(again.ok() && internal::SerializeTable(*again) == written);
}

std::vector<Bytes> TableFileSeeds() {
  std::vector<Bytes> seeds;
  for (const Schema& schema : TableSchemas()) {
    for (const bool changed : {false, true}) {
      internal::TableContents table = TableOf(schema, changed);
      if (changed) {
        table.metadata = {{"pandas", "{}"}, {"", ""}};
        internal::TablePart& packed = table.parts.back();
        for (internal::TablePartColumn& column : packed.columns) {
          if (column.missing || column.size_bytes == 0) continue;
          const uint64_t begin = internal::NextPackedOffset(packed.packed_size_bytes);
          column.packed_end = packed.packed_size_bytes = begin + column.size_bytes;
        }
      }
      for (const bool chunks : {false, true}) {
        if (chunks) {
          const internal::PartLayout layout(table);
          auto chunk = internal::MakeChunk(std::span<const internal::TablePart>(table.parts),
                                           layout, SIZE_MAX);
          chunk->info.file_name = "chunk-00000000000000000000000000000000.cft";
          table.chunks.push_back(std::move(chunk->info));
        }
        const std::string file = internal::SerializeTable(table);
        Expect(internal::ParseTable(file, "seed").ok());
        const auto features = static_cast<uint8_t>(file.starts_with("cfiletb2"));
        seeds.push_back(WithNumbers(encodings::AsBytes(internal::MessageIn(file)), features));
      }
    }
  }
  return seeds;
}

// A chunk is a file. A chunk of height 0 describes parts. Other chunks name chunks.
// The input begins with a number that chooses the table.
// Then come the height, the number of parts and the number of rows of a chunk.
// The rest of the input is the message of the chunk.
void TableChunk(std::span<const uint8_t> message) {
  uint8_t table_number, height;
  uint32_t num_parts, num_rows;
  if (!TakeNumbers(message, table_number, height, num_parts, num_rows)) return;
  static const std::vector<Schema> schemas = TableSchemas();
  const internal::PartLayout layout(
      TableOf(schemas[table_number / 2 % schemas.size()], table_number % 2 != 0));
  const std::string file = internal::SealMessage("cfilech1", encodings::AsString(message));
  const internal::ChunkInfo expected{.file_name = "chunk",
                                     .size_bytes = file.size(),
                                     .crc32c = internal::Crc32cIn(file),
                                     .height = height,
                                     .num_parts = num_parts,
                                     .num_rows = num_rows};
  const auto entries = internal::ParseChunk(file, expected, layout, size_t{1} << 24, "chunk");
  if (!entries.ok()) return ExpectBadData(entries.status());
  Expect(entries->parts.empty() || entries->chunks.empty());
  for (const internal::TablePart& part : entries->parts)
    Expect(part.columns.size() == layout.columns().size());
  for (const internal::ChunkInfo& chunk : entries->chunks)
    Expect(chunk.columns.size() == layout.columns().size() && chunk.height + 1 == height);
}

std::vector<Bytes> TableChunkSeeds() {
  std::vector<Bytes> seeds;
  const std::vector<Schema> schemas = TableSchemas();
  for (uint8_t number = 0; number < 2 * schemas.size(); ++number) {
    const internal::TableContents table = TableOf(schemas[number / 2], number % 2 != 0);
    const internal::PartLayout layout(table);
    std::vector<internal::ChunkInfo> chunks;
    for (uint8_t height = 0; height < 2; ++height) {
      auto chunk =
          height == 0
              ? internal::MakeChunk(std::span<const internal::TablePart>(table.parts), layout,
                                    SIZE_MAX)
              : internal::MakeChunk(std::span<const internal::ChunkInfo>(chunks), layout, SIZE_MAX);
      chunk->info.file_name = "chunk-00000000000000000000000000000000.cft";
      Expect(internal::ParseChunk(chunk->bytes, chunk->info, layout, SIZE_MAX, "seed").ok());
      seeds.push_back(WithNumbers(encodings::AsBytes(internal::MessageIn(chunk->bytes)), number,
                                  height, static_cast<uint32_t>(chunk->info.num_parts),
                                  static_cast<uint32_t>(chunk->info.num_rows)));
      chunks.push_back(std::move(chunk->info));
    }
  }
  return seeds;
}

// Input: the size of the columns of a packed file. Then comes the message of the directory, or, if
// the size is odd, the whole end of the file.
void PackedDirectory(std::span<const uint8_t> end) {
  uint16_t size;
  if (!TakeNumbers(end, size)) return;
  std::string file(size, '\0');
  if (size % 2 != 0) {
    file += encodings::AsString(end);
  } else {
    const std::string sealed = internal::SealMessage("cfilepk1", encodings::AsString(end));
    encodings::ByteWriter trailer;
    trailer.PutFixed(static_cast<uint32_t>(sealed.size()));
    file += sealed + std::string(trailer.view()) + "cfilepk1";
  }
  const auto source = NewMemoryViewSource(encodings::AsBytes(file));
  const auto columns = ReadPackedDirectory(*source);
  if (!columns.ok()) return ExpectBadData(columns.status());
  Expect(IsPackedFile(*source));
  uint64_t last = 0;  // the end of the column before
  for (const PackedColumn& column : *columns) {
    Expect(column.offset % 64 == 0 && column.offset >= last && column.offset - last < 64);
    Expect(column.size_bytes > 0);
    last = column.offset + column.size_bytes;
  }
  Expect(last < file.size());
}

std::vector<Bytes> PackedDirectorySeeds() {
  std::vector<Bytes> seeds;
  for (const uint16_t size : {uint16_t{80}, uint16_t{81}}) {
    const std::vector<PackedColumn> columns = {{"0000-a.cfile", 0, 5},
                                               {"0001-b.cfile", 64, size - uint64_t{64}}};
    const std::string end = internal::SerializePackedDirectory(columns);
    constexpr size_t kTrailerBytes = 12;
    const std::string directory = end.substr(0, end.size() - kTrailerBytes);
    seeds.push_back(WithNumbers(
        encodings::AsBytes(size % 2 != 0 ? std::string_view(end) : internal::MessageIn(directory)),
        size));
  }
  return seeds;
}

// Input: a key and a piece table, or the directory of piece tables.
void PieceTables(std::span<const uint8_t> bytes) {
  uint64_t key;
  if (!TakeNumbers(bytes, key)) return;
  const std::string_view wanted = encodings::AsString({reinterpret_cast<uint8_t*>(&key), 8});
  const absl::Status status =
      internal::VisitPieceRecords(bytes, [&](const internal::PieceRecord& record) {
        uint64_t end = 0, rows = 0;
        const absl::Status pieces =
            internal::VisitPieces(record, [&](const internal::Piece& piece) {
              Expect(piece.begin >= end && piece.first_row == rows);
              end = uint64_t{piece.begin} + piece.size_bytes;
              rows += piece.num_rows;
              Expect(end <= record.block.size);
              Touch(encodings::AsString(piece.front));
              Touch(encodings::AsString(piece.back));
              return true;
            });
        if (!pieces.ok()) ExpectBadData(pieces);
        const auto found = internal::FindPiece(record, wanted);
        Expect(!found.ok() || !*found || (*found)->first_row == 0 || (*found)->key < wanted);
        const auto again = internal::FindPieceRecord(bytes, record.block);
        Expect(again.ok() && again->has_value());
        return true;
      });
  if (!status.ok()) ExpectBadData(status);
  const BlockPointer pointer{.offset = 1 << 20, .size = static_cast<uint32_t>(bytes.size())};
  const auto directory = internal::ParsePieceDirectory(bytes, pointer);
  if (!directory.ok()) return ExpectBadData(directory.status());
  for (const internal::PieceTablePlace& place : *directory) {
    Expect(place.first_block < place.table.offset && place.table.end() <= pointer.offset);
    Expect(internal::FindPieceTable(*directory, place.first_block)->table == place.table);
  }
}

std::vector<Bytes> PieceTableSeeds() {
  std::vector<Bytes> seeds;
  for (const Kind kind : {Kind::kPieceTable, Kind::kPieceDirectory}) {
    for (const Bytes& bytes : MessageSeeds(kind))
      seeds.push_back(WithNumbers(bytes, uint64_t{0x1234567890}));
  }
  return seeds;
}

// Input: a version and a codec, followed by a stored block without its checksum, or by a movable
// block with its checksums.
void StoredBlock(std::span<const uint8_t> bytes) {
  static const std::vector<Compression> codecs = testing_support::BuiltInCompressions();
  uint8_t version, codec;
  if (!TakeNumbers(bytes, version, codec)) return;
  const auto source = NewMemorySource(ToBytes(bytes));
  internal::BlockBuffer buffer;
  const auto block =
      internal::FetchBlock(*source,
                           {.compression = codecs[codec % codecs.size()],
                            .checksums = false,
                            .compresses_all = version % 2 == 0,
                            .movable = version % 4 == 1},
                           {.offset = 0, .size = static_cast<uint32_t>(bytes.size())},
                           /*verify=*/false, ReaderOptions().max_block_size_bytes, buffer);
  if (!block.ok()) return ExpectBadData(block.status());
  Touch(encodings::AsString(block->bytes));
  if (version % 4 != 1) return;
  const auto movable = internal::SplitMovableBlock(block->bytes);
  if (!movable.ok()) return ExpectBadData(movable.status());
  Touch(encodings::AsString(movable->levels));
  Touch(encodings::AsString(movable->values.values));
}

std::vector<Bytes> StoredBlockSeeds() {
  std::vector<Bytes> seeds;
  const std::vector<Compression> codecs = testing_support::BuiltInCompressions();
  const std::string text = "to be or not to be, to be or not to be" + std::string(100, 'x');
  for (size_t codec = 0; codec < codecs.size(); ++codec) {
    for (const bool v1 : {true, false}) {
      Bytes file;
      const auto sink = NewMemorySink(&file);
      internal::BlockAppender appender(
          sink.get(), 0, {.compression = codecs[codec], .checksums = !v1, .compresses_all = v1},
          1000);
      Expect(appender.Append({}, encodings::AsBytes(text)).ok() && sink->Finish().ok());
      const size_t size = file.size() - (v1 ? 0 : internal::kChecksumBytes);
      seeds.push_back(WithNumbers({file.data(), size}, static_cast<uint8_t>(v1 ? 0 : 1),
                                  static_cast<uint8_t>(codec)));
    }
    Bytes file;
    const auto sink = NewMemorySink(&file);
    internal::BlockAppender appender(sink.get(), 0, {.compression = codecs[codec]}, 100'000);
    const Bytes levels(100, 7), body(10'000, 8);
    Expect(appender.AppendMovable({.num_rows = 3}, {levels, {}, body}, {}).ok() &&
           sink->Finish().ok());
    seeds.push_back(WithNumbers(file, uint8_t{1}, static_cast<uint8_t>(codec)));
  }
  return seeds;
}

// Returns a key column. `number` chooses the type, the nullability, and where the nulls sort.
KeyColumn KeyColumnOf(uint8_t number) {
  static const std::vector<ColumnType> all = testing_support::AllColumnTypes();
  const size_t nulls = number / all.size();
  return {
      .type = all[number % all.size()], .nullable = nulls % 3 != 0, .nulls_last = nulls % 3 == 2};
}

// Input: the types of three columns, followed by a compound key. The values in the key must make
// the same key again.
void CompoundKeys(std::span<const uint8_t> bytes) {
  std::vector<KeyColumn> columns;
  for (int i = 0; i < 3; ++i) {
    uint8_t number;
    if (!TakeNumbers(bytes, number)) return;
    columns.push_back(KeyColumnOf(number));
    if (columns.back().type.data_type == DataType::kInt96) return;
  }
  CompoundKeyReader reader(columns, encodings::AsString(bytes));
  CompoundKey again(columns);
  for (const KeyColumn& column : columns) {
    const bool good = encodings::VisitPhysicalType(column.type.physical(), [&](auto t) {
      using T = typename decltype(t)::type;
      const auto value = reader.template NextOrNull<T>();
      if (!value.ok()) {
        ExpectBadData(value.status());
      } else if (!value->has_value()) {
        Expect(column.nullable);
        again.AddNull();
      } else {
        Expect(encodings::IsKey(T(**value)));
        again.template Add<T>(T(**value));
      }
      return value.ok();
    });
    if (!good) return;
  }
  Expect(again.bytes() == encodings::AsString(bytes));
}

std::vector<Bytes> CompoundKeySeeds() {
  const std::vector<ColumnType> all = testing_support::AllColumnTypes();
  std::vector<Bytes> seeds;
  std::mt19937_64 random(1);
  for (uint8_t first = 0; first < all.size(); ++first) {
    std::vector<uint8_t> numbers;
    std::vector<KeyColumn> columns;
    for (const size_t type : {size_t{first}, random() % all.size(), random() % all.size()}) {
      const size_t nulls = first % 2 == 0 ? 0 : all.size() * (random() % 3);
      numbers.push_back(
          static_cast<uint8_t>((all[type].data_type == DataType::kInt96 ? 0 : type) + nulls));
      columns.push_back(KeyColumnOf(numbers.back()));
    }
    CompoundKey key(columns);
    for (const KeyColumn& column : columns) {
      if (column.nullable && random() % 3 == 0) {
        key.AddNull();
        continue;
      }
      encodings::VisitPhysicalType(column.type.physical(), [&](auto t) {
        using T = typename decltype(t)::type;
        const Owned<T> value = testing_support::RandomValue<T>(column.type, 1, random);
        key.template Add<T>(T(value));
      });
    }
    seeds.push_back(
        WithNumbers(encodings::AsBytes(key.bytes()), numbers[0], numbers[1], numbers[2]));
  }
  return seeds;
}

}  // namespace

namespace {

// Parses a message with our own code and with the protobuf library.
// The first byte chooses the type of the message.
void Messages(std::span<const uint8_t> bytes) {
  uint8_t chosen;
  if (!TakeNumbers(bytes, chosen)) return;
  uint8_t number = 0;
  ForEachWireMessage([&]<typename M>(std::type_identity<M>) {
    if (number++ == chosen) Expect(WireDifference<M>(encodings::AsString(bytes)).empty());
  });
}

// Returns seeds for Messages. They contain all types of messages except index trailers.
std::vector<Bytes> AllMessageSeeds() {
  std::vector<Bytes> seeds;
  uint8_t number = 0;
  ForEachWireMessage([&]<typename M>(std::type_identity<M>) {
    const auto add = [&](const std::vector<Bytes>& messages) {
      for (const Bytes& message : messages) seeds.push_back(WithNumbers(message, number));
    };
    if (M::kType.name == "CFileHeaderPB") add(MessageSeeds(Kind::kHeader));
    if (M::kType.name == "CFileFooterPB") add(MessageSeeds(Kind::kFooter));
    if (M::kType.name == "TablePB") add(TableFileSeeds());
    ++number;
  });
  return seeds;
}

}  // namespace

std::vector<Target> Targets() {
  return {{"header", Header, [] { return MessageSeeds(Kind::kHeader); }},
          {"footer", Footer, [] { return MessageSeeds(Kind::kFooter); }},
          {"messages", Messages, AllMessageSeeds},
          {"index-node", IndexNode, IndexNodeSeeds},
          {"level-block", LevelBlock, LevelBlockSeeds},
          {"page-levels", PageLevels, PageLevelSeeds},
          {"bitmap", Bitmap, BitmapSeeds},
          {"statistics", Statistics, StatisticsSeeds},
          {"stored-block", StoredBlock, StoredBlockSeeds},
          {"piece-table", PieceTables, PieceTableSeeds},
          {"compound-key", CompoundKeys, CompoundKeySeeds},
          {"table-file", TableFile, TableFileSeeds},
          {"table-chunk", TableChunk, TableChunkSeeds},
          {"packed-directory", PackedDirectory, PackedDirectorySeeds}};
}

}  // namespace cfile::fuzz
