"""
The certificates of one control plane: an authority of its own, and one server certificate for everything on 127.0.0.1.

Elliptic keys, made in a few milliseconds and kept, so that a kubeconfig outlives a restart. They guard a sandbox on one machine and nothing else.
"""

import ipaddress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

LIFETIME: Final = timedelta(days=3650)
SERVER_NAMES: Final = ("localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc")


def make_certificates(folder: Path, *, service_ip: str) -> None:
    """Write ca.crt, server.crt, server.key and the service-account key pair sa.key, sa.pub into a folder, unless they are there."""
    wanted = ("ca.crt", "server.crt", "server.key", "sa.key", "sa.pub")
    if all((folder / name).is_file() for name in wanted):
        return
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    authority_key, server_key, account_key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(3))
    authority = _sign(authority_key, authority_key, subject="gpukit-sandbox", issuer="gpukit-sandbox", authority=True)
    server = _sign(
        server_key,
        authority_key,
        subject="kube-apiserver",
        issuer="gpukit-sandbox",
        authority=False,
        dns_names=SERVER_NAMES,
        service_ip=service_ip,
    )
    _write(folder / "ca.crt", authority.public_bytes(Encoding.PEM))
    _write(folder / "server.crt", server.public_bytes(Encoding.PEM))
    _write(folder / "server.key", _private(server_key))
    _write(folder / "sa.key", _private(account_key))
    _write(folder / "sa.pub", account_key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))


def make_webhook_certificates(folder: Path, *, authority_name: str, dns_name: str) -> dict[str, bytes]:
    """
    Return ca.crt, ca.key, tls.crt and tls.key for Kueue's webhooks; made once, and kept in a folder.

    RSA, and an authority that carries its own name as a DNS name: that is what the certificate keeper in Kueue accepts as its own, and then leaves alone.
    """
    names = ("ca.crt", "ca.key", "tls.crt", "tls.key")
    if not all((folder / name).is_file() for name in names):
        from cryptography.hazmat.primitives.asymmetric import rsa
        from cryptography.hazmat.primitives.serialization import Encoding

        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        authority_key, key = (rsa.generate_private_key(public_exponent=65537, key_size=2048) for _ in range(2))
        authority = _sign(
            authority_key,
            authority_key,
            subject=authority_name,
            issuer=authority_name,
            authority=True,
            dns_names=(authority_name,),
        )
        server = _sign(
            key,
            authority_key,
            subject=dns_name,
            issuer=authority_name,
            authority=False,
            dns_names=(dns_name, "localhost"),
        )
        _write(folder / "ca.crt", authority.public_bytes(Encoding.PEM))
        _write(folder / "ca.key", _private(authority_key))
        _write(folder / "tls.crt", server.public_bytes(Encoding.PEM))
        _write(folder / "tls.key", _private(key))
    return {name: (folder / name).read_bytes() for name in names}


def _sign(
    key: Any,
    signer: Any,
    *,
    subject: str,
    issuer: str,
    authority: bool,
    dns_names: tuple[str, ...] = (),
    service_ip: str | None = None,
) -> Any:
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes
    from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

    def name(text: str) -> Any:
        return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])

    now = datetime.now(UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(name(subject))
        .issuer_name(name(issuer))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + LIFETIME)
        .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), critical=False)
        .add_extension(_usage(authority), critical=True)
    )
    names: list[Any] = [x509.DNSName(text) for text in dns_names]
    if not authority:
        names += [x509.IPAddress(ipaddress.ip_address(text)) for text in ("127.0.0.1", service_ip) if text]
    if names:
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
    if not authority:
        builder = builder.add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
    return builder.sign(signer, hashes.SHA256())


def _usage(authority: bool) -> Any:
    from cryptography import x509

    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=authority,
        crl_sign=authority,
        encipher_only=False,
        decipher_only=False,
    )


def _private(key: Any) -> bytes:
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    # The API server reads EC service-account keys in this form; PKCS8 works for TLS keys alone in some versions.
    content: bytes = key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())
    return content


def _write(path: Path, content: bytes) -> None:
    path.touch(mode=0o600)
    path.write_bytes(content)
