// Records from protobuf messages, and back, by reflection.
//
//   auto writer = cfile::MessageWriter::Create("log", *Record::descriptor());
//   for (const Record& record : records) CHECK_OK((*writer)->Write(record));
//   CHECK_OK((*writer)->Finish());
//
//   auto reader = cfile::MessageReader::Open("log", *Record::descriptor());
//   Record record;
//   while ((*reader)->Next(record).value()) Use(record);
//
// Fields go by their names:
//
//   message                    group                    bool, float, double        the same
//   int32, sint32, sfixed32    int32                    uint32, fixed32            uint32
//   int64, sint64, sfixed64    int64                    uint64, fixed64            uint64
//   string                     string                   bytes                      binary
//   enum                       int32, its number
//   map                        group (MAP) { repeated group key_value { key; value } }
//
// required stays required; repeated fields are repeated; a field whose presence protobuf knows
// (proto2's optional, proto3's optional, messages, those of a oneof) is optional; any other one, of
// proto3, is required and always there. So a message comes back equal, but for unknown fields,
// extensions and the order in maps, which are not kept.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/options.h"
#include "cfile/record_schema.h"
#include "cfile/records.h"

namespace google::protobuf {
class Descriptor;
class Message;
}  // namespace google::protobuf

namespace cfile {

// The schema of messages of that type. Errors name the field by its path. kInvalidArgument: a
// message type holds itself or has no fields. kOutOfRange: the schema is above one of `limits`,
// which the message names.
absl::StatusOr<RecordSchema> RecordSchemaOf(const google::protobuf::Descriptor& descriptor,
                                            const RecordLimits& limits = {});

// Writes a part of a table of records from messages of one type, whose descriptor must outlive it.
// Thread-compatible.
class MessageWriter {
 public:
  // As RecordWriter's, whose errors they have too. A new table has the schema of the descriptor; to
  // one that is there, the fields are appended that it has. kInvalidArgument: a field has another
  // type there, or a required one is not in the message.
  static absl::StatusOr<std::unique_ptr<MessageWriter>> Create(
      const std::string& directory, const google::protobuf::Descriptor& descriptor,
      std::span<const WriterOptions> options = {});
  static absl::StatusOr<std::unique_ptr<MessageWriter>> Append(
      const std::string& directory, const google::protobuf::Descriptor& descriptor,
      std::span<const WriterOptions> options = {});
  ~MessageWriter();

  // Copies what it needs. kInvalidArgument: a message of another type, or a required field, named
  // by its path, is missing. kOutOfRange: the message is larger than
  // WriterOptions.max_message_size_bytes of the first column. Other errors are those of
  // RecordWriter. Failure is sticky, except for a message of another type.
  absl::Status Write(const google::protobuf::Message& message);
  // Publishes the part. Called once, last.
  absl::Status Finish();

  const RecordWriter& records() const;

 private:
  class Impl;
  explicit MessageWriter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Reads messages of one type, whose descriptor must outlive it, from a table. Thread-compatible.
class MessageReader {
 public:
  // `paths` as RecordReader::Open, whose errors it has too. Fields that the message does not have
  // are not read. kInvalidArgument: a field has another type there, or the message has none of
  // those that are chosen.
  static absl::StatusOr<std::unique_ptr<MessageReader>> Open(
      const std::string& directory, const google::protobuf::Descriptor& descriptor,
      std::span<const std::string> paths = {}, const ReaderOptions& options = {});
  ~MessageReader();

  // Clears `message` and fills it with the next record; false if there are no more. kOutOfRange:
  // the record is larger than ReaderOptions.max_message_size_bytes; the message has a part of it.
  // kInvalidArgument: it is a message of another type. Other errors are those of RecordReader. After
  // an error the next call reads the same record again: seek to skip it.
  absl::StatusOr<bool> Next(google::protobuf::Message& message);

  // To seek, and for the number of records.
  RecordReader& records();

 private:
  class Impl;
  explicit MessageReader(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace cfile
