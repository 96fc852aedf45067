// Which accesses of an instruction miss a cache of which only the miss rate is known.
#pragma once

#include <cmath>

namespace warpwatt::sm {

// Whole accesses hit or miss. Each adds the probability that one of its lines misses; when the sum reaches 1
// an access misses and the sum falls by 1, so that the share of sectors that miss comes out as the rate.
class FractionalMisses {
public:
    // Returns how many of an access's sectors miss: with lines that miss independently at rate r, an access
    // of n lines misses with p = 1 - (1 - r)^n, and then r / p of its sectors. One misses in place of any of
    // the next `turn` accesses, itself among them.
    double next(double rate, double sectors, double lines, double turn = 1.0) {
        if (rate >= 1.0) return sectors;
        if (rate <= 0.0 || sectors <= 0.0) return 0.0;
        const double missing = share(rate, lines);
        accumulated_ += missing;
        if (accumulated_ + missing * (turn - 1.0) < 1.0) return 0.0;
        accumulated_ -= 1.0;
        return sectors * rate / missing;
    }

    // Counts an access that does not miss itself.
    void pass(double rate, double lines) {
        if (rate > 0.0 && rate < 1.0) accumulated_ += share(rate, lines);
    }

    // Returns how many accesses hit for one that misses.
    double hits_per_miss(double rate, double lines) {
        return rate > 0.0 && rate < 1.0 ? 1.0 / share(rate, lines) - 1.0 : 0.0;
    }

    double accumulated() const { return accumulated_; }

private:
    double share(double rate, double lines) { return lines <= 1.0 ? rate : missing_share(rate, lines); }

    // Most accesses of an instruction have as many lines as the one before.
    double missing_share(double rate, double lines) {
        if (rate != rate_ || lines != lines_) {
            rate_ = rate;
            lines_ = lines;
            share_ = 1.0 - std::pow(1.0 - rate, lines);
        }
        return share_;
    }

    double accumulated_ = 0.5;
    double rate_ = 0.0, lines_ = 0.0, share_ = 0.0;  // of the last access with several lines
};

}  // namespace warpwatt::sm
