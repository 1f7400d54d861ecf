// Sources and a sink that fail at one call, at all calls from a given call on, or at each read that
// covers a given byte. FailEachCall makes each call fail in turn.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "cfile/io.h"
#include "gtest/gtest.h"
#include "tests/campaign/amount.h"
#include "tests/campaign/fault_mode.h"

namespace cfile::testing_support {

// Decides which calls fail and how. A test shares one Fault with its sources and sinks. Not
// thread-safe.
class Fault {
 public:
  explicit Fault(absl::StatusCode code) : code_(code) {}

  // Makes the `number`-th call from now on fail; with kFromThenOn, also all later calls.
  void Arm(int64_t number, FaultMode mode) {
    left_ = number;
    mode_ = mode;
    fired_ = false;
  }
  // Lets all later calls succeed.
  void Disarm() { left_ = 0; }
  // Returns true if a call has failed since Arm.
  bool fired() const { return fired_; }

  // Returns the result of a call named `call` on the object `name`.
  absl::Status Call(const char* call, const std::string& name) {
    if (left_ <= 0 || --left_ > 0) return absl::OkStatus();
    if (mode_ == FaultMode::kFromThenOn) left_ = 1;
    fired_ = true;
    return absl::Status(code_, absl::StrCat(call, " ", name, ": made to fail"));
  }

 private:
  const absl::StatusCode code_;
  int64_t left_ = 0;  // the number of calls until one fails, including this one
  FaultMode mode_ = FaultMode::kOnce;
  bool fired_ = false;
};

// A source that is not in memory, so that each read is a call. A failing read fills half of its
// buffer.
class FailingSource final : public Source {
 public:
  FailingSource(std::shared_ptr<const Source> source, std::shared_ptr<Fault> fault)
      : source_(std::move(source)), fault_(std::move(fault)) {}

  const std::string& name() const override { return source_->name(); }
  uint64_t size() const override { return source_->size(); }
  absl::Status ReadAt(uint64_t offset, std::span<uint8_t> out) const override {
    absl::Status status = fault_->Call("ReadAt", name());
    if (status.ok()) return source_->ReadAt(offset, out);
    (void)source_->ReadAt(offset, out.first(out.size() / 2));
    return status;
  }

 private:
  const std::shared_ptr<const Source> source_;
  const std::shared_ptr<Fault> fault_;
};

// A source that is not in memory. Every read that covers the byte at `bad` fails.
class UnreadableSource final : public Source {
 public:
  UnreadableSource(std::shared_ptr<const Source> source, uint64_t bad)
      : source_(std::move(source)), bad_(bad) {}

  const std::string& name() const override { return source_->name(); }
  uint64_t size() const override { return source_->size(); }
  absl::Status ReadAt(uint64_t offset, std::span<uint8_t> out) const override {
    if (bad_ < offset || bad_ - offset >= out.size()) return source_->ReadAt(offset, out);
    return absl::UnavailableError(absl::StrCat("ReadAt ", name(), ": made to fail"));
  }

 private:
  const std::shared_ptr<const Source> source_;
  const uint64_t bad_;
};

// A sink that fails. `breaches` counts calls that a writer must not make after a failed call.
class FailingSink final : public Sink {
 public:
  FailingSink(std::unique_ptr<Sink> sink, std::shared_ptr<Fault> fault, int* breaches)
      : sink_(std::move(sink)), fault_(std::move(fault)), breaches_(breaches) {}

  const std::string& name() const override { return sink_->name(); }
  absl::Status Append(std::span<const uint8_t> bytes) override {
    if (ended_) ++*breaches_;
    absl::Status status = fault_->Call("Append", name());
    ended_ = !status.ok();
    return status.ok() ? sink_->Append(bytes) : status;
  }
  absl::Status Finish() override {
    if (ended_) ++*breaches_;
    ended_ = true;
    absl::Status status = fault_->Call("Finish", name());
    return status.ok() ? sink_->Finish() : status;
  }

 private:
  const std::unique_ptr<Sink> sink_;
  const std::shared_ptr<Fault> fault_;
  int* const breaches_;
  bool ended_ = false;
};

// Calls `attempt`(number, mode) for number 1, 2, ... in each mode, until no call fails. `number` is
// the number of the call to fail. EXPECTs that more than `least` calls failed. `what` names the
// number of failed calls in the test's row of the results table.
template <typename Attempt>
void FailEachCall(Fault& fault, const char* what, uint64_t least, const Attempt& attempt) {
  for (const FaultMode mode : kFaultModes) {
    const int64_t step = FaultStep(mode, 20);
    uint64_t done = 0;
    for (int64_t number = 1;; number += step, ++done) {
      ASSERT_LT(number, 100'000);
      attempt(number, mode);
      if (testing::Test::HasFailure()) {
        FAIL() << what << ": call " << number << (mode == FaultMode::kOnce ? "" : " and all later");
      }
      if (!fault.fired()) break;  // fewer than `number` calls were made
    }
    fault.Disarm();
    if (step == 1) {
      EXPECT_GT(done, least);
    }
    campaign::Done(what, done);
  }
}

}  // namespace cfile::testing_support
