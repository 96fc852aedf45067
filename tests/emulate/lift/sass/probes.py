"""Snippets of PTX that make ptxas emit the integer instructions of each target.

Inputs are ``%a %b %c`` (32 bits), ``%x %y %z`` (64 bits) and the predicates ``%p %q``; results ``%o0`` to
``%o3`` and ``%w0``, ``%w1``. ``%t0`` to ``%t3`` (predicates), ``%h0`` to ``%h3`` (16 bits) are to work with.
"""

PROBES = {
    "add_sub": "add.u32 %o0,%a,%b; sub.u32 %o1,%a,%b; neg.s32 %o2,%a; sub.u32 %o3, 77, %b;",
    "add3": (
        "add.u32 %o0,%a,%b; add.u32 %o0,%o0,%c; sub.u32 %o1,%a,%b; sub.u32 %o1,%o1,%c; "
        "add.u32 %o2,%a,%b; sub.u32 %o2,%c,%o2;"
    ),
    "add64": "add.u64 %w0,%x,%y; sub.u64 %w1,%x,%y;",
    "add64b": "add.u64 %w0,%x,%y; add.u64 %w0,%w0,%z; neg.s64 %w1,%x;",
    "add64i": "add.u64 %w0,%x,-5; sub.u64 %w1,12345678901,%y;",
    "add64c": "cvt.u64.u32 %w0,%a; add.u64 %w0,%w0,%x; cvt.s64.s32 %w1,%b; sub.u64 %w1,%y,%w1;",
    "carry96": "add.cc.u32 %o0,%a,%b; addc.cc.u32 %o1,%b,%c; addc.cc.u32 %o2,%c,%a; addc.u32 %o3,0,0;",
    "borrow96": "sub.cc.u32 %o0,%a,%b; subc.cc.u32 %o1,%b,%c; subc.cc.u32 %o2,%c,%a; subc.u32 %o3,0,0;",
    "madcc": (
        "mad.lo.cc.u32 %o0,%a,%b,%c; madc.hi.cc.u32 %o1,%a,%b,%b; madc.lo.cc.u32 %o2,%b,%c,%a; "
        "madc.hi.u32 %o3,%b,%c,0;"
    ),
    "madcc2": (
        "mad.hi.cc.u32 %o0,%a,%b,%c; addc.u32 %o1,%a,7; mad.lo.cc.s32 %o2,%c,%b,%a; addc.u32 %o3,%b,%b;"
    ),
    "mul": ("mul.lo.u32 %o0,%a,%b; mul.hi.u32 %o1,%a,%b; mul.hi.s32 %o2,%a,%b; mad.lo.s32 %o3,%a,%b,%c;"),
    "mulneg": (
        "neg.s32 %o0,%a; mad.lo.s32 %o0,%o0,%b,%c; neg.s32 %o1,%c; mad.lo.s32 %o1,%a,%b,%o1; "
        "mul.lo.u32 %o2,%a,-3; mad.lo.u32 %o3,%a,1001,%c;"
    ),
    "madhi": (
        "mad.hi.u32 %o0,%a,%b,%c; mad.hi.s32 %o1,%a,%b,%c; mul.hi.u32 %o2,%a,0xcccccccd; "
        "mul.hi.s32 %o3,%a,0x55555556;"
    ),
    "wide": "mul.wide.u32 %w0,%a,%b; mul.wide.s32 %w1,%a,%b;",
    "widemad": "mad.wide.u32 %w0,%a,%b,%x; mad.wide.s32 %w1,%a,%b,%y;",
    "wideneg": "mul.wide.s32 %w0,%a,%b; sub.s64 %w0,%x,%w0; mul.wide.u32 %w1,%a,%b; neg.s64 %w1,%w1;",
    "widei": "mad.wide.s32 %w0,%a,4,%x; mad.wide.u32 %w1,%a,12,%y;",
    "wide16": (
        "cvt.u16.u32 %h0,%a; cvt.u16.u32 %h1,%b; mul.wide.u16 %o0,%h0,%h1; "
        "mul.wide.s16 %o1,%h0,%h1; mul.lo.u16 %h2,%h0,%h1; cvt.u32.u16 %o2,%h2; "
        "mad.lo.s16 %h2,%h0,%h1,%h0; cvt.s32.s16 %o3,%h2;"
    ),
    "mul64": "mul.lo.u64 %w0,%x,%y; mad.lo.s64 %w1,%x,%y,%z;",
    "mulhi64": "mul.hi.u64 %w0,%x,%y; mul.hi.s64 %w1,%x,%y;",
    "div32": (
        "or.b32 %o0,%b,1; div.u32 %o1,%a,%o0; rem.u32 %o2,%a,%o0; div.s32 %o3,%c,%o0; rem.s32 %o0,%c,%o0;"
    ),
    "divc": "div.u32 %o0,%a,7; div.s32 %o1,%a,10; rem.u32 %o2,%b,1000; rem.s32 %o3,%b,-13;",
    "divp2": "div.s32 %o0,%a,8; rem.s32 %o1,%a,64; div.s32 %o2,%b,-4; div.u32 %o3,%b,100;",
    "div64": "or.b64 %w1,%y,1; div.u64 %w0,%x,%w1; rem.u64 %w1,%x,%w1;",
    "div64s": "or.b64 %w1,%y,1; div.s64 %w0,%x,%w1; rem.s64 %w1,%x,%w1;",
    "div64small": (
        "cvt.u64.u32 %w0,%a; cvt.u64.u32 %w1,%b; or.b64 %w1,%w1,1; div.u64 %w0,%w0,%w1; rem.u64 %w1,%x,%w1;"
    ),
    "shift": "shl.b32 %o0,%a,%b; shr.u32 %o1,%a,%b; shr.s32 %o2,%a,%b; shl.b32 %o3,%a,%c;",
    "shiftc": (
        "shl.b32 %o0,%a,5; shr.u32 %o1,%a,9; shr.s32 %o2,%a,31; and.b32 %o3,%b,31; shl.b32 %o3,1,%o3;"
    ),
    "shift_small": "and.b32 %o3,%b,63; shl.b32 %o0,%a,%o3; shr.u32 %o1,%a,%o3; shr.s32 %o2,%a,%o3;",
    "shift64": "and.b32 %o0,%b,127; shl.b64 %w0,%x,%o0; shr.u64 %w1,%x,%o0;",
    "shift64s": "and.b32 %o0,%b,127; shr.s64 %w0,%x,%o0; shr.s64 %w1,%y,%c;",
    "shift64c": "shl.b64 %w0,%x,13; shr.s64 %w1,%y,40;",
    "shift64d": "shr.u64 %w0,%x,13; shr.s64 %w1,%y,7;",
    "funnel": (
        "shf.l.wrap.b32 %o0,%a,%b,%c; shf.r.wrap.b32 %o1,%a,%b,%c; shf.l.clamp.b32 %o2,%a,%b,%c; "
        "shf.r.clamp.b32 %o3,%a,%b,%c;"
    ),
    "funnel_small": (
        "and.b32 %o3,%c,63; shf.l.clamp.b32 %o0,%a,%b,%o3; shf.r.clamp.b32 %o1,%a,%b,%o3; "
        "shf.l.wrap.b32 %o2,%a,%a,%o3; shf.r.wrap.b32 %o3,%b,%b,%o3;"
    ),
    "funnelc": (
        "shf.l.wrap.b32 %o0,%a,%b,7; shf.r.wrap.b32 %o1,%a,%b,9; shf.l.clamp.b32 %o2,%a,%b,32; "
        "shf.r.clamp.b32 %o3,%a,%a,25;"
    ),
    "logic": "and.b32 %o0,%a,%b; or.b32 %o1,%a,%b; xor.b32 %o2,%a,%b; not.b32 %o3,%a;",
    "logic64": "and.b64 %w0,%x,%y; not.b64 %w1,%x; xor.b64 %w1,%w1,%z;",
    "lop_pred": (
        "and.b32 %o0,%a,%b; setp.ne.u32 %t0,%o0,0; selp.u32 %o1,%b,%c,%t0; and.b32 %o2,%a,8; "
        "setp.eq.u32 %t1,%o2,0; selp.u32 %o2,%a,%c,%t1;"
    ),
    "lop_or": (
        "lop3.or.b32 %o0|%t0,%a,%b,%c,0x80,%q; selp.u32 %o1,1,0,%t0; "
        "lop3.and.b32 %o2|%t1,%a,%b,%c,0x96,%q; selp.u32 %o3,1,0,%t1;"
    ),
    "plop": (
        "and.pred %t0,%p,%q; setp.lt.s32 %t1,%a,%b; not.pred %t2,%t1; or.pred %t0,%t0,%t2; "
        "xor.pred %t1,%t0,%p; and.pred %t2,%t1,%q; selp.u32 %o0,%a,%b,%t0; selp.u32 %o1,%a,%c,%t1; "
        "selp.u32 %o2,%b,%c,%t2;"
    ),
    "plop2": (
        "setp.lt.s32 %t0,%a,%b; setp.lt.u32 %t1,%b,%c; setp.gt.s32 %t2,%c,%a; not.pred %t3,%t0; "
        "and.pred %t3,%t3,%t1; or.pred %t3,%t3,%t2; selp.u32 %o0,1,0,%t3; xor.pred %t3,%t0,%t1; "
        "not.pred %t2,%t2; and.pred %t3,%t3,%t2; selp.u32 %o1,1,0,%t3;"
    ),
    "set_reg": (
        "set.lt.u32.s32 %o0,%a,%b; set.ge.and.u32.u32 %o1,%a,%b,%p; slct.u32.s32 %o2,%a,%b,%c; "
        "slct.u64.s32 %w1,%x,%y,%a;"
    ),
    "bfe": "bfe.u32 %o0,%a,%b,%c; bfe.s32 %o1,%a,%b,%c; bfe.u32 %o2,%a,7,11; bfe.s32 %o3,%a,3,6;",
    "bfe_small": (
        "and.b32 %o2,%b,31; and.b32 %o3,%c,31; bfe.u32 %o0,%a,%o2,%o3; bfe.s32 %o1,%a,%o2,%o3; "
        "bfi.b32 %o3,%a,%b,%o2,%o3;"
    ),
    "bfe64": "and.b32 %o0,%b,63; and.b32 %o1,%c,63; bfe.u64 %w0,%x,%o0,%o1; bfe.s64 %w1,%y,%o0,%o1;",
    "bfi": "bfi.b32 %o0,%a,%b,%c,7; bfi.b32 %o1,%a,%b,5,9; bfi.b32 %o2,%a,%b,%c,%b;",
    "bfi64": "and.b32 %o0,%b,63; and.b32 %o1,%c,63; bfi.b64 %w0,%x,%y,%o0,%o1;",
    "find": "bfind.u32 %o0,%a; bfind.s32 %o1,%a; bfind.shiftamt.u32 %o2,%b; bfind.shiftamt.s32 %o3,%b;",
    "find_small": (
        "shr.u32 %o3,%a,%b; bfind.u32 %o0,%o3; clz.b32 %o1,%o3; bfind.shiftamt.u32 %o2,%o3; "
        "brev.b32 %o3,%o3; clz.b32 %o3,%o3;"
    ),
    "find64": "bfind.u64 %o0,%x; bfind.s64 %o1,%y; clz.b64 %o2,%x; popc.b64 %o3,%y;",
    "count": "popc.b32 %o0,%a; clz.b32 %o1,%a; brev.b32 %o2,%a; fns.b32 %o3,%b,0,3;",
    "popand": "and.b32 %o0,%a,%b; popc.b32 %o0,%o0; not.b32 %o1,%a; popc.b32 %o1,%o1; cnot.b32 %o2,%c;",
    "brev64": "brev.b64 %w0,%x; abs.s64 %w1,%y;",
    "prmt": (
        "prmt.b32 %o0,%a,%b,%c; prmt.b32 %o1,%a,%b,0x3140; prmt.b32 %o2,%a,%b,0x0123; "
        "prmt.b32 %o3,%a,%b,0x9c47;"
    ),
    "sad": "sad.u32 %o0,%a,%b,%c; sad.s32 %o1,%a,%b,%c; abs.s32 %o2,%a;",
    "minmax": "min.s32 %o0,%a,%b; max.s32 %o1,%a,%b; min.u32 %o2,%a,%b; max.u32 %o3,%a,%b;",
    "minmax3": (
        "min.s32 %o0,%a,%b; min.s32 %o0,%o0,%c; max.u32 %o1,%a,%b; max.u32 %o1,%o1,%c; "
        "max.s32 %o2,%a,%b; min.s32 %o2,%o2,%c; min.s32 %o3,%a,100; max.s32 %o3,%o3,0;"
    ),
    "minmax64": "min.s64 %w0,%x,%y; max.u64 %w1,%x,%y;",
    "minmax64b": "max.s64 %w0,%x,%y; min.u64 %w1,%x,%y;",
    "minmax64c": "min.s64 %w0,%x,77; max.s64 %w1,%y,-3;",
    "minmax16": (
        "cvt.u16.u32 %h0,%a; cvt.u16.u32 %h1,%b; min.s16 %h2,%h0,%h1; cvt.s32.s16 %o0,%h2; "
        "max.u16 %h2,%h0,%h1; cvt.u32.u16 %o1,%h2; add.s16 %h2,%h0,%h1; cvt.s32.s16 %o2,%h2; "
        "sub.s16 %h2,%h0,%h1; cvt.u32.u16 %o3,%h2;"
    ),
    "sh16": (
        "cvt.u16.u32 %h0,%a; and.b32 %o0,%b,15; shl.b16 %h1,%h0,%o0; cvt.u32.u16 %o1,%h1; "
        "shr.s16 %h1,%h0,%o0; cvt.s32.s16 %o2,%h1; shr.u16 %h1,%h0,3; cvt.u32.u16 %o3,%h1;"
    ),
    "relu": (
        "min.s32.relu %o0,%a,%b; max.s32.relu %o1,%a,%b; add.s32 %o2,%a,%b; max.s32 %o2,%o2,%c; "
        "max.s32 %o2,%o2,0; add.s32 %o3,%a,-9; min.s32 %o3,%o3,%b;"
    ),
    "viadd": (
        "add.s32 %o0,%a,%b; max.s32 %o0,%o0,%c; add.s32 %o1,%a,%b; min.s32 %o1,%o1,%c; "
        "add.u32 %o2,%a,%b; max.u32 %o2,%o2,%c; add.u32 %o3,%a,%b; min.u32 %o3,%o3,%c;"
    ),
    "min16x2": "min.s16x2 %o0,%a,%b; max.u16x2 %o1,%a,%b; add.s16x2 %o2,%a,%b; min.u16x2 %o3,%a,%b;",
    "relu16x2": "min.relu.s16x2 %o0,%a,%b; max.relu.s16x2 %o1,%a,%b; max.s16x2 %o2,%a,%b;",
    "dp4a": (
        "dp4a.s32.s32 %o0,%a,%b,%c; dp4a.u32.u32 %o1,%a,%b,%c; dp4a.s32.u32 %o2,%a,%b,%c; "
        "dp4a.u32.s32 %o3,%a,%b,%c;"
    ),
    "dp2a": (
        "dp2a.lo.s32.s32 %o0,%a,%b,%c; dp2a.hi.u32.u32 %o1,%a,%b,%c; dp2a.hi.s32.u32 %o2,%a,%b,%c; "
        "dp2a.lo.u32.s32 %o3,%a,%b,%c;"
    ),
    "bmsk": (
        "bmsk.wrap.b32 %o0,%a,%b; bmsk.clamp.b32 %o1,%a,%b; szext.wrap.u32 %o2,%a,%b; "
        "szext.clamp.s32 %o3,%a,%b;"
    ),
    "bmsk_small": (
        "and.b32 %o2,%a,63; and.b32 %o3,%b,63; bmsk.wrap.b32 %o0,%o2,%o3; "
        "bmsk.clamp.b32 %o1,%o2,%o3; szext.clamp.u32 %o2,%c,%o3; szext.wrap.s32 %o3,%c,%o3;"
    ),
    "mul24": "mul24.lo.u32 %o0,%a,%b; mul24.hi.s32 %o1,%a,%b; mad24.lo.s32 %o2,%a,%b,%c;",
    "cvt8": (
        "cvt.u8.u32 %h0,%a; cvt.u32.u8 %o0,%a; cvt.s32.s8 %o1,%a; cvt.s32.s16 %o2,%b; cvt.u32.u16 %o3,%b;"
    ),
    "cvt64": "cvt.s64.s32 %w0,%a; cvt.u64.u32 %w1,%b;",
    "sat": ("cvt.sat.u8.s32 %o0,%a; cvt.sat.s8.s32 %o1,%a; cvt.sat.s16.s32 %o2,%b; cvt.sat.u16.u32 %o3,%b;"),
    "sat64": (
        "cvt.sat.s32.s64 %o0,%x; cvt.sat.u32.u64 %o1,%y; cvt.sat.u32.s64 %o2,%x; cvt.sat.s32.u32 %o3,%a;"
    ),
    "addsat": "add.sat.s32 %o0,%a,%b; sub.sat.s32 %o1,%a,%b; mad.hi.sat.s32 %o2,%a,%b,%c;",
    "lea": (
        "shl.b32 %o0,%a,3; add.u32 %o0,%o0,%b; shl.b32 %o1,%b,17; sub.u32 %o1,%c,%o1; "
        "shr.u32 %o2,%a,4; add.u32 %o2,%o2,%b; shr.s32 %o3,%a,31; add.u32 %o3,%o3,%c;"
    ),
    "lea64": "shl.b64 %w0,%x,3; add.u64 %w0,%w0,%y; mul.wide.s32 %w1,%a,8; add.u64 %w1,%w1,%z;",
    "lea64b": (
        "cvt.u64.u32 %w0,%a; shl.b64 %w0,%w0,5; add.u64 %w0,%w0,%x; cvt.s64.s32 %w1,%b; "
        "shl.b64 %w1,%w1,2; sub.u64 %w1,%y,%w1;"
    ),
    "leahi": (
        "shr.u64 %w0,%x,29; cvt.u32.u64 %o0,%w0; add.u32 %o0,%o0,%a; shr.s32 %o1,%b,30; "
        "add.u32 %o1,%o1,%c; shr.u32 %o2,%b,30; add.u32 %o2,%o2,%b; shr.s32 %o2,%o2,2; "
        "mov.u64 %w0,%z;"
    ),
    "sel": "selp.u32 %o0,%a,%b,%p; selp.u32 %o1,%a,0,%q; selp.u64 %w1,%x,%y,%p;",
    "selneg": "not.pred %t0,%p; selp.u32 %o0,17,%b,%t0; selp.u32 %o1,0,-1,%q; selp.u64 %w1,%x,-1,%q;",
    "predmany": (
        "setp.lt.s32 %t0,%a,%b; setp.lt.s32 %t1,%b,%c; setp.lt.s32 %t2,%c,%a; "
        "setp.gt.u32 %t3,%a,1000; selp.u32 %o0,1,0,%t0; selp.u32 %o1,2,0,%t1; or.b32 %o0,%o0,%o1; "
        "selp.u32 %o1,4,0,%t2; or.b32 %o0,%o0,%o1; selp.u32 %o1,8,0,%t3; or.b32 %o0,%o0,%o1; "
        "selp.u32 %o1,16,0,%p; or.b32 %o0,%o0,%o1; and.b32 %o1,%o0,%c;"
    ),
    "branch": (
        "setp.lt.s32 %t0,%a,%b; @%t0 bra L1; mul.lo.u32 %o0,%a,3; @%p bra L2; add.u32 %o0,%o0,%b; "
        "bra L2; L1: sub.u32 %o0,%b,%a; L2: xor.b32 %o1,%o0,%c;"
    ),
    "loop": (
        "and.b32 %o0,%a,15; mov.u32 %o1,0; L1: setp.eq.u32 %t0,%o0,0; @%t0 bra L2; "
        "mad.lo.u32 %o1,%o1,31,%b; sub.u32 %o0,%o0,1; setp.gt.u32 %t1,%o1,0xf0000000; @%t1 bra L2; "
        "bra L1; L2: add.u32 %o2,%o1,%o0;"
    ),
    "brx": (
        "and.b32 %o0,%a,3; T: .branchtargets L0,L1,L2,L3; brx.idx %o0,T; L0: mov.u32 %o1,%b; "
        "bra LE; L1: mul.lo.u32 %o1,%b,%c; bra LE; L2: add.u32 %o1,%c,9; bra LE; "
        "L3: xor.b32 %o1,%b,%c; LE: add.u32 %o2,%o1,%o0;"
    ),
    "vote": (
        "vote.sync.ballot.b32 %o0,%p,-1; vote.sync.any.pred %t0,%q,-1; selp.u32 %o1,1,0,%t0; "
        "activemask.b32 %o2; vote.sync.all.pred %t0,%p,-1; selp.u32 %o3,1,0,%t0;"
    ),
    "lanes": (
        "mov.u32 %o0,%laneid; mov.u32 %o1,%lanemask_gt; mov.u32 %o2,%lanemask_le; mov.u32 %o3,%lanemask_ge;"
    ),
}
"""Name -> text."""

_TABLES = (0x1B, 0xE8, 0x96, 0xD8, 0x7F, 0x2A, 0x69, 0xB1, 0x40, 0xFE, 0x17, 0x3A)
_UNSIGNED = ("lo", "ls", "hi", "hs")
PROBES |= {
    f"lop_{table:02x}": (
        f"lop3.b32 %o0,%a,%b,%c,{table}; lop3.b32 %o1,%c,%a,0x0ff0f0f0,{table}; "
        f"lop3.b32 %o2,%a,12345,%b,{table};"
    )
    for table in _TABLES
}
PROBES |= {
    f"prmt_{mode}": f"prmt.b32.{mode} %o0,%a,%b,%c; prmt.b32.{mode} %o1,%b,%a,2;"
    for mode in ("f4e", "b4e", "rc8", "ecl", "ecr", "rc16")
}
for _how in ("eq", "ne", "lt", "le", "gt", "ge", *_UNSIGNED):
    _sign = "u" if _how in _UNSIGNED else "s"
    PROBES[f"set_{_how}"] = (
        f"setp.{_how}.{_sign}32 %t0,%a,%b; selp.u32 %o0,%a,%c,%t0; "
        f"setp.{_how}.and.{_sign}32 %t1|%t2,%b,%c,%p; selp.u32 %o1,3,4,%t1; selp.u32 %o2,5,6,%t2; "
        f"setp.{_how}.or.{_sign}32 %t1|%t2,%b,%c,!%q; selp.u32 %o3,3,4,%t1; "
        "selp.u32 %i,5,6,%t2; add.u32 %o3,%o3,%i;"
    )
    PROBES[f"set64_{_how}"] = (
        f"setp.{_how}.{_sign}64 %t0,%x,%y; selp.u32 %o0,%a,%c,%t0; "
        f"setp.{_how}.xor.{_sign}64 %t1,%y,%z,%p; selp.u32 %o1,3,4,%t1; "
        f"setp.{_how}.{_sign}64 %t1,%x,100; selp.u64 %w1,%x,%y,%t1;"
    )
for _how in ("lt", "le", "gt", "ge", "eq", "ne"):
    PROBES[f"setu_{_how}"] = (
        f"setp.{_how}.u32 %t0,%a,%b; selp.u32 %o0,1,0,%t0; setp.{_how}.u64 %t0,%x,%y; selp.u32 %o1,1,0,%t0; "
        f"setp.{_how}.xor.u32 %t0,%b,%c,%q; selp.u32 %o2,7,9,%t0; "
        f"setp.{_how}.u64 %t1,%y,5000000000; selp.u32 %o3,7,9,%t1;"
    )
