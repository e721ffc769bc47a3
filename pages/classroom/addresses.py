"""The addresses by which students reach this computer. Nothing is sent to find them."""

import socket
import struct
import sys
from contextlib import suppress
from functools import cache

from streamlit import config

# One address of each kind of network; a datagram socket that is connected sends nothing, and says which of ours it is
ELSEWHERE = ("192.168.255.254", "10.255.255.254", "172.31.255.254", "192.0.2.1", "169.254.255.254")
ADDRESS_OF = 0x8915  # Linux: SIOCGIFADDR
ALLOWED = "server.allowedHosts"
_room: dict = {"hosts": [], "names": [], "port": 0, "own": []}


def of_this_machine() -> list[str]:
    """Its IPv4 addresses that others may reach, the likeliest first."""
    found = []
    for other in ELSEWHERE:
        with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
            asking.connect((other, 9))
            found.append(asking.getsockname()[0])
    found += _of_interfaces() if sys.platform == "linux" else _by_name()
    return [one for one in dict.fromkeys(found) if not one.startswith(("127.", "0."))]


def _of_interfaces() -> list[str]:
    """Also of networks that lead nowhere else, such as a hotspot of this computer's own."""
    from fcntl import ioctl

    found = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        for _, name in socket.if_nameindex():
            with suppress(OSError):  # it has none
                found.append(socket.inet_ntoa(ioctl(asking, ADDRESS_OF, struct.pack("256s", name.encode()))[20:24]))
    return found


@cache
def _by_name() -> list[str]:
    with suppress(OSError):
        return [one[4][0] for one in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)]
    return []


def open_to(hosts: list[str], names: list[str], port: int) -> None:
    """Students come by these addresses, or all that this computer has by then, or by these names, and this port."""
    _room.update(hosts=hosts, names=names, port=port, own=config.get_option(ALLOWED))


def urls() -> list[str]:
    """What students type, in the networks as they are now; what they type is let in."""
    if not _room["port"]:
        return []
    hosts = [*_room["names"], *(_room["hosts"] or of_this_machine())]
    if config.get_option(ALLOWED) != (allowed := [*_room["own"], *hosts]):
        config.set_option(ALLOWED, allowed)
    port = "" if _room["port"] == 80 else f":{_room['port']}"
    return [f"http://{host}{port}" for host in hosts]
