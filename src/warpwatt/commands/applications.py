"""``warpwatt predict APP.toml``: compile and predict the kernels of an application."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from warpwatt.advise.application import predict_application
from warpwatt.commands.session import complete_gpus, model_choice, parse_clocks
from warpwatt.frontend.applications import load_application
from warpwatt.frontend.load import load_kernel
from warpwatt.predict import predict

if TYPE_CHECKING:
    from warpwatt.commands.session import Session
    from warpwatt.core.application import KernelNode
    from warpwatt.core.gpu import Gpu
    from warpwatt.core.prediction import ApplicationPrediction, Prediction


def run_application(session: Session) -> tuple[ApplicationPrediction, ...]:
    """Return one result per GPU of the session."""
    application = load_application(Path(session.source))
    options = session.compile_options()
    clock = session.modelling.clock

    def predictor(node: KernelNode, gpu: Gpu) -> Prediction:
        kernel = load_kernel(str(node.source), gpu.target, options, node.kernel or "")
        choice = model_choice(session.modelling, node.loop_counts)
        return predict(kernel, node.launch, gpu, clocks=parse_clocks(clock, gpu), choice=choice)

    return tuple(predict_application(application, gpu, predictor) for gpu in complete_gpus(session.gpus))
