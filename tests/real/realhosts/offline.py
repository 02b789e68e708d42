"""No network but loopback, for this process and all that it starts."""

from __future__ import annotations

import ctypes
import fcntl
import os
import socket
import struct

CLONE_NEWNET = 0x40000000
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 0x1


class Offline:
    """The way into a network of nothing but loopback, and for one child at a time the way back out.

    Linux lets root do this. Elsewhere ``enforced`` is false, and only the environment keeps the programs at home.
    To be entered before the process has threads: a network belongs to a thread and to those that it starts.
    """

    def __init__(self) -> None:
        self.enforced = False
        if os.uname().sysname != "Linux" or os.geteuid() != 0:
            return
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._outside = os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        if self._libc.unshare(CLONE_NEWNET) == 0:
            _raise_loopback()
            self.enforced = True

    def reach_out(self) -> None:
        """Go back to the machine's network; in a child, before it becomes the program."""
        if self.enforced and self._libc.setns(self._outside, CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), "cannot return to the machine's network")


def _raise_loopback() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("16sh14x", b"lo", 0)
        flags = struct.unpack("16sh14x", fcntl.ioctl(any_socket, SIOCGIFFLAGS, request))[1]
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", flags | IFF_UP))
