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

template <>
inline constexpr auto kFields<TimeUnit> = std::tuple(Field(1, "MILLIS", &TimeUnit::millis),
                                                     Field(2, "MICROS", &TimeUnit::micros),
                                                     Field(3, "NANOS", &TimeUnit::nanos));
template <>
inline constexpr auto kFields<DecimalType> = std::tuple(Field(1, "scale", &DecimalType::scale),
                                                        Field(2, "precision",
                                                              &DecimalType::precision));
template <>
inline constexpr auto kFields<TimeType> = std::tuple(Field(1, "isAdjustedToUTC",
                                                           &TimeType::is_adjusted_to_utc),
                                                     Field(2, "unit", &TimeType::unit));
template <>
inline constexpr auto kFields<IntType> = std::tuple(Field(1, "bitWidth", &IntType::bit_width),
                                                    Field(2, "isSigned", &IntType::is_signed));
template <>
inline constexpr auto kFields<VariantType> = std::tuple(Field(1, "specification_version",
                                                              &VariantType::specification_version));
template <>
inline constexpr auto kFields<GeometryType> = std::tuple(Field(1, "crs", &GeometryType::crs));
template <>
inline constexpr auto kFields<GeographyType> = std::tuple(Field(1, "crs", &GeographyType::crs),
                                                          Field(2, "algorithm",
                                                                &GeographyType::algorithm));
template <>
inline constexpr auto kFields<LogicalType> = std::tuple(
    Field(1, "STRING", &LogicalType::string), Field(2, "MAP", &LogicalType::map),
    Field(3, "LIST", &LogicalType::list), Field(4, "ENUM", &LogicalType::enumeration),
    Field(5, "DECIMAL", &LogicalType::decimal), Field(6, "DATE", &LogicalType::date),
    Field(7, "TIME", &LogicalType::time), Field(8, "TIMESTAMP", &LogicalType::timestamp),
    Field(10, "INTEGER", &LogicalType::integer), Field(11, "UNKNOWN", &LogicalType::unknown),
    Field(12, "JSON", &LogicalType::json), Field(13, "BSON", &LogicalType::bson),
    Field(14, "UUID", &LogicalType::uuid), Field(15, "FLOAT16", &LogicalType::float16),
    Field(16, "VARIANT", &LogicalType::variant), Field(17, "GEOMETRY", &LogicalType::geometry),
    Field(18, "GEOGRAPHY", &LogicalType::geography));
template <>
inline constexpr auto kFields<SchemaElement> = std::tuple(
    Field(1, "type", &SchemaElement::type), Field(2, "type_length", &SchemaElement::type_length),
    Field(3, "repetition_type", &SchemaElement::repetition_type),
    Field(4, "name", &SchemaElement::name), Field(5, "num_children", &SchemaElement::num_children),
    Field(6, "converted_type", &SchemaElement::converted_type),
    Field(7, "scale", &SchemaElement::scale), Field(8, "precision", &SchemaElement::precision),
    Field(9, "field_id", &SchemaElement::field_id),
    Field(10, "logicalType", &SchemaElement::logical_type));
template <>
inline constexpr auto kFields<KeyValue> = std::tuple(Field(1, "key", &KeyValue::key),
                                                     Field(2, "value", &KeyValue::value));
template <>
inline constexpr auto kFields<Statistics> = std::tuple(
    Field(1, "max", &Statistics::max), Field(2, "min", &Statistics::min),
    Field(3, "null_count", &Statistics::null_count),
    Field(4, "distinct_count", &Statistics::distinct_count),
    Field(5, "max_value", &Statistics::max_value), Field(6, "min_value", &Statistics::min_value),
    Field(7, "is_max_value_exact", &Statistics::is_max_value_exact),
    Field(8, "is_min_value_exact", &Statistics::is_min_value_exact));
template <>
inline constexpr auto kFields<PageEncodingStats> =
    std::tuple(Field(1, "page_type", &PageEncodingStats::page_type),
               Field(2, "encoding", &PageEncodingStats::encoding),
               Field(3, "count", &PageEncodingStats::count));
template <>
inline constexpr auto kFields<SizeStatistics> = std::tuple(
    Field(1, "unencoded_byte_array_data_bytes", &SizeStatistics::unencoded_byte_array_data_bytes),
    Field(2, "repetition_level_histogram", &SizeStatistics::repetition_level_histogram,
          Presence::kOptionalList),
    Field(3, "definition_level_histogram", &SizeStatistics::definition_level_histogram,
          Presence::kOptionalList));
template <>
inline constexpr auto kFields<ColumnMetaData> = std::tuple(
    Field(1, "type", &ColumnMetaData::type), Field(2, "encodings", &ColumnMetaData::encodings),
    Field(3, "path_in_schema", &ColumnMetaData::path_in_schema),
    Field(4, "codec", &ColumnMetaData::codec), Field(5, "num_values", &ColumnMetaData::num_values),
    Field(6, "total_uncompressed_size", &ColumnMetaData::total_uncompressed_size),
    Field(7, "total_compressed_size", &ColumnMetaData::total_compressed_size),
    Field(8, "key_value_metadata", &ColumnMetaData::key_value_metadata, Presence::kOptionalList),
    Field(9, "data_page_offset", &ColumnMetaData::data_page_offset),
    Field(10, "index_page_offset", &ColumnMetaData::index_page_offset),
    Field(11, "dictionary_page_offset", &ColumnMetaData::dictionary_page_offset),
    Field(12, "statistics", &ColumnMetaData::statistics),
    Field(13, "encoding_stats", &ColumnMetaData::encoding_stats, Presence::kOptionalList),
    Field(14, "bloom_filter_offset", &ColumnMetaData::bloom_filter_offset),
    Field(15, "bloom_filter_length", &ColumnMetaData::bloom_filter_length),
    Field(16, "size_statistics", &ColumnMetaData::size_statistics));
template <>
inline constexpr auto kFields<ColumnChunk> =
    std::tuple(Field(1, "file_path", &ColumnChunk::file_path),
               Field(2, "file_offset", &ColumnChunk::file_offset),
               Field(3, "meta_data", &ColumnChunk::meta_data),
               Field(4, "offset_index_offset", &ColumnChunk::offset_index_offset),
               Field(5, "offset_index_length", &ColumnChunk::offset_index_length),
               Field(6, "column_index_offset", &ColumnChunk::column_index_offset),
               Field(7, "column_index_length", &ColumnChunk::column_index_length),
               Field(8, "crypto_metadata", &ColumnChunk::crypto_metadata),
               Field(9, "encrypted_column_metadata", &ColumnChunk::encrypted_column_metadata));
template <>
inline constexpr auto kFields<SortingColumn> =
    std::tuple(Field(1, "column_idx", &SortingColumn::column_idx),
               Field(2, "descending", &SortingColumn::descending),
               Field(3, "nulls_first", &SortingColumn::nulls_first));
template <>
inline constexpr auto kFields<RowGroup> =
    std::tuple(Field(1, "columns", &RowGroup::columns),
               Field(2, "total_byte_size", &RowGroup::total_byte_size),
               Field(3, "num_rows", &RowGroup::num_rows),
               Field(4, "sorting_columns", &RowGroup::sorting_columns, Presence::kOptionalList),
               Field(5, "file_offset", &RowGroup::file_offset),
               Field(6, "total_compressed_size", &RowGroup::total_compressed_size),
               Field(7, "ordinal", &RowGroup::ordinal));
template <>
inline constexpr auto kFields<ColumnOrder> = std::tuple(Field(1, "TYPE_ORDER",
                                                              &ColumnOrder::type_order));
template <>
inline constexpr auto kFields<FileMetaData> = std::tuple(
    Field(1, "version", &FileMetaData::version), Field(2, "schema", &FileMetaData::schema),
    Field(3, "num_rows", &FileMetaData::num_rows),
    Field(4, "row_groups", &FileMetaData::row_groups),
    Field(5, "key_value_metadata", &FileMetaData::key_value_metadata, Presence::kOptionalList),
    Field(6, "created_by", &FileMetaData::created_by),
    Field(7, "column_orders", &FileMetaData::column_orders, Presence::kOptionalList),
    Field(8, "encryption_algorithm", &FileMetaData::encryption_algorithm),
    Field(9, "footer_signing_key_metadata", &FileMetaData::footer_signing_key_metadata));
template <>
inline constexpr auto kFields<DataPageHeader> =
    std::tuple(Field(1, "num_values", &DataPageHeader::num_values),
               Field(2, "encoding", &DataPageHeader::encoding),
               Field(3, "definition_level_encoding", &DataPageHeader::definition_level_encoding),
               Field(4, "repetition_level_encoding", &DataPageHeader::repetition_level_encoding),
               Field(5, "statistics", &DataPageHeader::statistics));
template <>
inline constexpr auto kFields<DictionaryPageHeader> =
    std::tuple(Field(1, "num_values", &DictionaryPageHeader::num_values),
               Field(2, "encoding", &DictionaryPageHeader::encoding),
               Field(3, "is_sorted", &DictionaryPageHeader::is_sorted));
template <>
inline constexpr auto kFields<DataPageHeaderV2> = std::tuple(
    Field(1, "num_values", &DataPageHeaderV2::num_values),
    Field(2, "num_nulls", &DataPageHeaderV2::num_nulls),
    Field(3, "num_rows", &DataPageHeaderV2::num_rows),
    Field(4, "encoding", &DataPageHeaderV2::encoding),
    Field(5, "definition_levels_byte_length", &DataPageHeaderV2::definition_levels_byte_length),
    Field(6, "repetition_levels_byte_length", &DataPageHeaderV2::repetition_levels_byte_length),
    Field(7, "is_compressed", &DataPageHeaderV2::is_compressed),
    Field(8, "statistics", &DataPageHeaderV2::statistics));
template <>
inline constexpr auto kFields<PageHeader> = std::tuple(
    Field(1, "type", &PageHeader::type),
    Field(2, "uncompressed_page_size", &PageHeader::uncompressed_page_size),
    Field(3, "compressed_page_size", &PageHeader::compressed_page_size),
    Field(4, "crc", &PageHeader::crc), Field(5, "data_page_header", &PageHeader::data_page_header),
    Field(6, "index_page_header", &PageHeader::index_page_header),
    Field(7, "dictionary_page_header", &PageHeader::dictionary_page_header),
    Field(8, "data_page_header_v2", &PageHeader::data_page_header_v2));
template <>
inline constexpr auto kFields<PageLocation> =
    std::tuple(Field(1, "offset", &PageLocation::offset),
               Field(2, "compressed_page_size", &PageLocation::compressed_page_size),
               Field(3, "first_row_index", &PageLocation::first_row_index));
template <>
inline constexpr auto kFields<OffsetIndex> =
    std::tuple(Field(1, "page_locations", &OffsetIndex::page_locations),
               Field(2, "unencoded_byte_array_data_bytes",
                     &OffsetIndex::unencoded_byte_array_data_bytes, Presence::kOptionalList));
template <>
inline constexpr auto kFields<ColumnIndex> =
    std::tuple(Field(1, "null_pages", &ColumnIndex::null_pages),
               Field(2, "min_values", &ColumnIndex::min_values),
               Field(3, "max_values", &ColumnIndex::max_values),
               Field(4, "boundary_order", &ColumnIndex::boundary_order),
               Field(5, "null_counts", &ColumnIndex::null_counts, Presence::kOptionalList),
               Field(6, "repetition_level_histograms", &ColumnIndex::repetition_level_histograms,
                     Presence::kOptionalList),
               Field(7, "definition_level_histograms", &ColumnIndex::definition_level_histograms,
                     Presence::kOptionalList));
template <>
inline constexpr auto kFields<BloomFilterAlgorithm> =
    std::tuple(Field(1, "BLOCK", &BloomFilterAlgorithm::block));
template <>
inline constexpr auto kFields<BloomFilterHash> = std::tuple(Field(1, "XXHASH",
                                                                  &BloomFilterHash::xxhash));
template <>
inline constexpr auto kFields<BloomFilterCompression> =
    std::tuple(Field(1, "UNCOMPRESSED", &BloomFilterCompression::uncompressed));
template <>
inline constexpr auto kFields<BloomFilterHeader> =
    std::tuple(Field(1, "numBytes", &BloomFilterHeader::num_bytes),
               Field(2, "algorithm", &BloomFilterHeader::algorithm),
               Field(3, "hash", &BloomFilterHeader::hash),
               Field(4, "compression", &BloomFilterHeader::compression));

}  // namespace cfile::internal::parquet
