# Written by gpukit for image `pytorch`. Every version is exact: change it by `gpukit images bump`.
# The wheels are fetched in a stage of their own, and only installed in the second.
FROM nvcr.io/nvidia/pytorch:26.03-py3 AS wheels
COPY requirements.txt /wheels/requirements.txt
RUN python3 -m pip wheel --no-cache-dir --no-deps --wheel-dir /wheels --requirement /wheels/requirements.txt

FROM nvcr.io/nvidia/pytorch:26.03-py3
LABEL org.opencontainers.image.title="pytorch" \
      dev.gpukit.contents="cuda=13.2 cudnn=9.20.0 nccl=2.29.7 ofi_nccl=1.17.0 python=3.12 pytorch=2.11.0"
COPY --from=wheels /wheels /opt/gpukit/wheels
RUN python3 -m pip install --no-cache-dir --no-deps --no-index --find-links /opt/gpukit/wheels \
      --requirement /opt/gpukit/wheels/requirements.txt
COPY runtime/gpukit_runtime /opt/gpukit/runtime/gpukit_runtime
ENV PYTHONPATH="/opt/gpukit/runtime"
ENV GPUKIT_GPU_ARCHITECTURE="Hopper"
ENV GPUKIT_LOSS_SCALING="0"
ENV GPUKIT_PRECISIONS="fp32,tf32,fp16,bf16,fp8"
ENV GPUKIT_TRAINING_PRECISION="bf16"
ENV NCCL_NET_PLUGIN="ofi"
ENV NCCL_SOCKET_IFNAME="^docker,lo,veth"
ENV TORCH_NCCL_ASYNC_ERROR_HANDLING="1"
RUN python3 -c "import gpukit_runtime; print(gpukit_runtime.settings())"
