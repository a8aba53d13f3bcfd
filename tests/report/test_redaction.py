"""Secrets leave by no door: markers, key names, shapes, and all three inside text."""

import base64
import gzip
import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpukit.report.redaction import REDACTED, is_secret_key, redact, redact_properties, redact_text

SECRET = "Zq8vN3xK7pLw2RtY"
AWS_ID = "AKIA" + "IOSFODNN7EXAMPLE"
AWS_KEY = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA" + SECRET + "\n-----END RSA PRIVATE KEY-----"
KUBECONFIG = f"apiVersion: v1\nkind: Config\nclusters: []\nusers:\n- name: a\n  user:\n    token: {SECRET}\n"


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        pytest.param(f"key {AWS_ID} in a sentence", AWS_ID, id="aws-access-key-id"),
        pytest.param(f"aws_secret_access_key = {AWS_KEY}", AWS_KEY, id="aws-secret-key"),
        pytest.param(f"{AWS_ID}:{AWS_KEY}", AWS_KEY, id="aws-pair"),
        pytest.param("ghp_" + "a1B2" * 9, "a1B2a1B2", id="github-token"),
        pytest.param("github_pat_" + "a1B2_" * 9, "a1B2_a1B2", id="github-fine-grained-token"),
        pytest.param("glpat-" + "a1B2" * 5, "a1B2a1B2", id="gitlab-token"),
        pytest.param("export HF_TOKEN=hf_" + "a1B2" * 8, "a1B2a1B2", id="model-hub-token"),
        pytest.param("xoxb-123456789012-abcdefghij", "abcdefghij", id="chat-token"),
        pytest.param("pul-" + "0123456789" * 4, "0123456789", id="pulumi-token"),
        pytest.param(PEM, SECRET, id="pem"),
        pytest.param(PEM[:60], "MIIEowIBAAKCAQEA"[:8], id="pem-cut-off"),
        pytest.param(PEM.replace("\n", "\\n"), SECRET, id="pem-with-literal-newlines"),
        pytest.param(KUBECONFIG, SECRET, id="kubeconfig"),
        pytest.param(f"--password '{SECRET}' --user me", SECRET, id="option-in-quotes"),
        pytest.param(f"--db-password={SECRET}", SECRET, id="option-with-sign"),
        pytest.param(f'echo "password: {SECRET}"', SECRET, id="yaml-in-shell"),
        pytest.param(f"https://user:{SECRET}@example.com/x", SECRET, id="address-with-credentials"),
        pytest.param(f"Authorization: Bearer {SECRET}{SECRET}", SECRET, id="bearer"),
        pytest.param(json.dumps({"a": {"dbPassword": SECRET}}), SECRET, id="json"),
        pytest.param(json.dumps({"a": json.dumps({"b": json.dumps({"token": SECRET})})}), SECRET, id="json-in-json-in-json"),
        pytest.param(f'cfg={json.dumps(json.dumps({"token": SECRET}))} run', SECRET, id="escaped-json-in-text"),
        pytest.param("x" * 5000 + f" TOKEN={SECRET} " + "y" * 5000, SECRET, id="in-the-middle-of-a-long-string"),
        pytest.param("v1:" + "QUJDREVGR0hJSktM" + ":" + "QUJDREVGR0hJSktMTU5P", "QUJDREVGR0hJSktMTU5P", id="pulumi-ciphertext"),
        pytest.param("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl", "c2lnbmF0dXJl", id="web-token"),
    ],
)  # fmt: skip
def test_a_secret_leaves_a_text(text: str, secret: str) -> None:
    assert secret not in redact_text(text)


@pytest.mark.parametrize(
    "encode",
    [
        pytest.param(lambda text: base64.b64encode(text.encode()).decode(), id="base64"),
        pytest.param(lambda text: base64.b64encode(gzip.compress(text.encode())).decode(), id="gzip-and-base64"),
        pytest.param(lambda text: base64.b64encode(base64.b64encode(text.encode())).decode(), id="base64-twice"),
    ],
)
def test_user_data_with_a_secret_inside_its_encoding_is_hidden(encode) -> None:
    script = f"#!/bin/bash\nset -e\nexport WANDB_API_KEY={SECRET}\npython train.py\n"
    encoded = encode(script)

    assert redact({"userData": encoded})["userData"] == REDACTED
    harmless = encode("#!/bin/bash\necho hello to all the nodes of this pool, good morning\n")
    assert redact({"userData": harmless})["userData"] == harmless


@pytest.mark.parametrize(
    "value",
    [
        pytest.param({"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "ciphertext": "abc"}, id="engine"),
        pytest.param({"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "plaintext": '"abc"'}, id="plain"),
        pytest.param({"secure": "v1:abc"}, id="stack-file"),
    ],
)  # fmt: skip
def test_pulumi_secret_markers_hide_the_whole_value(value) -> None:
    assert redact({"anything": value})["anything"] == REDACTED


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("password", True), ("dbPassword", True), ("DB_PASSWORD", True), ("apiKey", True), ("HF_TOKEN", True), ("token", True),
        ("clientSecret", True), ("aws:secretKey", True), ("kubeconfig", True), ("privateKey", True), ("secretString", True),
        ("httpTokens", False), ("secretName", False), ("tokens_per_second", False), ("name", False), ("passwordPolicy", False),
        ("kmsKeyId", False), ("keyName", False), ("authenticationMode", False), ("monkey", False), ("labels", False),
    ],
)  # fmt: skip
def test_key_names_that_are_secret(key: str, expected: bool) -> None:
    assert is_secret_key(key) is expected


def test_name_and_value_pairs_are_secret_by_their_name() -> None:
    value = {"env": [{"name": "DB_PASSWORD", "value": SECRET}, {"name": "MODE", "value": "train"}]}

    assert redact(value) == {"env": [{"name": "DB_PASSWORD", "value": REDACTED}, {"name": "MODE", "value": "train"}]}


def test_properties_secret_by_their_type_are_hidden_whatever_they_hold() -> None:
    hidden = redact_properties({"data": {"x": "YWJj"}, "type": "Opaque"}, "kubernetes:core/v1:Secret")

    assert hidden == {"data": REDACTED, "type": "Opaque"}


@pytest.mark.parametrize(
    "text",
    [
        "arn:aws:eks:us-east-1:000000000000:nodegroup/demo/train-a/1234",
        "AL2023_x86_64_NVIDIA",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "10.0.0.0/18",
        "p5en.48xlarge",
        "the token bucket of the API refills",
        "cr-0123456789abcdef0",
        "ami-0abcdef1234567890",
        '{"Version": "2012-10-17", "Statement": [{"Action": ["s3:GetObject"], "Effect": "Allow"}]}',
        "https://example.com/docs?page=2",
    ],
)
def test_what_a_reviewer_needs_stays(text: str) -> None:
    assert redact_text(text) == text


CANARY = "hunter2-CANARY-99"
LOGIN = base64.b64encode(f"admin:{CANARY}".encode()).decode()


@pytest.mark.parametrize(
    "key",
    [
        "password1", "db_password_prod", "dbPasswordProd", "passwords", "masterKey", "pat", "encryptionsalt", "PGPASSWORD",
        "userpassword", "token_prod", "API_KEY_2", "rootpw", "sessionCookie", "dsn", "clientsecret",
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "value",
    [
        pytest.param(CANARY, id="word"),
        pytest.param({"a": CANARY, "b": {"c": CANARY}}, id="map"),
        pytest.param([CANARY, {"x": CANARY}], id="list"),
        pytest.param(f"arn:aws-{CANARY}", id="like-an-arn"),
        pytest.param(f"ssm:/{CANARY}", id="like-a-parameter"),
        pytest.param(f"<{CANARY}", id="like-a-placeholder"),
        pytest.param(f"$(echo {CANARY})", id="like-a-command"),
    ],
)
def test_all_under_a_secret_key_is_hidden(key: str, value) -> None:
    assert CANARY not in json.dumps(redact({key: value}))
    assert CANARY not in redact_text(f"cfg {json.dumps({key: value})} run")
    assert not isinstance(value, str) or CANARY not in redact_text(f"run {key}={value}")


@pytest.mark.parametrize(
    "arguments",
    [
        ["--password", CANARY], ["run", "--db-password", CANARY], ["curl", "-u", f"admin:{CANARY}"],
        ["/usr/bin/sshpass", "-p", CANARY, "ssh"], ["mysql", f"-p{CANARY}"], ["docker", "login", "-p", CANARY],
        ["sh", "-c", f"mysql -p{CANARY}"], ["helm", "--set", f"auth.password={CANARY}"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_a_secret_argument_is_hidden_as_a_list_and_as_a_line(arguments: list[str]) -> None:
    for shown in (redact({"command": arguments}), redact_text(json.dumps(arguments)), redact_text(" ".join(arguments))):
        assert CANARY not in json.dumps(shown)
        assert arguments[0] in json.dumps(shown)


@pytest.mark.parametrize(
    "text",
    [
        f"pw={CANARY}", f"curl -u admin:{CANARY} https://x", f"sshpass -p {CANARY} ssh a", f"mysql -u root -p{CANARY} db",
        f"Cookie: theme=dark; session={CANARY}", f"Authorization: Token {CANARY}", f"<password>{CANARY}</password>",
        f'<add key="password" value="{CANARY}"/>', f"a=b%26password%3D{CANARY}", f"password: |\n  {CANARY}\n",
        f"spec:\n  password: |-\n    one\n\n    {CANARY}\n  c: d\n", f"passwords:\n  a: x\n  b: {CANARY}\n",
        f"passwords:\n- x\n- {CANARY}\n", f"postgres://u:p@{CANARY}@db.x/y", f"https://user:a@b:{CANARY}@host/",
        f"aws configure set aws_secret_access_key {CANARY}", f"ENV DB_PASSWORD {CANARY}",
        f"echo {CANARY} | docker login --password-stdin", f"redis-cli -a {CANARY}", f"password := {CANARY}",
    ],
)  # fmt: skip
def test_a_secret_in_a_place_of_its_own_is_hidden_and_the_rest_stays_put(text: str) -> None:
    once = redact_text(text)

    assert CANARY not in once
    assert REDACTED in once
    assert redact_text(once) == once


def test_a_block_of_yaml_is_hidden_up_to_its_end() -> None:
    assert redact_text("spec:\n  password: |\n    one\n\n    two\n  replicas: 3\n") == (
        f"spec:\n  password: {REDACTED}\n  replicas: 3\n"
    )


@pytest.mark.parametrize(
    "shown",
    [
        pytest.param(redact({"auths": {"registry.example.com": {"auth": LOGIN}}}), id="mapping"),
        pytest.param(redact_text(json.dumps({"auths": {"r": {"auth": LOGIN}}})), id="json"),
        pytest.param(redact_text(f'cat <<E\n{{"auth": "{LOGIN}"}}\nE'), id="text"),
    ],
)
def test_a_registry_login_is_hidden_and_other_settings_named_auth_are_not(shown) -> None:
    assert LOGIN not in json.dumps(shown)
    assert redact({"auth": "required"}) == {"auth": "required"}


@pytest.mark.parametrize("key", [AWS_KEY, "kT9v+Qx2LmZ7/aBcD3eFgH1iJkLmN0pQrStUvWx4"])
def test_a_lone_aws_secret_key_is_hidden(key: str) -> None:
    assert key not in redact_text(key)
    assert key not in redact_text(f"the key is {key}, keep it")


@pytest.mark.parametrize(
    "text",
    [
        "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
        "arn:aws:iam::123456789012:role/eks-node-Role1",
        "urn:pulumi:dev::demo::gpukit:index:GpuNodePool$aws:ec2/subnet:Subnet::gpu-a",
        "amazon-eks-node-al2023-x86_64-nvidia-1.33-v20250801",
        "s3://bucket/Models/Llama3/Weights/Checkpoint100/Shard0001",
        "https://registry:5000/x@sha256:abcd",
        "docker run -u 1000:1000 image",
        "curl -u name https://x",
        "mysql --port 3306",
        "export PATH=$PATH:/usr/local/cuda/bin",
        "minimum_password_length: 14",
        "password_policy: strict",
        "keyName: ops-key",
        "PASSWORD=${DB_PASSWORD}",
        "metadata:\n  name: x\nspec:\n  replicas: 3\n",
    ],
)
def test_what_only_looks_like_a_secret_stays(text: str) -> None:
    assert redact_text(text) == text


@pytest.mark.parametrize(
    "part", ["aB3", "a_b-", "A", "password_", "<password>", "-u a:", "x: y\n", "://a:", "mysql ", '{"a":']
)
def test_a_long_text_takes_time_by_its_length_only(part: str) -> None:
    began = time.perf_counter()
    redact_text(part * (20_000 // len(part)))

    assert time.perf_counter() - began < 2.0


@given(st.text(max_size=300))
def test_redacting_twice_is_redacting_once(text: str) -> None:
    once = redact_text(text)

    assert redact_text(once) == once


@given(st.recursive(st.none() | st.booleans() | st.text(max_size=20), lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3), max_leaves=12))  # fmt: skip
def test_any_json_value_can_be_redacted(value) -> None:
    json.dumps(redact(value))
