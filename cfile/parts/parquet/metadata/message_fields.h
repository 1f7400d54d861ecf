// Which fields the messages of messages.h have: the numbers and the types of parquet.thrift. The
// code that reads and writes messages uses these descriptions.
#pragma once

#include <cstdint>
#include <string_view>
#include <tuple>

#include "cfile/parts/parquet/metadata/messages.h"

namespace cfile::internal::parquet {

// An optional list that is absent is empty. All other members show with their type whether the
// field is required.
enum class Presence : uint8_t { kByType, kOptionalList };

// One field of a message. The type of the field follows from the type T of the member.
template <typename Message, typename T>
struct Field {
  constexpr Field(int16_t number_in, std::string_view name_in, T Message::*member_in,
                  Presence presence_in = Presence::kByType)
      : number(number_in), name(name_in), member(member_in), presence(presence_in) {}

  int16_t number;
  std::string_view name;
  T Message::*member;
  Presence presence;
};

// The fields of a message by ascending number.
template <typename Message>
inline constexpr auto kFields = std::tuple();

// F: a field whose member has its name. L: an optional list. N: a field with another name.
#define N(number, name, member) Field(number, name, &M::member)
#define F(number, member) N(number, #member, member)
#define L(number, member) Field(number, #member, &M::member, Presence::kOptionalList)
#define CFILE_FIELDS(Message, ...)              \
  template <>                                   \
  inline constexpr auto kFields<Message> = [] { \
    using M = Message;                          \
    return std::tuple(__VA_ARGS__);             \
  }()
CFILE_FIELDS(TimeUnit, N(1, "MILLIS", millis), N(2, "MICROS", micros), N(3, "NANOS", nanos));
CFILE_FIELDS(DecimalType, F(1, scale), F(2, precision));
CFILE_FIELDS(TimeType, N(1, "isAdjustedToUTC", is_adjusted_to_utc), F(2, unit));
CFILE_FIELDS(IntType, N(1, "bitWidth", bit_width), N(2, "isSigned", is_signed));
CFILE_FIELDS(VariantType, F(1, specification_version));
CFILE_FIELDS(GeometryType, F(1, crs));
CFILE_FIELDS(GeographyType, F(1, crs), F(2, algorithm));
CFILE_FIELDS(LogicalType, N(1, "STRING", string), N(2, "MAP", map), N(3, "LIST", list),
             N(4, "ENUM", enumeration), N(5, "DECIMAL", decimal), N(6, "DATE", date),
             N(7, "TIME", time), N(8, "TIMESTAMP", timestamp), N(10, "INTEGER", integer),
             N(11, "UNKNOWN", unknown), N(12, "JSON", json), N(13, "BSON", bson),
             N(14, "UUID", uuid), N(15, "FLOAT16", float16), N(16, "VARIANT", variant),
             N(17, "GEOMETRY", geometry), N(18, "GEOGRAPHY", geography));
CFILE_FIELDS(SchemaElement, F(1, type), F(2, type_length), F(3, repetition_type), F(4, name),
             F(5, num_children), F(6, converted_type), F(7, scale), F(8, precision), F(9, field_id),
             N(10, "logicalType", logical_type));
CFILE_FIELDS(KeyValue, F(1, key), F(2, value));
CFILE_FIELDS(Statistics, F(1, max), F(2, min), F(3, null_count), F(4, distinct_count),
             F(5, max_value), F(6, min_value), F(7, is_max_value_exact), F(8, is_min_value_exact));
CFILE_FIELDS(PageEncodingStats, F(1, page_type), F(2, encoding), F(3, count));
CFILE_FIELDS(SizeStatistics, F(1, unencoded_byte_array_data_bytes),
             L(2, repetition_level_histogram), L(3, definition_level_histogram));
CFILE_FIELDS(ColumnMetaData, F(1, type), F(2, encodings), F(3, path_in_schema), F(4, codec),
             F(5, num_values), F(6, total_uncompressed_size), F(7, total_compressed_size),
             L(8, key_value_metadata), F(9, data_page_offset), F(10, index_page_offset),
             F(11, dictionary_page_offset), F(12, statistics), L(13, encoding_stats),
             F(14, bloom_filter_offset), F(15, bloom_filter_length), F(16, size_statistics));
CFILE_FIELDS(ColumnChunk, F(1, file_path), F(2, file_offset), F(3, meta_data),
             F(4, offset_index_offset), F(5, offset_index_length), F(6, column_index_offset),
             F(7, column_index_length), F(8, crypto_metadata), F(9, encrypted_column_metadata));
CFILE_FIELDS(SortingColumn, F(1, column_idx), F(2, descending), F(3, nulls_first));
CFILE_FIELDS(RowGroup, F(1, columns), F(2, total_byte_size), F(3, num_rows), L(4, sorting_columns),
             F(5, file_offset), F(6, total_compressed_size), F(7, ordinal));
CFILE_FIELDS(ColumnOrder, N(1, "TYPE_ORDER", type_order));
CFILE_FIELDS(FileMetaData, F(1, version), F(2, schema), F(3, num_rows), F(4, row_groups),
             L(5, key_value_metadata), F(6, created_by), L(7, column_orders),
             F(8, encryption_algorithm), F(9, footer_signing_key_metadata));
CFILE_FIELDS(DataPageHeader, F(1, num_values), F(2, encoding), F(3, definition_level_encoding),
             F(4, repetition_level_encoding), F(5, statistics));
CFILE_FIELDS(DictionaryPageHeader, F(1, num_values), F(2, encoding), F(3, is_sorted));
CFILE_FIELDS(DataPageHeaderV2, F(1, num_values), F(2, num_nulls), F(3, num_rows), F(4, encoding),
             F(5, definition_levels_byte_length), F(6, repetition_levels_byte_length),
             F(7, is_compressed), F(8, statistics));
CFILE_FIELDS(PageHeader, F(1, type), F(2, uncompressed_page_size), F(3, compressed_page_size),
             F(4, crc), F(5, data_page_header), F(6, index_page_header),
             F(7, dictionary_page_header), F(8, data_page_header_v2));
CFILE_FIELDS(PageLocation, F(1, offset), F(2, compressed_page_size), F(3, first_row_index));
CFILE_FIELDS(OffsetIndex, F(1, page_locations), L(2, unencoded_byte_array_data_bytes));
CFILE_FIELDS(ColumnIndex, F(1, null_pages), F(2, min_values), F(3, max_values),
             F(4, boundary_order), L(5, null_counts), L(6, repetition_level_histograms),
             L(7, definition_level_histograms));
CFILE_FIELDS(BloomFilterAlgorithm, N(1, "BLOCK", block));
CFILE_FIELDS(BloomFilterHash, N(1, "XXHASH", xxhash));
CFILE_FIELDS(BloomFilterCompression, N(1, "UNCOMPRESSED", uncompressed));
CFILE_FIELDS(BloomFilterHeader, N(1, "numBytes", num_bytes), F(2, algorithm), F(3, hash),
             F(4, compression));
#undef CFILE_FIELDS
#undef L
#undef F
#undef N

}  // namespace cfile::internal::parquet
