// Runs a job: buffers, constant symbols, launches. Usage: program JOB DATA_IN DATA_OUT
//
// Every buffer ends at a page that must not be touched; what lies before it must stay as it is.
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "../cuda_on_cpu.hpp"
#include "runtime.hpp"

namespace cpu {
namespace {

// ---- buffers ----

struct Buffer {
    std::string name;
    unsigned char *data;
    size_t bytes;
    unsigned char *base;  // of the mapped pages
    size_t mapped;
};
std::vector<Buffer> buffers;

Buffer make_buffer(const std::string &name, size_t bytes) {
    size_t mapped = (bytes + page - 1) / page * page + page;
    auto *base = static_cast<unsigned char *>(guarded(mapped));
    memset(base, 0xff, mapped);
    // Aligned for the widest vector, so up to 15 bytes lie between the end and the guard page.
    auto *data = base + mapped - (bytes + 15) / 16 * 16;
    return {name, data, bytes, base, mapped};
}

void check_margins() {
    for (const Buffer &b : buffers)
        for (unsigned char *p = b.base; p < b.base + b.mapped; ++p)
            if ((p < b.data || p >= b.data + b.bytes) && *p != 0xff) {
                fprintf(stderr, "buffer %s: written at byte %td of %zu\n", b.name.c_str(), p - b.data, b.bytes);
                _exit(3);
            }
}

void on_fault(int, siginfo_t *info, void *) {
    auto *address = static_cast<unsigned char *>(info->si_addr);
    locate(stderr);
    for (const Buffer &b : buffers)
        if (address >= b.base - page && address < b.base + b.mapped + page) {
            fprintf(stderr, "access at byte %td of buffer %s, which has %zu\n", address - b.data, b.name.c_str(), b.bytes);
            _exit(3);
        }
    if (below_a_stack(address)) fprintf(stderr, "stack overflow: ");
    fprintf(stderr, "access to address %p, in no buffer\n", static_cast<void *>(address));
    _exit(3);
}

void catch_faults() {
    static char stack[64 << 10];
    stack_t alternative = {};
    alternative.ss_sp = stack;
    alternative.ss_size = sizeof stack;
    sigaltstack(&alternative, nullptr);
    struct sigaction action = {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigaction(SIGSEGV, &action, nullptr);
    sigaction(SIGBUS, &action, nullptr);
}

// ---- jobs ----

Value read_value(const std::string &word) {
    switch (word[0]) {
        case 'b': return {buffers.at(std::stoul(word.substr(1))).data, 0, 0};
        case 'i': {
            auto integer = int64_t(word[1] == '-' ? std::stoll(word.substr(1)) : std::stoull(word.substr(1)));
            return {nullptr, integer, double(integer)};
        }
        default: {
            double real = strtod(word.c_str() + 1, nullptr);
            return {nullptr, int64_t(real), real};
        }
    }
}

void set_symbol(const std::string &name, const Buffer &from) {
    for (const Symbol *s = cpu_symbols; s->name; ++s)
        if (name == s->name) {
            if (from.bytes > s->bytes) fail("the buffer of a constant symbol is larger than the symbol");
            memcpy(s->address, from.data, from.bytes);
            return;
        }
    fail("no such constant symbol");
}

void launch(std::istringstream &words, int order) {
    std::string name, word;
    unsigned gx, gy, gz, bx, by, bz, repeat;
    size_t dynamic;
    words >> name >> gx >> gy >> gz >> bx >> by >> bz >> dynamic >> repeat;
    std::vector<Value> values;
    while (words >> word) values.push_back(read_value(word));
    const Entry *entry = cpu_entries;
    while (entry->name && name != entry->name) ++entry;
    if (!entry->name) fail("no such kernel");
    if (entry->parameters != values.size()) fail("wrong number of arguments");
    for (unsigned i = 0; i < repeat; ++i)
        run_grid(*entry, values.data(), {gx, gy, gz}, {bx, by, bz}, dynamic, order);
}

void run_job(const char *job, const char *data_in) {
    std::ifstream lines(job), data(data_in, std::ios::binary);
    int order = 0;
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string verb, name;
        size_t number;
        words >> verb;
        if (verb == "order") words >> order;
        else if (verb == "buffer") {
            words >> name >> number;
            buffers.push_back(make_buffer(name, number));
            data.read(reinterpret_cast<char *>(buffers.back().data), std::streamsize(number));
        } else if (verb == "symbol") {
            words >> name >> number;
            set_symbol(name, buffers.at(number));
        } else if (verb == "launch") launch(words, order);
    }
}

}  // namespace
}  // namespace cpu

int main(int argc, char **argv) {
    if (argc != 4) return 2;
    cpu::find_shared_memory();
    cpu::catch_faults();
    cpu::run_job(argv[1], argv[2]);
    cpu::check_margins();
    std::ofstream out(argv[3], std::ios::binary);
    for (const auto &b : cpu::buffers)
        out.write(reinterpret_cast<const char *>(b.data), std::streamsize(b.bytes));
    return out.flush() ? 0 : 2;
}
