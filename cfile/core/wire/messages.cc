#include "cfile/core/wire/messages.h"

#include "cfile/core/wire/field_reader.h"

namespace cfile::internal::wire {
namespace {

constexpr Field kFileMetadataPair[] = {
    Make<&FileMetadataPair::key>(1, "key"),
    Make<&FileMetadataPair::value>(2, "value"),
};
constexpr Field kBlockPointer[] = {
    Make<&BlockPointer::offset>(1, "offset"),
    Make<&BlockPointer::size>(2, "size"),
};
constexpr Field kBTreeInfo[] = {
    Make<&BTreeInfo::root_block>(1, "root_block"),
};
constexpr Field kIndexBlockTrailer[] = {
    Make<&IndexBlockTrailer::num_entries>(1, "num_entries"),
    MakeEnum<&IndexBlockTrailer::type>(2, "type", IndexBlockTrailer::INTERNAL),
};
constexpr Field kCFileHeader[] = {
    Make<&CFileHeader::major_version>(1, "major_version"),
    Make<&CFileHeader::minor_version>(2, "minor_version"),
    Make<&CFileHeader::metadata>(3, "metadata"),
};
constexpr Field kChoice[] = {
    Make<&Choice::num_values>(1, "num_values"),
    Make<&Choice::plain_bytes>(2, "plain_bytes"),
    Make<&Choice::bytes>(3, "bytes"),
    Make<&Choice::scan_speed>(4, "scan_speed"),
    Make<&Choice::goal>(5, "goal"),
    Make<&Choice::encoding>(6, "encoding"),
    Make<&Choice::compressed>(7, "compressed"),
    Make<&Choice::smallest_bytes>(8, "smallest_bytes"),
    Make<&Choice::smallest_encoding>(9, "smallest_encoding"),
    Make<&Choice::smallest_compressed>(10, "smallest_compressed"),
};
constexpr Field kExtensions[] = {
    Make<&Extensions::data_type>(1, "data_type"),
    Make<&Extensions::encoding>(2, "encoding"),
    Make<&Extensions::compression>(3, "compression"),
    Make<&Extensions::type_length>(4, "type_length"),
    Make<&Extensions::decimal_precision>(5, "decimal_precision"),
    Make<&Extensions::decimal_scale>(6, "decimal_scale"),
    Make<&Extensions::time_unit>(7, "time_unit"),
    Make<&Extensions::logical_type>(8, "logical_type"),
    Make<&Extensions::time_zone>(9, "time_zone"),
    Make<&Extensions::max_repetition_level>(10, "max_repetition_level"),
    Make<&Extensions::max_definition_level>(11, "max_definition_level"),
    Make<&Extensions::num_entries>(12, "num_entries"),
    Make<&Extensions::statistics>(13, "statistics"),
    Make<&Extensions::created_by>(15, "created_by"),
    Make<&Extensions::bloom_filter_size_bytes>(16, "bloom_filter_size_bytes"),
    Make<&Extensions::bloom_filter_distinct_values>(17, "bloom_filter_distinct_values"),
    Make<&Extensions::choice>(18, "choice"),
};
constexpr Field kBlockStatistics[] = {
    Make<&BlockStatistics::present_count>(1, "present_count"),
    Make<&BlockStatistics::null_count>(2, "null_count"),
    Make<&BlockStatistics::nan_count>(3, "nan_count"),
    Make<&BlockStatistics::min_key>(4, "min_key"),
    Make<&BlockStatistics::max_key>(5, "max_key"),
    Make<&BlockStatistics::min_inexact>(6, "min_inexact"),
    Make<&BlockStatistics::max_inexact>(7, "max_inexact"),
};
constexpr Field kStatistics[] = {
    Make<&Statistics::blocks>(1, "blocks"),
    Make<&Statistics::file>(2, "file"),
    Make<&Statistics::bloom_filter>(3, "bloom_filter"),
};
constexpr Field kCFileFooter[] = {
    Make<&CFileFooter::data_type>(1, "data_type"),
    Make<&CFileFooter::encoding>(2, "encoding"),
    Make<&CFileFooter::num_values>(3, "num_values"),
    Make<&CFileFooter::posidx_info>(4, "posidx_info"),
    Make<&CFileFooter::validx_info>(5, "validx_info"),
    Make<&CFileFooter::compression>(6, "compression"),
    Make<&CFileFooter::metadata>(7, "metadata"),
    Make<&CFileFooter::is_type_nullable>(8, "is_type_nullable"),
    Make<&CFileFooter::dict_block_ptr>(9, "dict_block_ptr"),
    Make<&CFileFooter::incompatible_features>(10, "incompatible_features"),
    Make<&CFileFooter::compatible_features>(11, "compatible_features"),
    Make<&CFileFooter::is_type_array>(12, "is_type_array"),
    Make<&CFileFooter::extensions>(1000, "extensions"),
    Make<&CFileFooter::piece_directory>(1001, "piece_directory"),
};
constexpr Field kColumn[] = {
    Make<&Column::type>(1, "type"),
    Make<&Column::encoding>(2, "encoding"),
    Make<&Column::compression>(3, "compression"),
    Make<&Column::nullable>(4, "nullable"),
    Make<&Column::extensions>(5, "extensions"),
    Make<&Column::array>(6, "array"),
};
constexpr Field kSchemaNode[] = {
    Make<&SchemaNode::name>(1, "name"),
    MakeEnum<&SchemaNode::repetition>(2, "repetition", SchemaNode::REPEATED),
    Make<&SchemaNode::children>(3, "children"),
    Make<&SchemaNode::column>(4, "column"),
    MakeEnum<&SchemaNode::kind>(5, "kind", SchemaNode::MAP),
    Make<&SchemaNode::column_id>(6, "column_id"),
    Make<&SchemaNode::default_value>(7, "default_value"),
};
constexpr Field kPartColumn[] = {
    Make<&PartColumn::file_name>(1, "file_name"),
    Make<&PartColumn::size_bytes>(2, "size_bytes"),
    Make<&PartColumn::num_values>(3, "num_values"),
    Make<&PartColumn::null_count>(4, "null_count"),
    Make<&PartColumn::min_key>(5, "min_key"),
    Make<&PartColumn::max_key>(6, "max_key"),
    Make<&PartColumn::column_id>(7, "column_id"),
    Make<&PartColumn::lower_bound>(8, "lower_bound"),
    Make<&PartColumn::upper_bound>(9, "upper_bound"),
    Make<&PartColumn::nan_count>(10, "nan_count"),
};
constexpr Field kPart[] = {
    Make<&Part::directory>(1, "directory"),
    Make<&Part::num_rows>(2, "num_rows"),
    Make<&Part::columns>(3, "columns"),
    Packed(Make<&Part::order>(5, "order")),
    Make<&Part::has_arrow_schema>(6, "has_arrow_schema"),
    Make<&Part::packed_size_bytes>(7, "packed_size_bytes"),
    Packed(Make<&Part::packed_ends>(8, "packed_ends")),
};
constexpr Field kPackedColumn[] = {
    Make<&PackedColumn::file_name>(1, "file_name"),
    Make<&PackedColumn::size_bytes>(2, "size_bytes"),
};
constexpr Field kPackedFile[] = {
    Make<&PackedFile::columns>(1, "columns"),
};
constexpr Field kChunkColumn[] = {
    Make<&ChunkColumn::column_id>(1, "column_id"),
    Make<&ChunkColumn::statistics>(2, "statistics"),
};
constexpr Field kChunk[] = {
    Make<&Chunk::file_name>(1, "file_name"),   Make<&Chunk::size_bytes>(2, "size_bytes"),
    MakeFixed<&Chunk::crc32c>(3, "crc32c"),    Make<&Chunk::height>(4, "height"),
    Make<&Chunk::num_parts>(5, "num_parts"),   Make<&Chunk::num_rows>(6, "num_rows"),
    Make<&Chunk::data_bytes>(7, "data_bytes"), Make<&Chunk::columns>(8, "columns"),
};
constexpr Field kChunkContents[] = {
    Make<&ChunkContents::parts>(1, "parts"),
    Make<&ChunkContents::chunks>(2, "chunks"),
};
constexpr Field kMergeRule[] = {
    Make<&MergeRule::deleted_column>(1, "deleted_column"),
    Make<&MergeRule::time_column>(2, "time_column"),
    Make<&MergeRule::time_bound>(3, "time_bound"),
};
constexpr Field kTable[] = {
    Make<&Table::schema>(1, "schema"),
    Make<&Table::parts>(2, "parts"),
    Make<&Table::created_by>(3, "created_by"),
    Make<&Table::key_columns>(4, "key_columns"),
    Make<&Table::incompatible_features>(5, "incompatible_features"),
    Make<&Table::next_column_id>(6, "next_column_id"),
    Make<&Table::chunks>(7, "chunks"),
    Make<&Table::nulls_last>(8, "nulls_last"),
    Make<&Table::condemned>(9, "condemned"),
    Make<&Table::key_index_id>(10, "key_index_id"),
    Make<&Table::sequence>(11, "sequence"),
    Make<&Table::replaced>(12, "replaced"),
    Packed(MakeFixed<&Table::commit_ids>(13, "commit_ids")),
    Make<&Table::job_ids>(14, "job_ids"),
    Make<&Table::metadata>(16, "metadata"),
    Make<&Table::oldest_reader>(17, "oldest_reader"),
    Make<&Table::merge_rule>(18, "merge_rule"),
};

template <typename Message>
constexpr MessageType TypeOf(std::string_view name, std::span<const Field> fields) {
  // No message contains a Table, so it may need more memory than the estimate for a nested message.
  static_assert(std::is_same_v<Message, Table> || sizeof(Message) <= kMessageBytes);
  return {.name = name, .fields = fields, .size_bytes = sizeof(Message)};
}

}  // namespace

constinit const MessageType FileMetadataPair::kType =
    TypeOf<FileMetadataPair>("FileMetadataPairPB", kFileMetadataPair);
constinit const MessageType BlockPointer::kType =
    TypeOf<BlockPointer>("BlockPointerPB", kBlockPointer);
constinit const MessageType BTreeInfo::kType = TypeOf<BTreeInfo>("BTreeInfoPB", kBTreeInfo);
constinit const MessageType IndexBlockTrailer::kType =
    TypeOf<IndexBlockTrailer>("IndexBlockTrailerPB", kIndexBlockTrailer);
constinit const MessageType CFileHeader::kType = TypeOf<CFileHeader>("CFileHeaderPB", kCFileHeader);
constinit const MessageType Choice::kType = TypeOf<Choice>("ChoicePB", kChoice);
constinit const MessageType Extensions::kType = TypeOf<Extensions>("ExtensionsPB", kExtensions);
constinit const MessageType BlockStatistics::kType =
    TypeOf<BlockStatistics>("BlockStatisticsPB", kBlockStatistics);
constinit const MessageType Statistics::kType = TypeOf<Statistics>("StatisticsPB", kStatistics);
constinit const MessageType CFileFooter::kType = TypeOf<CFileFooter>("CFileFooterPB", kCFileFooter);
constinit const MessageType Column::kType = TypeOf<Column>("ColumnPB", kColumn);
constinit const MessageType SchemaNode::kType = TypeOf<SchemaNode>("SchemaNodePB", kSchemaNode);
constinit const MessageType PartColumn::kType = TypeOf<PartColumn>("PartColumnPB", kPartColumn);
constinit const MessageType Part::kType = TypeOf<Part>("PartPB", kPart);
constinit const MessageType PackedColumn::kType =
    TypeOf<PackedColumn>("PackedColumnPB", kPackedColumn);
constinit const MessageType PackedFile::kType = TypeOf<PackedFile>("PackedFilePB", kPackedFile);
constinit const MessageType ChunkColumn::kType = TypeOf<ChunkColumn>("ChunkColumnPB", kChunkColumn);
constinit const MessageType Chunk::kType = TypeOf<Chunk>("ChunkPB", kChunk);
constinit const MessageType MergeRule::kType = TypeOf<MergeRule>("MergeRulePB", kMergeRule);
constinit const MessageType ChunkContents::kType =
    TypeOf<ChunkContents>("ChunkContentsPB", kChunkContents);
constinit const MessageType Table::kType = TypeOf<Table>("TablePB", kTable);

}  // namespace cfile::internal::wire
