// The messages of Parquet's metadata (parquet.thrift of the Parquet format), as plain structs.
// file_metadata.h reads and writes them.
//
// A message and its fields have the names of parquet.thrift, with the fields in lower case. What is
// required there is a plain member here; a reader refuses a message that lacks it. What is optional
// is a std::optional. A list is a std::vector, and an optional list that is absent is empty.
//
// Enums are int32_t, because a file may contain numbers that this version does not know. The known
// numbers are constants.
//
// Texts and binary values are views: into the bytes that were read, or for writing into memory of
// the caller.
//
// A reader ignores fields that are not listed here. In a union it notes their number in
// `unknown_field`, so that a caller can tell an unknown member from no member.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace cfile::internal::parquet {

struct Type {
  enum : int32_t {
    kBoolean = 0,
    kInt32 = 1,
    kInt64 = 2,
    kInt96 = 3,
    kFloat = 4,
    kDouble = 5,
    kByteArray = 6,
    kFixedLenByteArray = 7
  };
};

struct FieldRepetitionType {
  enum : int32_t { kRequired = 0, kOptional = 1, kRepeated = 2 };
};

struct ConvertedType {
  enum : int32_t {
    kUtf8 = 0,
    kMap = 1,
    kMapKeyValue = 2,
    kList = 3,
    kEnum = 4,
    kDecimal = 5,
    kDate = 6,
    kTimeMillis = 7,
    kTimeMicros = 8,
    kTimestampMillis = 9,
    kTimestampMicros = 10,
    kUint8 = 11,
    kUint16 = 12,
    kUint32 = 13,
    kUint64 = 14,
    kInt8 = 15,
    kInt16 = 16,
    kInt32 = 17,
    kInt64 = 18,
    kJson = 19,
    kBson = 20,
    kInterval = 21
  };
};

struct Encoding {
  enum : int32_t {
    kPlain = 0,
    kGroupVarInt = 1,  // never used by a writer, and no longer in parquet.thrift
    kPlainDictionary = 2,
    kRle = 3,
    kBitPacked = 4,
    kDeltaBinaryPacked = 5,
    kDeltaLengthByteArray = 6,
    kDeltaByteArray = 7,
    kRleDictionary = 8,
    kByteStreamSplit = 9
  };
};

struct CompressionCodec {
  enum : int32_t {
    kUncompressed = 0,
    kSnappy = 1,
    kGzip = 2,
    kLzo = 3,
    kBrotli = 4,
    kLz4 = 5,  // the frames of Hadoop
    kZstd = 6,
    kLz4Raw = 7
  };
};

struct PageType {
  enum : int32_t { kDataPage = 0, kIndexPage = 1, kDictionaryPage = 2, kDataPageV2 = 3 };
};

struct BoundaryOrder {
  enum : int32_t { kUnordered = 0, kAscending = 1, kDescending = 2 };
};

// A message without fields, the member of a union.
struct Empty {};

// A union: at most one member is set.
struct TimeUnit {
  std::optional<Empty> millis;
  std::optional<Empty> micros;
  std::optional<Empty> nanos;
  std::optional<int32_t> unknown_field;  // not written
};

struct DecimalType {
  int32_t scale = 0;
  int32_t precision = 0;
};

// Of TIME and of TIMESTAMP.
struct TimeType {
  bool is_adjusted_to_utc = false;
  TimeUnit unit;
};

struct IntType {
  int8_t bit_width = 0;
  bool is_signed = false;

  bool operator==(const IntType&) const = default;
};

struct VariantType {
  std::optional<int8_t> specification_version;
};

struct GeometryType {
  std::optional<std::string_view> crs;
};

struct GeographyType {
  std::optional<std::string_view> crs;
  std::optional<int32_t> algorithm;
};

// A union: at most one member is set.
struct LogicalType {
  std::optional<Empty> string;
  std::optional<Empty> map;
  std::optional<Empty> list;
  std::optional<Empty> enumeration;
  std::optional<DecimalType> decimal;
  std::optional<Empty> date;
  std::optional<TimeType> time;
  std::optional<TimeType> timestamp;
  std::optional<IntType> integer;
  std::optional<Empty> unknown;  // all values are null
  std::optional<Empty> json;
  std::optional<Empty> bson;
  std::optional<Empty> uuid;
  std::optional<Empty> float16;
  std::optional<VariantType> variant;
  std::optional<GeometryType> geometry;
  std::optional<GeographyType> geography;
  std::optional<int32_t> unknown_field;  // not written
};

// A node of the schema. The nodes are listed in depth-first order, and the root is the first.
struct SchemaElement {
  std::optional<int32_t> type;             // Type; only of a leaf
  std::optional<int32_t> type_length;      // bytes, of FIXED_LEN_BYTE_ARRAY
  std::optional<int32_t> repetition_type;  // FieldRepetitionType; not of the root
  std::string_view name;
  std::optional<int32_t> num_children;
  std::optional<int32_t> converted_type;
  std::optional<int32_t> scale;
  std::optional<int32_t> precision;
  std::optional<int32_t> field_id;
  std::optional<LogicalType> logical_type;
};

struct KeyValue {
  std::string_view key;
  std::optional<std::string_view> value;
};

// Of a column chunk or of a page. Values are in the PLAIN encoding, but BYTE_ARRAY has no length.
struct Statistics {
  std::optional<std::string_view> max;  // max and min: old, in an order of the writer's choice
  std::optional<std::string_view> min;
  std::optional<int64_t> null_count;
  std::optional<int64_t> distinct_count;
  std::optional<std::string_view> max_value;
  std::optional<std::string_view> min_value;
  std::optional<bool> is_max_value_exact;
  std::optional<bool> is_min_value_exact;
};

struct PageEncodingStats {
  int32_t page_type = 0;
  int32_t encoding = 0;
  int32_t count = 0;
};

struct SizeStatistics {
  std::optional<int64_t> unencoded_byte_array_data_bytes;
  std::vector<int64_t> repetition_level_histogram;  // optional
  std::vector<int64_t> definition_level_histogram;  // optional
};

struct ColumnMetaData {
  int32_t type = 0;
  std::vector<int32_t> encodings;
  std::vector<std::string_view> path_in_schema;
  int32_t codec = 0;       // CompressionCodec
  int64_t num_values = 0;  // with nulls: the number of levels
  int64_t total_uncompressed_size = 0;
  int64_t total_compressed_size = 0;         // with the page headers
  std::vector<KeyValue> key_value_metadata;  // optional
  int64_t data_page_offset = 0;
  std::optional<int64_t> index_page_offset;
  std::optional<int64_t> dictionary_page_offset;
  std::optional<Statistics> statistics;
  std::vector<PageEncodingStats> encoding_stats;  // optional
  std::optional<int64_t> bloom_filter_offset;
  std::optional<int32_t> bloom_filter_length;
  std::optional<SizeStatistics> size_statistics;
};

struct ColumnChunk {
  std::optional<std::string_view> file_path;  // absent: the column chunk is in this file
  int64_t file_offset = 0;                    // no longer used
  std::optional<ColumnMetaData> meta_data;
  std::optional<int64_t> offset_index_offset;
  std::optional<int32_t> offset_index_length;
  std::optional<int64_t> column_index_offset;
  std::optional<int32_t> column_index_length;
  std::optional<Empty> crypto_metadata;  // present: the column is encrypted. Its fields are ignored
  std::optional<std::string_view> encrypted_column_metadata;
};

struct SortingColumn {
  int32_t column_idx = 0;
  bool descending = false;
  bool nulls_first = false;
};

struct RowGroup {
  std::vector<ColumnChunk> columns;  // one for each leaf of the schema
  int64_t total_byte_size = 0;       // uncompressed
  int64_t num_rows = 0;
  std::vector<SortingColumn> sorting_columns;  // optional
  std::optional<int64_t> file_offset;
  std::optional<int64_t> total_compressed_size;
  std::optional<int16_t> ordinal;
};

// A union: at most one member is set.
struct ColumnOrder {
  std::optional<Empty> type_order;       // the order that parquet.thrift gives for the type
  std::optional<int32_t> unknown_field;  // not written
};

struct FileMetaData {
  int32_t version = 0;
  std::vector<SchemaElement> schema;
  int64_t num_rows = 0;
  std::vector<RowGroup> row_groups;
  std::vector<KeyValue> key_value_metadata;  // optional
  std::optional<std::string_view> created_by;
  std::vector<ColumnOrder> column_orders;     // optional
  std::optional<Empty> encryption_algorithm;  // present: columns are encrypted. Fields are ignored
  std::optional<std::string_view> footer_signing_key_metadata;
};

struct DataPageHeader {
  int32_t num_values = 0;  // with nulls: the number of levels
  int32_t encoding = 0;
  int32_t definition_level_encoding = 0;
  int32_t repetition_level_encoding = 0;
  std::optional<Statistics> statistics;
};

struct DictionaryPageHeader {
  int32_t num_values = 0;
  int32_t encoding = 0;
  std::optional<bool> is_sorted;
};

struct DataPageHeaderV2 {
  int32_t num_values = 0;  // with nulls: the number of levels
  int32_t num_nulls = 0;
  int32_t num_rows = 0;
  int32_t encoding = 0;
  int32_t definition_levels_byte_length = 0;
  int32_t repetition_levels_byte_length = 0;
  std::optional<bool> is_compressed;  // absent: true
  std::optional<Statistics> statistics;
};

struct PageHeader {
  int32_t type = 0;                    // PageType
  int32_t uncompressed_page_size = 0;  // bytes, without this header
  int32_t compressed_page_size = 0;    // bytes that follow this header
  std::optional<int32_t> crc;          // CRC32 of these bytes (the polynomial of zlib)
  std::optional<DataPageHeader> data_page_header;
  std::optional<Empty> index_page_header;
  std::optional<DictionaryPageHeader> dictionary_page_header;
  std::optional<DataPageHeaderV2> data_page_header_v2;
};

struct PageLocation {
  int64_t offset = 0;                // of the page header, in the file
  int32_t compressed_page_size = 0;  // with the page header
  int64_t first_row_index = 0;       // within the row group
};

struct OffsetIndex {
  std::vector<PageLocation> page_locations;
  std::vector<int64_t> unencoded_byte_array_data_bytes;  // optional
};

// All lists have one element for each data page; the histograms have one for each page and level.
struct ColumnIndex {
  std::vector<bool> null_pages;
  std::vector<std::string_view> min_values;
  std::vector<std::string_view> max_values;
  int32_t boundary_order = 0;
  std::vector<int64_t> null_counts;                  // optional
  std::vector<int64_t> repetition_level_histograms;  // optional
  std::vector<int64_t> definition_level_histograms;  // optional
};

// Unions with one member each.
struct BloomFilterAlgorithm {
  std::optional<Empty> block;
  std::optional<int32_t> unknown_field;  // not written
};
struct BloomFilterHash {
  std::optional<Empty> xxhash;
  std::optional<int32_t> unknown_field;  // not written
};
struct BloomFilterCompression {
  std::optional<Empty> uncompressed;
  std::optional<int32_t> unknown_field;  // not written
};

// The bit set follows the header.
struct BloomFilterHeader {
  int32_t num_bytes = 0;
  BloomFilterAlgorithm algorithm;
  BloomFilterHash hash;
  BloomFilterCompression compression;
};

}  // namespace cfile::internal::parquet
