#include "encodings/kudu/frame_of_reference.h"

#include <gmock/gmock.h>

#include "columns.h"

namespace cfile::encodings::frame_of_reference_test {

using testing::ElementsAre;
using testing::ElementsAreArray;
using Bytes = std::vector<uint8_t>;

Bytes Encode(const std::vector<uint32_t>& values, uint64_t first_ordinal) {
  auto encoder = GroupVarintCodec::MakeEncoder<uint32_t>(PhysicalType::kUint32, {});
  EXPECT_EQ(encoder->Append(values), values.size());
  EncodedBlock block;
  encoder->Finish(first_ordinal, block);
  return {block.bytes.span().begin(), block.bytes.span().end()};
}

TEST(FrameOfReference, BytesOfAWorkedExample) {
  EXPECT_THAT(Encode({1000, 1003, 1300, 71000, 1001}, 7),
              ElementsAreArray<int>({
                  0b00010000, 5, 0xe8, 0x03, 7,    0,  // 5 values, minimum 1000, first ordinal 7
                  0b00000110, 0, 3,    0x2c, 0x01, 0x70, 0x11, 0x01,  // 0, 3, 300, 70000
                  0b00000000, 1, 0,    0,    0,                       // 1, and the padding
              }));
}

TEST(FrameOfReference, AnEmptyBlockHasTheMinimumZero) {
  EXPECT_THAT(Encode({}, 3), ElementsAre(0, 0, 0, 3, 0));
}

}  // namespace cfile::encodings::frame_of_reference_test
