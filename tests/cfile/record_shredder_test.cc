// Records that do not match their schema, and levels that contradict each other, are refused.
#include "cfile/parts/records/record_shredder.h"

#include <gmock/gmock.h>

#include "cfile/parts/records/record_assembler.h"
#include "record_testing.h"

namespace cfile::record_shredder_test {

using testing::HasSubstr;

RecordSchema TestSchema() {
  return RecordSchema::Parse(R"(message m {
    required int64 id;
    optional group tcp { required int32 port; optional binary host (STRING); }
    repeated group trans { optional int32 flag; repeated int32 n; }
  })")
      .value();
}

TEST(RecordShredder, RecordsThatDoNotFit) {
  const RecordSchema schema = TestSchema();
  const auto error = [&](auto tell) {
    internal::RecordShredder shredder(schema);
    std::string message;
    for (const absl::Status& status : tell(shredder)) message = std::string(status.message());
    return message;
  };
  using Statuses = std::vector<absl::Status>;
  using Shredder = internal::RecordShredder;
  EXPECT_EQ(error([](Shredder& s) {
              return Statuses{s.BeginGroup(0), s.EndGroup(0)};
            }),
            "id: the field is required, but missing");
  EXPECT_EQ(error([](Shredder& s) {
              return Statuses{s.BeginGroup(0), s.BeginGroup(2), s.EndGroup(2)};
            }),
            "tcp.port: the field is required, but missing");
  EXPECT_EQ(error([](Shredder& s) {
              return Statuses{s.BeginGroup(0), s.Value(1, int32_t{1})};
            }),
            "id: a value of type int64 expected");
  EXPECT_EQ(error([](Shredder& s) {
              return Statuses{s.BeginGroup(0), s.Value(1, int64_t{1}), s.Value(1, int64_t{1})};
            }),
            "id: the field is set twice, but is not repeated");
  EXPECT_EQ(error([](Shredder& s) {
              return Statuses{s.BeginGroup(0), s.Value(3, int32_t{1})};
            }),
            "tcp.port: it is not a field of the open group");
  EXPECT_EQ(error([](Shredder& s) {
              return Statuses{s.BeginGroup(0), s.BeginGroup(0)};
            }),
            "m: it is not a field of the open group");
  EXPECT_EQ(error([](Shredder& s) {
              return Statuses{s.BeginGroup(0), s.BeginGroup(1)};
            }),
            "id: a value expected, found a group");
  EXPECT_EQ(error([](Shredder& s) {
              return Statuses{s.BeginGroup(0), s.Value(2, true)};
            }),
            "tcp: a group expected, found a value");
  EXPECT_EQ(error([](Shredder& s) {
              return Statuses{s.BeginGroup(0), s.Value(99, true)};
            }),
            "there is no node 99");
  EXPECT_EQ(error([](Shredder& s) {
              return Statuses{s.BeginGroup(0), s.EndGroup(2)};
            }),
            "node 2 ends, but is not the open group");
}

// A stream of the given entries.
class FixedStream final : public internal::LeafStream {
 public:
  FixedStream(std::vector<uint16_t> repetition, std::vector<uint16_t> definition)
      : repetition_(std::move(repetition)), definition_(std::move(definition)) {}

 private:
  absl::Status SeekToRecord(uint64_t) override { return absl::OkStatus(); }
  absl::StatusOr<Entries> Load() override {
    return Entries{
        .num_entries = definition_.size(), .repetition = repetition_, .definition = definition_};
  }
  absl::Status Tell(size_t, size_t node, RecordVisitor& visitor) const override {
    return visitor.Value(node, int32_t{7});
  }

  const std::vector<uint16_t> repetition_, definition_;
};

TEST(RecordAssembler, LevelsThatContradict) {
  const RecordSchema schema = TestSchema();
  const std::vector<size_t> leaves = {3, 4};  // trans.flag (1, 2), trans.n (2, 2)
  struct Case {
    std::vector<uint16_t> flag_r, flag_d, n_r, n_d;
    const char* message;  // nullptr: no error
  };
  const Case cases[] = {
      {{0}, {0}, {0}, {0}, nullptr},
      {{0, 1}, {2, 1}, {0, 2, 1}, {2, 2, 1}, nullptr},
      {{0}, {0}, {0}, {1}, "trans.n: record 0: repetition level 0 and definition level 0 expected"},
      {{0}, {1}, {0}, {0}, "trans.n: record 0: repetition level 0 and definition level 1 expected"},
      {{0, 1}, {2, 0}, {0, 1}, {1, 1}, "trans.flag: record 0: repetition level 1"},
      {{0, 1}, {2, 2}, {0}, {1}, "trans.n: record 0 ends too early"},
      {{0, 1}, {2, 2}, {0, 0}, {1, 1}, "trans.n: record 0: repetition level 1"},
      {{1}, {2}, {0}, {1}, "trans.flag: record 0: repetition level 0"},
      {{0}, {2}, {0, 2}, {1, 2}, "trans.n: record 0: repetition level 0"},
      {{}, {}, {0}, {0}, "trans.flag: record 0 expected, found the end of the leaf column"},
  };
  for (const Case& c : cases) {
    FixedStream flag(c.flag_r, c.flag_d), n(c.n_r, c.n_d);
    internal::RecordAssembler assembler(schema, leaves, {&flag, &n});
    ASSERT_EQ(assembler.Seek(0), absl::OkStatus());
    JsonVisitor visitor(schema);
    const absl::Status status = assembler.Next(visitor);
    if (c.message == nullptr) {
      EXPECT_EQ(status, absl::OkStatus());
    } else {
      EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
      EXPECT_THAT(std::string(status.message()), HasSubstr(c.message));
    }
  }
}

}  // namespace cfile::record_shredder_test
