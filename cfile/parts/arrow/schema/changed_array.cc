#include "cfile/parts/arrow/schema/changed_array.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "cfile/parts/arrow/import_array.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

using encodings::StrCat;

// A half is Arrow's float16 (binary16 of IEEE 754): 1 bit for the sign, 5 for the exponent and 10
// for the fraction.
float FloatOfHalf(uint16_t half) {
  const int exponent = half >> 10 & 0x1f;
  const int fraction = half & 0x3ff;
  float number = exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                               : std::ldexp(static_cast<float>(fraction + 0x400), exponent - 25);
  // Infinity and NaN have the fraction of the half, so that a NaN comes back as the same NaN.
  if (exponent == 0x1f)
    number = std::bit_cast<float>(0x7f800000u | static_cast<uint32_t>(fraction) << 13);
  return std::bit_cast<float>(std::bit_cast<uint32_t>(number) | static_cast<uint32_t>(half & 0x8000)
                                                                    << 16);
}

// Numbers that are no result of FloatOfHalf lose digits.
uint16_t HalfOfFloat(float number) {
  const auto bits = std::bit_cast<uint32_t>(number);
  const auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000);
  const float size = std::fabs(number);
  const auto with_sign = [&](long bits_of_half) {
    return static_cast<uint16_t>(sign | std::min(bits_of_half, 0x7c00L));
  };
  if (std::isnan(number)) {
    const uint32_t fraction = bits >> 13 & 0x3ff;
    return static_cast<uint16_t>(sign | 0x7c00 | (fraction == 0 ? 0x200 : fraction));
  }
  if (size >= 65520) return with_sign(0x7c00);
  if (size < 0x1p-14F) return with_sign(std::lrint(std::ldexp(size, 24)));
  const int exponent = std::ilogb(size);
  return with_sign(std::lrint(std::ldexp(size, 10 - exponent)) + ((exponent + 14L) << 10));
}

constexpr size_t kMaxNullListBytes = size_t{256} << 20;

// The size of a number with this format; 0 for other types.
size_t ElementBytes(std::string_view format) {
  constexpr std::string_view kLetters = "cCsSiIlLfg";
  constexpr size_t kBytes[] = {1, 1, 2, 2, 4, 4, 8, 8, 4, 8};
  const size_t at = kLetters.find(format);
  return format.size() == 1 && at < kLetters.size() ? kBytes[at] : 0;
}

}  // namespace

size_t ListWidth(const ArrowField& field) {
  const std::string& format = field.format;
  if (!format.starts_with("+w:") || field.children.size() != 1 ||
      ElementBytes(field.children[0].format) == 0) {
    return 0;
  }
  int32_t width = 0;
  const char* const end = format.data() + format.size();
  const auto [rest, error] = std::from_chars(format.data() + 3, end, width);
  return error == std::errc() && rest == end ? static_cast<size_t>(std::max(width, 0)) : 0;
}

size_t ListBytes(const ArrowField& field) {
  const size_t width = ListWidth(field);
  return width == 0 ? 0 : width * ElementBytes(field.children[0].format);
}

namespace {

// Keeps a buffer of `parts`.
template <typename T>
void AddOwned(std::vector<T> values, ArrayParts& parts) {
  const auto owner = std::make_shared<const std::vector<T>>(std::move(values));
  parts.AddBuffer(owner->data(), owner);
}

bool IsValid(const ArrowArray& array, size_t slot) {
  const auto* const bits = static_cast<const uint8_t*>(array.buffers[0]);
  return bits == nullptr || BitAt(bits, static_cast<int64_t>(slot));
}

// Checks the array of the elements of lists. `slots`: how many lists it must have, each of `width`
// elements.
absl::Status CheckNumbers(const ArrowArray& lists, size_t slots, size_t width,
                          const std::string& path) {
  const bool has_child = lists.n_children == 1 && lists.children[0] != nullptr;
  const ArrowArray elements = has_child ? *lists.children[0] : ArrowArray{};
  if (elements.n_buffers == 2 && elements.offset >= 0 && elements.length >= 0 &&
      elements.offset <= INT64_MAX - elements.length &&
      slots <= static_cast<size_t>(elements.length) / width &&
      (elements.length == 0 || elements.buffers[1] != nullptr)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(StrCat("Arrow field ", path, ": the lists have no numbers"));
}

// Returns the elements of lists, which must have the length of change.lists. Elements of lists that
// are null are null, too: a consumer counts them. Lists that are null take at most
// kMaxNullListBytes.
absl::StatusOr<HeldArray> ElementsOf(const ArrowArray& lists, const FieldChange& change,
                                     const std::string& path) {
  const size_t width = ListWidth(change.lists), list_bytes = ListBytes(change.lists);
  CFILE_RETURN_IF_ERROR(CheckNumbers(lists, 0, width, path));  // the offsets say how many
  const ArrowArray& elements = *lists.children[0];
  const auto first = static_cast<size_t>(lists.offset);
  const auto count = static_cast<size_t>(lists.offset + lists.length);
  const auto offset = [&](size_t i) -> int64_t {
    const auto at = static_cast<int64_t>(i);
    return change.large_lists ? LoadAt<int64_t>(lists.buffers[1], at)
                              : LoadAt<int32_t>(lists.buffers[1], at);
  };
  size_t nulls = first;
  for (size_t i = first; i < count; ++i) {
    if (!IsValid(lists, i)) {
      ++nulls;
      continue;
    }
    const int64_t begin = offset(i), end = offset(i + 1);
    if (begin >= 0 && begin <= end && end <= elements.length &&
        static_cast<size_t>(end - begin) == width) {
      continue;
    }
    return absl::InvalidArgumentError(StrCat("Arrow field ", path, ": row ", i - first,
                                             " of a batch: a list of ", width,
                                             " elements expected, found ", end - begin));
  }
  if (nulls > kMaxNullListBytes / list_bytes) {
    return OutOfRange("Arrow field ", path, ": ", nulls, " lists of ", width,
                      " elements that are null need more than ", kMaxNullListBytes,
                      " bytes: read smaller batches");
  }
  const bool has_nulls = nulls > 0 || elements.buffers[0] != nullptr;
  std::vector<char> values(count * list_bytes);
  std::vector<uint8_t> validity(has_nulls ? (count * width + 7) / 8 : 0);
  for (size_t i = first; i < count; ++i) {
    if (!IsValid(lists, i)) continue;
    const auto begin = static_cast<size_t>(elements.offset + offset(i));
    std::memcpy(&values[i * list_bytes],
                static_cast<const char*>(elements.buffers[1]) + begin * (list_bytes / width),
                list_bytes);
    for (size_t k = 0; has_nulls && k < width; ++k) {
      const size_t bit = i * width + k;
      const int valid = IsValid(elements, begin + k) ? 1 : 0;
      validity[bit / 8] = static_cast<uint8_t>(validity[bit / 8] | valid << (bit % 8));
    }
  }
  ArrayParts parts{.length = static_cast<int64_t>(count * width), .null_count = has_nulls ? -1 : 0};
  if (has_nulls)
    AddOwned(std::move(validity), parts);
  else
    parts.AddBuffer(nullptr, nullptr);
  AddOwned(std::move(values), parts);
  return MakeArray(std::move(parts));
}

// Adds the bytes of lists of a fixed length. `owner` keeps their elements in memory.
// Precondition: `elements` has all elements (CheckNumbers).
absl::Status AddBytes(const ArrowArray& lists, const ArrowArray& elements,
                      const FieldChange& change, const std::string& path,
                      std::shared_ptr<const void> owner, ArrayParts& parts) {
  const size_t width = ListWidth(change.lists);
  const auto first = static_cast<size_t>(lists.offset);
  const auto count = static_cast<size_t>(lists.offset + lists.length);
  const auto begin = static_cast<size_t>(elements.offset);
  for (size_t i = first; i < count && elements.buffers[0] != nullptr; ++i) {
    for (size_t k = 0; k < width && IsValid(lists, i); ++k) {
      if (IsValid(elements, begin + i * width + k)) continue;
      return absl::InvalidArgumentError(
          StrCat("Arrow field ", path, ": row ", i - first,
                 " of a batch: an element is null, but the column holds lists without nulls"));
    }
  }
  const auto* const values = static_cast<const char*>(elements.buffers[1]);
  const size_t bytes_before = begin * (ListBytes(change.lists) / width);
  parts.AddBuffer(values == nullptr ? nullptr : values + bytes_before, std::move(owner));
  return absl::OkStatus();
}

// Checks that float16 has the numbers of an array of float: another column may have had the name
// before, or other programs may have appended rows.
absl::Status CheckHalves(const ArrowArray& array, const std::string& path) {
  const auto* const bits = static_cast<const uint8_t*>(array.buffers[0]);
  for (int64_t i = array.offset; i < array.offset + array.length; ++i) {
    if (bits != nullptr && !BitAt(bits, i)) continue;
    const float number = LoadAt<float>(array.buffers[1], i);
    if (FloatOfHalf(HalfOfFloat(number)) == number || std::isnan(number)) continue;
    return absl::InvalidArgumentError(
        StrCat("Arrow field ", path, ": float16 does not have the number ", number));
  }
  return absl::OkStatus();
}

template <typename To, typename From, typename Convert>
std::vector<To> Converted(const ArrowArray& array, const Convert& convert) {
  std::vector<To> values(static_cast<size_t>(array.offset + array.length));
  for (int64_t i = array.offset; i < array.offset + array.length; ++i)
    values[static_cast<size_t>(i)] = convert(LoadAt<From>(array.buffers[1], i));
  return values;
}

// Replaces *array, which is not released.
absl::Status ReplaceArray(const FieldChange& change, const std::string& path, ArrowArray* array) {
  const auto old = std::make_shared<HeldArray>(array);
  ArrowArray& from = *old->get();
  const Change own = change.own;
  const bool has_nulls = own == Change::kNullToString || own == Change::kToNull;
  const int64_t buffers = own == Change::kFixedListsToBytes ? 1 : 2;
  if (from.length < 0 || from.offset < 0 || from.offset > INT64_MAX - from.length ||
      (!has_nulls && (from.n_buffers != buffers ||
                      (buffers > 1 && from.length > 0 && from.buffers[1] == nullptr)))) {
    return absl::InvalidArgumentError(StrCat("Arrow field ", path, ": the array has no values"));
  }
  const auto slots = static_cast<size_t>(from.offset + from.length);
  ArrayParts parts{.length = from.length, .null_count = has_nulls ? from.length : from.null_count};
  if (own == Change::kNullToString) {
    AddOwned(std::vector<uint8_t>((slots + 7) / 8), parts);
    AddOwned(std::vector<int32_t>(slots + 1), parts);
    AddOwned(std::vector<char>(1), parts);
  } else if (!has_nulls) {
    parts.AddBuffer(from.buffers[0], old);
  }
  if (own == Change::kHalfToFloat) AddOwned(Converted<float, uint16_t>(from, FloatOfHalf), parts);
  if (own == Change::kFloatToHalf) {
    CFILE_RETURN_IF_ERROR(CheckHalves(from, path));
    AddOwned(Converted<uint16_t, float>(from, HalfOfFloat), parts);
  }
  if (own == Change::kToFixedLists || own == Change::kListsToBytes) {
    CFILE_ASSIGN_OR_RETURN(HeldArray elements, ElementsOf(from, change, path));
    if (own == Change::kToFixedLists) {
      parts.children.push_back(std::move(elements));
    } else {
      const auto made = std::make_shared<HeldArray>(std::move(elements));
      CFILE_RETURN_IF_ERROR(AddBytes(from, *made->get(), change, path, made, parts));
    }
  }
  if (own == Change::kFixedListsToBytes) {
    const size_t needed = from.length == 0 ? 0 : slots;
    CFILE_RETURN_IF_ERROR(CheckNumbers(from, needed, ListWidth(change.lists), path));
    CFILE_RETURN_IF_ERROR(AddBytes(from, *from.children[0], change, path, old, parts));
  }
  if (own == Change::kBytesToFixedLists) {
    ArrayParts elements{.length = static_cast<int64_t>(slots * ListWidth(change.lists))};
    elements.AddBuffer(nullptr, nullptr);
    elements.AddBuffer(from.buffers[1], old);
    parts.children.push_back(MakeArray(std::move(elements)));
  }
  HeldArray made = MakeArray(std::move(parts));
  made.get()->offset = from.offset;
  made.MoveTo(array);
  return absl::OkStatus();
}

}  // namespace

absl::Status ChangeArray(const FieldChange& change, const ArrowField& field,
                         const std::string& path, ArrowArray* array) {
  const std::string& shown = path.empty() ? field.name : path;
  if (change.own != Change::kNone) return ReplaceArray(change, shown, array);
  for (size_t i = 0; i < change.children.size(); ++i) {
    if (!change.children[i].any()) continue;
    const std::string& name = field.children[i].name;
    const std::string of_child = path.empty() ? name : StrCat(path, ".", name);
    if (static_cast<int64_t>(i) >= array->n_children || array->children[i] == nullptr)
      return absl::InvalidArgumentError(StrCat("Arrow field ", of_child, ": the array is missing"));
    CFILE_RETURN_IF_ERROR(
        ChangeArray(change.children[i], field.children[i], of_child, array->children[i]));
  }
  return absl::OkStatus();
}

}  // namespace cfile::internal
