#include "cfile/protobuf_records.h"

#include <gmock/gmock.h>

#include "cfile/storage.h"
#include "google/protobuf/util/message_differencer.h"
#include "temporary_directory.h"
#include "tests/cfile/protobuf_records_proto3_test.pb.h"
#include "tests/cfile/protobuf_records_test.pb.h"

namespace cfile::protobuf_records_test {

using google::protobuf::util::MessageDifferencer;
using test_messages::Everything;
using test_messages::Implicit;
using testing::HasSubstr;

// Returns message number `seed`. The number decides which fields are set.
Everything Make(int seed) {
  Everything message;
  message.set_id(seed);
  if (seed % 2 == 0) message.set_s(-seed);
  if (seed % 3 == 0) message.set_f32(static_cast<uint32_t>(seed));
  if (seed % 4 == 0) message.set_f(0.5f * static_cast<float>(seed));
  if (seed % 5 == 0) message.set_d(0.1 * seed);
  if (seed % 3 == 1) message.set_b(std::string("\0\xff", 2));
  if (seed % 7 < 2) message.set_color(seed % 7 == 0 ? Everything::RED : Everything::BLUE);
  for (int i = 0; i < seed % 4; ++i) {
    message.add_colors(i % 2 == 0 ? Everything::BLUE : Everything::RED);
    message.add_texts(std::string(static_cast<size_t>(i), 'x'));
    Everything::Inner& inner = *message.add_inners();
    inner.set_flag(i == 1);
    if (i == 1) inner.set_name("one");
    for (int k = 0; k < seed % 3; ++k) inner.add_ids(k), inner.add_leaves();
    if (seed % 3 > 0) inner.mutable_leaves(0)->set_u(~uint64_t{0});
    (*message.mutable_by_name())[std::to_string(i)] = inner;
    (*message.mutable_color_of())[i] = Everything::BLUE;
  }
  if (seed % 5 == 1) message.mutable_inner()->set_flag(true);
  if (seed % 6 == 0) message.set_number(0);
  if (seed % 6 == 1) message.mutable_leaf();
  return message;
}

TEST(ProtobufRecords, Schema) {
  const auto schema = RecordSchemaOf(*Everything::descriptor());
  ASSERT_TRUE(schema.ok()) << schema.status();
  const std::string text = schema->ToString();
  EXPECT_THAT(text, HasSubstr("message Everything {\n  required int32 id;\n  optional int64 s;\n"
                              "  optional int32 f32 (INT(32,false));\n  optional float f;\n"
                              "  optional double d;\n  optional binary b;\n"
                              "  optional int32 color;\n  repeated int32 colors;\n"
                              "  repeated binary texts (STRING);\n  optional group inner {\n"));
  EXPECT_THAT(text, HasSubstr("  required group color_of (MAP) {\n    repeated group key_value {\n"
                              "      required int32 key;\n      required int32 value;\n"));
  EXPECT_THAT(
      RecordSchemaOf(*test_messages::Tree::descriptor()).status().message(),
      HasSubstr(
          "children: messages of type cfile.test_messages.Tree contain messages of the same type"));
  EXPECT_THAT(RecordSchemaOf(*test_messages::Nothing::descriptor()).status().message(),
              HasSubstr("have no fields"));
  EXPECT_THAT(
      std::string(RecordSchemaOf(*test_messages::HoldsNothing::descriptor()).status().message()),
      testing::StartsWith("by_name.key_value.value: messages of type"));
}

TEST(ProtobufRecords, TablesInAStorage) {
  const std::shared_ptr<Storage> storage = NewMemoryStorage();
  for (const bool append : {false, true}) {
    auto writer = append ? MessageWriter::Append(storage, *Everything::descriptor())
                         : MessageWriter::Create(storage, *Everything::descriptor());
    ASSERT_TRUE(writer.ok()) << writer.status();
    ASSERT_TRUE(writer->Write(Make(append ? 1 : 0)).ok());
    ASSERT_TRUE(writer->Finish().ok());
  }
  auto reader = MessageReader::Open(storage, *Everything::descriptor());
  ASSERT_TRUE(reader.ok()) << reader.status();
  Everything message;
  for (const int i : {0, 1}) {
    ASSERT_TRUE(reader->Next(message).value());
    EXPECT_TRUE(MessageDifferencer::Equals(message, Make(i)));
  }
  EXPECT_FALSE(reader->Next(message).value());
}

TEST(ProtobufRecords, MessagesComeBackEqual) {
  const TemporaryDirectory directory;
  constexpr int kMessages = 500;
  for (const bool append : {false, true}) {
    auto writer = append ? MessageWriter::Append(directory.path("t"), *Everything::descriptor())
                         : MessageWriter::Create(directory.path("t"), *Everything::descriptor());
    ASSERT_TRUE(writer.ok()) << writer.status();
    for (int i = 0; i < kMessages; ++i) {
      ASSERT_EQ(writer->Write(Make(i + (append ? kMessages : 0))), absl::OkStatus());
    }
    ASSERT_EQ(writer->Finish(), absl::OkStatus());
    EXPECT_EQ(writer->records().num_records(), uint64_t{kMessages});
  }
  auto reader = MessageReader::Open(directory.path("t"), *Everything::descriptor());
  ASSERT_TRUE(reader.ok()) << reader.status();
  ASSERT_EQ(reader->records().num_records(), uint64_t{2 * kMessages});
  Everything message;
  for (const int begin : {0, 700, 3}) {
    ASSERT_EQ(reader->records().Seek(static_cast<uint64_t>(begin)), absl::OkStatus());
    for (int i = begin; i < 2 * kMessages; ++i) {
      const auto more = reader->Next(message);
      ASSERT_TRUE(more.ok()) << more.status();
      ASSERT_TRUE(*more);
      ASSERT_TRUE(MessageDifferencer::Equals(message, Make(i)))
          << message.DebugString() << Make(i).DebugString();
    }
    EXPECT_FALSE(reader->Next(message).value());
  }

  // A message that exceeds the limit is refused; a small message is read.
  reader = MessageReader::Open(directory.path("t"), *Everything::descriptor(), {},
                               {.max_message_size_bytes = 100});
  ASSERT_TRUE(reader.ok()) << reader.status();
  ASSERT_TRUE(reader->records().Seek(11).ok());
  const absl::Status too_large = reader->Next(message).status();
  EXPECT_EQ(too_large.code(), absl::StatusCode::kOutOfRange);
  EXPECT_THAT(std::string(too_large.message()), HasSubstr("raise max_message_size_bytes"));

  // Reads a selection of leaves, and then a message type that has only some of the fields.
  const std::string paths[] = {"texts", "inner.flag"};
  reader = MessageReader::Open(directory.path("t"), *Everything::descriptor(), paths);
  ASSERT_TRUE(reader.ok()) << reader.status();
  ASSERT_TRUE(reader->records().Seek(11).ok());
  ASSERT_TRUE(reader->Next(message).value());
  EXPECT_EQ(message.ShortDebugString(), R"(texts: "" texts: "x" texts: "xx" inner { flag: true })");
  reader = MessageReader::Open(directory.path("t"), *test_messages::Part::descriptor());
  ASSERT_TRUE(reader.ok()) << reader.status();
  ASSERT_TRUE(reader->records().Seek(11).ok());
  test_messages::Part part;
  ASSERT_TRUE(reader->Next(part).value());
  EXPECT_EQ(part.ShortDebugString(), "id: 11 inner { flag: true }");
}

// If a reader refuses a message because of its size, a writer with the same limit refuses the
// message, too, and publishes nothing.
TEST(ProtobufRecords, MessagesAboveTheLimit) {
  bool refused = false, written = false;
  for (const size_t limit : {0, 100, 700}) {
    for (const int seed : {0, 3, 11}) {
      const TemporaryDirectory directory;
      const WriterOptions options{.max_message_size_bytes = limit};
      auto writer =
          MessageWriter::Create(directory.path("t"), *Everything::descriptor(), {&options, 1});
      ASSERT_TRUE(writer.ok()) << writer.status();
      absl::Status status = writer->Write(Make(seed));
      if (!status.ok()) {
        EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange);
        EXPECT_THAT(std::string(status.message()), HasSubstr("raise max_message_size_bytes"));
        EXPECT_EQ(writer->Write(Make(0)), status);
        EXPECT_EQ(writer->Finish(), status);
        EXPECT_FALSE(MessageReader::Open(directory.path("t"), *Everything::descriptor()).ok());
        refused = true;
        continue;
      }
      ASSERT_EQ(writer->Finish(), absl::OkStatus());
      auto reader = MessageReader::Open(directory.path("t"), *Everything::descriptor(), {},
                                        {.max_message_size_bytes = limit});
      ASSERT_TRUE(reader.ok()) << reader.status();
      Everything message;
      const auto more = reader->Next(message);
      ASSERT_TRUE(more.ok() && *more) << more.status();
      EXPECT_TRUE(MessageDifferencer::Equals(message, Make(seed)));
      written = true;
    }
  }
  EXPECT_TRUE(refused && written);
}

TEST(ProtobufRecords, ImplicitPresence) {
  const TemporaryDirectory directory;
  auto writer = MessageWriter::Create(directory.path("t"), *Implicit::descriptor());
  ASSERT_TRUE(writer.ok()) << writer.status();
  EXPECT_EQ(writer->records().schema().ToString(),
            "message Implicit {\n  required int32 number;\n  required binary text (STRING);\n"
            "  optional int32 maybe;\n  repeated double values;\n}\n");
  Implicit empty, full;
  full.set_number(5);
  full.set_text("x");
  full.set_maybe(0);
  full.add_values(1.5);
  for (const Implicit& message : {empty, full}) ASSERT_TRUE(writer->Write(message).ok());
  ASSERT_EQ(writer->Finish(), absl::OkStatus());
  auto reader = MessageReader::Open(directory.path("t"), *Implicit::descriptor());
  ASSERT_TRUE(reader.ok()) << reader.status();
  for (const Implicit& expected : {empty, full}) {
    Implicit message;
    ASSERT_TRUE(reader->Next(message).value());
    EXPECT_TRUE(MessageDifferencer::Equals(message, expected)) << message.DebugString();
  }
}

TEST(ProtobufRecords, Errors) {
  const TemporaryDirectory directory;
  {
    auto writer = MessageWriter::Create(directory.path("t"), *Everything::descriptor());
    ASSERT_TRUE(writer.ok()) << writer.status();
    EXPECT_THAT(writer->Write(Implicit()).message(),
                HasSubstr("type cfile.test_messages.Everything expected"));
    Everything message = Make(0);
    message.mutable_inner();
    EXPECT_THAT(writer->Write(message).message(),
                HasSubstr("inner.flag: the field is required, but missing"));
  }
  EXPECT_TRUE(directory.Entries().empty());
  auto writer = MessageWriter::Create(directory.path("t"), *Everything::descriptor());
  ASSERT_TRUE(writer.ok()) << writer.status();
  ASSERT_EQ(writer->Write(Make(1)), absl::OkStatus());
  ASSERT_EQ(writer->Finish(), absl::OkStatus());
  EXPECT_THAT(
      MessageWriter::Append(directory.path("t"), *Implicit::descriptor()).status().message(),
      HasSubstr("id: the field is required, but is not a field of"));
  EXPECT_THAT(
      MessageReader::Open(directory.path("t"), *test_messages::OtherType::descriptor())
          .status()
          .message(),
      HasSubstr("texts: the field cfile.test_messages.OtherType.texts has a different type"));
  const std::string paths[] = {"id"};
  EXPECT_THAT(
      MessageReader::Open(directory.path("t"), *Implicit::descriptor(), paths).status().message(),
      HasSubstr("has none of the fields"));
}

}  // namespace cfile::protobuf_records_test
