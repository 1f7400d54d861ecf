#include "cfile/core/format/choice_message.h"

#include <algorithm>

#include "encodings/core/assert.h"

namespace cfile::internal {
namespace {

// The unit of wire::Choice::scan_speed.
constexpr uint64_t kSpeedUnit = 100'000'000;  // bytes per second

bool IsConsistent(const ChoiceInfo& choice) {
  return choice.num_values > 0 && choice.plain_size_bytes > 0 && choice.smallest.size_bytes > 0 &&
         choice.smallest.size_bytes <= choice.chosen.size_bytes;
}

}  // namespace

wire::Choice DescribeChoice(const ChoiceInfo& choice, Encoding file_encoding) {
  CFILE_ASSERT(IsConsistent(choice));
  const StorageSize& chosen = choice.chosen;
  const StorageSize& smallest = choice.smallest;
  wire::Choice message{.num_values = choice.num_values,
                       .plain_bytes = choice.plain_size_bytes,
                       .bytes = chosen.size_bytes};
  if (choice.scan_bytes_per_second > 0) {
    message.scan_speed = static_cast<uint32_t>(std::clamp<uint64_t>(
        (choice.scan_bytes_per_second + kSpeedUnit / 2) / kSpeedUnit, 1, UINT32_MAX));
  }
  if (choice.goal != Goal::kBalanced) message.goal = static_cast<int32_t>(choice.goal);
  if (chosen.encoding != file_encoding) message.encoding = static_cast<int32_t>(chosen.encoding);
  if (chosen.compressed) message.compressed = true;
  if (smallest == chosen) return message;
  message.smallest_bytes = smallest.size_bytes;
  if (smallest.encoding != chosen.encoding)
    message.smallest_encoding = static_cast<int32_t>(smallest.encoding);
  if (smallest.compressed) message.smallest_compressed = true;
  return message;
}

std::optional<ChoiceInfo> InterpretChoice(const wire::Choice& message, Encoding file_encoding) {
  const int32_t goal = message.goal.value_or(0);
  if (goal < 0 || goal > static_cast<int32_t>(Goal::kSpeed)) return std::nullopt;
  const auto encoding_of = [](std::optional<int32_t> number, Encoding otherwise) {
    return number ? static_cast<Encoding>(*number) : otherwise;
  };
  ChoiceInfo choice{.goal = static_cast<Goal>(goal),
                    .num_values = message.num_values.value_or(0),
                    .plain_size_bytes = message.plain_bytes.value_or(0),
                    .chosen = {.encoding = encoding_of(message.encoding, file_encoding),
                               .compressed = message.compressed.value_or(false),
                               .size_bytes = message.bytes.value_or(0)},
                    .scan_bytes_per_second = message.scan_speed.value_or(0) * kSpeedUnit};
  choice.smallest = choice.chosen;
  if (message.smallest_bytes) {
    choice.smallest = {.encoding = encoding_of(message.smallest_encoding, choice.chosen.encoding),
                       .compressed = message.smallest_compressed.value_or(false),
                       .size_bytes = *message.smallest_bytes};
  }
  if (!IsConsistent(choice)) return std::nullopt;
  return choice;
}

}  // namespace cfile::internal
