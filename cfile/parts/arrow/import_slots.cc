#include "cfile/parts/arrow/import_slots.h"

#include <algorithm>

#include "cfile/parts/arrow/import_array.h"
#include "encodings/core/status.h"
#include "encodings/kernels/bool_bits.h"
#include "encodings/kernels/count_ones.h"

namespace cfile::internal {
namespace {

// Copies the bits [first, first + count) to `out`.
void CopyBits(const uint8_t* bits, int64_t first, size_t count, uint8_t* out) {
  const uint8_t* const from = bits + first / 8;
  const auto shift = static_cast<unsigned>(first % 8);
  const size_t bytes = (count + 7) / 8;
  if (shift == 0) {
    std::memcpy(out, from, bytes);
    return;
  }
  // The last byte of the output may have bits of the last input byte only.
  const size_t last = (shift + count + 7) / 8 - 1;
  for (size_t i = 0; i < bytes; ++i) {
    const unsigned high = i < last ? from[i + 1] : 0u;
    out[i] = static_cast<uint8_t>((from[i] | high << 8) >> shift);
  }
}

void MarkNulls(const ImportField& field, const ArrowArray& array, Slots& slots) {
  if (slots.count == 0) return;
  if (field.kind == ArrowKind::kNull) {
    slots.dense = false;
    slots.list.assign(slots.count, Slots::kNull);
    slots.null_count = slots.count;
    return;
  }
  const uint8_t* const validity = ValidityOf(field, array);
  if (validity == nullptr) return;
  if (slots.dense && slots.null_count == 0) {
    const int64_t first = slots.first + array.offset;
    const auto end = static_cast<uint64_t>(first) + slots.count;
    slots.null_count =
        slots.count - encodings::CountOnes({validity, encodings::BitmapBytes(end)},
                                           static_cast<uint64_t>(first), slots.count);
    if (slots.null_count == 0) return;
    slots.validity.resize((slots.count + 7) / 8);
    CopyBits(validity, first, slots.count, slots.validity.data());
    return;
  }
  slots.MakeList();
  for (int64_t& slot : slots.list) {
    if (slot == Slots::kNull || BitAt(validity, slot + array.offset)) continue;
    slot = Slots::kNull;
    ++slots.null_count;
  }
}

template <typename Index>
absl::Status MapIndexes(const ImportField& field, const ArrowArray& array, Slots& slots) {
  const bool had_nulls = slots.null_count > 0;
  const void* const indexes = array.buffers[1];
  const auto size = static_cast<uint64_t>(array.dictionary->length);
  const bool dense = slots.dense && !had_nulls;
  if (dense) {
    slots.dense = false;
    slots.list.resize(slots.count);
  } else {
    slots.MakeList();
  }
  bool wrong = false;
  for (size_t i = 0; i < slots.count; ++i) {
    const int64_t slot = dense ? slots.first + static_cast<int64_t>(i) : slots.list[i];
    if (slot == Slots::kNull) continue;
    // As an unsigned number, a negative index is too large.
    const auto index = static_cast<uint64_t>(LoadAt<Index>(indexes, slot + array.offset));
    wrong |= index >= size;
    slots.list[i] = static_cast<int64_t>(index);
  }
  if (!wrong) return absl::OkStatus();
  return MalformedArray(
      field, encodings::StrCat("an index is not in the dictionary of ", size, " values"));
}

template <typename End>
void MapRuns(const ArrowArray& array, Slots& slots) {
  const ArrowArray& ends = *array.children[0];
  const auto end_of = [&](int64_t run) {
    return static_cast<int64_t>(LoadAt<End>(ends.buffers[1], ends.offset + run));
  };
  slots.MakeList();
  // The current run holds the positions from `begin` to `end` - 1.
  int64_t run = -1;
  int64_t begin = 0;
  int64_t end = 0;
  for (int64_t& slot : slots.list) {
    if (slot == Slots::kNull) continue;
    const int64_t position = slot + array.offset;
    if (position < begin || position >= end) {
      // Looks at the next run first, because that is the most frequent case.
      if (position < end || position >= end_of(run + 1)) {
        int64_t low = position < end ? 0 : run + 1;
        int64_t high = position < end ? run : ends.length - 1;
        while (low < high) {
          const int64_t middle = low + (high - low) / 2;
          if (end_of(middle) <= position) {
            low = middle + 1;
          } else {
            high = middle;
          }
        }
        run = low;
      } else {
        ++run;
      }
      begin = run == 0 ? 0 : end_of(run - 1);
      end = end_of(run);
    }
    slot = run;
  }
}

}  // namespace

void Slots::MakeList() {
  if (!dense) return;
  list.resize(count);
  for (size_t i = 0; i < count; ++i) list[i] = first + static_cast<int64_t>(i);
  if (null_count > 0) {
    for (size_t i = 0; i < count; ++i) {
      if (!BitAt(validity.data(), static_cast<int64_t>(i))) list[i] = kNull;
    }
  }
  dense = false;
}

void Slots::Shift(int64_t offset) {
  if (dense) {
    first += offset;
    return;
  }
  if (offset == 0) return;
  for (int64_t& slot : list) {
    if (slot != kNull) slot += offset;
  }
}

void Slots::RemoveNulls() {
  if (null_count == 0) return;
  MakeList();
  list.resize(static_cast<size_t>(std::remove(list.begin(), list.end(), kNull) - list.begin()));
  count = list.size();
  null_count = 0;
}

void Slots::MakeValidity() {
  if (dense) return;
  validity.assign((count + 7) / 8, 0);
  for (size_t i = 0; i < count; ++i) {
    validity[i / 8] =
        static_cast<uint8_t>(validity[i / 8] | static_cast<unsigned>(list[i] != kNull) << (i % 8));
  }
}

absl::StatusOr<const ArrowArray*> FindValues(const ImportField& field, const ArrowArray& array,
                                             Slots& slots) {
  const ImportField* at = &field;
  const ArrowArray* values = &array;
  while (true) {
    MarkNulls(*at, *values, slots);
    if (at->kind == ArrowKind::kDictionary) {
      CFILE_RETURN_IF_ERROR(VisitIndex(at->physical, [&]<typename T>(std::type_identity<T>) {
        return MapIndexes<T>(*at, *values, slots);
      }));
      values = values->dictionary;
    } else if (at->kind == ArrowKind::kRunEnds) {
      VisitIndex(at->physical,
                 [&]<typename T>(std::type_identity<T>) { MapRuns<T>(*values, slots); });
      values = values->children[1];
    } else {
      return values;
    }
    at = &at->children[0];
  }
}

}  // namespace cfile::internal
