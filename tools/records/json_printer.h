// Prints records as JSON Lines, in the forms that tools/records/json_parser.h reads. Parsing a
// printed record gives the same record, except in the cases that the list below names.
//
//   integers            numbers of any size; also decimals of scale 0
//   float, double       numbers with a point or an exponent, so that JsonInference finds double for
//                       them; nan and inf are strings
//   repeated field      omitted if it has no elements
//   list, map           [] or {} if it is empty, omitted if it is missing
//   keys of a map       strings. A key that is not UTF-8 is printed in hexadecimal digits and is
//                       then parsed as these digits. The parser does not accept a key twice.
//   map of which only the keys, or only the values, are read
//                       an array of {"KEY": ...} or {"VALUE": ...}, which is parsed as a list
//   string, not UTF-8   {"hex": "..."}, which the parser does not accept
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

// True if finite values of the type are printed as numbers, true or false. Decimals of scale 0 are,
// because JsonInference finds this type for large integers.
bool IsPrintedAsNumber(const ColumnType& type);

// Appends a line for each record. Precondition: the fields of each group come in the order of the
// schema, in which RecordReader passes them. Thread-compatible.
class JsonPrinter final : public RecordVisitor {
 public:
  // `leaves`: the leaves whose values the visitor gets. `out` must outlive the printer. The printer
  // calls `drain`, if it is set, when `out` has more than kDrainBytes, also within a record, because
  // a few bytes of levels may stand for a list of millions of elements. `drain` empties `out`, or
  // returns an error, which ends the record.
  JsonPrinter(const RecordSchema& schema, std::span<const size_t> leaves, std::string& out,
              std::function<absl::Status()> drain = {});
  static constexpr size_t kDrainBytes = 1 << 20;

  absl::Status BeginGroup(size_t node) override;
  absl::Status EndGroup(size_t node) override;
  absl::Status Value(size_t node, const RecordValue& value) override;

 private:
  // How an open group is shown.
  enum class Form : uint8_t {
    kObject,   // {"FIELD": ..., ...}
    kList,     // [...]
    kElement,  // the element of a list: printed as its only field
    kMap,      // {...}
    kEntry,    // an entry of a map: "KEY": VALUE
  };
  struct Open {
    size_t node;
    Form form;
    bool empty = true;       // nothing has been printed in it
    size_t array = 0;        // the repeated field whose [ is open; 0: none
    bool has_value = false;  // of an element or entry: its value has been printed
  };

  Form FormOf(size_t node, const std::vector<bool>& leaves) const;
  // Prints commas, the name and brackets that come before a value of `node`.
  void Begin(size_t node);
  void CloseArray(Open& group);
  absl::Status DrainIfLong();

  const RecordSchema schema_;
  std::vector<Form> forms_;  // by node
  std::string& out_;
  const std::function<absl::Status()> drain_;
  std::vector<Open> open_;
  std::string text_;
};

}  // namespace cfile::tools
