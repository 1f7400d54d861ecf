#include "cfile/parts/arrow/schema/changed_array.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "cfile/parts/arrow/import_array.h"
#include "cfile/parts/arrow/schema/half.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

using encodings::StrCat;

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

namespace {

// Keeps a buffer of `parts`.
template <typename T>
void AddOwned(std::vector<T> values, ArrayParts& parts) {
  const auto owner = std::make_shared<const std::vector<T>>(std::move(values));
  parts.AddBuffer(owner->data(), owner);
}

// Returns the elements of lists of the fixed length `width`. Elements of lists that are null are
// null, too: a consumer counts them. Lists that are null take at most kMaxNullListBytes.
absl::StatusOr<HeldArray> ElementsOf(const ArrowArray& lists, const std::string& format,
                                     size_t width) {
  const ArrowArray& elements = *lists.children[0];
  if (elements.n_buffers != 2) return absl::InvalidArgumentError("the lists have no numbers");
  const size_t size_bytes = ElementBytes(format);
  const auto count = static_cast<size_t>(lists.offset + lists.length);
  const auto* const bits = static_cast<const uint8_t*>(lists.buffers[0]);
  const auto* const element_bits = static_cast<const uint8_t*>(elements.buffers[0]);
  const auto is_list = [&](size_t i) {
    const auto row = static_cast<int64_t>(i);
    return row >= lists.offset && (bits == nullptr || BitAt(bits, row));
  };
  size_t nulls = 0;
  for (size_t i = 0; i < count; ++i) {
    if (!is_list(i)) {
      ++nulls;
      continue;
    }
    const int64_t begin = LoadAt<int32_t>(lists.buffers[1], static_cast<int64_t>(i));
    const int64_t end = LoadAt<int32_t>(lists.buffers[1], static_cast<int64_t>(i) + 1);
    if (end - begin != static_cast<int64_t>(width)) {
      return absl::InvalidArgumentError(StrCat("row ", i, " of a batch: a list of ", width,
                                               " elements expected, found ", end - begin));
    }
  }
  if (nulls > kMaxNullListBytes / (width * size_bytes)) {
    return absl::OutOfRangeError(StrCat(nulls, " lists of ", width,
                                        " elements that are null need more than ",
                                        kMaxNullListBytes, " bytes: read smaller batches"));
  }
  std::vector<char> values(count * width * size_bytes);
  std::vector<uint8_t> validity((count * width + 7) / 8);
  for (size_t i = 0; i < count; ++i) {
    if (!is_list(i)) continue;
    const int64_t begin =
        elements.offset + LoadAt<int32_t>(lists.buffers[1], static_cast<int64_t>(i));
    std::memcpy(
        &values[i * width * size_bytes],
        static_cast<const char*>(elements.buffers[1]) + static_cast<size_t>(begin) * size_bytes,
        width * size_bytes);
    for (size_t k = i * width; k < (i + 1) * width; ++k) {
      const int64_t element = begin + static_cast<int64_t>(k - i * width);
      const bool valid = element_bits == nullptr || BitAt(element_bits, element);
      validity[k / 8] = static_cast<uint8_t>(validity[k / 8] | int{valid} << (k % 8));
    }
  }
  ArrayParts parts{.length = static_cast<int64_t>(count * width), .null_count = -1};
  AddOwned(std::move(validity), parts);
  AddOwned(std::move(values), parts);
  return MakeArray(std::move(parts));
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

// Replaces *array, which is not released. `field`: the new type.
absl::Status ReplaceArray(Change change, const ArrowField& field, const std::string& path,
                          ArrowArray* array) {
  const auto old = std::make_shared<HeldArray>(array);
  ArrowArray& from = *old->get();
  const bool has_nulls = change == Change::kNullToString || change == Change::kToNull;
  if (from.length < 0 || from.offset < 0 ||
      (!has_nulls && (from.n_buffers != 2 || (from.length > 0 && from.buffers[1] == nullptr)))) {
    return absl::InvalidArgumentError(
        StrCat("Arrow field ", path, ": the array has no values"));
  }
  const auto slots = static_cast<size_t>(from.offset + from.length);
  ArrayParts parts{.length = from.length, .null_count = has_nulls ? from.length : from.null_count};
  if (change == Change::kNullToString) {
    AddOwned(std::vector<uint8_t>((slots + 7) / 8), parts);
    AddOwned(std::vector<int32_t>(slots + 1), parts);
    AddOwned(std::vector<char>(1), parts);
  } else if (!has_nulls) {
    parts.AddBuffer(from.buffers[0], old);
  }
  if (change == Change::kHalfToFloat)
    AddOwned(Converted<float, uint16_t>(from, FloatOfHalf), parts);
  if (change == Change::kFloatToHalf) {
    CFILE_RETURN_IF_ERROR(CheckHalves(from, path));
    AddOwned(Converted<uint16_t, float>(from, HalfOfFloat), parts);
  }
  if (change == Change::kToFixedLists) {
    CFILE_ASSIGN_OR_RETURN(HeldArray elements,
                           ElementsOf(from, field.children[0].format, ListWidth(field)));
    parts.children.push_back(std::move(elements));
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
  if (change.own != Change::kNone) return ReplaceArray(change.own, field, shown, array);
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
