#include "encodings/kernels/group_varint.h"

#include <array>
#include <bit>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "encodings/kernels/group_varint.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#ifndef CFILE_ENCODINGS_GROUP_VARINT_TABLES
#define CFILE_ENCODINGS_GROUP_VARINT_TABLES
namespace cfile::encodings {

// Decoding tables for groups of 32-bit values, indexed by the group's selector.
struct GroupVarint32Tables {
  std::array<uint8_t, 256> size{};  // bytes of the whole group, selector included
  // For each of the 16 bytes of the four values: its offset after the selector; 0x80 for a zero
  // byte.
  alignas(16) std::array<std::array<uint8_t, 16>, 256> shuffle{};
};

constexpr GroupVarint32Tables MakeGroupVarint32Tables() {
  GroupVarint32Tables tables;
  for (size_t selector = 0; selector < 256; ++selector) {
    uint8_t from = 0;
    for (size_t i = 0; i < 4; ++i) {
      const size_t length = (selector >> (6 - 2 * i) & 3) + 1;
      for (size_t byte = 0; byte < 4; ++byte) {
        tables.shuffle[selector][4 * i + byte] = byte < length ? from++ : uint8_t{0x80};
      }
    }
    tables.size[selector] = static_cast<uint8_t>(from + 1);
  }
  return tables;
}

inline constexpr GroupVarint32Tables kGroupVarint32 = MakeGroupVarint32Tables();

// Decodes one group. Reads exactly kGroupVarint32.size[*p] bytes.
inline void DecodeGroupVarint32(const uint8_t* p, uint32_t* out) {
  const uint32_t selector = *p++;
  for (uint32_t i = 0; i < 4; ++i) {
    const uint32_t length = (selector >> (6 - 2 * i) & 3) + 1;
    uint32_t value = 0;
    std::memcpy(&value, p, length);
    out[i] = value;
    p += length;
  }
}

}  // namespace cfile::encodings
#endif  // CFILE_ENCODINGS_GROUP_VARINT_TABLES

HWY_BEFORE_NAMESPACE();
namespace cfile::encodings {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Decodes up to `groups` groups, as long as [p, end) has room for the longest possible group. Sets
// `groups` to the number of groups that are left, and returns the address of the first of them.
const uint8_t* DecodeGroups32(const uint8_t* p, const uint8_t* end, size_t& groups, uint32_t* out) {
  size_t left = groups;
  for (; left > 0 && static_cast<size_t>(end - p) >= kMaxGroupVarint32Bytes; --left, out += 4) {
#if HWY_TARGET == HWY_SCALAR
    DecodeGroupVarint32(p, out);
#else
    const hn::FixedTag<uint8_t, 16> d;
    const auto bytes = hn::LoadU(d, p + 1);
    const auto shuffle = hn::Load(d, kGroupVarint32.shuffle[*p].data());
    hn::StoreU(hn::TableLookupBytesOr0(bytes, shuffle), d, reinterpret_cast<uint8_t*>(out));
#endif
    p += kGroupVarint32.size[*p];
  }
  groups = left;
  return p;
}

}  // namespace HWY_NAMESPACE
}  // namespace cfile::encodings
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cfile::encodings {
namespace {

HWY_EXPORT(DecodeGroups32);

uint32_t ByteLength(uint64_t value) {  // 1 to 8
  return (static_cast<uint32_t>(std::bit_width(value | 1)) + 7) / 8;
}

// Byte length of value i of a 64-bit group.
uint32_t Length64(uint32_t selector, uint32_t i) { return (selector >> (12 - 3 * i) & 7) + 1; }

uint32_t GroupSize64(const uint8_t* p) {
  const uint32_t selector = LoadLittleEndian<uint16_t>(p);
  uint32_t size = 2;
  for (uint32_t i = 0; i < 5; ++i) size += Length64(selector, i);
  return size;
}

// Writes one group to `out` and returns its end. Overwrites up to sizeof(Selector) + kValues *
// sizeof(T) bytes. kSelectorBits: bits of the selector for each value.
template <typename T, size_t kValues, typename Selector, uint32_t kSelectorBits>
uint8_t* PutGroup(const T* values, uint8_t* out) {
  uint8_t* p = out + sizeof(Selector);
  uint32_t selector = 0;
  for (size_t i = 0; i < kValues; ++i) {
    const uint32_t length = ByteLength(values[i]);
    selector = selector << kSelectorBits | (length - 1);
    StoreLittleEndian(values[i], p);  // writes all of T; the next value overwrites the excess bytes
    p += length;
  }
  StoreLittleEndian(static_cast<Selector>(selector), out);
  return p;
}

template <typename T, size_t kValues, typename Selector, uint32_t kSelectorBits>
void PutGroups(std::span<const T> values, ByteWriter& out) {
  constexpr size_t kMaxBytes = sizeof(Selector) + kValues * sizeof(T);
  uint8_t* p = out.Extend((values.size() + kValues - 1) / kValues * kMaxBytes);
  for (; values.size() >= kValues; values = values.subspan(kValues))
    p = PutGroup<T, kValues, Selector, kSelectorBits>(values.data(), p);
  if (!values.empty()) {
    T last[kValues] = {};
    std::copy(values.begin(), values.end(), last);
    p = PutGroup<T, kValues, Selector, kSelectorBits>(last, p);
  }
  out.Truncate(static_cast<size_t>(p - out.data()));
}

}  // namespace

void PutGroupVarint32(std::span<const uint32_t> values, ByteWriter& out) {
  PutGroups<uint32_t, kGroupVarint32Values, uint8_t, 2>(values, out);
}

void PutGroupVarint64(std::span<const uint64_t> values, ByteWriter& out) {
  PutGroups<uint64_t, kGroupVarint64Values, uint16_t, 3>(values, out);
}

bool ReadGroupVarint32(ByteReader& reader, size_t groups, uint32_t* out) {
  const std::span<const uint8_t> bytes = reader.rest();
  const uint8_t* const end = bytes.data() + bytes.size();
  size_t left = groups;
  const uint8_t* p = HWY_DYNAMIC_DISPATCH(DecodeGroups32)(bytes.data(), end, left, out);
  out += 4 * (groups - left);
  for (; left > 0; --left, out += 4) {
    if (p == end || static_cast<size_t>(end - p) < kGroupVarint32.size[*p]) return false;
    DecodeGroupVarint32(p, out);
    p += kGroupVarint32.size[*p];
  }
  return reader.Skip(static_cast<size_t>(p - bytes.data()));
}

bool ReadGroupVarint64(ByteReader& reader, size_t groups, uint64_t* out) {
  const std::span<const uint8_t> bytes = reader.rest();
  const uint8_t* const end = bytes.data() + bytes.size();
  const uint8_t* p = bytes.data();
  for (; groups > 0; --groups, out += 5) {
    const size_t left = static_cast<size_t>(end - p);
    if (left < 2 || left < GroupSize64(p)) return false;
    const uint32_t selector = LoadLittleEndian<uint16_t>(p);
    const bool wide_loads = left >= kMaxGroupVarint64Bytes;
    p += 2;
    for (uint32_t i = 0; i < 5; ++i) {
      const uint32_t length = Length64(selector, i);
      uint64_t value = 0;
      if (wide_loads) {
        value = LoadLittleEndian<uint64_t>(p) & (~uint64_t{0} >> (64 - 8 * length));
      } else {
        std::memcpy(&value, p, length);
      }
      out[i] = value;
      p += length;
    }
  }
  return reader.Skip(static_cast<size_t>(p - bytes.data()));
}

bool SkipGroupVarint32(ByteReader& reader, size_t groups) {
  ByteReader ahead = reader;
  for (; groups > 0; --groups) {
    if (ahead.empty() || !ahead.Skip(kGroupVarint32.size[ahead.rest()[0]])) return false;
  }
  reader = ahead;
  return true;
}

bool SkipGroupVarint64(ByteReader& reader, size_t groups) {
  ByteReader ahead = reader;
  for (; groups > 0; --groups) {
    if (ahead.remaining() < 2 || !ahead.Skip(GroupSize64(ahead.rest().data()))) return false;
  }
  reader = ahead;
  return true;
}

}  // namespace cfile::encodings
#endif  // HWY_ONCE
