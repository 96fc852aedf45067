#pragma once
/* What glibc's header declares beside POSIX's types, and so every file that nvcc compiles on Linux may use. */
typedef unsigned int uint;
typedef unsigned short ushort;
typedef unsigned long ulong;
