"""The page in a real browser: no errors, both themes, columns in step, files that hold the data."""

from __future__ import annotations

import base64
import csv
import io
import json
import struct

import pytest

from tests.render.report.browsing import CHECKS, chromium
from tests.render.report.test_hostile import hostile, huge
from warpwatt.render import html
from warpwatt.render.context import Context

pytestmark = pytest.mark.browser
VIEWS = ((390, "dark"), (1440, "light"))
IN_SIGHT = """(id) => {
  const box = document.getElementById(id);
  const row = box.querySelector(".row.linked").getBoundingClientRect();
  return row.top >= box.getBoundingClientRect().top && row.bottom <= box.getBoundingClientRect().bottom;
}"""


@pytest.fixture(scope="module")
def browser():
    with chromium() as found:
        yield found


@pytest.fixture
def opened(browser, page_file):
    """Open the page; whatever goes wrong on it fails the test."""
    pages, wrong = [], []

    def open_page(file=page_file, **options):
        context = browser.new_context(**{"viewport": {"width": 1440, "height": 900}, **options})
        page = context.new_page()
        page.on("console", lambda message: wrong.append(message.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on(
            "request",
            lambda request: (
                wrong.append(request.url) if not request.url.startswith(("file:", "data:", "blob:")) else None
            ),
        )
        page.goto(file.as_uri())
        pages.append(context)
        return page

    yield open_page
    for context in pages:
        context.close()
    assert wrong == []


@pytest.mark.parametrize(("width", "scheme"), VIEWS)
def test_every_account_opens_without_errors_and_passes_the_checks(opened, width, scheme):
    page = opened(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page.evaluate("() => document.querySelectorAll('details').forEach(one => { one.open = true; })")
    page.wait_for_selector("#prediction-5 .row")
    assert page.evaluate(CHECKS) == []
    assert page.evaluate("() => document.documentElement.scrollWidth") <= width


def test_theme_follows_the_system_until_somebody_chooses(opened):
    page = opened(color_scheme="light")
    paper = "() => getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(paper)
    page.emulate_media(color_scheme="dark")
    dark = page.evaluate(paper)
    assert light != dark
    button = page.locator("[data-theme-toggle]")
    assert button.get_attribute("aria-pressed") == "true"
    button.press("Enter")
    assert page.evaluate(paper) == light
    assert button.get_attribute("aria-pressed") == "false"
    page.reload()
    assert page.evaluate(paper) == light
    page.emulate_media(media="print")
    assert page.evaluate("() => getComputedStyle(document.documentElement).colorScheme") == "light"


def test_columns_follow_each_other(opened):
    page = opened()
    account = page.locator("#prediction-3")
    account.locator("summary").first.click()
    source, ptx, sass = (account.locator(f"#prediction-3-rows-{i}") for i in range(3))
    source.locator(".row", has_text="sum += as").click()
    assert [row.locator(".number").inner_text() for row in ptx.locator(".row.linked").all()] == list("789")
    assert sass.locator(".row.linked").count() == 32
    assert page.evaluate(IN_SIGHT, "prediction-3-rows-2")
    said = account.locator(".code-said").inner_text()
    assert "3 of PTX" in said
    assert "32 of SASS" in said
    source.press("Escape")
    assert sass.locator(".row.linked").count() == 0
    sass.focus()
    for _ in range(3):
        sass.press("ArrowDown")
    picked = sass.locator("[aria-selected=true]")
    assert picked.get_attribute("id") == sass.get_attribute("aria-activedescendant")
    assert "as[threadIdx.y][threadIdx.x] = a[" in source.locator(".row.linked").inner_text()


def test_heat_can_be_switched(opened, explained, data):
    page = opened()
    account = page.locator("#prediction-5")
    account.locator("summary").first.click()
    select = account.locator("[data-heat]")
    assert select.locator("option").all_inner_texts()[:2] == ["Time", "Energy"]
    select.select_option("MIO Throttle")
    row = account.locator("#prediction-5-rows-0 .row.stall", has_text="sum += as")
    assert row.locator(".share").inner_text() == "30 %"
    row.click()
    assert ", 30 % of warp time in MIO Throttle: " in account.locator(".code-said").inner_text()
    head = account.locator(".listing-head").first.inner_text()
    assert "MIO Throttle, hottest 30 %" in head.replace("\n", " ")


def saved(page, button):
    with page.expect_download() as waiting:
        button.click()
    return waiting.value.suggested_filename, waiting.value.path().read_bytes()


def test_data_can_be_saved_as_csv_and_json(opened, data):
    page = opened()
    section = page.locator("#prediction-1-clocks")
    name, raw = saved(page, section.get_by_role("button", name="Clock sweep as CSV"))
    wanted = data["plots"]["prediction-1-clocks"]
    assert name == "saxpy-NVIDIA-H200-Clock-sweep.csv"
    rows = list(csv.reader(io.StringIO(raw.decode())))
    assert rows[0] == wanted["columns"]
    assert [float(row[1]) for row in rows[1:]] == [row[1] for row in wanted["rows"]]
    _, raw = saved(page, page.locator("#prediction-1-roofline button[data-save=csv]"))
    names = [row["name"] for row in csv.DictReader(io.StringIO(raw.decode()))]
    assert names == [row[1] for row in data["plots"]["prediction-1-roofline"]["rows"]]
    assert names[-1] == "saxpy(int, float, const float*, float*)"
    _, raw = saved(page, section.get_by_role("button", name="Clock sweep as JSON"))
    found = json.loads(raw)
    assert found["gpu"] == "NVIDIA H200"
    assert [row["energy_J"] for row in found["rows"]] == [
        row[wanted["columns"].index("energy_J")] for row in wanted["rows"]
    ]


def test_every_plot_can_be_saved_as_png(opened):
    page = opened(color_scheme="dark")
    for name in ("roofline", "memory", "clocks", "occupancy", "speed-of-light", "stalls", "energy"):
        file, raw = saved(page, page.locator(f"#prediction-1-{name} button[data-save=png]"))
        assert file.endswith(".png")
        assert raw[:8] == b"\x89PNG\r\n\x1a\n"
        width, height = struct.unpack(">II", raw[16:24])
        assert width >= 1000
        assert height >= 200
        assert colours(page, raw) >= 4, f"an empty picture of {name}"


def colours(page, raw):
    """Return how many different colours a picture has."""
    code = """async (text) => {
      const image = new Image(); image.src = `data:image/png;base64,${text}`; await image.decode();
      const canvas = document.createElement("canvas"); canvas.width = 400; canvas.height = 200;
      const brush = canvas.getContext("2d"); brush.drawImage(image, 0, 0, 400, 200);
      const all = new Uint32Array(brush.getImageData(0, 0, 400, 200).data.buffer);
      return new Set(all).size;
    }"""
    return page.evaluate(code, base64.b64encode(raw).decode())


def test_cursor_reads_values_by_pointer_and_by_keys(opened, data):
    page = opened()
    plot = page.locator('[data-cursor="prediction-1-clocks-energy"]')
    readout = page.locator('[data-readout="prediction-1-clocks-energy"]')
    rest = readout.inner_text()
    assert rest.startswith("predicted: ")
    curve = data["cursors"]["prediction-1-clocks-energy"]
    plot.focus()
    plot.press("ArrowLeft")
    plot.press("ArrowLeft")
    assert readout.inner_text() == curve["notes"][curve["own"] - 1]
    plot.press("Escape")
    assert readout.inner_text() == rest
    roof = page.locator('[data-cursor="prediction-1-roofline"]')
    roof.hover()
    said = page.locator('[data-readout="prediction-1-roofline"]').inner_text()
    assert all(name in said for name in ("FLOP/B", "DRAM", "L2", "L1", "FP32"))


def test_one_kernel_can_be_seen_alone(opened):
    page = opened()
    button = page.locator('[data-isolate="kernels-1"]').first
    svg = page.locator('[data-cursor="kernels-1"] svg')
    button.click()
    assert button.get_attribute("aria-pressed") == "true"
    shown = {one.get_attribute("data-series") for one in svg.locator(".series:not(.faded)").all()}
    assert shown == {"0"}
    button.click()
    assert svg.locator(".faded").count() == 0
    select = page.locator('[data-choose="kernels"]')
    select.select_option("kernels-2")
    assert page.locator("#kernels-1").is_hidden()
    assert page.locator("#kernels-2").is_visible()


def test_values_are_a_table_on_demand(opened, data):
    page = opened()
    details = page.locator('[data-values="prediction-1-clocks"]')
    details.locator("summary").click()
    details.locator("table").wait_for()  # made after the click, when the browser tells that it is open
    assert details.locator("tbody tr").count() == len(data["plots"]["prediction-1-clocks"]["rows"])


def test_links_open_what_they_point_to(opened):
    page = opened()
    assert page.locator("#prediction-2").get_attribute("open") is None
    page.locator('a[href="#prediction-2"]').click()
    page.wait_for_function("document.getElementById('prediction-2').open")


def test_prints_every_account(opened, tmp_path):
    page = opened()
    raw = page.pdf(path=tmp_path / "report.pdf", format="A4", landscape=True)
    assert raw[:5] == b"%PDF-"
    assert len(raw) > 50_000


def test_without_scripts_the_numbers_are_there(opened):
    page = opened(java_script_enabled=False)
    assert page.locator("#prediction-1 .tile").first.is_visible()
    assert page.locator("#prediction-1 .lines-table").first.is_visible()
    assert page.locator("#prediction-1-roofline svg").first.is_visible()
    assert page.locator(".tools").first.is_hidden()
    assert page.get_by_text("need scripts").first.is_visible()


def test_hostile_and_huge_pages_run_only_our_script(opened, saxpy, tmp_path):
    context = Context(sources={"big.cu": "\n".join("y" * 300 for _ in range(10_000))})
    file = tmp_path / "hostile.html"
    file.write_text(html.render([huge(saxpy[0], 30_000), hostile(saxpy[0])], context), encoding="utf-8")
    page = opened(file)
    page.on("dialog", lambda dialog: pytest.fail(dialog.message))
    rows = page.locator("#prediction-1-rows-1")
    assert rows.locator(".row").count() < 100
    rows.press("End")
    assert rows.locator("[aria-selected=true] .number").inner_text() == "29999"
    assert page.locator("#prediction-1-rows-0 .row.linked .number").inner_text() == "3000"
    page.locator("#prediction-2 > summary").click()
    page.wait_for_selector("#prediction-2-rows-1 .row", state="attached")  # made after the click
    assert "alert(1)" in page.locator("#prediction-2-rows-1").inner_text()
    assert page.locator("img").count() == 0
