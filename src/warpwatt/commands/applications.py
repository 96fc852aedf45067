"""``warpwatt predict APP.toml``: compile and predict the kernels of an application."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpwatt.core.progress import counted, step
from warpwatt.frontend.load import load_kernel
from warpwatt.jobs.application import predict_application
from warpwatt.request.applications import load_application
from warpwatt.request.choices import complete_gpus
from warpwatt.request.launch_text import Request

if TYPE_CHECKING:
    from warpwatt.core.application import KernelNode
    from warpwatt.core.gpu import Gpu
    from warpwatt.core.prediction import ApplicationPrediction, Prediction
    from warpwatt.jobs.application import Predictor
    from warpwatt.request.session import Session


def run_application(session: Session) -> tuple[ApplicationPrediction, ...]:
    """Return one result per GPU of the session."""
    application = load_application(session.file)
    predict_node = predictor(session)
    predictions, gpus = [], complete_gpus(session.gpus, power_limit=session.modelling.power_limit)
    for number, gpu in enumerate(gpus, 1):
        with step(counted(gpu.name, number, len(gpus))):
            predictions.append(predict_application(application, gpu, predict_node))
    return tuple(predictions)


def predictor(session: Session) -> Predictor:
    """Return what predicts a kernel node as the session's options say, profile included."""
    options = session.compile_options()

    def predict_node(node: KernelNode, gpu: Gpu) -> Prediction:
        kernel = load_kernel(str(node.source), gpu.target, options, node.kernel or "")
        return session.predict_request(Request(node.kernel, node.launch, node.loop_counts), kernel, gpu)

    return predict_node
