"""Where we may send to. Here: every notation of an address that is not public, and odd forms."""

from ipaddress import ip_address

import pytest

from fireflyassets.core.address import Target, is_public, target
from fireflyassets.core.request import Problem

NOT_PUBLIC = [
    "0.0.0.0",  # noqa: S104 - nothing is bound to it.
    "10.1.2.3",
    "100.64.0.1",
    "127.0.0.1",
    "127.1.2.3",
    "169.254.169.254",
    "168.63.129.16",
    "169.254.170.2",
    "172.16.0.1",
    "192.0.0.192",
    "192.168.1.1",
    "198.18.0.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::127.0.0.1",
    "::ffff:10.0.0.1",
    "::ffff:169.254.169.254",
    "64:ff9b::7f00:1",
    "64:ff9b:1::a00:1",
    "2002:7f00:1::",
    "2001:0:53aa:64c:0:0:f5ff:fffe",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "ff02::1",
    "2001:db8::1",
]


@pytest.mark.parametrize("address", NOT_PUBLIC)
def test_what_is_not_the_public_internet_is_refused(address: str) -> None:
    """Private, link-local, metadata, shared: whatever an address is wrapped in."""
    assert not is_public(ip_address(address))
    host = f"[{address}]" if ":" in address else address
    assert isinstance(target(f"https://{host}/hook"), Problem)


@pytest.mark.parametrize("address", ["8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8"])
def test_the_public_internet_is_let_through(address: str) -> None:
    assert is_public(ip_address(address))


@pytest.mark.parametrize(
    "url",
    [
        "https://2130706433/",
        "https://0x7f000001/",
        "https://0x7f.1/",
        "https://0177.0.0.1/",
        "https://127.1/",
        "https://127.0.0.1./",
        "https://1.0x1/",
        "https://hooks.example.0x/",
        "https://①②⑦.⓪.⓪.①/",
        "https://127。0。0。1/",
        "https://%31%32%37.0.0.1/",
        "https://localhost/",
        "https://metadata/",
        "https://[::1%25lo]/",
        "https://[::ffff:7f00:1]/",
        "https://[::1/",
    ],
)
def test_odd_notations_are_refused(url: str) -> None:
    """Decimal, octal, hex, short, dotted, wide, encoded: no resolver gets to read them."""
    assert isinstance(target(url), Problem)


@pytest.mark.parametrize(
    "url",
    [
        "http://hooks.example.com/",
        "ftp://hooks.example.com/",
        "file:///etc/passwd",
        "gopher://hooks.example.com:443/",
        "//hooks.example.com/",
        "https:///path",
        "https://",
        "",
        "https://user:word@hooks.example.com/",
        "https://@hooks.example.com/",
        "https://hooks.example.com:22/",
        "https://hooks.example.com:0/",
        "https://hooks.example.com:99999/",
        "https://hooks.example.com/#part",
        "https://hooks.example.com\\@127.0.0.1/",
        "https://hooks.example.com/\r\nX: 1",
        "https://hooks example.com/",
        "https://hooks..example.com/",
        f"https://hooks.example.com/{'a' * 500}",
    ],
)
def test_odd_forms_are_refused(url: str) -> None:
    assert isinstance(target(url), Problem)


def test_a_good_address_is_read_once() -> None:
    """What is dialled is what was judged: no second parser reads the text."""
    told = target("https://Hooks.Example.com:8443/in?x=1")

    assert told == Target("https", "hooks.example.com", 8443, "/in?x=1")
    assert isinstance(told, Target)
    assert told.netloc == "hooks.example.com:8443"


def test_a_trusted_host_may_be_this_machine() -> None:
    """Only the very host that the operator names, for tests on one machine."""
    trusted = ("127.0.0.1",)

    assert target("http://127.0.0.1:9000/", trusted=trusted) == Target(
        "http", "127.0.0.1", 9000, "/"
    )
    assert isinstance(target("http://127.0.0.2:9000/", trusted=trusted), Problem)
    assert isinstance(target("ftp://127.0.0.1/", trusted=trusted), Problem)
