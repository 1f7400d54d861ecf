#include "cfile/parts/records/record_assembler.h"

#include <algorithm>
#include <utility>

#include "encodings/core/status.h"

namespace cfile::internal {

absl::Status LeafStream::Seek(uint64_t record) {
  num_entries_ = position_ = 0;
  return SeekToRecord(record);
}

absl::Status LeafStream::Refill() {
  num_entries_ = position_ = values_position_ = 0;
  CFILE_ASSIGN_OR_RETURN(const Entries entries, Load());
  num_entries_ = entries.num_entries;
  repetition_ = entries.repetition;
  definition_ = entries.definition;
  batch_ends_record_ = entries.ends_record;
  return absl::OkStatus();
}

RecordAssembler::RecordAssembler(const RecordSchema& schema, std::span<const size_t> leaves,
                                 std::vector<LeafStream*> streams)
    : schema_(schema), leaves_(leaves.begin(), leaves.end()), streams_(std::move(streams)) {
  const auto stream_from = [&](size_t leaf) {
    return static_cast<size_t>(std::lower_bound(leaves_.begin(), leaves_.end(), leaf) -
                               leaves_.begin());
  };
  std::vector<size_t> step_from(schema_.nodes().size() + 1);  // by node: first step at or after it
  for (size_t i = 0; i < schema_.nodes().size(); ++i) {
    const RecordNode& node = schema_.node(i);
    step_from[i] = steps_.size();
    const size_t first = stream_from(node.first_leaf), end = stream_from(node.end_leaf);
    if (first == end && i > 0) continue;
    steps_.push_back({.node = i,
                      .first_stream = first,
                      .end_stream = end,
                      .repetition = node.repetition,
                      .is_leaf = node.is_leaf(),
                      .max_repetition = node.max_repetition,
                      .max_definition = node.max_definition});
  }
  step_from.back() = steps_.size();
  for (Step& step : steps_) step.end = step_from[schema_.node(step.node).end];
}

absl::Status RecordAssembler::Seek(uint64_t record) {
  in_place_ = false;
  for (LeafStream* const stream : streams_) CFILE_RETURN_IF_ERROR(stream->Seek(record));
  record_ = record;
  in_place_ = true;
  return absl::OkStatus();
}

absl::Status RecordAssembler::Next(RecordVisitor& visitor) {
  // After a failed call, the streams may be at different records: go back to record_.
  if (!in_place_) CFILE_RETURN_IF_ERROR(Seek(record_));
  in_place_ = false;
  for (size_t i = 0; i < streams_.size(); ++i) {
    CFILE_RETURN_IF_ERROR(streams_[i]->BeginRecord());
    if (!streams_[i]->at_entry()) {
      return DataLoss(schema_.Path(schema_.leaves()[leaves_[i]]), ": record ", record_,
                      " expected, found the end of the leaf column");
    }
  }
  CFILE_RETURN_IF_ERROR(ReadGroup(0, 0, visitor));
  for (size_t i = 0; i < streams_.size(); ++i) {
    if (streams_[i]->repetition() != 0) return Wrong(i, 0, 0);
  }
  ++record_;
  in_place_ = true;
  return absl::OkStatus();
}

absl::Status RecordAssembler::Wrong(size_t stream, uint16_t repetition, uint16_t definition) const {
  const LeafStream& found = *streams_[stream];
  const std::string path = schema_.Path(schema_.leaves()[leaves_[stream]]);
  if (!found.at_entry()) return DataLoss(path, ": record ", record_, " ends too early");
  return DataLoss(path, ": record ", record_, ": repetition level ", repetition,
                  " and definition level ", definition, " expected, found ", found.repetition(),
                  " and ", found.definition());
}

absl::Status RecordAssembler::ReadGroup(size_t step, uint16_t repetition, RecordVisitor& visitor) {
  CFILE_RETURN_IF_ERROR(visitor.BeginGroup(steps_[step].node));
  for (size_t child = step + 1; child < steps_[step].end; child = steps_[child].end) {
    CFILE_RETURN_IF_ERROR(ReadField(child, repetition, visitor));
  }
  return visitor.EndGroup(steps_[step].node);
}

absl::Status RecordAssembler::ReadField(size_t index, uint16_t repetition, RecordVisitor& visitor) {
  const Step& step = steps_[index];
  // The levels of the first leaf show whether the field is missing and how often it repeats. The
  // levels of the other leaves are compared with them when they are read.
  LeafStream& first = *streams_[step.first_stream];
  for (bool more = false;; more = true) {
    if (!first.at_entry() || first.repetition() != repetition) {
      return Wrong(step.first_stream, repetition, step.max_definition);
    }
    const bool optional = step.repetition != Repetition::kRequired;
    if (optional && !more && first.definition() < step.max_definition) {
      return SkipMissing(step, repetition);
    }
    if (!step.is_leaf) {
      CFILE_RETURN_IF_ERROR(ReadGroup(index, repetition, visitor));
    } else if (first.definition() == step.max_definition) {
      CFILE_RETURN_IF_ERROR(first.TellValue(step.node, visitor));
      CFILE_RETURN_IF_ERROR(first.Advance(true));
    } else {
      return Wrong(step.first_stream, repetition, step.max_definition);
    }
    if (step.repetition != Repetition::kRepeated || first.repetition() != step.max_repetition) {
      return absl::OkStatus();
    }
    repetition = step.max_repetition;
  }
}

absl::Status RecordAssembler::SkipMissing(const Step& step, uint16_t repetition) {
  const uint16_t definition = static_cast<uint16_t>(step.max_definition - 1);
  for (size_t i = step.first_stream; i < step.end_stream; ++i) {
    if (!streams_[i]->at_entry() || streams_[i]->repetition() != repetition ||
        streams_[i]->definition() != definition) {
      return Wrong(i, repetition, definition);
    }
    CFILE_RETURN_IF_ERROR(streams_[i]->Advance(false));
  }
  return absl::OkStatus();
}

}  // namespace cfile::internal
