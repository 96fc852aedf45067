"""What pages claim of public data that validation pages hold against."""

from pathlib import Path

VALIDATION = Path(__file__).parents[2] / "docs" / "validation"


def test_the_page_on_autotuners_knows_the_public_times_of_triton_configurations():
    text = (VALIDATION / "autotuners.md").read_text(encoding="utf-8")
    assert "[mixture of experts](mixture_of_experts.md)" in text
    assert (VALIDATION / "mixture_of_experts.md").exists()
