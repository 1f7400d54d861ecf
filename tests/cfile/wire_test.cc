// cfile/core/wire is our own code that parses and writes the messages of proto/.
// The tests compare its results with the results of the protobuf library.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cfile/inspect.h"
#include "cfile/parts/table/manifest/sealed_message.h"
#include "cfile/reader.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "google/protobuf/util/json_util.h"
#include "gtest/gtest.h"
#include "tests/cfile/golden_files.h"
#include "tests/cfile/wire_comparison.h"

namespace cfile::wire_test {

namespace wire = internal::wire;
using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using ::testing::HasSubstr;
using wire::Kind;
using wire::Label;
using wire::MakeTag;
using wire::WireType;
using Random = std::mt19937_64;

Kind KindOf(FieldDescriptor::Type type) {
  switch (type) {
    case FieldDescriptor::TYPE_INT32:
      return Kind::kInt32;
    case FieldDescriptor::TYPE_INT64:
      return Kind::kInt64;
    case FieldDescriptor::TYPE_UINT32:
      return Kind::kUint32;
    case FieldDescriptor::TYPE_UINT64:
      return Kind::kUint64;
    case FieldDescriptor::TYPE_BOOL:
      return Kind::kBool;
    case FieldDescriptor::TYPE_ENUM:
      return Kind::kEnum;
    case FieldDescriptor::TYPE_FIXED32:
      return Kind::kFixed32;
    case FieldDescriptor::TYPE_FIXED64:
      return Kind::kFixed64;
    case FieldDescriptor::TYPE_BYTES:
      return Kind::kBytes;
    case FieldDescriptor::TYPE_MESSAGE:
      return Kind::kMessage;
    default:
      ADD_FAILURE() << "cfile/core/wire has no fields of type " << type;
      return Kind::kBytes;
  }
}

WireType WireTypeOf(const FieldDescriptor& field) {
  switch (KindOf(field.type())) {
    case Kind::kFixed32:
      return WireType::kFixed32;
    case Kind::kFixed64:
      return WireType::kFixed64;
    case Kind::kBytes:
    case Kind::kMessage:
      return WireType::kDelimited;
    default:
      return WireType::kVarint;
  }
}

const Descriptor& DescriptorOf(const wire::MessageType& type) {
  return *NewMessage(type)->GetDescriptor();
}

// proto/ and cfile/core/wire must have the same fields and messages.
// This test fails if somebody changes only one of these two places.
TEST(WireTest, DescribesTheMessagesOfTheProtoFiles) {
  std::set<std::string> described;
  ForEachWireMessage([&]<typename M>(std::type_identity<M>) {
    const wire::MessageType& type = M::kType;
    SCOPED_TRACE(std::string(type.name));
    described.emplace(type.name);
    EXPECT_EQ(type.size_bytes, sizeof(M));
    const Descriptor& descriptor = DescriptorOf(type);
    EXPECT_EQ(type.fields.size(), static_cast<size_t>(descriptor.field_count()));
    uint32_t before = 0;
    for (const wire::Field& field : type.fields) {
      SCOPED_TRACE(std::string(field.name));
      EXPECT_LT(before, field.number) << "fields are written in the order of their numbers";
      before = field.number;
      const FieldDescriptor* expected =
          descriptor.FindFieldByNumber(static_cast<int>(field.number));
      ASSERT_NE(expected, nullptr);
      EXPECT_EQ(field.name, expected->name());
      EXPECT_EQ(field.kind, KindOf(expected->type()));
      EXPECT_EQ(field.label, expected->is_packed()     ? Label::kPacked
                             : expected->is_repeated() ? Label::kRepeated
                                                       : Label::kOptional);
      EXPECT_FALSE(expected->is_required());
      if (field.kind == Kind::kMessage) {
        EXPECT_EQ(field.type->name, expected->message_type()->name());
      }
      if (field.kind == Kind::kEnum) {
        const auto& values = *expected->enum_type();
        EXPECT_EQ(field.max_enum, values.value_count() - 1);
        for (int i = 0; i < values.value_count(); ++i) EXPECT_EQ(values.value(i)->number(), i);
      }
    }
  });
  for (const auto* file : {CFileFooterPB::descriptor()->file(), TablePB::descriptor()->file()}) {
    for (int i = 0; i < file->message_type_count(); ++i)
      EXPECT_TRUE(described.contains(file->message_type(i)->name()))
          << file->message_type(i)->name();
  }
  const auto default_of = [](const auto& descriptor, int number) {
    return descriptor->FindFieldByNumber(number)->default_value_int32();
  };
  EXPECT_EQ(wire::CFileFooter::kDefaultCompression, default_of(CFileFooterPB::descriptor(), 6));
}

// ---- Random messages

uint64_t Below(Random& random, uint64_t end) { return random() % end; }
bool OneIn(Random& random, uint64_t n) { return Below(random, n) == 0; }

// Returns the bytes of a varint. Adds `padding` bytes that do not change the number.
std::string Varint(uint64_t value, uint64_t padding = 0) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes.push_back(static_cast<char>(value | 0x80));
  bytes.push_back(static_cast<char>(value));
  for (; padding > 0; --padding) {
    bytes.back() = static_cast<char>(bytes.back() | 0x80);
    bytes.push_back('\0');
  }
  return bytes;
}

std::string Delimited(uint32_t number, std::string_view bytes) {
  return absl::StrCat(Varint(MakeTag(number, WireType::kDelimited)), Varint(bytes.size()),
                      std::string(bytes));
}

// Returns a number of any length. Often returns a number at the end of the range of a type.
uint64_t RandomNumber(Random& random) {
  constexpr uint64_t kEnds[] = {0,          1,           2,          127,        128,
                                0x7fffffff, 0x80000000,  0xffffffff, 1ull << 32, (1ull << 32) + 1,
                                1ull << 63, ~uint64_t{0}};
  return OneIn(random, 3) ? kEnds[Below(random, std::size(kEnds))] : random() >> Below(random, 64);
}

std::string RandomBytes(Random& random, size_t most) {
  std::string bytes(Below(random, most + 1), '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

enum class Oddity : uint8_t {
  kNone,        // there may be unknown fields
  kOtherTypes,  // a field may also have a wire type that is wrong for this field
  kMalformed    // fields may also be malformed
};

// Makes random fields of a message.
class FieldMaker {
 public:
  FieldMaker(Random& random, Oddity oddity) : random_(random), oddity_(oddity) {}

  std::string Fields(const Descriptor* descriptor, int depth) {
    std::string bytes;
    for (uint64_t n = Below(random_, 8); n > 0; --n) {
      const FieldDescriptor* field = nullptr;
      // No message has a field with such a number.
      auto number = static_cast<uint32_t>(1 << 20 | RandomNumber(random_) >> 35);
      if (Malformed(30)) number = static_cast<uint32_t>(Below(random_, 3));
      if (descriptor != nullptr && descriptor->field_count() > 0 && !OneIn(random_, 8)) {
        field = descriptor->field(
            static_cast<int>(Below(random_, static_cast<uint64_t>(descriptor->field_count()))));
        number = static_cast<uint32_t>(field->number());
      }
      bytes += Field(number, field, depth);
    }
    return bytes;
  }

 private:
  bool Malformed(uint64_t n) { return oddity_ == Oddity::kMalformed && OneIn(random_, n); }
  std::string Number() {
    return Malformed(20) ? Varint(RandomNumber(random_), Below(random_, 12))
                         : Varint(RandomNumber(random_));
  }
  std::string Tag(uint32_t number, WireType type) {
    return Varint(MakeTag(number, type), Malformed(30) ? Below(random_, 6) : 0);
  }

  std::string Field(uint32_t number, const FieldDescriptor* field, int depth) {
    WireType type = field != nullptr ? WireTypeOf(*field) : WireType(Below(random_, 4));
    if (field != nullptr && field->is_packable() && field->is_repeated() && OneIn(random_, 2))
      type = WireType::kDelimited;
    if (oddity_ != Oddity::kNone && OneIn(random_, 10)) {
      const auto other = WireType(Below(random_, 4));
      if (other != type) field = nullptr;
      type = other;
    }
    if (Malformed(100)) type = WireType(Below(random_, 8));
    const std::string tag = Tag(number, type);
    switch (type) {
      case WireType::kVarint:
        return tag + Number();
      case WireType::kFixed32:
        return tag + std::string(4, static_cast<char>(random_()));
      case WireType::kFixed64:
        return tag + std::string(8, static_cast<char>(random_()));
      case WireType::kStartGroup:
        return tag + (depth > 0 ? Fields(nullptr, depth - 1) : "") +
               Tag(Malformed(20) ? number + 1 : number, WireType::kEndGroup);
      case WireType::kDelimited: {
        const std::string body = Body(field, depth);
        return tag + Varint(body.size(), Malformed(30) ? Below(random_, 6) : 0) + body;
      }
      default:
        return tag;
    }
  }

  std::string Body(const FieldDescriptor* field, int depth) {
    if (Malformed(30)) return RandomBytes(random_, 20);
    // Bytes that begin with 7 are no message.
    if (field == nullptr && OneIn(random_, 2)) return "\7" + RandomBytes(random_, 20);
    if (field == nullptr) return depth > 0 ? Fields(nullptr, depth - 1) : "";
    if (field->type() == FieldDescriptor::TYPE_BYTES) return RandomBytes(random_, 20);
    if (field->type() == FieldDescriptor::TYPE_MESSAGE)
      return depth > 0 ? Fields(field->message_type(), depth - 1) : "";
    if (WireTypeOf(*field) == WireType::kFixed64)
      return std::string(8 * Below(random_, 3), static_cast<char>(random_()));
    std::string body;
    for (uint64_t n = Below(random_, 5); n > 0; --n) body += Number();
    return body;
  }

  Random& random_;
  const Oddity oddity_;
};

// Makes 1 to 3 random changes of `bytes`.
void Mutate(Random& random, std::string& bytes) {
  for (uint64_t n = 1 + Below(random, 3); n > 0; --n) {
    const size_t at = Below(random, bytes.size() + 1);
    switch (Below(random, 5)) {
      case 0:
        bytes.resize(at);
        break;
      case 1:
        bytes.insert(at, RandomBytes(random, 4));
        break;
      case 2:
        bytes.erase(at, Below(random, 4));
        break;
      case 3:
        bytes.insert(at, bytes.substr(Below(random, bytes.size() + 1), Below(random, 30)));
        break;
      default:
        if (at < bytes.size()) bytes[at] ^= static_cast<char>(1 << Below(random, 8));
    }
  }
}

constexpr int kDepth = 5;

TEST(WireTest, RandomMessagesAreReadAndWrittenAsByProtobuf) {
  Random random(1);
  ForEachWireMessage([&]<typename M>(std::type_identity<M>) {
    SCOPED_TRACE(std::string(M::kType.name));
    const Descriptor& descriptor = DescriptorOf(M::kType);
    for (int i = 0; i < 500; ++i) {
      const std::string bytes = FieldMaker(random, Oddity::kNone).Fields(&descriptor, kDepth);
      bool accepted = false;
      ASSERT_EQ(WireDifference<M>(bytes, &accepted), "");
      ASSERT_TRUE(accepted);
      // The protobuf library writes each field once, and in the order of the field numbers.
      const auto message = NewMessage(M::kType);
      ASSERT_TRUE(ParseByProtobuf(bytes, *message));
      ASSERT_EQ(WireDifference<M>(message->SerializeAsString()), "");
    }
  });
}

TEST(WireTest, OddAndDamagedMessagesAreAcceptedOrRefusedAsByProtobuf) {
  Random random(2);
  ForEachWireMessage([&]<typename M>(std::type_identity<M>) {
    SCOPED_TRACE(std::string(M::kType.name));
    const Descriptor& descriptor = DescriptorOf(M::kType);
    int accepted = 0, refused = 0;
    for (int i = 0; i < 3000; ++i) {
      std::string bytes = FieldMaker(random, Oddity::kMalformed).Fields(&descriptor, kDepth);
      if (OneIn(random, 2)) Mutate(random, bytes);
      bool good = false;
      ASSERT_EQ(WireDifference<M>(bytes, &good), "") << testing::PrintToString(bytes);
      ++(good ? accepted : refused);
    }
    EXPECT_GT(accepted, 500);
    EXPECT_GT(refused, 500);
  });
}

// Cuts `bytes` at each of the first 200 places, and makes random changes.
// Checks that both libraries accept or refuse the result.
template <typename M>
void CheckDamage(Random& random, const std::string& bytes) {
  ASSERT_EQ(WireDifference<M>(bytes), "");
  for (size_t size = 0; size < std::min<size_t>(bytes.size(), 200); ++size)
    ASSERT_EQ(WireDifference<M>(bytes.substr(0, size)), "");
  for (int i = 0; i < 50; ++i) {
    std::string changed = bytes;
    Mutate(random, changed);
    ASSERT_EQ(WireDifference<M>(changed), "") << testing::PrintToString(changed);
  }
}

TEST(WireTest, GoldenMessagesAndDamagedOnesAreReadAsByProtobuf) {
  Random random(3);
  int files = 0, tables = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(CFILE_SOURCE_DIR "/tests/golden")) {
    const std::string path = entry.path().string();
    if (entry.path().filename() == "table.cft") {
      std::ifstream in(path, std::ios::binary);
      const std::string bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
      CheckDamage<wire::Table>(random, std::string(internal::MessageIn(bytes)));
      ++tables;
    } else if (entry.path().extension() == ".cfile") {
      const auto reader = Reader::Open(path);
      if (!reader.ok()) continue;
      CheckDamage<wire::CFileHeader>(random, reader->info().header_message);
      CheckDamage<wire::CFileFooter>(random, reader->info().footer_message);
      ++files;
    }
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(files, 1000);
  EXPECT_GE(tables, 10);
}

// ---- Single rules

TEST(WireTest, TheLastValueCountsAndMessagesAreMerged) {
  wire::CFileFooter footer;
  // data_type 5, dict_block_ptr {offset 1, size 2}, data_type 6, dict_block_ptr {size 3}
  const std::string bytes("\x08\x05\x4a\x04\x08\x01\x10\x02\x08\x06\x4a\x02\x10\x03", 14);
  ASSERT_TRUE(wire::ParseMessage(bytes, 100, footer).ok());
  EXPECT_EQ(footer.data_type, 6);
  EXPECT_EQ(footer.dict_block_ptr->offset, 1);
  EXPECT_EQ(footer.dict_block_ptr->size, 3);
  EXPECT_EQ(WireDifference<wire::CFileFooter>(bytes), "");
  // ParseMessage first removes the old fields of the message.
  ASSERT_TRUE(wire::ParseMessage("", 100, footer).ok());
  EXPECT_TRUE(wire::IsEmpty(footer));
}

TEST(WireTest, WritesWhatProtobufWrites) {
  wire::CFileFooter footer{.data_type = -1, .num_values = -2, .is_type_nullable = false};
  footer.metadata.push_back({.key = "key"});
  wire::Mutable(footer.posidx_info);
  wire::Mutable(wire::Mutable(footer.extensions).statistics).offset = int64_t{1} << 40;
  CFileFooterPB expected;
  expected.set_data_type(-1);
  expected.set_num_values(-2);
  expected.set_is_type_nullable(false);
  expected.add_metadata()->set_key("key");
  expected.mutable_posidx_info();
  expected.mutable_extensions()->mutable_statistics()->set_offset(int64_t{1} << 40);
  EXPECT_EQ(wire::Serialize(footer), expected.SerializeAsString());
  wire::Part part{.order = {1, 300, ~uint64_t{0}}};
  part.columns.resize(2);
  PartPB expected_part;
  for (const uint64_t number : part.order) expected_part.add_order(number);
  for (int i = 0; i < 2; ++i) expected_part.add_columns();
  EXPECT_EQ(wire::Serialize(part), expected_part.SerializeAsString());
}

// Both libraries accept at most kDeepest nested groups.
// cfile/core/wire accepts one level of nested messages less than the protobuf library.
// Older versions of cfile used the protobuf library and had the same limit.
TEST(WireTest, DepthIsLimited) {
  const auto nodes = [](int depth, std::string bytes) {
    for (; depth > 0; --depth) bytes = Delimited(/*children*/ 3, bytes);
    return bytes;
  };
  const auto groups = [](int depth) {
    std::string bytes;
    for (int i = 0; i < depth; ++i) bytes += Varint(MakeTag(90, WireType::kStartGroup));
    for (int i = 0; i < depth; ++i) bytes += Varint(MakeTag(90, WireType::kEndGroup));
    return bytes;
  };
  const auto accepts = [](const std::string& bytes) {
    bool accepted = false;
    EXPECT_EQ(WireDifference<wire::SchemaNode>(bytes, &accepted), "");
    return accepted;
  };
  EXPECT_TRUE(accepts(nodes(wire::kDeepest - 1, "")));
  wire::SchemaNode node;
  EXPECT_FALSE(wire::ParseMessage(nodes(wire::kDeepest, ""), 1 << 20, node).ok());
  EXPECT_FALSE(accepts(nodes(wire::kDeepest + 1, "")));
  EXPECT_TRUE(accepts(groups(wire::kDeepest)));
  EXPECT_FALSE(accepts(groups(wire::kDeepest + 1)));
  EXPECT_TRUE(accepts(nodes(10, groups(wire::kDeepest - 10))));
  EXPECT_FALSE(accepts(nodes(10, groups(wire::kDeepest - 9))));
}

// The limit for the memory is 64 KiB + 8 * 1,000 bytes.
// A message takes at most 192 bytes, so 383 messages fit.
TEST(WireTest, MemoryIsLimited) {
  const auto columns = [](int n) {
    std::string bytes;
    for (; n > 0; --n) bytes += Delimited(/*columns*/ 3, "");
    return bytes;
  };
  wire::Part part;
  ASSERT_TRUE(wire::ParseMessage(columns(383), 1000, part).ok());
  EXPECT_EQ(part.columns.size(), 383u);
  EXPECT_EQ(part.columns.capacity(), 383u);
  for (const int n : {384, 100'000}) {
    const absl::Status status = wire::ParseMessage(columns(n), 1000, part);
    EXPECT_TRUE(absl::IsOutOfRange(status));
    EXPECT_THAT(std::string(status.message()), HasSubstr("raise max_metadata_size_bytes"));
    EXPECT_LE(part.columns.capacity(), 383u);
    EXPECT_EQ(wire::CheckParsedSize(columns(n), 1000, wire::Part::kType), status);
  }
  const absl::Status status = wire::ParseMessage("\x1a\x05", 1000, part);
  EXPECT_TRUE(absl::IsDataLoss(status));
  EXPECT_EQ(status.message(), "its message does not parse");
}

// ---- Text and JSON

template <typename Message>
void ExpectDescribed(const std::string& bytes, const std::string& text, const std::string& json) {
  Message message;
  ASSERT_TRUE(ParseByProtobuf(bytes, message));
  std::string expected;
  google::protobuf::TextFormat::PrintToString(message, &expected);
  ASSERT_EQ(text, expected);
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  expected.clear();
  ASSERT_TRUE(google::protobuf::util::MessageToJsonString(message, &expected, options).ok());
  ASSERT_EQ(json, expected);
}

TEST(WireTest, MessagesAreShownAsByProtobuf) {
  Random random(4);
  for (int i = 0; i < 5000; ++i) {
    const auto message = [&]<typename M>(std::type_identity<M>) {
      return FieldMaker(random, Oddity::kOtherTypes).Fields(&DescriptorOf(M::kType), kDepth);
    };
    FileInfo info;
    info.header_message = message(std::type_identity<wire::CFileHeader>());
    info.footer_message = message(std::type_identity<wire::CFileFooter>());
    const MetadataText shown = DescribeMetadata(info);
    ExpectDescribed<CFileHeaderPB>(info.header_message, shown.header_text, shown.header_json);
    ExpectDescribed<CFileFooterPB>(info.footer_message, shown.footer_text, shown.footer_json);
    if (HasFatalFailure()) return;
  }
}

TEST(WireTest, DeepGroupsAreIndentedByAtMost100Spaces) {
  constexpr int kGroups = 500;
  FileInfo info;
  for (int i = 0; i < kGroups; ++i)
    info.header_message += Varint(MakeTag(90, WireType::kStartGroup));
  for (int i = 0; i < kGroups; ++i) info.header_message += Varint(MakeTag(90, WireType::kEndGroup));
  const std::string text = DescribeMetadata(info).header_text;
  EXPECT_THAT(text, HasSubstr("\n" + std::string(100, ' ') + "90 {\n"));
  EXPECT_EQ(text.find(std::string(101, ' ')), text.npos);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2 * kGroups);
}

}  // namespace cfile::wire_test
