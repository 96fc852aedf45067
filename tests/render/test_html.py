import dataclasses
import re
from html.parser import HTMLParser

import pytest

from tests.render import samples
from warpwatt.core.estimate import Estimate
from warpwatt.core.program import SourceLine
from warpwatt.render import html as html_renderer
from warpwatt.render.code import listings
from warpwatt.render.context import Context

VOID = {"meta", "link", "br", "img", "hr", "input"}
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>&amp;\"'"
SOURCES = {"matmul.cu": samples.MATMUL_SOURCE, "saxpy.cu": samples.SAXPY_SOURCE}


class Checker(HTMLParser):
    """Records the elements and complains about tags that do not balance."""

    def __init__(self):
        super().__init__()
        self.open, self.elements, self.text = [], [], []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


def parse(text):
    checker = Checker()
    checker.feed(text)
    checker.close()
    assert checker.open == []
    return checker


@pytest.fixture(scope="module")
def page(saxpy, matmul):
    return html_renderer.render([*saxpy, *matmul], Context(command="warpwatt predict", sources=SOURCES))


def test_tags_balance_and_ids_are_unique(page):
    checker = parse(page)
    ids = [a["id"] for _, a in checker.elements if "id" in a]
    assert len(ids) == len(set(ids))
    labels = [a["aria-labelledby"] for _, a in checker.elements if "aria-labelledby" in a]
    assert set(labels) <= set(ids)
    targets = [a["href"].removeprefix("#") for a in checker.all("a")]
    assert set(targets) <= set(ids)


def test_nothing_refers_to_the_network(page):
    assert re.findall(r"(?:https?:)?//[a-z]", re.sub(r"// [A-Z].*", "", page)) == []
    assert "@import" not in page
    assert "url(" not in page
    checker = parse(page)
    assert not [a for _, a in checker.elements if "src" in a or "srcset" in a]
    assert {a["href"][0] for _, a in checker.elements if "href" in a} == {"#"}


def test_policy_allows_only_the_page_script(page):
    script = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    assert len(script) == 1
    policy = next(a for a in parse(page).all("meta") if "http-equiv" in a)["content"]
    assert policy == html_renderer.content_policy(script[0])
    assert "default-src 'none'" in policy


def test_landmarks_headings_and_table_headers(page):
    checker = parse(page)
    for landmark in ("header", "main", "footer"):
        assert len(checker.all(landmark)) == 1
    assert len(checker.all("h1")) == 1
    assert len(checker.all("h2")) == 4
    assert all("scope" in attributes for attributes in checker.all("th"))
    assert all(a.get("role") == "img" for a in checker.all("svg"))
    assert checker.all("html")[0]["lang"] == "en"


def test_page_is_small(page):
    assert len(page) < 200_000


def test_same_input_same_bytes(page, saxpy, matmul):
    again = html_renderer.render([*saxpy, *matmul], Context(command="warpwatt predict", sources=SOURCES))
    assert again == page


def hostile(prediction):
    case = prediction.case
    kernel = dataclasses.replace(case.kernel, demangled=HOSTILE, toolkit=HOSTILE)
    gpu = dataclasses.replace(case.gpu, name=HOSTILE)
    line = dataclasses.replace(prediction.lines[2], text=HOSTILE, file=HOSTILE)
    return dataclasses.replace(
        prediction,
        case=dataclasses.replace(case, kernel=kernel, gpu=gpu),
        timing=dataclasses.replace(prediction.timing, bottleneck=HOSTILE, breakdown={HOSTILE: 1e-6}),
        lines=(line,),
        warnings=(HOSTILE,),
    )


def test_hostile_names_and_lines_stay_text(saxpy):
    context = Context(command=HOSTILE, sources={HOSTILE: f"\n\n\n{HOSTILE}\n"}, toolkits={HOSTILE: HOSTILE})
    text = html_renderer.render([hostile(p) for p in saxpy], context)
    checker = parse(text)
    assert len(checker.all("script")) == 1
    assert checker.all("img") == []
    assert not [a for _, a in checker.elements if any(name.startswith("on") for name in a)]
    assert "".join(checker.text).count("alert(1)") > 10


def test_every_listing_row_of_a_line_carries_its_key(matmul):
    source, ptx, sass = listings(matmul[0], Context(sources=SOURCES))
    key = next(row.keys for row in source.rows if row.number == "15")
    assert [row.number for row in ptx.rows if row.keys == key] == ["7", "8", "9"]
    assert sum(row.keys == key for row in sass.rows) == 32
    assert source.rows[14].text == "            sum += as[threadIdx.y][k] * bs[threadIdx.x][k];"


def test_source_without_text_shows_costly_lines_and_gaps(matmul):
    source = listings(matmul[0], Context())[0]
    assert [row.number or row.kind for row in source.rows][:4] == ["gap", "7", "8", "gap"]


def test_inlined_instruction_lights_up_at_its_call_site_too(saxpy):
    case = saxpy[0].case
    inlined = SourceLine("math.h", 3, SourceLine("saxpy.cu", 6))
    first = dataclasses.replace(case.kernel.ptx.instructions[0], line=inlined)
    program = dataclasses.replace(case.kernel.ptx, instructions=(first, *case.kernel.ptx.instructions[1:]))
    execution = dataclasses.replace(case.workload.execution, program=program)
    workload = dataclasses.replace(case.workload, execution=execution)
    prediction = dataclasses.replace(saxpy[0], case=dataclasses.replace(case, workload=workload))
    columns = listings(prediction, Context())
    assert columns[1].rows[0].keys.split()[1] == next(r.keys for r in columns[0].rows if r.number == "6")


def test_kernel_without_sass_flops_or_loops_has_a_page(saxpy):
    case = saxpy[0].case
    kernel = dataclasses.replace(case.kernel, sass=None)
    program = case.workload.execution.program
    bare = dataclasses.replace(
        program, instructions=tuple(dataclasses.replace(i, flops=0.0) for i in program.instructions)
    )
    execution = dataclasses.replace(case.workload.execution, program=bare)
    workload = dataclasses.replace(case.workload, execution=execution)
    exact = Estimate.exact(0.0, "s")
    case = dataclasses.replace(case, kernel=kernel, workload=workload)
    empty = {"lines": (), "energy_components": {}, "time": exact, "transfer": exact}
    prediction = dataclasses.replace(saxpy[0], case=case, **empty)
    checker = parse(html_renderer.render([prediction], Context()))
    assert checker.all("svg") == []


def test_no_predictions():
    assert "no predictions" in "".join(parse(html_renderer.render([], Context())).text)


def luminance(colour):
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_text_colours_have_contrast_in_both_schemes(page):
    """WCAG 2.1, success criterion 1.4.3: at least 4.5 to 1."""
    schemes = re.findall(r":root \{(.*?)\}", page, re.DOTALL)[:2]
    assert len(schemes) == 2
    for scheme in schemes:
        colours = dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6});", scheme))
        pairs = [(ink, paper) for ink in ("ink", "soft", "accent", "good") for paper in ("card", "paper")]
        for ink, paper in [*pairs, ("warn", "warn-paper"), ("ink", "mark")]:
            light, dark = sorted((luminance(colours[ink]), luminance(colours[paper])), reverse=True)
            assert (light + 0.05) / (dark + 0.05) >= 4.5, (ink, paper)


def test_page_shows_what_each_line_asks_of_memory(page):
    text = re.sub(r"<[^>]+>", " ", page)
    assert "Memory accesses" in text
    assert '<strong class="waste">16 wavefronts</strong>' in page
    assert '<strong class="waste">32 sectors</strong>' in page
    assert "PTX of 24 of 65536 blocks run, scaled to all" in text
