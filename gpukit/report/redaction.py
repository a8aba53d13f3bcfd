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
from itertools import pairwise
from math import log2
from typing import Any, Final

REDACTED: Final = "[secret]"

SECRET_SIGNATURES: Final = frozenset({"1b47061264138c4ac30d75fd1eb44270"})
"""Value under SIGNATURE_KEY of a serialized secret. Source: pulumi/sdk go/common/resource SecretSig."""

SIGNATURE_KEY: Final = "4dabf18193072939515e22adb298388d"
"""Source: pulumi/sdk go/common/resource SigKey."""

_NO_SECRET_ABOUT: Final = (
    r"(?:policy|policies|length|min|max|minimum|maximum|reset|required|expir\w*|rotat\w*|enabled|disabled|ttl|days|age"
    r"|changed|history|complexity|reuse|arns?|names?|paths?|files?|refs?|version|ids?|fields?|format|type|count|per|stdin"
    r"|prompt|allowed|authentication|login|requirements?|strength|manager|dir|url)(?-i:(?![a-z0-9]))"
)
"""What stands behind `password_` when the value is a setting and no password."""

_KEY_WORDS: Final = (
    # Bounded, so that a long word without a key in it is read once and not once from each of its letters.
    r"[A-Za-z0-9]{0,24}(?:passwords?|passwd|passphrases?)(?:\d{1,4})?"
    rf"(?:(?:[_\-.]|(?-i:(?=[A-Z])))(?!{_NO_SECRET_ABOUT})[A-Za-z0-9]{{1,24}}){{0,6}}"
    rf"(?![A-Za-z0-9]|[_\-.]{_NO_SECRET_ABOUT})"
    r"|(?:pass(?:code|key)?|pwd|(?:root|admin|user|db|ldap|bind|my)?pw|secrets?|pat|t?otp|cookies?|dsn|conn[_\-.]?str(?:ing)?"
    r"|secret[_\-.]?(?:string|binary|data|value)|(?:client|shared|webhook|app|api|db|jwt|session|signing)[_\-.]?secrets?"
    r"|(?:api|auth|access|refresh|bearer|session|user|bot|join|github|gitlab|slack|hf)?[_\-.]?tokens?|api[_\-.]?keys?"
    r"|access[_\-.]?keys?(?:[_\-.]?id)?|secret[_\-.]?(?:access[_\-.]?)?keys?|private[_\-.]?keys?|signing[_\-.]?keys?"
    r"|(?:master|root|admin|auth|app|consumer|client|tls|ssl|hmac|jwt|unseal|recovery|deploy|shared)[_\-.]?keys?"
    r"|account[_\-.]?keys?|auth(?:orization)?|bearer|credentials?|creds?|connection[_\-.]?string|kube[_\-.]?config"
    r"|client[_\-.]?key[_\-.]?data|(?:encryption[_\-.]?)?salt|encryption[_\-.]?keys?"
    r"|license[_\-.]?keys?|munge[_\-.]?key)"
    r"(?:[_\-.]?\d{1,4})?(?:[_\-.](?:prod(?:uction)?|stag(?:e|ing)|stg|dev(?:elopment)?|test(?:ing)?|qa|uat|live|old|new"
    r"|current|prev(?:ious)?|next|primary|secondary|main|backup|admin|root|ro|rw))*"
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
        (r"(?<=://)[^\s/@:\"'<>]*:(?!\d+[/?#])[^\s\"'<>]*(?=@)", 0),  # up to the last @: a password may hold one
        (r"(?<=://)[^\s/@:\"'<>\[]{16,}(?=@)", 0),
        (r"\bk8s-aws-v1\.[A-Za-z0-9_\-]+", 0),
        (r"(?i:X-Amz-(?:Signature|Credential|Security-Token))=[^&\s\"']+", 0),
        (r"\bv1:[A-Za-z0-9+/=]{12,}:[A-Za-z0-9+/=]{12,}", 0),
        (r"\b[a-z0-9]{6}\.[a-z0-9]{16}\b", 0),  # kubeadm join tokens
    )
)

_NAME: Final = (
    r"""(?:(?<![A-Za-z0-9])|(?-i:(?<=[a-z0-9])(?=[A-Z])))(?:[A-Za-z0-9]{1,40}[_\-.]){0,4}"""
    rf"""(?:{_KEY_WORDS})"""
)
"""A secret key's name inside text; it may carry a prefix, and stand in the middle of a camel's back."""

_VALUE: Final = (
    r"""(?:\\?")(?:[^"\\]|\\(?!").)*(?:\\?")?|'(?:[^'])*'?|\[secret\][^\s"',;&}\]]*|\$\([^)\n]*\)?"""
    r"""|\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*+\})*+\})*+\}|\[[^\[\]]*+\]|[\[{][^\n]*|[^\s"',;&}\]]+"""
)
_ASSIGNED: Final = re.compile(
    # key = value, key: value, "key": "value", key%3Dvalue, export KEY=value, key 'value', password value.
    rf"""(?P<key>(?:["']|\\")?{_NAME}(?:["']|\\")?)"""
    r"""(?P<sign>\s*(?:=>|:=|=|:(?!/)|%(?:25)*3[ad])\s*|(?<=[a-z])\s+(?=["'])|(?<=word)\s+(?:is\s+)?(?=\S))"""
    rf"""(?P<value>{_VALUE})""",
    re.IGNORECASE,
)
_GIVEN: Final = tuple(
    # The same groups, for a value behind a space: --token value, set key value, ENV key value.
    re.compile(rf"""(?P<key>{lead}{_NAME})(?P<sign>[ \t]+)(?P<value>{_VALUE})""", re.IGNORECASE)
    for lead in (r"(?<![\w-])--?", r"\b(?:set|setenv|env|export)[ \t]+")
)
_BLOCK_HEAD: Final = re.compile(
    r"""(?P<indent>[ \t]*)(?P<head>(?P<dash>(?:-[ \t]+)?)["']?(?P<key>[\w.\-]+)["']?[ \t]*:)[ \t]*(?:[|>].*|\#.*)?\r?"""
)
"""A line of YAML with a key whose value, a block scalar, a list or a mapping, is on the lines below."""
_ELEMENT: Final = re.compile(
    rf"<(?P<key>(?:[\w.\-]+:)?{_NAME})(?P<attributes>(?:\s[^<>]*)?)>(?P<value>.+?)</", re.IGNORECASE | re.DOTALL
)
_ATTRIBUTE: Final = re.compile(
    rf"""(?P<head>\b(?:name|key)=["'](?P<key>{_NAME})["']\s+value=["'])(?P<value>[^"']+)""", re.IGNORECASE
)
_COMMANDS: Final = tuple(
    # Programs that take a password in a place of their own; `head` stays.
    re.compile(pattern, flags)
    for pattern, flags in (
        (
            r"(?P<head>(?<![\w-])(?:-u|--user|--proxy-user)[ =]?[ ]*[\"']?[^\s:\"'/=]+:)"
            r"(?!\d+\b|/)(?P<value>[^\s\"']+)",
            0,
        ),
        (r"(?P<head>\bsshpass[ ]+(?:-[A-Za-z]+[ ]+)*?-p[ ]*)(?P<value>'[^']*'|\"[^\"]*\"|\S+)", 0),
        (
            r"(?P<head>\b(?:mysql\w*|mariadb[\w-]*)\b(?=[ ])[^\n|;&]*?[ ]-p)"
            r"(?P<value>'[^']*'|\"[^\"]*\"|[^\s\-|;&]\S*)",
            0,
        ),
        (
            r"(?P<head>\b(?:(?:docker|podman|nerdctl|az|helm registry)[ ]+login|mongo\w*)\b[^\n|;&]*?[ ]-p[ ]+)"
            r"(?P<value>'[^']*'|\"[^\"]*\"|\S+)",
            0,
        ),
        (r"(?P<head>\bredis-cli\b[^\n|;&]*?[ ]-a[ ]+)(?P<value>'[^']*'|\"[^\"]*\"|\S+)", 0),
        (r"(?P<head>\bldap\w+\b[^\n|;&]*?[ ]-w[ ]+)(?P<value>'[^']*'|\"[^\"]*\"|\S+)", 0),
        (
            r"(?P<head>\b(?:echo|printf)[ ]+(?:-\w+[ ]+)*)(?P<value>'[^']*'|\"[^\"]*\"|[^\s|]+)"
            r"(?=[ ]*\|[^\n]*(?:password-stdin|passwd|sudo[ ]+-S))",
            0,
        ),
        (r"(?P<head>\b(?:set-)?cookie[\"']?[ ]*:[ ]*[\"']?)(?P<value>[^\s\"'][^\r\n\"']*)", re.IGNORECASE),
        (r"(?P<head>\bauthorization[\"']?[ ]*[:=][ ]*[\"']?)(?P<value>[^\s\"'][^\r\n\"',}]*)", re.IGNORECASE),
    )
)
_LOGIN_PAIR: Final = re.compile(r"""(?P<head>["']?\bauth["']?\s*[:=]\s*["']?)(?P<value>[A-Za-z0-9+/]{8,}={0,2})""")
_VARIABLE: Final = re.compile(r"\$\{?[A-Z_][A-Z0-9_]*\}?")
_LONE_AWS_KEY: Final = re.compile(r"(?<![A-Za-z0-9+/=_.\-])[A-Za-z0-9+/]{40}(?![A-Za-z0-9+/=_.\-])")
_AWS_KEY_MIN_BITS: Final = 4.2
_AWS_KEY_MIN_TURNS: Final = 12
"""Bits a character, and turns between small, capital, digit and sign: random characters have them, words have not."""
_AWS_SECRET_NEAR: Final = re.compile(r"(?<![A-Za-z0-9+/=])[A-Za-z0-9+/]{40}(?![A-Za-z0-9+/=])")
_KUBECONFIG: Final = re.compile(r"(?:client-key-data|certificate-authority-data)|(?:kind[\"']?\s*:\s*[\"']?Config\b)")
_BASE64: Final = re.compile(r"(?<![A-Za-z0-9+/=])[A-Za-z0-9+/]{20,}={0,2}(?![A-Za-z0-9+/=])")
_WORD_START: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SHORTEST: Final = 4
_MAX_DEPTH: Final = 6
_MAX_REMEMBERED_CHARS: Final = 200
_PAIR_NAMES: Final = ("name", "Name", "key", "Key", "parameterKey", "ParameterKey", "parameterName", "ParameterName")
_PAIR_VALUES: Final = frozenset({"value", "Value", "parameterValue", "ParameterValue"})
_PASSWORD_OPTIONS: Final = frozenset({("sshpass", "-p"), ("redis-cli", "-a"), ("mongo", "-p"), ("mongosh", "-p")})
"""Programs and their one-letter options whose next argument is a password."""
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
            if named and name in _PAIR_VALUES and item not in (None, "")
            else redact(item, str(name), depth + 1)
            for name, item in value.items()
        }
    if isinstance(value, (list, tuple)):
        hidden = _argument_places(value)
        return [hidden[place] if place in hidden else redact(item, key, depth + 1) for place, item in enumerate(value)]
    if isinstance(value, str):
        return REDACTED if _key_hides(key, value) else redact_text(value)
    if isinstance(value, (int, float)) and not isinstance(value, bool) and is_secret_key(key):
        return REDACTED
    return value


def redact_text(text: str, depth: int = 0) -> str:
    """Return a string without secrets: shapes, assignments, and whatever JSON or base64 inside it decodes to."""
    if len(text) < _SHORTEST:
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
    if "\n" in text:
        text = _hide_blocks(text)
    for command in _COMMANDS:
        text = command.sub(rf"\g<head>{REDACTED}", text)
    if "<" in text:
        text = _ELEMENT.sub(_hide_element, text)
        text = _ATTRIBUTE.sub(rf"\g<head>{REDACTED}", text)
    text = _LOGIN_PAIR.sub(_hide_login_pair, text)
    for given in _GIVEN:
        text = given.sub(_hide_assignment, text)
    text = _ASSIGNED.sub(_hide_assignment, text)
    text = _LONE_AWS_KEY.sub(_hide_if_random, text)
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
    if not value:
        return False
    return is_secret_key(key) or (key.lower() == "auth" and _is_login_pair(value))


def _is_login_pair(value: str) -> bool:
    """Tell whether a word is base64 of `user:password`, as container registries' logins are kept."""
    try:
        decoded = base64.b64decode(value + "=" * (-len(value) % 4), validate=True).decode("utf-8")
    except (binascii.Error, ValueError):
        return False
    return ":" in decoded and decoded.isprintable()


def _argument_places(items: list[Any] | tuple[Any, ...]) -> dict[int, str]:
    """Return what stands in place of those items of a command line that an option before them makes secret."""
    hidden: dict[int, str] = {}
    program = str(items[0]).rsplit("/", 1)[-1] if items else ""
    for place, (option, value) in enumerate(pairwise(items), 1):
        if not (isinstance(option, str) and isinstance(value, str)) or not option.startswith("-"):
            continue
        name = option.lstrip("-")
        if (option.startswith("--") or len(name) > 1) and is_secret_key(name) and not value.startswith("--"):
            hidden[place] = REDACTED
        elif option in ("-u", "--user", "--proxy-user") and re.fullmatch(r"[^:/\s]+:(?!\d+$)\S+", value):
            hidden[place] = f"{value.split(':', 1)[0]}:{REDACTED}"
        elif (program, option) in _PASSWORD_OPTIONS or (option == "-p" and "login" in items[:place]):
            hidden[place] = REDACTED
    if program.startswith(("mysql", "mariadb")):
        glued = [place for place, item in enumerate(items) if re.fullmatch(r"-p.+", str(item))]
        hidden |= dict.fromkeys(glued, f"-p{REDACTED}")
    return hidden


def _name_value_pair(value: dict[str, Any]) -> bool:
    """Tell whether a mapping is `{name: DB_PASSWORD, value: ...}` as containers and tags write it."""
    names = (value.get(field) for field in _PAIR_NAMES)
    return not _PAIR_VALUES.isdisjoint(value) and any(isinstance(name, str) and is_secret_key(name) for name in names)


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
    if not bare or bare in (REDACTED, "[secret") or _VARIABLE.fullmatch(bare):
        return match.group(0)
    if key.lower().lstrip("-") in _NOT_SECRET_KEYS or bare.lower() in (
        "true",
        "false",
        "null",
        "none",
        "required",
        "optional",
    ):
        return match.group(0)
    quote = next((mark for mark in ('\\"', '"', "'") if value.startswith(mark)), "")
    return f"{match.group('key')}{match.group('sign')}{quote}{REDACTED}{quote if value.endswith(quote) else ''}"


def _hide_blocks(text: str) -> str:
    """Hide what stands below a secret key in YAML: a block scalar, a list, or a mapping with all its values."""
    lines, kept, place = text.split("\n"), [], 0
    while place < len(lines):
        head = _BLOCK_HEAD.fullmatch(lines[place])
        end = _block_end(lines, place + 1, head) if head and is_secret_key(head.group("key")) else place + 1
        if head and end > place + 1:
            kept.append(f"{head.group('indent')}{head.group('head')} {REDACTED}")
        else:
            kept.append(lines[place])
        place = end
    return "\n".join(kept)


def _block_end(lines: list[str], first: int, head: re.Match[str]) -> int:
    """Return the line behind the block of a head; `first` when nothing is in it."""
    indent, end = len(head.group("indent")), first
    for place in range(first, len(lines)):
        line = lines[place]
        if not line.strip():
            continue
        depth = len(line) - len(line.lstrip())
        if depth <= indent and not (depth == indent and not head.group("dash") and line.lstrip().startswith("- ")):
            break
        end = place + 1
    return end


def _hide_element(match: re.Match[str]) -> str:
    if match.group("key").lower() in _NOT_SECRET_KEYS:
        return match.group(0)
    return f"<{match.group('key')}{match.group('attributes')}>{REDACTED}</"


def _hide_login_pair(match: re.Match[str]) -> str:
    return f"{match.group('head')}{REDACTED}" if _is_login_pair(match.group("value")) else match.group(0)


def _hide_if_random(match: re.Match[str]) -> str:
    """Hide a word that is as random as a secret access key: no hash (one case), no path or type name (words)."""
    word = match.group(0)
    kinds = ["a" if c.islower() else "A" if c.isupper() else "0" if c.isdigit() else "+" for c in word]
    turns = sum(1 for one, other in pairwise(kinds) if one != other)
    shares = [word.count(c) / len(word) for c in set(word)]
    bits = -sum(share * log2(share) for share in shares)
    random = {"a", "A", "0"} <= set(kinds) and turns >= _AWS_KEY_MIN_TURNS and bits >= _AWS_KEY_MIN_BITS
    return REDACTED if random else word


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
