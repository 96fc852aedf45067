"""The server against its own description: every documented answer, and no other, for generated requests.

A longer run: ``SCHEMATHESIS_EXAMPLES=2000 pytest tests/server/web/test_schemathesis.py``.
"""

from __future__ import annotations

import os

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.config import SchemathesisConfig

from warpwatt.server.web.openapi import document

EXAMPLES = int(os.environ.get("SCHEMATHESIS_EXAMPLES", "8"))
ACCEPTED = ["2xx", "404", "422", "503"]
"""What a request that keeps to the schema may get: a source that does not compile is no fault of the form."""
CONFIGURATION = SchemathesisConfig.from_dict(
    {
        "generation": {"deterministic": EXAMPLES < 100, "database": "none"},
        "checks": {"positive_data_acceptance": {"expected-statuses": ACCEPTED}},
        "phases": {"coverage": {"enabled": EXAMPLES >= 100}},
    }
)
described = schemathesis.openapi.from_dict(document(), config=CONFIGURATION)
pytestmark = pytest.mark.toolchain


@described.parametrize()
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
def test_answers_are_as_described(case, url):
    case.call_and_validate(base_url=url, timeout=60)
