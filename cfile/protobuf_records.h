// Writes protobuf messages as records, and reads them back, by reflection. Errors, lifetime and
// threads: cfile/CONCEPTS.md.
//
//   auto writer = cfile::MessageWriter::Create("log", *Record::descriptor());
//   for (const Record& record : records) CHECK_OK(writer->Write(record));
//   CHECK_OK(writer->Finish());
//
//   auto reader = cfile::MessageReader::Open("log", *Record::descriptor());
//   Record record;
//   while (reader->Next(record).value()) Use(record);
//
// Fields are matched by their names. Their types:
//
//   message                    group                    bool, float, double        the same
//   int32, sint32, sfixed32    int32                    uint32, fixed32            uint32
//   int64, sint64, sfixed64    int64                    uint64, fixed64            uint64
//   string                     string                   bytes                      binary
//   enum                       int32, its number
//   map                        group (MAP) { repeated group key_value { key; value } }
//
// A required field stays required, and a repeated field stays repeated. A field with presence in
// protobuf (proto2's optional, proto3's optional, a message, a member of a oneof) becomes optional.
// Any other proto3 field becomes required and is always written. So a message that is read back
// equals the message that was written, except that unknown fields, extensions and the order of map
// entries are not kept.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/options.h"
#include "cfile/record_schema.h"
#include "cfile/records.h"
#include "cfile/storage.h"
#include "encodings/core/export.h"

namespace google::protobuf {
class Descriptor;
class Message;
}  // namespace google::protobuf

namespace cfile {

// Returns the schema of messages of this type. Errors name the field by its path. kInvalidArgument:
// a message type contains itself or has no fields.
CFILE_EXPORT absl::StatusOr<RecordSchema> RecordSchemaOf(
    const google::protobuf::Descriptor& descriptor, const RecordLimits& limits = {});

// Writes one new part of a table of records from messages of one type. The descriptor of the type
// must outlive the writer.
class CFILE_EXPORT MessageWriter {
 public:
  // As in RecordWriter. Create makes a table with the schema of the descriptor. Append fills the
  // fields of the table that the message type also has, by name. kInvalidArgument: a field has
  // another type in the table, or the message type lacks a required field of the table.
  static absl::StatusOr<MessageWriter> Create(const TableLocation& table,
                                              const google::protobuf::Descriptor& descriptor,
                                              std::span<const WriterOptions> options = {});
  static absl::StatusOr<MessageWriter> Append(const TableLocation& table,
                                              const google::protobuf::Descriptor& descriptor,
                                              std::span<const WriterOptions> options = {});
  MessageWriter(MessageWriter&&) noexcept;
  MessageWriter& operator=(MessageWriter&&) noexcept;
  ~MessageWriter();

  // Writes one message. kInvalidArgument: the message has another type, after which the writer can
  // go on, or a required field is missing. kOutOfRange: the message is larger than
  // max_message_size_bytes in the WriterOptions of the first column.
  absl::Status Write(const google::protobuf::Message& message);
  // Publishes the part, as RecordWriter::Finish.
  absl::Status Finish();

  const RecordWriter& records() const;

 private:
  class CFILE_HIDDEN Impl;
  explicit MessageWriter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Reads messages of one type from a table. The descriptor of the type must outlive the reader.
class CFILE_EXPORT MessageReader {
 public:
  // Opens the table. `paths` selects fields as in RecordReader::Open. Fields that the message type
  // does not have are not read. kInvalidArgument: a field has another type in the table, or the
  // message type has none of the selected fields.
  static absl::StatusOr<MessageReader> Open(const TableLocation& table,
                                            const google::protobuf::Descriptor& descriptor,
                                            std::span<const std::string> paths = {},
                                            const ReaderOptions& options = {});
  MessageReader(MessageReader&&) noexcept;
  MessageReader& operator=(MessageReader&&) noexcept;
  ~MessageReader();

  // Clears `message` and fills it with the next record. Returns false if there are no more records.
  // kOutOfRange: the record is larger than ReaderOptions.max_message_size_bytes; `message` then
  // holds a part of it. kInvalidArgument: `message` has another type. After an error the next call
  // reads the same record again; seek to skip it.
  absl::StatusOr<bool> Next(google::protobuf::Message& message);

  // The reader of the records, to seek and to get the number of records.
  RecordReader& records();

 private:
  class CFILE_HIDDEN Impl;
  explicit MessageReader(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace cfile
