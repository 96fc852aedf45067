"""CSV files of profilers as they come: preambles, units rows, copies between kernels, missing counters."""

from __future__ import annotations

import pytest

from warpwatt.core.errors import ParseError
from warpwatt.core.launch import Dim3
from warpwatt.frontend.profiles import read_profiles
from warpwatt.gpus import find

NVPROF = """\
==7== NVPROF is profiling process 7, command: ./app
==7== Profiling result:
"Start","Duration","Grid X","Grid Y","Grid Z","Block X","Block Y","Block Z",\
"Registers Per Thread","Static SMem","Dynamic SMem","Size","Throughput",\
"SrcMemType","DstMemType","Device","Context","Stream","Name"
ms,us,,,,,,,,KB,KB,MB,GB/s,,,,,,
0.1,1.5,,,,,,,,,,1.0,0.6,"Pageable","Device","Tesla T4 (0)","1","7","[CUDA memcpy HtoD]"
0.2,161.0,4096,2,1,256,1,1,16,0.0,2.0,,,,,"Tesla T4 (0)","1","7","axpy(int, float*) [33]"
0.4,163.0,4096,2,1,256,1,1,16,0.0,2.0,,,,,"Tesla T4 (0)","1","7","axpy(int, float*) [34]"
0.6,9.0,1,1,1,32,1,1,16,0.0,0.0,,,,,"Tesla T4 (0)","1","7","other(int) [35]"
"""
NSYS = """\
NOTICE: Existing SQLite export found: x.sqlite

Processing [x.sqlite] with [cuda_gpu_trace.py]...
Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem (MB),DymSMem (MB),Bytes (MB),\
Throughput (MB/s),SrcMemKd,DstMemKd,Device,Ctx,GreenCtx,Strm,Name
1,2,3,,,,,,,,,,161.8,1,Pageable,Device,NVIDIA H200 (0),1,,7,[CUDA memcpy Host-to-Device]
5,52000,4,128,64,1,16,16,1,16,0.000,0.000,,,,,NVIDIA H200 (0),1,,7,void axpy<float, 4>(int, float*)
"""
HEAD = (
    '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size",'
    '"Device","CC",'
)
NCU = (
    "==PROF== Connected to process 1\n"
    + HEAD
    + '"Section Name","Metric Name","Metric Unit","Metric Value","Rule Name"\n'
    + "".join(
        f'"0","1","app","host","axpy(int)","1","7","(256, 1, 1)","(9, 32, 1)","0","7.5","S",{metric}\n'
        for metric in (
            '"SM Frequency","cycle/nsecond","1.25",""',
            '"DRAM Frequency","cycle/nsecond","4.98",""',
            '"Duration","usecond","1,234.5",""',
            '"dram__bytes_read.sum","Mbyte","12.5",""',
            '"sm__inst_executed_pipe_fp16.sum","inst","n/a",""',
            '"","","","SOLBottleneck"',
        )
    )
)
NCU_RAW = (
    HEAD
    + '"gpu__time_duration.sum","gpc__cycles_elapsed.avg.per_second","dram__bytes_read.sum"\n'
    + '"","","","","","","","","","","","nsecond","hz","byte"\n'
    + '"0","1","app","host","axpy","1","7","(256, 1, 1)","(9, 32, 1)","0","7.5",'
    + '"27.595.520","1300000000","5"\n'
)
OWN = "grid,block,duration_us,sm_mhz,power_w,arg:n,l2_hits\n64x2,256,12.5,1350,61.5,8192,0.75\n"


@pytest.fixture
def read(tmp_path):
    def reading(content: str | bytes, gpu: str | None = "t4"):
        path = tmp_path / "run.csv"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_profiles(path, find(gpu) if gpu else None)

    return reading


def test_nvprof_trace(read):
    axpy, other = read(NVPROF, gpu=None)
    assert axpy.kernel == "axpy(int, float*)"
    assert axpy.gpu == "Tesla T4"
    assert axpy.time == pytest.approx(162e-6)
    assert axpy.launch is not None
    assert (axpy.launch.grid, axpy.launch.block) == (Dim3(4096, 2), Dim3(256))
    assert axpy.launch.dynamic_shared == 2048
    assert axpy.clocks.sustained  # nobody says the clock
    assert axpy.origin in ("run.csv:6", "run.csv:7")
    assert other.time == pytest.approx(9e-6)


def test_nsys_trace_with_a_name_that_is_not_quoted(read):
    (found,) = read(NSYS, gpu=None)
    assert found.gpu == "NVIDIA H200"
    assert found.time == pytest.approx(52e-6)
    assert found.kernel.replace(" ", "") == "voidaxpy<float,4>(int,float*)"
    assert found.launch is not None
    assert found.launch.block == Dim3(16, 16)


def test_ncu_one_line_for_each_metric(read):
    (found,) = read(NCU)
    assert found.time == pytest.approx(1234.5e-6)
    assert found.clocks.sm == pytest.approx(1.25e9)
    assert found.clocks.memory == pytest.approx(4.98e9)
    assert not found.clocks.sustained
    assert found.counters == {"dram__bytes_read.sum": 12.5}
    assert found.launch is not None
    assert found.launch.grid == Dim3(9, 32)


def test_ncu_one_line_for_each_launch_and_a_row_of_units(read):
    (found,) = read(NCU_RAW)
    assert found.time == pytest.approx(27_595_520e-9)
    assert found.clocks.sm == pytest.approx(1.3e9)
    assert found.counters["dram__bytes_read.sum"] == 5


def test_a_table_of_ones_own(read):
    (found,) = read(OWN)
    assert (found.gpu, found.kernel, found.power) == ("Tesla T4", "", 61.5)
    assert found.arguments == ("n=8192",)
    assert found.counters == {"l2_hits": 0.75}
    assert found.clocks.sm == 1.35e9


@pytest.mark.parametrize("encode", ["utf-8-sig", "utf-16"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_byte_order_marks_and_delimiters(read, encode, delimiter):
    assert read(OWN.replace(",", delimiter).encode(encode)) == read(OWN)


def test_repeats_give_median_and_spread(read):
    rows = "".join(f"64,256,{t}\n" for t in (10, 10.2, 9.9, 10.1, 30))
    (found,) = read("grid,block,duration_us\n" + rows)
    assert found.time == pytest.approx(10.1e-6)
    assert 0.005 <= found.spread < 1.0
    steady = read("grid,block,duration_us\n" + "64,256,10\n" * 9)[0]
    assert steady.spread == 0.005


@pytest.mark.parametrize(
    ("content", "line", "words"),
    [
        ("", 1, "no table"),
        ("a,b\n1,2\n", 1, "no table"),
        ("grid,block,duration_us\n,,\n", 1, "no row"),
        ("grid,block,duration\n1,32,5\n", 2, "no unit"),
        ("grid,block,duration_us\n1,32,fast\n", 2, "no number"),
        ("grid,block,duration_us\n1,32,0\n", 2, "duration of 0"),
        ("grid,block,duration_us\n1,32,4\n0,32,5\n", 3, "grid"),
        ("grid,block,duration_us\n1x1x1x1,32,5\n", 2, "grid"),
        ("grid,block,duration_us,gpu\n1,32,5,GeForce 9999\n", 2, "GeForce 9999"),
        ("grid,block,duration_us,sm_mhz\n1,32,5,1350000\n", 2, "SM clock"),
        ("grid,block,duration_us,arg:n\n1,32,5,what?\n", 2, "what?"),
        (b"grid,block,duration_us\n1,32,5\n" + b"\xff\xfe\xfa", 3, "UTF-8"),
    ],
)
def test_errors_name_file_line_and_fix(read, content, line, words):
    with pytest.raises(ParseError) as caught:
        read(content)
    assert caught.value.line == line
    assert caught.value.file is not None
    assert caught.value.file.endswith("run.csv")
    assert words in caught.value.message
    assert caught.value.hint


def test_a_row_without_a_gpu_needs_one(read):
    with pytest.raises(ParseError, match="does not name its GPU"):
        read(OWN, gpu=None)


def test_a_missing_file_is_an_error_of_ours(tmp_path):
    with pytest.raises(ParseError, match="cannot be read"):
        read_profiles(tmp_path / "none.csv")
