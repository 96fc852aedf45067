// What an instruction needs to issue, prepared for the question that a scheduler asks in every cycle.
#pragma once

#include "sm/cycle.h"
#include "sm/instruction.h"
#include "sm/settings.h"

namespace warpwatt::sm {

struct IssueNeeds {
    Cycle even_bank;  // how long after each register bank falls free it may issue: reads - window
    Cycle odd_bank;
    Pipe pipe;         // `none` is always free
    Pipe alternative;  // the same one where there is no other
    SmPipe sm_pipe;
    bool mio_queue;

    static IssueNeeds of(const Instruction& instruction, const Settings& settings) {
        // What passes the MIO queue needs room there only; its pipe takes it later.
        const bool later = instruction.operation == Operation::mio_pipe;
        const Pipe pipe = later ? Pipe::none : instruction.pipe;
        const bool choice = pipe != Pipe::none && instruction.alternative_pipe != Pipe::none;
        return {
            .even_bank = bank(instruction.even_bank_reads, settings),
            .odd_bank = bank(instruction.odd_bank_reads, settings),
            .pipe = pipe,
            .alternative = choice ? instruction.alternative_pipe : pipe,
            .sm_pipe = later ? SmPipe::none : instruction.sm_pipe,
            .mio_queue = later || instruction.operation == Operation::memory,
        };
    }

    bool operator==(const IssueNeeds&) const = default;

private:
    static Cycle bank(std::int8_t reads, const Settings& settings) {
        return reads > 0 ? reads - settings.read_window : -kNever;
    }
};

}  // namespace warpwatt::sm
