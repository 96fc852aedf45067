"""Files of prices and of carbon intensity: what they say, and errors that name file, line, key and fix."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpwatt.choose.carbon import read_carbon
from warpwatt.choose.prices import read_prices
from warpwatt.core.errors import InputError, UnknownGpuError, WarpWattError

EXAMPLES = Path(__file__).parents[2] / "examples"
GOOD = """currency = "EUR"

[energy]
per_kwh = 0.36
pue = 1.5
source = "contract"

[[offer]]
gpu = "h200"
per_hour = 3.6
source = "list"

[[offer]]
gpu = "rtx4090"
purchase = 1000
lifetime_years = 2
utilisation = 0.5
embodied_kg = 100
embodied_source = "sheet"
source = "offer"
"""


@pytest.fixture
def written(tmp_path):
    def write(text: str) -> Path:
        file = tmp_path / "prices.toml"
        file.write_text(text, encoding="utf-8")
        return file

    return write


def test_rent_is_per_second_and_bought_boards_are_worn_by_their_work(written):
    prices = read_prices(written(GOOD))
    rented, bought = prices.offers
    assert rented.per_second == pytest.approx(0.001)
    assert not rented.joules
    working = 2 * 365.25 * 24 * 3600 * 0.5
    assert bought.per_second * working == pytest.approx(1000)
    assert bought.embodied * working == pytest.approx(100)
    assert bought.joules
    assert prices.energy.per_joule * 3.6e6 == pytest.approx(0.36)
    assert prices.of("NVIDIA H200") == (rented,)
    assert prices.of("NVIDIA L4") == ()


def test_the_example_can_be_read_and_invents_nothing():
    prices = read_prices(EXAMPLES / "prices.toml")
    assert all("placeholder" in offer.source for offer in prices.offers)
    assert "placeholder" in read_carbon(f"{EXAMPLES / 'carbon.toml'}:north").source


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ('currency = "EUR"', "", 1, "no currency"),
        ("per_hour = 3.6", "per_hour = -1", 8, "per_hour is -1"),
        ("per_hour = 3.6", 'per_hour = "3.6"', 8, "per_hour is no number"),
        ("per_hour = 3.6", "per_hour = nan", 8, "per_hour is no number"),
        ("per_hour = 3.6", "", 8, "no price"),
        ("per_hour = 3.6", "per_hour = 1\npurchase = 2", 8, "both rented and bought"),
        ("per_hour = 3.6", "per_day = 3.6", 8, "unknown key 'per_day'"),
        ('source = "list"', "", 8, "source is missing"),
        ("utilisation = 0.5", "utilisation = 50", 13, "utilisation is 50"),
        ("utilisation = 0.5", "", 13, "utilisation is missing"),
        ("lifetime_years = 2", "lifetime_years = 0", 13, "lifetime_years is 0"),
        ('embodied_source = "sheet"', "", 13, "embodied_source is missing"),
        ("pue = 1.5", "pue = 0.5", 3, "pue is 0.5"),
        ('source = "contract"', "", 3, "source is missing"),
        ('[energy]\nper_kwh = 0.36\npue = 1.5\nsource = "contract"', "", 13, "price of energy is not known"),
    ],
)
def test_errors_name_file_line_and_key(written, old, new, line, said):
    assert GOOD.count(old) == 1
    file = written(GOOD.replace(old, new))
    with pytest.raises(InputError, match=said) as error:
        read_prices(file)
    assert error.value.file == str(file)
    shift = new.count("\n") - old.count("\n")
    assert error.value.line in (line, line + shift)
    assert error.value.hint or "must be" in error.value.hint


def test_a_gpu_that_nobody_knows_is_named_with_its_line(written):
    with pytest.raises(UnknownGpuError, match="offer 1") as error:
        read_prices(written(GOOD.replace('"h200"', '"h2000"')))
    assert error.value.line == 8


@given(st.text(max_size=60) | st.text("[]offergpu=\"'.0123 \n", max_size=80))
def test_any_text_is_read_or_refused(tmp_path_factory, text):
    file = tmp_path_factory.mktemp("fuzz") / "p.toml"
    file.write_text('currency = "X"\n' + text, encoding="utf-8", errors="replace")
    with pytest.raises(WarpWattError):
        read_prices(file)


@pytest.mark.parametrize(("text", "kilograms"), [("0.35kg/kWh", 0.35), ("350 g/kWh", 0.35), ("0kg/kwh", 0.0)])
def test_an_intensity_as_typed(text, kilograms):
    assert read_carbon(text).per_kwh == pytest.approx(kilograms)


@pytest.mark.parametrize(
    "text", ["", "0.35", "-1kg/kWh", "9kg/kWh", "1e999kg/kWh", "e.e+kg/kWh", "x:y", "a.toml:b/c"]
)
def test_what_is_no_intensity_is_refused(text):
    with pytest.raises(InputError) as error:
        read_carbon(text)
    assert error.value.hint or error.value.file


def test_zones_come_with_their_source(tmp_path):
    file = tmp_path / "zones.toml"
    file.write_text('[zone.DE]\nkg_per_kwh = 0.4\nsource = "agency"\n[zone.XX]\nkg_per_kwh = 1\n')
    assert read_carbon(f"{file}:DE").source == "agency"
    with pytest.raises(InputError, match="source is missing"):
        read_carbon(f"{file}:XX")
    with pytest.raises(InputError, match="no zone 'FR'") as error:
        read_carbon(f"{file}:FR")
    assert "DE" in error.value.hint
