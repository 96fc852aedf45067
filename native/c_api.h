// How functions leave the library: with C linkage, visible, found by their plain names from Python.
#pragma once

#define WARPWATT_API extern "C" __attribute__((visibility("default")))
