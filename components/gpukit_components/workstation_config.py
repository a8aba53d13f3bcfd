"""User data of a workstation: the data volume, the idle stop, and Jupyter behind a port forwarding session."""

from typing import Final

JUPYTER_PORT: Final = 8888

_IDLE_STOP = r"""#!/bin/bash
# Stops the instance after @MINUTES@ minutes without GPU use and without a session.
set -u
state=/run/gpukit-last-active
now=$(date +%s)
active=0
if usage=$(nvidia-smi --query-gpu=utilization.gpu --format=csv,noheader,nounits 2>&1); then
  for percent in $usage; do
    if [ "$percent" -gt 3 ] 2>/dev/null; then active=1; fi
  done
else
  # a GPU that cannot be read may be in use: the alarm outside of the instance decides then
  echo "gpukit: cannot read the GPUs: $usage" >&2
  active=1
fi
if pgrep -x ssm-session-wor >/dev/null || [ -n "$(who)" ]; then active=1; fi
if [ "$active" = 1 ] || [ ! -f "$state" ]; then
  echo "$now" > "$state"
  exit 0
fi
idle=$((now - $(cat "$state")))
if [ "$idle" -ge $((@MINUTES@ * 60)) ]; then
  echo "gpukit: idle for $((idle / 60)) minutes, stopping"
  systemctl poweroff
fi
"""

_IDLE_SERVICE = """[Unit]
Description=Stop this instance when its GPUs are idle

[Service]
Type=oneshot
ExecStart=/usr/local/lib/gpukit/idle-stop
"""

_IDLE_TIMER = """[Unit]
Description=Look every minute whether the GPUs are idle

[Timer]
OnBootSec=5min
OnUnitActiveSec=1min

[Install]
WantedBy=timers.target
"""

_DATA_VOLUME = r"""
device=/dev/disk/by-id/nvme-Amazon_Elastic_Block_Store_@VOLUME@
for _ in $(seq 1 120); do
  [ -e "$device" ] && break
  sleep 2
done
if [ -e "$device" ]; then
  # only a volume without any signature is formatted: data from an earlier instance stays
  if [ -z "$(blkid -o value -s TYPE "$device")" ]; then mkfs.xfs -L gpukit-data "$device"; fi
  mkdir -p @PATH@
  grep -q "LABEL=gpukit-data" /etc/fstab || echo "LABEL=gpukit-data @PATH@ xfs defaults,nofail 0 2" >> /etc/fstab
  mount -a
  chmod 1777 @PATH@
else
  echo "gpukit: the data volume @VOLUME@ did not appear" >&2
fi
"""

_JUPYTER_SERVICE = """[Unit]
Description=Jupyter on the loopback interface; reach it by a port forwarding session
After=network.target

[Service]
User=@USER@
WorkingDirectory=@PATH@
ExecStart=/bin/bash -lc 'exec jupyter lab --no-browser --ServerApp.ip=127.0.0.1 --ServerApp.port=@PORT@'
Restart=on-failure

[Install]
WantedBy=multi-user.target
"""


def render_workstation_user_data(*, volume_id: str, data_mount_path: str, idle_stop_minutes: int, jupyter: bool) -> str:
    """Return the cloud-init script of a workstation; the same text for the same input."""
    parts = ["#!/bin/bash", "set -u"]
    if volume_id:
        parts.append(_DATA_VOLUME.replace("@VOLUME@", volume_id.replace("-", "")).replace("@PATH@", data_mount_path))
    if idle_stop_minutes > 0:
        parts += [
            "mkdir -p /usr/local/lib/gpukit",
            _file("/usr/local/lib/gpukit/idle-stop", _IDLE_STOP.replace("@MINUTES@", str(idle_stop_minutes))),
            "chmod 755 /usr/local/lib/gpukit/idle-stop",
            _file("/etc/systemd/system/gpukit-idle-stop.service", _IDLE_SERVICE),
            _file("/etc/systemd/system/gpukit-idle-stop.timer", _IDLE_TIMER),
            "systemctl daemon-reload",
            "systemctl enable --now gpukit-idle-stop.timer",
        ]
    if jupyter:
        unit = _JUPYTER_SERVICE.replace("@PATH@", data_mount_path).replace("@PORT@", str(JUPYTER_PORT))
        parts += [
            "user=$(getent passwd 1000 | cut -d: -f1)",
            _file("/etc/systemd/system/gpukit-jupyter.service", unit),
            'sed -i "s/@USER@/$user/" /etc/systemd/system/gpukit-jupyter.service',
            "systemctl daemon-reload",
            "systemctl enable --now gpukit-jupyter.service",
        ]
    return "\n".join(parts) + "\n"


def _file(path: str, content: str) -> str:
    return f"cat > {path} <<'GPUKIT_END'\n{content}GPUKIT_END"
