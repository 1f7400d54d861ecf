#include "cfile/parts/arrow/import_plan.h"

#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "cfile/status.h"
#include "encodings/core/assert.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

using encodings::StrCat;

class Planner {
 public:
  explicit Planner(const RecordSchema& tree) : tree_(tree) {}

  std::vector<ImportLeaf> Take() { return std::move(leaves_); }

  // Finds the child of the struct `field` for each child of the group `node`.
  absl::Status PlanChildren(const ImportField& field, size_t node, bool by_position) {
    const ImportField& group = field.values();
    if (group.kind != ArrowKind::kStruct) return Unfit(field, node, "a struct");
    std::map<std::string_view, size_t> by_name;
    for (size_t i = 0; i < group.children.size() && !by_position; ++i) {
      if (!by_name.emplace(group.children[i].name, i).second) {
        return absl::InvalidArgumentError(StrCat(group.children[i].InField(), " occurs twice"));
      }
    }
    size_t position = 0;
    const size_t step = steps_.size() - 1;
    for (size_t child = node + 1; child < tree_.node(node).end; child = tree_.node(child).end) {
      const auto found = by_name.find(tree_.node(child).name);
      if (!by_position && found == by_name.end()) {
        return UnfitRows(absl::InvalidArgumentError(
            StrCat("the Arrow stream has no field ", tree_.Path(child))));
      }
      steps_[step].child = by_position ? position++ : found->second;
      CFILE_RETURN_IF_ERROR(Plan(group.children[steps_[step].child], child));
      if (!by_position) by_name.erase(found);
    }
    if (by_name.empty()) return absl::OkStatus();
    return UnfitRows(absl::InvalidArgumentError(
        StrCat(group.children[by_name.begin()->second].InField(), " has no column in the table")));
  }

  // Finds the columns below a node whose values are in `field`. A repeated node needs a list.
  absl::Status Plan(const ImportField& field, size_t number) {
    const RecordNode& node = tree_.node(number);
    if (node.repetition != Repetition::kRepeated) return PlanSingle(field, number);
    if (!field.values().is_list()) return Unfit(field, number, "a list");
    steps_.push_back({.field = &field,
                      .definition = static_cast<uint16_t>(node.max_definition - 1),
                      .repetition = node.max_repetition});
    CFILE_RETURN_IF_ERROR(PlanSingle(field.values().children[0], number));
    steps_.pop_back();
    return absl::OkStatus();
  }

  // The steps from the root to the current field.
  std::vector<ImportStep>& steps() { return steps_; }

 private:
  // Plans a node that is not repeated, or one element of a repeated node.
  absl::Status PlanSingle(const ImportField& field, size_t number) {
    const RecordNode& node = tree_.node(number);
    const ImportField& values = field.values();
    steps_.push_back({.field = &field,
                      .optional = node.repetition == Repetition::kOptional,
                      .definition = node.max_definition});
    const absl::Status unfit = CheckFits(field, number);
    const bool is_group_for_leaf = node.is_leaf() && values.kind >= ArrowKind::kStruct;
    if (node.repetition != Repetition::kOptional || is_group_for_leaf) {
      CFILE_RETURN_IF_ERROR(unfit);
    }
    if (values.kind == ArrowKind::kNull || node.is_leaf() || !unfit.ok()) {
      for (size_t leaf = node.first_leaf; leaf < node.end_leaf; ++leaf) AddLeaf(leaf, unfit);
    } else if (node.kind == GroupKind::kPlain) {
      CFILE_RETURN_IF_ERROR(PlanChildren(field, number, false));
    } else {
      steps_.back().repetition = tree_.node(number + 1).max_repetition;
      const ImportField& element = values.children[0];
      if (node.kind == GroupKind::kList) {
        CFILE_RETURN_IF_ERROR(PlanSingle(element, tree_.ListElement(number)));
      } else {
        steps_.push_back({.field = &element, .definition = tree_.node(number + 1).max_definition});
        // The key and the value of a map in Arrow may have any names.
        CFILE_RETURN_IF_ERROR(PlanChildren(element, number + 1, values.is_map));
        steps_.pop_back();
      }
    }
    steps_.pop_back();
    return absl::OkStatus();
  }

  // Returns an error if values of the field cannot be values of the node.
  absl::Status CheckFits(const ImportField& field, size_t number) const {
    const RecordNode& node = tree_.node(number);
    const ImportField& values = field.values();
    if (values.kind == ArrowKind::kNull) return absl::OkStatus();
    if (node.is_leaf()) {
      return values.kind < ArrowKind::kStruct
                 ? CheckStorable(values, node.type)
                 : Unfit(field, number, "values of type " + node.type.ToString());
    }
    if (node.kind == GroupKind::kPlain) {
      return values.kind == ArrowKind::kStruct ? absl::OkStatus()
                                               : Unfit(field, number, "a struct");
    }
    return values.is_list()
               ? absl::OkStatus()
               : Unfit(field, number, node.kind == GroupKind::kMap ? "a map" : "a list");
  }

  void AddLeaf(size_t column, absl::Status unfit) {
    const RecordNode& leaf = tree_.leaf(column);
    leaves_.push_back({.column = column,
                       .type = leaf.type,
                       .max_repetition = leaf.max_repetition,
                       .max_definition = leaf.max_definition,
                       .steps = steps_,
                       .unfit = std::move(unfit)});
  }

  absl::Status Unfit(const ImportField& field, size_t node, std::string_view expected) const {
    return absl::InvalidArgumentError(StrCat(field.InField(), ": the column ",
                                             node == 0 ? tree_.node(0).name : tree_.Path(node),
                                             " needs ", expected));
  }

  const RecordSchema& tree_;
  std::vector<ImportStep> steps_;
  std::vector<ImportLeaf> leaves_;
};

}  // namespace

absl::StatusOr<std::vector<ImportLeaf>> PlanRecords(const ImportField& root,
                                                    const RecordSchema& tree) {
  if (root.kind != ArrowKind::kStruct) {
    return absl::InvalidArgumentError("the arrays of an Arrow stream for a table must be structs");
  }
  Planner planner(tree);
  planner.steps().push_back({.field = &root});
  CFILE_RETURN_IF_ERROR(planner.PlanChildren(root, 0, false));
  return planner.Take();
}

absl::StatusOr<ImportLeaf> PlanColumn(const ImportField& field, const RecordSchema& tree) {
  CFILE_ASSERT(tree.leaves().size() == 1);
  Planner planner(tree);
  if (field.kind == ArrowKind::kStruct && field.children.size() == 1) {
    planner.steps().push_back({.field = &field});
    CFILE_RETURN_IF_ERROR(planner.Plan(field.children[0], 1));
  } else {
    CFILE_RETURN_IF_ERROR(planner.Plan(field, 1));
  }
  return std::move(planner.Take()[0]);
}

}  // namespace cfile::internal
