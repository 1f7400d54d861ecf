#include "cfile/parts/arrow/import_entries.h"

#include <algorithm>
#include <utility>

#include "cfile/parts/arrow/import_array.h"
#include "cfile/status.h"
#include "encodings/core/status.h"

namespace cfile::internal {

absl::StatusOr<const ArrowArray*> ImportEntries::Make(const std::vector<ImportStep>& steps,
                                                      const ArrowArray& root, int64_t begin,
                                                      size_t count, size_t max_entries) {
  count_ = count;
  repetition_.clear();
  definition_.clear();
  slots_.SetDense(begin, count);
  const ArrowArray* array = &root;
  for (size_t i = 0; i < steps.size(); ++i) {
    const ImportStep& step = steps[i];
    const size_t nulls_before = slots_.null_count;
    CFILE_ASSIGN_OR_RETURN(array, FindValues(*step.field, *array, slots_));
    if (slots_.null_count > nulls_before && !step.optional) {
      if (i == 0 && step.field->values().kind == ArrowKind::kStruct)
        return MalformedArray(*step.field, "a row is null, but only a column of structs has nulls");
      return UnfitRows(MalformedArray(*step.field, "a value is null, but it is required"));
    }
    if (!flat_ && slots_.null_count > 0) EndNulls(static_cast<uint16_t>(step.definition - 1));
    if (i + 1 == steps.size()) break;
    const ImportField& values = step.field->values();
    if (values.is_list()) {
      CFILE_RETURN_IF_ERROR(ExpandList(step, *array, max_entries));
      array = array->children[0];
    } else if (values.kind == ArrowKind::kStruct) {
      slots_.Shift(array->offset);
      array = array->children[step.child];
    }
  }
  return array;
}

// Sets the definition level of the null entries, and removes the positions of these entries.
void ImportEntries::EndNulls(uint16_t definition) {
  if (definition_.empty()) definition_.assign(count_, kPresent);
  slots_.MakeList();
  const int64_t* slot = slots_.list.data();
  for (uint16_t& level : definition_) {
    if (level == kPresent && *slot++ == Slots::kNull) level = definition;
  }
  slots_.RemoveNulls();
}

template <typename Bounds>
absl::Status ImportEntries::Expand(const ImportStep& step, int64_t child_length, size_t max_entries,
                                   const Bounds& bounds) {
  const auto slot_at = [&](size_t i) {
    return slots_.dense ? slots_.first + static_cast<int64_t>(i) : slots_.list[i];
  };
  size_t elements = 0;
  size_t empty = 0;
  bool dense = true;
  int64_t first = 0;  // the position of the first element, if the elements are dense
  for (size_t i = 0; i < slots_.count; ++i) {
    int64_t begin, end;
    bounds(slot_at(i), begin, end);
    if (begin < 0 || end < begin || end > child_length) {
      return MalformedArray(*step.field, encodings::StrCat("a list has the elements ", begin,
                                                           " to ", end, " of ", child_length));
    }
    // The processor cannot predict which lists are empty, so this loop has no branch for them.
    first = elements == 0 ? begin : first;
    dense &= (begin == end) | (begin == first + static_cast<int64_t>(elements));
    empty += begin == end;
    elements += static_cast<size_t>(end - begin);
    if (elements > max_entries) {
      return absl::ResourceExhaustedError(encodings::StrCat(
          step.field->InField(), ": a record has more than ", max_entries, " entries"));
    }
  }
  const size_t ended = count_ - slots_.count;
  const size_t total = ended + empty + elements;
  // Most entries continue a list and have an element. The loop below overwrites the others.
  next_repetition_.resize(total);
  std::fill(next_repetition_.begin(), next_repetition_.end(), step.repetition);
  next_definition_.resize(empty + ended > 0 ? total : 0);
  std::fill(next_definition_.begin(), next_definition_.end(), kPresent);
  next_slots_.SetDense(dense ? first : 0, elements);
  if (!dense) {
    next_slots_.dense = false;
    next_slots_.list.resize(elements);
  }
  size_t out = 0;
  size_t list = 0;
  size_t element = 0;
  for (size_t i = 0; i < count_; ++i) {
    const uint16_t definition = definition_.empty() ? kPresent : definition_[i];
    int64_t begin = 0, end = 0;
    if (definition == kPresent) bounds(slot_at(list++), begin, end);
    const bool is_empty = begin == end;
    next_repetition_[out] = repetition_.empty() ? uint16_t{0} : repetition_[i];
    if (!next_definition_.empty()) {
      const uint16_t of_empty = definition == kPresent ? step.definition : definition;
      next_definition_[out] = is_empty ? of_empty : kPresent;
    }
    for (int64_t k = begin; k < end && !dense; ++k) next_slots_.list[element++] = k;
    out += static_cast<size_t>(end - begin) + is_empty;
  }
  count_ = total;
  repetition_.swap(next_repetition_);
  definition_.swap(next_definition_);
  std::swap(slots_, next_slots_);
  return absl::OkStatus();
}

absl::Status ImportEntries::ExpandList(const ImportStep& step, const ArrowArray& array,
                                       size_t max_entries) {
  const ImportField& field = step.field->values();
  const int64_t offset = array.offset;
  const int64_t length = array.children[0]->length;
  const auto by_offsets = [&]<typename Offset>(std::type_identity<Offset>) {
    return Expand(step, length, max_entries, [&](int64_t slot, int64_t& begin, int64_t& end) {
      begin = LoadAt<Offset>(array.buffers[1], slot + offset);
      end = LoadAt<Offset>(array.buffers[1], slot + offset + 1);
    });
  };
  const auto by_views = [&]<typename Offset>(std::type_identity<Offset>) {
    return Expand(step, length, max_entries, [&](int64_t slot, int64_t& begin, int64_t& end) {
      begin = LoadAt<Offset>(array.buffers[1], slot + offset);
      const int64_t size = LoadAt<Offset>(array.buffers[2], slot + offset);
      // An end of -1 is an error, because the end is then before the begin.
      end = begin < 0 || size > length - begin ? -1 : begin + size;
    });
  };
  switch (field.kind) {
    case ArrowKind::kList32:
      return by_offsets(std::type_identity<int32_t>());
    case ArrowKind::kList64:
      return by_offsets(std::type_identity<int64_t>());
    case ArrowKind::kListViews32:
      return by_views(std::type_identity<int32_t>());
    case ArrowKind::kListViews64:
      return by_views(std::type_identity<int64_t>());
    default:
      return Expand(step, length, max_entries, [&](int64_t slot, int64_t& begin, int64_t& end) {
        begin = (slot + offset) * field.width;
        end = begin + field.width;
      });
  }
}

void ImportEntries::Finish(const ImportLeaf& leaf) {
  if (leaf.max_repetition == 0) {
    repetition_.clear();
  } else if (repetition_.empty()) {
    repetition_.assign(count_, 0);
  }
  if (leaf.max_definition == 0) {
    definition_.clear();
  } else if (definition_.empty()) {
    definition_.assign(count_, leaf.max_definition);
  } else {
    // Unlike std::replace, this stores each level, so that the compiler can vectorize the loop.
    const uint16_t max = leaf.max_definition;
    for (uint16_t& level : definition_) level = level == kPresent ? max : level;
  }
}

}  // namespace cfile::internal
