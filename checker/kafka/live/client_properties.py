"""The `--command-config` file of Kafka's tools: TLS and SASL, by Kafka's own property names.

A value may be a secret: no error and nothing that is stored names one, only the property.
"""

from __future__ import annotations

import re
import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import javaproperties

from checker.core.files import read_bounded
from model.language.errors import UsageError

PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
SECONDS = 15.0
"""Seconds that a request may take, unless `request.timeout.ms` says otherwise."""

_MAX_BYTES = 1_000_000
_READ = frozenset({
    "sasl.jaas.config", "sasl.mechanism", "ssl.endpoint.identification.algorithm",
    "ssl.key.password", "ssl.keystore.location", "ssl.keystore.type",
    "ssl.truststore.certificates", "ssl.truststore.location", "ssl.truststore.type",
})  # fmt: skip
_OF_CLIENTS = ("security.", "ssl.", "sasl.", "request.", "bootstrap.", "client.")
_WITHOUT_EFFECT = frozenset({
    "ssl.cipher.suites", "ssl.enabled.protocols", "ssl.protocol", "ssl.provider",
    "ssl.secure.random.implementation", "ssl.trustmanager.algorithm", "ssl.keymanager.algorithm",
})  # fmt: skip
_IN_JAAS = re.compile(r"""\b(username|password)\s*=\s*("((?:[^"\\]|\\.)*)"|[^\s;]+)""")
_PEM = "keytool -list -rfc -keystore STORE prints its certificates so"


def servers_of(text: str) -> list[str]:
    """The servers of `--bootstrap-server HOST:PORT,HOST:PORT`; `UsageError` for what is none."""
    found = [each.strip() for each in text.split(",")]
    for each in found:
        host, _, port = each.rpartition(":")
        if not host or not (port.isascii() and port.isdecimal() and 0 < int(port) < 65536):
            raise UsageError(f"--bootstrap-server {each}: write HOST:PORT, as in localhost:9092")
    return found


def read_properties(path: Path) -> dict[str, str]:
    """The properties of a file; `UsageError` in one line for what is none."""
    try:
        content = read_bounded(path, _MAX_BYTES)
        if len(content) > _MAX_BYTES:
            raise UsageError(f"{path} has more than {_MAX_BYTES:,} bytes: it is no configuration")
        found = dict(javaproperties.loads(content.decode("utf-8")))
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from error
    except ValueError:
        raise UsageError(f"{path} is no properties file") from None
    if found and not any(key.startswith(_OF_CLIENTS) for key in found):
        raise UsageError(f"{path} has no property of a client, such as security.protocol")
    return found


def request_seconds(properties: Mapping[str, str]) -> float:
    """How long a request may take; `UsageError` for a time that is none."""
    text = properties.get("request.timeout.ms", str(int(SECONDS * 1000))).strip()
    if not (text.isascii() and text.isdecimal() and int(text)):
        raise UsageError("request.timeout.ms is no number of milliseconds from 1")
    return int(text) / 1000


def client_options(properties: Mapping[str, str]) -> dict[str, Any]:
    """What kafka-python's clients take of it; `UsageError` for what is not valid or not read."""
    protocol = properties.get("security.protocol", "PLAINTEXT").strip().upper()
    if protocol not in PROTOCOLS:
        raise UsageError(f"security.protocol cannot be that: valid are {', '.join(PROTOCOLS)}")
    options: dict[str, Any] = {"security_protocol": protocol}
    if protocol.startswith("SASL"):
        options |= _sasl(properties)
    if protocol.endswith("SSL"):
        options["ssl_context"] = _tls(properties)
    for key in properties:
        if key.startswith(("ssl.", "sasl.")) and key not in _READ | _WITHOUT_EFFECT:
            raise UsageError(f"{key} is not read here: valid are {', '.join(sorted(_READ))}")
    return options


def _sasl(properties: Mapping[str, str]) -> dict[str, str]:
    mechanism = properties.get("sasl.mechanism", "").strip().upper()
    if mechanism not in MECHANISMS:
        told = mechanism or "left out, so GSSAPI,"
        raise UsageError(f"sasl.mechanism {told} is not supported: {_valid_mechanisms()}")
    jaas = properties.get("sasl.jaas.config", "")
    found = {
        match[1]: match[2] if match[3] is None else re.sub(r"\\(.)", r"\1", match[3])
        for match in _IN_JAAS.finditer(jaas)
    }
    if found.keys() != {"username", "password"}:
        raise UsageError(
            "sasl.jaas.config does not name a user: valid is such as "
            '...LoginModule required username="USER" password="PASSWORD";'
        )
    return {
        "sasl_mechanism": mechanism,
        "sasl_plain_username": found["username"],
        "sasl_plain_password": found["password"],
    }


def _valid_mechanisms() -> str:
    return f"valid are {', '.join(MECHANISMS)}"


def _tls(properties: Mapping[str, str]) -> ssl.SSLContext:
    for key in ("ssl.truststore.type", "ssl.keystore.type"):
        store = key.replace("type", "location")
        kind = properties.get(key, "JKS").strip()
        if (store in properties or key in properties) and kind != "PEM":
            raise UsageError(f"{key} {kind} is not read here: it has to be PEM; {_PEM}")
    try:
        context = ssl.create_default_context(
            cafile=properties.get("ssl.truststore.location"),
            cadata=properties.get("ssl.truststore.certificates"),
        )
    except (OSError, ValueError):
        raise UsageError("the truststore has no certificates in PEM that can be read") from None
    if properties.get("ssl.endpoint.identification.algorithm", "https").strip() == "":
        context.check_hostname = False
    if place := properties.get("ssl.keystore.location"):
        try:
            # An empty password keeps Python from asking at the terminal where one is missing.
            context.load_cert_chain(place, password=properties.get("ssl.key.password", ""))
        except (OSError, ValueError):
            raise UsageError(
                "ssl.keystore.location has no certificate and key in PEM that can be read "
                "(with ssl.key.password)"
            ) from None
    return context
