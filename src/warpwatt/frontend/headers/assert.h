#pragma once
#ifndef assert
#define assert(condition) ((condition) ? (void)0 : __trap())
#endif
