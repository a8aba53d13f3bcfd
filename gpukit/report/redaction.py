"""
Remove secrets before anything is shown: our own pass, behind the engine's.

Three nets, each enough on its own: markers (what Pulumi calls secret), key names (`password`, `token`, ...), and
shapes (access keys, tokens, PEM blocks, kubeconfigs) anywhere in a string, also in JSON, YAML or base64 inside it.
Errs on the side of removing too much: a hidden value costs a look into the console, a shown one costs a key.
"""

import base64
import binascii
import json
import re
import zlib
from functools import lru_cache
from typing import Any, Final

REDACTED: Final = "[secret]"

SECRET_SIGNATURES: Final = frozenset({"1b47061264138c4ac30d75fd1eb44270"})
"""Value under SIGNATURE_KEY of a serialized secret. Source: pulumi/sdk go/common/resource SecretSig."""

SIGNATURE_KEY: Final = "4dabf18193072939515e22adb298388d"
"""Source: pulumi/sdk go/common/resource SigKey."""

_KEY_WORDS: Final = (
    r"pass(?:word|wd|phrase|code)?|pwd|secrets?|secret[_\-.]?(?:string|binary|data|value)|(?:client|shared|webhook)[_\-.]?secret|tokens?|api[_\-.]?keys?"
    r"|access[_\-.]?keys?(?:[_\-.]?id)?|secret[_\-.]?(?:access[_\-.]?)?keys?|private[_\-.]?keys?|signing[_\-.]?keys?"
    r"|account[_\-.]?keys?|auth(?:orization)?|bearer|credentials?|connection[_\-.]?string|kube[_\-.]?config"
    r"|session[_\-.]?tokens?|client[_\-.]?key[_\-.]?data|encryption[_\-.]?keys?|license[_\-.]?keys?|munge[_\-.]?key"
)
_SECRET_KEY: Final = re.compile(rf"(?:^|[_\-.:/\s])(?:{_KEY_WORDS})$", re.IGNORECASE)

_NOT_SECRET_KEYS: Final = frozenset(
    {
        "automountserviceaccounttoken",
        "httptokens",
        "http_tokens",
        "authenticationmode",
        "secretname",
        "secretref",
        "secretkeyref",
        "imagepullsecrets",
        "auth",
        "passwordresetrequired",
        "clienttoken",
        "authorization_type",
    }
)
"""Names that look secret and are settings; their values still go through the shapes."""

_SHAPES: Final = tuple(
    re.compile(pattern, flags)
    for pattern, flags in (
        # PEM blocks, also with literal \n and also when the end was cut off.
        (
            r"-----BEGIN [A-Z0-9 ]*(?:CERTIFICATE|PGP MESSAGE)[A-Z0-9 ]*-----.*?(?:-----END [A-Z0-9 ]+-----|\Z)",
            re.DOTALL,
        ),
        (r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY[A-Z0-9 ]*-----.*?(?:-----END [A-Z0-9 ]+-----|\Z)", re.DOTALL),
        # AWS access key ids: long-lived and temporary ones, and the like.
        (r"(?<![A-Z0-9])(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}(?![A-Z0-9])", 0),
        # Code hosts.
        (r"\bgh[pousr]_[A-Za-z0-9]{20,}", 0),
        (r"\bgithub_pat_[A-Za-z0-9_]{20,}", 0),
        (r"\bgl(?:pat|ptt|dt|rt|cbt|ft|soat|imt|agent|oas|ffct)-[A-Za-z0-9_\-.]{16,}", 0),
        # Chat, models, registries, payment, Pulumi and other services with a prefix.
        (r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}", 0),
        (r"\bhooks\.slack\.com/services/[A-Za-z0-9/_-]+", 0),
        (r"\bhf_[A-Za-z0-9]{20,}", 0),
        (r"\bsk-(?:proj-|ant-)?[A-Za-z0-9_\-]{20,}", 0),
        (r"\b(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,}", 0),
        (r"\bnvapi-[A-Za-z0-9_\-]{20,}", 0),
        (r"\bpul-[0-9a-f]{40}\b", 0),
        (r"\bpypi-[A-Za-z0-9_\-]{16,}", 0),
        (r"\bnpm_[A-Za-z0-9]{30,}", 0),
        (r"\bdckr_pat_[A-Za-z0-9_\-]{20,}", 0),
        (r"\bAIza[0-9A-Za-z_\-]{35}", 0),
        (r"\bya29\.[0-9A-Za-z_\-]{20,}", 0),
        (r"\bhv[sbr]\.[A-Za-z0-9_\-]{20,}", 0),
        (r"\bage-secret-key-1[a-z0-9]{20,}", re.IGNORECASE),
        # Web tokens, bearer headers, credentials in addresses, EKS tokens, signed links, Pulumi ciphertext.
        (r"\beyJ[A-Za-z0-9_\-]{8,}\.eyJ[A-Za-z0-9_\-]{8,}(?:\.[A-Za-z0-9_\-]*)?", 0),
        (r"(?i:\bbearer)\s+[A-Za-z0-9_\-.=+/~]{12,}", 0),
        (r"(?i:\bbasic)\s+[A-Za-z0-9+/]{12,}={0,2}", 0),
        (r"(?<=://)[^\s/@:]*:[^\s/@]+(?=@)", 0),
        (r"\bk8s-aws-v1\.[A-Za-z0-9_\-]+", 0),
        (r"(?i:X-Amz-(?:Signature|Credential|Security-Token))=[^&\s\"']+", 0),
        (r"\bv1:[A-Za-z0-9+/=]{12,}:[A-Za-z0-9+/=]{12,}", 0),
        (r"\b[a-z0-9]{6}\.[a-z0-9]{16}\b", 0),  # kubeadm join tokens
    )
)

_ASSIGNED: Final = re.compile(
    # key = value, key: value, "key": "value", --key value, export KEY=value; the key may carry a prefix.
    rf"""(?P<key>(?:["']|\\")?(?<![A-Za-z0-9])(?:[A-Za-z0-9]+[_\-.])*(?:{_KEY_WORDS})(?:["']|\\")?)"""
    r"""(?P<sign>\s*(?:=|:(?!/))\s*|(?<=[a-z])\s+(?=["'])|(?<=word)\s+(?=\S))"""
    r"""(?P<value>(?:\\?")(?:[^"\\]|\\(?!").)*(?:\\?")?|'(?:[^'])*'?|[^\s"',;&}\]]+)""",
    re.IGNORECASE,
)
_AWS_SECRET_NEAR: Final = re.compile(r"(?<![A-Za-z0-9+/=])[A-Za-z0-9+/]{40}(?![A-Za-z0-9+/=])")
_KUBECONFIG: Final = re.compile(r"(?:client-key-data|certificate-authority-data)|(?:kind[\"']?\s*:\s*[\"']?Config\b)")
_BASE64: Final = re.compile(r"(?<![A-Za-z0-9+/=])[A-Za-z0-9+/]{40,}={0,2}(?![A-Za-z0-9+/=])")
_WORD_START: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_MAX_DEPTH: Final = 6
_MAX_REMEMBERED_CHARS: Final = 200
_GZIP_MAGIC: Final = b"\x1f\x8b"
_MAX_UNZIPPED_BYTES: Final = 4 * 1024 * 1024

SECRET_PROPERTIES: Final = {
    "kubernetes:core/v1:Secret": frozenset({"data", "stringData"}),
    "aws:ssm/parameter:Parameter": frozenset({"value"}),
    "aws:secretsmanager/secretVersion:SecretVersion": frozenset({"secretString", "secretBinary"}),
    "aws:iam/accessKey:AccessKey": frozenset({"secret", "sesSmtpPasswordV4", "encryptedSecret"}),
}
"""Properties that are secret by the type of their resource, whatever they are called."""


def is_secret_key(key: str) -> bool:
    """Tell whether a key's name says that its value is a secret (`dbPassword`, `HF_TOKEN`, `aws:secretKey`)."""
    if key.lower().rsplit(".", 1)[-1] in _NOT_SECRET_KEYS:
        return False
    return bool(_SECRET_KEY.search(_WORD_START.sub("_", key)))


def redact(value: Any, key: str = "", depth: int = 0) -> Any:
    """Return the value with every secret replaced by `[secret]`; `key` is the name it is stored under."""
    if isinstance(value, dict):
        if value.get(SIGNATURE_KEY) in SECRET_SIGNATURES or ("ciphertext" in value and SIGNATURE_KEY in value):
            return REDACTED
        if set(value) == {"secure"}:
            return REDACTED
        if depth > _MAX_DEPTH * 4:
            return REDACTED
        if is_secret_key(key) and value:
            return {redact_text(str(name)): _hide(item) for name, item in value.items()}
        named = _name_value_pair(value)
        return {
            redact_text(str(name)): REDACTED
            if named and name in ("value", "Value") and item not in (None, "")
            else redact(item, str(name), depth + 1)
            for name, item in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [redact(item, key, depth + 1) for item in value]
    if isinstance(value, str):
        return REDACTED if _key_hides(key, value) else redact_text(value)
    if isinstance(value, (int, float)) and not isinstance(value, bool) and is_secret_key(key):
        return REDACTED
    return value


def redact_text(text: str, depth: int = 0) -> str:
    """Return a string without secrets: shapes, assignments, and whatever JSON or base64 inside it decodes to."""
    if len(text) < 8:
        return text
    # A large preview repeats the same names, tags and policies thousands of times.
    return _redact_short(text, depth) if len(text) <= _MAX_REMEMBERED_CHARS else _redact_text(text, depth)


@lru_cache(maxsize=20_000)
def _redact_short(text: str, depth: int) -> str:
    return _redact_text(text, depth)


def _redact_text(text: str, depth: int) -> str:
    if depth < _MAX_DEPTH:
        inner = _redact_json(text, depth)
        if inner is not None:
            return inner
    if _KUBECONFIG.search(text) and ("clusters" in text or "client-key-data" in text or "users" in text):
        return REDACTED
    had_access_key = False
    for shape in _SHAPES:
        replaced = shape.sub(REDACTED, text)
        had_access_key = had_access_key or replaced != text
        text = replaced
    text = _ASSIGNED.sub(_hide_assignment, text)
    if had_access_key or "aws" in text.lower():
        text = _AWS_SECRET_NEAR.sub(_hide_if_key_like, text)
    if depth < _MAX_DEPTH:
        text = _BASE64.sub(lambda match: _redact_base64(match.group(0), depth), text)
    return text


def redact_properties(properties: dict[str, Any], type_token: str) -> dict[str, Any]:
    """Return a resource's properties without secrets, those that are secret by the resource's type included."""
    secret = SECRET_PROPERTIES.get(type_token, frozenset())
    if type_token == "aws:ssm/parameter:Parameter" and properties.get("type") in ("String", "StringList"):
        secret = frozenset()  # A parameter that is not a SecureString is readable by its own statement.
    return {
        redact_text(str(name)): REDACTED if name in secret and value else redact(value, str(name))
        for name, value in properties.items()
    }


def _unzip(raw: bytes) -> bytes:
    return zlib.decompressobj(wbits=31).decompress(raw, _MAX_UNZIPPED_BYTES)


def _hide(value: Any) -> Any:
    return value if value in (None, "", True, False) else REDACTED


def _key_hides(key: str, value: str) -> bool:
    if not value or not is_secret_key(key):
        return False
    # References say where a secret lives; they are not the secret.
    return not value.startswith(("arn:aws", "ssm:/", "secretsmanager:"))


def _name_value_pair(value: dict[str, Any]) -> bool:
    """Tell whether a mapping is `{name: DB_PASSWORD, value: ...}` as containers and tags write it."""
    for field in ("name", "Name", "key", "Key"):
        name = value.get(field)
        if isinstance(name, str) and ("value" in value or "Value" in value) and is_secret_key(name):
            return True
    return False


def _redact_json(text: str, depth: int) -> str | None:
    stripped = text.strip()
    if not (stripped[:1] in "{[" and stripped[-1:] in "}]") and not (
        depth and stripped[:1] == '"' and stripped[-1:] == '"'
    ):
        return None
    try:
        value = json.loads(stripped)
    except (ValueError, RecursionError):
        return None
    cleaned = _redact_nested(value, "", depth + 1)
    return text if cleaned == value else json.dumps(cleaned, ensure_ascii=False)


def _redact_nested(value: Any, key: str, depth: int) -> Any:
    if isinstance(value, str):
        return REDACTED if _key_hides(key, value) else redact_text(value, depth)
    return redact(value, key)


def _hide_assignment(match: re.Match[str]) -> str:
    value = match.group("value")
    bare = value.strip("\\\"'")
    key = match.group("key").strip("\\\"'")
    if not bare or bare == REDACTED or bare.startswith(("[secret", "arn:aws", "${", "$(", "ssm:/", "<")):
        return match.group(0)
    if key.lower() in _NOT_SECRET_KEYS or bare.lower() in ("true", "false", "null", "none", "required", "optional"):
        return match.group(0)
    quote = next((mark for mark in ('\\"', '"', "'") if value.startswith(mark)), "")
    return f"{match.group('key')}{match.group('sign')}{quote}{REDACTED}{quote if value.endswith(quote) else ''}"


def _hide_if_key_like(match: re.Match[str]) -> str:
    """A 40-character word of mixed case and digits beside something of AWS is a secret access key, not a hash."""
    word = match.group(0)
    mixed = any(c.islower() for c in word) and any(c.isupper() for c in word) and any(c.isdigit() for c in word)
    return REDACTED if mixed else word


def _redact_base64(word: str, depth: int) -> str:
    try:
        raw = base64.b64decode(word + "=" * (-len(word) % 4), validate=True)
        decoded = (_unzip(raw) if raw[:2] == _GZIP_MAGIC else raw).decode("utf-8")
    except (binascii.Error, ValueError, zlib.error):
        return word
    if not decoded.isprintable() and not any(mark in decoded for mark in "\n\r\t"):
        return word
    return word if redact_text(decoded, depth + 1) == decoded else REDACTED
