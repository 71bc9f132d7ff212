"""The allow-list: who may see our credentials, and which URLs are read at all."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fireflyassets.adapters.adobe.hosts import AllowedHosts, parse_address
from fireflyassets.core.errors import UnusableConfiguration

HOSTS = AllowedHosts(["*.adobe.io", "127.0.0.1:9999", "localhost:9999", "plain.example.com"])

ALLOWED = [
    "https://firefly-api.adobe.io/v3/status/1",
    "https://firefly-epo854211.adobe.io/v3/status/urn:ff:jobs:epo854211:1?a=%2F",
    "https://a.b.adobe.io",
    "https://FIREFLY-API.Adobe.IO:443/x",
    "https://x.adobe.io?query",
    "http://127.0.0.1:9999/v3",
    "http://localhost:9999/v3",
    "https://127.0.0.1:9999/v3",
]
REFUSED = [
    "http://firefly-api.adobe.io/v3/status/1",
    "https://adobe.io/x",
    "https://evil-adobe.io/x",
    "https://adobe.io.evil.com/x",
    "https://firefly.adobe.io.evil.com/x",
    "https://firefly-api.adobe.io:8443/x",
    "https://user@firefly-api.adobe.io/x",
    "https://firefly-api.adobe.io@evil.com/x",
    "https://evil.com\\@firefly-api.adobe.io/x",
    "https://evil.com/.adobe.io",
    "https://evil.com?.adobe.io",
    "https://evil.com#.adobe.io",
    "https://evil.com/@firefly-api.adobe.io",
    "https://firefly-api.adobe.io./x",
    "https://firefly-api.adobe.io\n/x",
    "https://firefly-api.adobe.io/x y",
    "https://firefly-api.adobe.io/\u00e9",
    "https://firefly-api.adobe.io/x\r\nHost: evil.com",
    "https://f\u0131refly-api.adobe.io\u3002evil.com/x",
    "https:firefly-api.adobe.io/x",
    "//firefly-api.adobe.io/x",
    "/v3/status/1",
    "ftp://firefly-api.adobe.io/x",
    "https://.adobe.io/x",
    "https://firefly-api.adobe.io:0/x",
    "https://firefly-api.adobe.io:99999/x",
    "http://127.0.0.1:9998/v3",
    "http://127.0.0.1/v3",
    "http://plain.example.com/x",
    "http://999.1.1.1/x",
    "",
]


@pytest.mark.parametrize("url", ALLOWED)
def test_own_hosts_may_see_credentials(url: str) -> None:
    """Adobe's hosts over HTTPS, and listed loopback hosts, get our headers."""
    assert HOSTS.may_carry_credentials(url)


@pytest.mark.parametrize("url", REFUSED)
def test_nobody_else_may(url: str) -> None:
    """A look-alike, another port, plain HTTP or an ambiguous URL never gets our headers."""
    assert not HOSTS.may_carry_credentials(url)


@pytest.mark.parametrize(
    "pattern", ["*", "*.", "*.io", "https://a.adobe.io", "a b", "", "*adobe.io"]
)
def test_careless_list_is_refused(pattern: str) -> None:
    """A pattern that would hand the token to half the internet is refused at the start."""
    with pytest.raises(UnusableConfiguration):
        AllowedHosts([pattern])


@given(st.text())
def test_reading_never_raises(text: str) -> None:
    """Whatever a vendor's answer holds in place of a URL, reading it only says no."""
    for url in (text, f"https://{text}", f"https://{text}.adobe.io/", f"http://{text}"):
        parse_address(url)
        HOSTS.may_carry_credentials(url)


@given(st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E, exclude_characters="#")))
def test_target_is_kept_as_it_came(tail: str) -> None:
    """Path and query are never decoded, sorted or normalised."""
    address = parse_address(f"https://x.adobe.io/{tail}")

    assert address is not None
    assert address.target == f"/{tail}"


def test_label_hides_the_query() -> None:
    """What a log may show ends before the query, where signatures are."""
    address = parse_address("https://b.s3.amazonaws.com/k/1.jpg?X-Amz-Signature=SIGMARK")

    assert address is not None
    assert address.label == "b.s3.amazonaws.com/k/1.jpg"
    assert "SIGMARK" not in repr(address)
