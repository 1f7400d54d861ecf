#include "cfile/parts/parquet/bounds.h"

#include <cstdint>
#include <optional>
#include <type_traits>

#include "cfile/batch.h"
#include "cfile/core/format/key_codec.h"
#include "cfile/core/format/value_summary.h"
#include "encodings/core/assert.h"
#include "encodings/core/bytes.h"
#include "encodings/parquet/page_codec.h"

namespace cfile::internal {
namespace {

bool IsText(const ColumnType& type) {
  return type.data_type == DataType::kString || type.data_type == DataType::kVarchar;
}

// True if a byte of UTF-8 is not the first byte of a character.
bool Continues(char byte) { return (static_cast<uint8_t>(byte) & 0xc0) == 0x80; }

// Returns how many bytes of `text` are whole characters, if `text` was cut out of UTF-8 text.
size_t WholeCharacters(std::string_view text) {
  size_t begin = text.size();
  while (begin > 0 && text.size() - begin < 3 && Continues(text[begin - 1])) --begin;
  if (begin == 0) return text.size();
  const auto first = static_cast<uint8_t>(text[begin - 1]);
  const size_t size = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  return begin - 1 + size == text.size() ? text.size() : begin - 1;
}

// Returns a text that is greater than all texts that begin with `text`, which has whole characters.
std::optional<std::string> RaisedText(std::string text) {
  while (!text.empty()) {
    size_t begin = text.size() - 1;
    while (begin > 0 && Continues(text[begin])) --begin;
    const size_t size = text.size() - begin;
    uint32_t character = static_cast<uint8_t>(text[begin]);
    if (size > 1) character &= 0x7f >> size;
    for (size_t i = begin + 1; i < text.size(); ++i)
      character = character << 6 | (static_cast<uint8_t>(text[i]) & 0x3f);
    text.resize(begin);
    if (character >= 0x10ffff) continue;
    character = character == 0xd7ff ? 0xe000 : character + 1;
    const size_t new_size = character < 0x80      ? 1
                            : character < 0x800   ? 2
                            : character < 0x10000 ? 3
                                                  : 4;
    static constexpr uint8_t kFirst[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = new_size; i-- > 0;) {
      const uint32_t bits = character >> (6 * i);
      text.push_back(
          static_cast<char>(i + 1 == new_size ? kFirst[new_size] | bits : 0x80 | (bits & 0x3f)));
    }
    return text;
  }
  return std::nullopt;
}

// Returns a text of whole characters that is not less than `bound`.
std::optional<std::string> WholeUpperBound(std::string_view bound) {
  // Writers raise the last byte of a bound that they cut.
  const std::string_view kept = bound.substr(0, bound.empty() ? 0 : bound.size() - 1);
  auto raised = RaisedText(std::string(kept.substr(0, WholeCharacters(kept))));
  // If the column has bytes that are not UTF-8, the text may be less.
  return raised && *raised >= bound ? raised : std::nullopt;
}

}  // namespace

void FitBounds(const ColumnType& type, BlockStatistics& statistics) {
  auto& min_key = statistics.min_key;
  auto& max_key = statistics.max_key;
  if (IsText(type)) {
    if (min_key && !statistics.min_exact) min_key->resize(WholeCharacters(*min_key));
    if (max_key && !statistics.max_exact) max_key = WholeUpperBound(*max_key);
  } else if (type.physical() == PhysicalType::kFixedBytes) {
    if (min_key) min_key->resize(type.type_length);
    if (max_key) max_key->resize(type.type_length);
  }
}

std::string PlainOfKey(const ColumnType& type, std::string_view key) {
  return VisitType(type, [&]<typename T>(std::type_identity<T>) -> std::string {
    if constexpr (encodings::kIsBytes<T>) {
      return std::string(key);
    } else {
      T value{};
      const bool parsed = ParseKey<T>(key, value);
      CFILE_ASSERT(parsed);
      encodings::ByteWriter bytes;
      if constexpr (std::is_same_v<T, int128_t>) {
        for (int shift = 120; shift >= 0; shift -= 8)
          bytes.PutFixed(static_cast<uint8_t>(static_cast<uint128_t>(value) >> shift));
      } else if constexpr (std::is_same_v<T, bool>) {
        bytes.PutFixed(static_cast<uint8_t>(value));
      } else if constexpr (!std::is_same_v<T, Int96>) {
        bytes.PutFixed(static_cast<encodings::PageType<T>>(value));
      }
      return std::string(bytes.view());
    }
  });
}

}  // namespace cfile::internal
