"""The messages' records: the same in Python and in C++, and the same after a way there and back."""

import enum
from dataclasses import fields
from typing import Any

import pytest

from warpwatt.native import records as native_records
from warpwatt.run import codes, protocol
from warpwatt.run.records import Record

RECORDS = {
    found.__name__: found
    for found in vars(protocol).values()
    if isinstance(found, type) and issubclass(found, Record)
}
ENUMERATIONS = [
    found
    for found in vars(codes).values()
    if isinstance(found, type) and issubclass(found, enum.IntEnum | enum.IntFlag)
]


def test_records_lie_as_in_c():
    native = native_records.record_types("message_fields")
    del RECORDS["Record"]
    assert set(RECORDS) == set(native)
    for name, record in RECORDS.items():
        dtype = native[name]
        assert record.offsets() == {
            key: (offset, kind.itemsize) for key, (kind, offset, *_) in dtype.fields.items()
        }, name
        assert record.fixed_bytes() == dtype.itemsize, name


def test_codes_are_those_of_c():
    native = dict(native_records.codes("message_codes"))
    for found in ENUMERATIONS:
        if found not in (enum.IntEnum, enum.IntFlag):
            assert {member.name: member.value for member in found} == native.pop(found.__name__), found
    assert not native


def test_every_type_has_a_record():
    assert set(protocol.RECORDS) == set(codes.Type)


def test_a_record_comes_back():
    launch = protocol.Launch(7, 1, 4096, (3, 2, 1), (128, 1, 1), (0, 0, 0), 1, 0, data=b"parameters")
    assert protocol.Launch.unpack(launch.pack()) == launch
    texture: dict[str, Any] = {found.name: 1 for found in fields(protocol.Texture) if found.name != "data"}
    texture |= {"channel_bits": (8, 8, 8, 8), "address_modes": (0, 1, 2), "border": (0.0, 0.5, 1.0, 2.0)}
    record = protocol.Texture(**texture)
    assert protocol.Texture.unpack(record.pack()) == record
    assert protocol.Texture.unpack(record.pack()).resource is codes.Resource.MIPMAPPED_ARRAY


@pytest.mark.parametrize("data", [b"", b"\0" * 31, b"\xff" * 32])
def test_bytes_that_are_no_header(data):
    with pytest.raises(ValueError, match=r"32 bytes|4294967295"):
        protocol.Header.unpack(data)
