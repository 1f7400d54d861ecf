#include "cfile/parts/arrow/import_array.h"

#include "encodings/core/assert.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

using encodings::StrCat;

// The maximum number of values. No memory can hold so many, and positions in their buffers do not
// overflow.
int64_t MaxLength(const ImportField& field) { return INT64_MAX / (int64_t{64} + field.width); }

// Returns the number of buffers of an array. For kViews, the data buffers are not counted.
int64_t BuffersOf(ArrowKind kind) {
  switch (kind) {
    case ArrowKind::kNull:
    case ArrowKind::kRunEnds:
      return 0;
    case ArrowKind::kStruct:
    case ArrowKind::kFixedLists:
      return 1;
    case ArrowKind::kBits:
    case ArrowKind::kNumbers:
    case ArrowKind::kMillis:
    case ArrowKind::kDecimals:
    case ArrowKind::kFixedBytes:
    case ArrowKind::kList32:
    case ArrowKind::kList64:
    case ArrowKind::kDictionary:
      return 2;
    case ArrowKind::kStrings32:
    case ArrowKind::kStrings64:
    case ArrowKind::kListViews32:
    case ArrowKind::kListViews64:
    case ArrowKind::kViews:
      return 3;
  }
  CFILE_ASSERT(false && "unknown ArrowKind");
  return 0;
}

int64_t ChildrenOf(const ImportField& field) {
  if (field.kind == ArrowKind::kStruct) return static_cast<int64_t>(field.children.size());
  if (field.kind == ArrowKind::kRunEnds) return 2;
  return field.is_list() ? 1 : 0;
}

class ArrayChecker {
 public:
  ArrayChecker(const ImportField& field, const ArrowArray& array) : field_(field), array_(array) {}

  absl::Status Check() {
    CFILE_RETURN_IF_ERROR(CheckNumbers());
    CFILE_RETURN_IF_ERROR(CheckBuffers());
    if (field_.kind == ArrowKind::kViews) return CheckViewData();
    if (field_.kind == ArrowKind::kStrings32) return CheckStrings<int32_t>();
    if (field_.kind == ArrowKind::kStrings64) return CheckStrings<int64_t>();
    if (field_.kind == ArrowKind::kDictionary) {
      return CheckArray(field_.children[0], array_.dictionary);
    }
    if (field_.kind == ArrowKind::kRunEnds) {
      CFILE_RETURN_IF_ERROR(CheckArray(field_.children[0], array_.children[1]));
      return VisitIndex(field_.physical,
                        [&]<typename T>(std::type_identity<T>) { return CheckRuns<T>(); });
    }
    for (size_t i = 0; i < field_.children.size(); ++i)
      CFILE_RETURN_IF_ERROR(CheckArray(field_.children[i], array_.children[i]));
    return CheckChildLengths();
  }

 private:
  template <typename... Parts>
  absl::Status Malformed(const Parts&... parts) const {
    return MalformedArray(field_, StrCat(parts...));
  }
  int64_t end() const { return array_.offset + array_.length; }

  absl::Status CheckNumbers() const {
    const int64_t max_length = MaxLength(field_);
    if (array_.length < 0 || array_.offset < 0 || array_.length > max_length ||
        array_.offset > max_length - array_.length) {
      return Malformed("length ", array_.length, ", offset ", array_.offset);
    }
    if (array_.null_count < -1 || array_.null_count > array_.length)
      return Malformed("length ", array_.length, ", null_count ", array_.null_count);
    const int64_t buffers = BuffersOf(field_.kind);
    const bool views = field_.kind == ArrowKind::kViews;
    if (views ? array_.n_buffers < buffers : array_.n_buffers != buffers) {
      return Malformed("expected ", buffers, views ? " or more" : "", " buffers, found ",
                       array_.n_buffers);
    }
    if (array_.n_buffers > 0 && array_.buffers == nullptr) return Malformed("buffers is null");
    if (array_.n_children != ChildrenOf(field_))
      return Malformed("expected ", ChildrenOf(field_), " children, found ", array_.n_children);
    if (array_.n_children > 0 && array_.children == nullptr) return Malformed("children is null");
    if ((array_.dictionary != nullptr) != (field_.kind == ArrowKind::kDictionary)) {
      return Malformed(array_.dictionary == nullptr ? "expected a dictionary, found none"
                                                    : "expected no dictionary, found one");
    }
    return absl::OkStatus();
  }

  absl::Status CheckBuffers() const {
    if (BuffersOf(field_.kind) > 0 && array_.buffers[0] == nullptr && array_.null_count > 0)
      return Malformed("there are ", array_.null_count, " nulls, but the validity bitmap is null");
    if (end() == 0) return absl::OkStatus();
    // If there are no data bytes, the data pointer of strings and views may be null.
    const int64_t needed = field_.kind == ArrowKind::kViews ||
                                   field_.kind == ArrowKind::kStrings32 ||
                                   field_.kind == ArrowKind::kStrings64
                               ? 2
                               : array_.n_buffers;
    for (int64_t i = 1; i < needed; ++i) {
      if (array_.buffers[i] == nullptr) return Malformed("buffer ", i, " is null");
    }
    return absl::OkStatus();
  }

  absl::Status CheckViewData() const {
    const int64_t count = array_.n_buffers - 3;
    const void* const sizes = array_.buffers[array_.n_buffers - 1];
    if (count > 0 && sizes == nullptr) return Malformed("the sizes of the data buffers are null");
    for (int64_t i = 0; i < count; ++i) {
      const auto size = LoadAt<int64_t>(sizes, i);
      if (size < 0 || (size > 0 && array_.buffers[2 + i] == nullptr)) {
        return Malformed("data buffer ", i, " has ", size, " bytes",
                         array_.buffers[2 + i] == nullptr ? " and is null" : "");
      }
    }
    return absl::OkStatus();
  }

  template <typename Offset>
  absl::Status CheckStrings() const {
    if (end() == 0) return absl::OkStatus();
    const auto first = LoadAt<Offset>(array_.buffers[1], array_.offset);
    const auto last = LoadAt<Offset>(array_.buffers[1], end());
    if (first < 0 || last < first)
      return Malformed("the strings are at the offsets ", first, " to ", last);
    if (last > first && array_.buffers[2] == nullptr) return Malformed("the data is null");
    return absl::OkStatus();
  }

  template <typename End>
  absl::Status CheckRuns() const {
    ImportField field{.kind = ArrowKind::kNumbers, .path = field_.path + ".run_ends"};
    CFILE_RETURN_IF_ERROR(CheckArray(field, array_.children[0]));
    const ArrowArray& ends = *array_.children[0];
    if (ends.null_count > 0) return Malformed("a run end is null");
    if (ends.length > array_.children[1]->length)
      return Malformed(ends.length, " run ends, but ", array_.children[1]->length, " values");
    End before = 0;
    for (int64_t i = 0; i < ends.length; ++i) {
      const End run_end = LoadAt<End>(ends.buffers[1], ends.offset + i);
      if (run_end <= before) return Malformed("run ", i, " ends at ", run_end, " after ", before);
      before = run_end;
    }
    if (static_cast<int64_t>(before) < end() && array_.length > 0)
      return Malformed("the last run ends at ", before, ", the array at ", end());
    return absl::OkStatus();
  }

  // Checks the lengths that do not depend on values.
  absl::Status CheckChildLengths() const {
    for (int64_t i = 0; i < array_.n_children; ++i) {
      int64_t needed = 0;
      if (field_.kind == ArrowKind::kStruct) needed = array_.length == 0 ? 0 : end();
      if (field_.kind == ArrowKind::kFixedLists && array_.length > 0) needed = end() * field_.width;
      if (array_.children[i]->length < needed) {
        return Malformed("expected a child of ", needed, " values or more, found ",
                         array_.children[i]->length);
      }
    }
    return absl::OkStatus();
  }

  const ImportField& field_;
  const ArrowArray& array_;
};

}  // namespace

absl::Status CheckArray(const ImportField& field, const ArrowArray* array) {
  if (array == nullptr) return MalformedArray(field, "the ArrowArray is null");
  if (array->release == nullptr) return MalformedArray(field, "the ArrowArray is released");
  return ArrayChecker(field, *array).Check();
}

absl::Status MalformedArray(const ImportField& field, std::string_view what) {
  return absl::InvalidArgumentError(StrCat(field.InField(), ": ", what));
}

}  // namespace cfile::internal
