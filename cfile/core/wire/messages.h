// The messages of proto/cfile.proto and proto/table.proto, which say what the fields mean. A
// message has the same name as there, but without "PB".
//
// A field may be absent, as in protobuf. Texts are views.
// A text points into the bytes that were parsed, or into memory of the code that made the message.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "cfile/core/wire/message_type.h"

namespace cfile::internal::wire {

using Text = std::optional<std::string_view>;

struct FileMetadataPair {
  static const MessageType kType;
  Text key;
  Text value;
};

struct BlockPointer {
  static const MessageType kType;
  std::optional<int64_t> offset;
  std::optional<int32_t> size;
};

struct BTreeInfo {
  static const MessageType kType;
  std::unique_ptr<BlockPointer> root_block;
};

struct IndexBlockTrailer {
  enum BlockType : int32_t { LEAF = 0, INTERNAL = 1 };
  static const MessageType kType;
  std::optional<int32_t> num_entries;
  std::optional<int32_t> type;
};

struct CFileHeader {
  static const MessageType kType;
  std::optional<int32_t> major_version;
  std::optional<int32_t> minor_version;
  std::vector<FileMetadataPair> metadata;
};

struct Choice {
  static const MessageType kType;
  std::optional<uint64_t> num_values;
  std::optional<uint64_t> plain_bytes;
  std::optional<uint64_t> bytes;
  std::optional<uint32_t> scan_speed;
  std::optional<int32_t> goal;
  std::optional<int32_t> encoding;
  std::optional<bool> compressed;
  std::optional<uint64_t> smallest_bytes;
  std::optional<int32_t> smallest_encoding;
  std::optional<bool> smallest_compressed;
};

struct Extensions {
  static const MessageType kType;
  std::optional<int32_t> data_type;
  std::optional<int32_t> encoding;
  std::optional<int32_t> compression;
  std::optional<int32_t> type_length;
  std::optional<int32_t> decimal_precision;
  std::optional<int32_t> decimal_scale;
  std::optional<int32_t> time_unit;
  std::optional<int32_t> logical_type;
  Text time_zone;
  std::optional<int32_t> max_repetition_level;
  std::optional<int32_t> max_definition_level;
  std::optional<int64_t> num_entries;
  std::unique_ptr<BlockPointer> statistics;
  Text created_by;
  std::optional<uint64_t> bloom_filter_size_bytes;
  std::optional<uint64_t> bloom_filter_distinct_values;
  std::unique_ptr<Choice> choice;
};

struct BlockStatistics {
  static const MessageType kType;
  std::optional<uint64_t> present_count;
  std::optional<uint64_t> null_count;
  std::optional<uint64_t> nan_count;
  Text min_key;
  Text max_key;
  std::optional<bool> min_inexact;
  std::optional<bool> max_inexact;
};

struct Statistics {
  static const MessageType kType;
  static constexpr uint32_t kBlocksNumber = 1;
  static constexpr uint32_t kFileNumber = 2;
  static constexpr uint32_t kBloomFilterNumber = 3;
  std::vector<BlockStatistics> blocks;
  std::unique_ptr<BlockStatistics> file;
  Text bloom_filter;
};

struct CFileFooter {
  static const MessageType kType;
  std::optional<int32_t> data_type;
  std::optional<int32_t> encoding;
  std::optional<int64_t> num_values;
  std::unique_ptr<BTreeInfo> posidx_info;
  std::unique_ptr<BTreeInfo> validx_info;
  std::optional<int32_t> compression;
  static constexpr int32_t kDefaultCompression = 1;
  std::vector<FileMetadataPair> metadata;
  std::optional<bool> is_type_nullable;
  std::unique_ptr<BlockPointer> dict_block_ptr;
  std::optional<uint32_t> incompatible_features;
  std::optional<uint32_t> compatible_features;
  std::optional<bool> is_type_array;
  std::unique_ptr<Extensions> extensions;
  std::unique_ptr<BlockPointer> piece_directory;
};

struct Column {
  static const MessageType kType;
  std::optional<int32_t> type;
  std::optional<int32_t> encoding;
  std::optional<int32_t> compression;
  std::optional<bool> nullable;
  std::unique_ptr<Extensions> extensions;
  std::optional<bool> array;
};

struct SchemaNode {
  enum GroupKind : int32_t { PLAIN = 0, LIST = 1, MAP = 2 };
  enum Repetition : int32_t { REQUIRED = 0, OPTIONAL = 1, REPEATED = 2 };
  static const MessageType kType;
  Text name;
  std::optional<int32_t> repetition;
  std::vector<SchemaNode> children;
  std::unique_ptr<Column> column;
  std::optional<int32_t> kind;
  std::optional<uint32_t> column_id;
  Text default_value;
};

struct PartColumn {
  static const MessageType kType;
  Text file_name;
  std::optional<uint64_t> size_bytes;
  std::optional<uint64_t> num_values;
  std::optional<uint64_t> null_count;
  Text min_key;
  Text max_key;
  std::optional<uint32_t> column_id;
  Text lower_bound;
  Text upper_bound;
  std::optional<uint64_t> nan_count;
};

struct Part {
  static const MessageType kType;
  Text directory;
  std::optional<uint64_t> num_rows;
  std::vector<PartColumn> columns;
  std::vector<uint64_t> order;
  std::optional<bool> has_arrow_schema;
  std::optional<uint64_t> packed_size_bytes;
  std::vector<uint64_t> packed_ends;
};

struct PackedColumn {
  static const MessageType kType;
  Text file_name;
  std::optional<uint64_t> size_bytes;
};

struct PackedFile {
  static const MessageType kType;
  std::vector<PackedColumn> columns;
};

struct ChunkColumn {
  static const MessageType kType;
  std::optional<uint32_t> column_id;
  std::unique_ptr<BlockStatistics> statistics;
};

struct Chunk {
  static const MessageType kType;
  Text file_name;
  std::optional<uint64_t> size_bytes;
  std::optional<uint32_t> crc32c;
  std::optional<uint32_t> height;
  std::optional<uint64_t> num_parts;
  std::optional<uint64_t> num_rows;
  std::optional<uint64_t> data_bytes;
  std::vector<ChunkColumn> columns;
};

struct ChunkContents {
  static const MessageType kType;
  std::vector<Part> parts;
  std::vector<Chunk> chunks;
};

struct MergeRule {
  static const MessageType kType;
  std::optional<uint32_t> deleted_column;
  std::optional<uint32_t> time_column;
  std::optional<int64_t> time_bound;
};

struct Table {
  static const MessageType kType;
  std::unique_ptr<SchemaNode> schema;
  std::vector<Part> parts;
  Text created_by;
  std::vector<uint32_t> key_columns;
  std::optional<uint32_t> incompatible_features;
  std::optional<uint32_t> next_column_id;
  std::vector<Chunk> chunks;
  std::vector<uint32_t> nulls_last;
  std::vector<std::string_view> condemned;
  std::optional<uint32_t> key_index_id;
  std::optional<uint64_t> sequence;
  std::vector<std::string_view> replaced;
  std::vector<uint64_t> commit_ids;
  std::vector<std::string_view> job_ids;
  std::vector<FileMetadataPair> metadata;
  std::optional<uint32_t> oldest_reader;
  std::unique_ptr<MergeRule> merge_rule;
};

// Returns the message in an optional field, or an empty message.
template <typename Message>
const Message& OrEmpty(const std::unique_ptr<Message>& field) {
  static const Message kEmpty{};
  return field == nullptr ? kEmpty : *field;
}

// Returns the message in an optional field, after adding it if it is absent.
template <typename Message>
Message& Mutable(std::unique_ptr<Message>& field) {
  if (field == nullptr) field = std::make_unique<Message>();
  return *field;
}

}  // namespace cfile::internal::wire
