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

// Tables for groups of 32-bit values, indexed by the group's selector.
struct GroupVarint32Tables {
  std::array<uint8_t, 256> size{};  // bytes of the whole group, selector included
  // For decoding. Element i of a shuffle says where byte i of the four values comes from: its
  // offset after the selector, or 0x80 if the byte is 0.
  alignas(16) std::array<std::array<uint8_t, 16>, 256> shuffle{};
  // For encoding. Element i says where byte i after the selector comes from: its offset in the four
  // values, or 0x80 (a zero byte) if the byte is after the end of the group.
  alignas(16) std::array<std::array<uint8_t, 16>, 256> pack{};
};

constexpr GroupVarint32Tables MakeGroupVarint32Tables() {
  GroupVarint32Tables tables;
  for (size_t selector = 0; selector < 256; ++selector) {
    uint8_t from = 0;
    tables.pack[selector].fill(0x80);
    for (size_t i = 0; i < 4; ++i) {
      const size_t length = (selector >> (6 - 2 * i) & 3) + 1;
      for (size_t byte = 0; byte < 4; ++byte) {
        if (byte < length) tables.pack[selector][from] = static_cast<uint8_t>(4 * i + byte);
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

inline uint32_t ByteLength(uint64_t value) {  // 1 to 8
  return (static_cast<uint32_t>(std::bit_width(value | 1)) + 7) / 8;
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
  const auto more = [&] {
    return left > 0 && static_cast<size_t>(end - p) >= kMaxGroupVarint32Bytes;
  };
#if HWY_TARGET == HWY_SCALAR
  for (; more(); --left, out += 4) {
    DecodeGroupVarint32(p, out);
    p += kGroupVarint32.size[*p];
  }
#else
  // The address of a group depends on the selector of the group before it, so between two groups,
  // the processor waits until it has loaded the selector and then the size. But if eight groups in
  // a row repeat the selector of the group before them, the next group probably does, too. The
  // inner loop has a branch that the processor can predict in this case, so it decodes several
  // groups at the same time. Groups of changing sizes would be slower with this branch, so the
  // outer loop does not have it.
  const hn::FixedTag<uint8_t, 16> d;
  // A bit for each of the last eight groups: 1 if it had the selector of the group before it.
  uint8_t repeated = 0;
  for (size_t previous = 0; more();) {
    const size_t selector = *p;
    const auto shuffle = hn::Load(d, kGroupVarint32.shuffle[selector].data());
    const auto decode = [&]() HWY_ATTR {
      hn::StoreU(hn::TableLookupBytesOr0(hn::LoadU(d, p + 1), shuffle), d,
                 reinterpret_cast<uint8_t*>(out));
      out += 4;
      --left;
    };
    repeated = static_cast<uint8_t>(repeated << 1 | (selector == previous ? 1 : 0));
    previous = selector;
    const size_t size = kGroupVarint32.size[selector];
    if (repeated != 0xff) {
      decode();
      p += size;
      continue;
    }
    do {
      decode();
      p += size;
    } while (more() && *p == selector);
    repeated = 0;
  }
#endif
  groups = left;
  return p;
}

// Encodes `groups` groups to `p`, and returns their end. Writes up to kMaxGroupVarint32Bytes bytes
// for each group.
uint8_t* EncodeGroups32(const uint32_t* values, size_t groups, uint8_t* p) {
#if HWY_TARGET == HWY_SCALAR
  for (; groups > 0; --groups, values += 4) p = PutGroup<uint32_t, 4, uint8_t, 2>(values, p);
#else
  const hn::FixedTag<uint32_t, 4> d;
  const hn::FixedTag<uint8_t, 16> d8;
  const auto one = hn::Set(d, 1);
  // The indexes of the lowest bytes of the four lanes.
  const auto lowest = hn::BitCast(d8, hn::Set(d, 0x0c080400u));
  const auto above = [&](auto shifted) HWY_ATTR { return hn::Min(shifted, one); };
  for (; groups > 0; --groups, values += 4) {
    const auto v = hn::LoadU(d, values);
    // Lane i is the number of bytes of value i, minus 1.
    const auto lengths = hn::Add(hn::Add(above(hn::ShiftRight<8>(v)), above(hn::ShiftRight<16>(v))),
                                 above(hn::ShiftRight<24>(v)));
    // Byte i of `bytes` is lane i of `lengths`. The multiplication moves these four numbers to the
    // bits from 30, 28, 26 and 24 on.
    const uint32_t bytes =
        hn::GetLane(hn::BitCast(d, hn::TableLookupBytesOr0(hn::BitCast(d8, lengths), lowest)));
    const uint32_t selector = bytes * 0x40100401u >> 24;
    p[0] = static_cast<uint8_t>(selector);
    hn::StoreU(hn::TableLookupBytesOr0(hn::BitCast(d8, v),
                                       hn::Load(d8, kGroupVarint32.pack[selector].data())),
               d8, p + 1);
    p += kGroupVarint32.size[selector];
  }
#endif
  return p;
}

}  // namespace HWY_NAMESPACE
}  // namespace cfile::encodings
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cfile::encodings {
namespace {

HWY_EXPORT(DecodeGroups32);
HWY_EXPORT(EncodeGroups32);

// Byte length of value i of a 64-bit group.
uint32_t Length64(uint32_t selector, uint32_t i) { return (selector >> (12 - 3 * i) & 7) + 1; }

uint32_t GroupSize64(const uint8_t* p) {
  const uint32_t selector = LoadLittleEndian<uint16_t>(p);
  uint32_t size = 2;
  for (uint32_t i = 0; i < 5; ++i) size += Length64(selector, i);
  return size;
}

template <typename T, size_t kValues, typename Selector, uint32_t kSelectorBits>
void PutGroups(std::span<const T> values, ByteWriter& out) {
  constexpr size_t kMaxBytes = sizeof(Selector) + kValues * sizeof(T);
  uint8_t* p = out.Extend((values.size() + kValues - 1) / kValues * kMaxBytes);
  if constexpr (sizeof(T) == 4) {
    const size_t groups = values.size() / kValues;
    p = HWY_DYNAMIC_DISPATCH(EncodeGroups32)(values.data(), groups, p);
    values = values.subspan(kValues * groups);
  }
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
