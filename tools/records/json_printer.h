// Records as JSON Lines, in the forms that tools/records/json_parser.h reads: parsing what was
// printed gives the same record, unless a map has a key twice.
//
//   integers            bare, whatever their size; decimals of scale 0 likewise
//   float, double       with a point or an exponent, so that they stay what they are where a schema
//                       is found from them; nan and inf are strings
//   a repeated field    left out if it has no elements, as in the seed of the schema notation
//   a list or map       [] or {} where it is empty, left out where it is missing
//   a map's keys        strings, those that are not UTF-8 as bare hex digits, which cannot be told
//                       from a key of such digits; a map of which only the keys or only the values
//                       are read is an array of {"KEY": ...} or {"VALUE": ...}
//   strings that are not UTF-8   {"hex": "..."}, which the parser does not read
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "cfile/record_schema.h"
#include "cfile/record_visitor.h"

namespace cfile::tools {

// Appends a line for each record. The fields of each group must come in the schema's order, as
// RecordReader tells them. Thread-compatible.
class JsonPrinter final : public RecordVisitor {
 public:
  // `leaves`: those that are told. `out` must outlive the printer. `drain`, if there is one,
  // empties it, and is called within a record where more than kDrainBytes are there: a few bytes of
  // levels may say that a list has millions of elements.
  JsonPrinter(const RecordSchema& schema, std::span<const size_t> leaves, std::string& out,
              std::function<void()> drain = {});
  static constexpr size_t kDrainBytes = 1 << 20;

  absl::Status BeginGroup(size_t node) override;
  absl::Status EndGroup(size_t node) override;
  absl::Status Value(size_t node, const RecordValue& value) override;

 private:
  // How an open group is shown.
  enum class Form : uint8_t {
    kObject,   // {"FIELD": ..., ...}
    kList,     // [...]
    kElement,  // of a list: what its one field is
    kMap,      // {...}
    kEntry,    // of a map: "KEY": VALUE
  };
  struct Open {
    size_t node;
    Form form;
    bool empty = true;       // nothing has been printed in it
    size_t array = 0;        // the field whose [ is open; 0: none
    bool has_value = false;  // of an element or entry
  };

  Form FormOf(size_t node, const std::vector<bool>& leaves) const;
  // Prints what stands before a value of `node`: commas, name, brackets.
  void Begin(size_t node);
  void CloseArray(Open& group);
  void DrainIfLong();

  const RecordSchema schema_;
  std::vector<Form> forms_;  // by node
  std::string& out_;
  const std::function<void()> drain_;
  std::vector<Open> open_;
  std::string text_;
};

}  // namespace cfile::tools
