import subprocess
import sys

import pytest

from warpwatt.core.errors import UsageError
from warpwatt.render import registry
from warpwatt.render.context import Context


@pytest.mark.parametrize("name", registry.FORMATS)
def test_every_format_renders(name, saxpy):
    assert "saxpy" in registry.renderer(name)(saxpy, Context())


@pytest.mark.parametrize("name", registry.APPLICATION_FORMATS)
def test_every_application_format_renders(name, application):
    assert "train step" in registry.application_renderer(name)([application], Context())


def test_unknown_format_names_the_known():
    with pytest.raises(UsageError) as caught:
        registry.renderer("pdf")
    assert "text" in caught.value.hint


@pytest.mark.parametrize(
    ("name", "unwanted"),
    [("text", {"jinja2", "plotly", "numpy"}), ("json", {"jinja2", "rich"}), ("csv", {"jinja2", "rich"})],
)
def test_formats_import_only_what_they_need(name, unwanted):
    code = (
        "import sys; from warpwatt.render.registry import renderer; "
        f"renderer({name!r}); print(*sorted(set(m.split('.')[0] for m in sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not unwanted & set(run.stdout.split())
