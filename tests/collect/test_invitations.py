"""Invitations: one submission each, by blind signatures, so that nothing says whose submission it is."""

from __future__ import annotations

import asyncio
import base64
import json
import uuid
from collections import Counter
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from sqlalchemy import create_engine, text

from maskwell.collect import Client
from maskwell.collect.client import ServiceError
from maskwell.collect.invitations import blind
from maskwell.collect.invitations.passes import invite, pass_text, redeem
from maskwell.collect.service import Service
from maskwell.collect.settings import Settings
from maskwell.collect.store import Database
from tests.collect.servers import Server, new_database
from tests.collect.surveys import Survey, bearer, document, published, submission

VECTOR = json.loads((Path(__file__).parent / "rfc9474.json").read_text("utf-8"))
NUMBERS = {name: int(VECTOR[name], 16) for name in ("n", "e", "d", "p", "q", "inv")}


def signing_key() -> blind.SigningKey:
    """The key of the RFC's vector."""
    p, q, d = NUMBERS["p"], NUMBERS["q"], NUMBERS["d"]
    public = rsa.RSAPublicNumbers(NUMBERS["e"], NUMBERS["n"])
    numbers = rsa.RSAPrivateNumbers(p, q, d, d % (p - 1), d % (q - 1), pow(q, -1, p), public)
    return blind.SigningKey(
        numbers.private_key().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    )


def test_the_vector_of_the_rfc() -> None:
    key, message = signing_key(), bytes.fromhex(VECTOR["msg"])
    factor = pow(NUMBERS["inv"], -1, NUMBERS["n"])
    blinded = blind.blind_with(key.public, message, bytes.fromhex(VECTOR["salt"]), factor)
    assert blinded.blinded.hex() == VECTOR["blinded_msg"]
    assert blinded.inverse == NUMBERS["inv"]
    assert key.sign(blinded.blinded).hex() == VECTOR["blind_sig"]
    assert blind.finish(key.public, blinded, bytes.fromhex(VECTOR["blind_sig"])).hex() == VECTOR["sig"]


def test_a_signature_that_is_none_is_noticed() -> None:
    key = blind.SigningKey(blind.new_signing_key())
    blinded = blind.blind(key.public, bytes(32))
    signed = key.sign(blinded.blinded)
    assert key.public.verify(bytes(32), blind.finish(key.public, blinded, signed))
    for wrong in (bytes(len(signed)), signed[:-1], signed[:-1] + bytes([signed[-1] ^ 1])):
        with pytest.raises(blind.BlindError):
            blind.finish(key.public, blinded, wrong)
    other = blind.SigningKey(blind.new_signing_key())
    assert not other.public.verify(bytes(32), blind.finish(key.public, blinded, signed))
    for wrong in (b"", bytes(256), b"\xff" * 256, bytes(255)):
        with pytest.raises(blind.BlindError):
            key.check(wrong)


def test_any_pass_fits_any_blinded_message() -> None:
    """For every message there is exactly one factor that leads to a given blinded message: it tells nothing."""
    key = blind.SigningKey(blind.new_signing_key())
    n, e = key.public.n, key.public.e
    seen = int.from_bytes(blind.blind(key.public, b"one pass").blinded, "big")
    other = int.from_bytes(blind.blind_with(key.public, b"another", bytes(48), 1).blinded, "big")
    # Roots that only the signer can take: for whichever pass it thinks of, it finds a factor that fits.
    roots = [int.from_bytes(key.sign(value.to_bytes(256, "big")), "big") for value in (seen, other)]
    factor = roots[0] * pow(roots[1], -1, n) % n
    assert other * pow(factor, e, n) % n == seen


@pytest.fixture
def invited(service: Server) -> Survey:
    return published(service, document(invitations=True))


def made(survey: Survey, count: int) -> list[str]:
    with Client(survey.server.url, survey.owner_token) as client:
        return client.invite(survey.id, count)


def redeemed(survey: Survey, address: str) -> str:
    with Client(survey.server.url) as client:
        return client.redeem(survey.id, address)


def spend(survey: Survey, invited: str, content: Any = None) -> httpx.Response:
    return survey.submit(content, headers={"Authorization": f"Invitation {invited}"})


def test_an_invitation_lets_one_submission_in(invited: Survey) -> None:
    (address,) = made(invited, 1)
    assert address.startswith(f"{invited.server.url}/respond/{invited.id}#invitation=")
    ticket = redeemed(invited, address)
    content = submission(1)
    assert spend(invited, ticket, content).status_code == 201
    # The same again is the same submission; another one needs another invitation.
    assert spend(invited, ticket, content).status_code == 200
    assert spend(invited, ticket).status_code == 409
    with pytest.raises(ServiceError, match="used before"):
        redeemed(invited, address)
    assert invited.received == 1


def test_without_an_invitation_nothing_gets_in(invited: Survey, service: Server) -> None:
    other = published(service, document(invitations=True))
    elsewhere = redeemed(other, made(other, 1)[0])
    forged = pass_text(bytes(32), bytes(256))
    short = redeemed(invited, made(invited, 1)[0]).partition(".")[2]
    assert invited.submit().status_code == 401
    assert invited.submit(headers=bearer(invited.owner_token)).status_code == 401
    for wrong in (elsewhere, forged, ".", "x.y", f".{short}", "a" * 5000):
        assert spend(invited, wrong).status_code == 403
    assert invited.received == 0


@pytest.mark.parametrize(
    ("content", "status"),
    [
        ({"invitation": "wrong", "blinded": base64.urlsafe_b64encode(b"\x01" * 256).decode().rstrip("=")}, 403),
        ({"invitation": "wrong", "blinded": "AA"}, 422),
        ({"invitation": 7, "blinded": "AA"}, 422),
        ({"invitation": "wrong", "blinded": "é"}, 422),
        ({"invitation": "wrong"}, 422),
        ([], 422),
    ],
)
def test_a_wrong_redemption_is_refused(invited: Survey, content: Any, status: int) -> None:
    answer = httpx.post(f"{invited.address}/invitations/redemptions", json=content)
    assert answer.status_code == status


def test_many_devices_with_one_invitation_get_one_pass(invited: Survey) -> None:
    """Whoever is first has it; the same blinded pass again gives the same signature, as after a lost answer."""
    (address,) = made(invited, 1)
    code = address.rpartition("=")[2]
    key = blind.PublicKey.from_document(httpx.get(invited.address).json()["invitation_key"])
    blinded = [blind.text(blind.blind(key, bytes([at] * 32)).blinded) for at in range(8)]

    async def redeem_all() -> list[httpx.Response]:
        async with httpx.AsyncClient(timeout=60) as client:
            where = f"{invited.address}/invitations/redemptions"
            calls = [client.post(where, json={"invitation": code, "blinded": one}) for one in blinded * 2]
            return await asyncio.gather(*calls)

    answers = asyncio.run(redeem_all())
    assert sorted(answer.status_code for answer in answers) == [200] * 2 + [409] * 14
    assert len({answer.text for answer in answers if answer.status_code == 200}) == 1


def test_one_pass_sent_many_times_at_once_is_spent_once(invited: Survey) -> None:
    ticket = redeemed(invited, made(invited, 1)[0])

    async def send_all() -> list[int]:
        async with httpx.AsyncClient(timeout=60, headers={"Authorization": f"Invitation {ticket}"}) as client:
            where = f"{invited.address}/submissions"
            calls = [client.post(where, json=submission(1)) for _ in range(10)]
            return [answer.status_code for answer in await asyncio.gather(*calls)]

    assert sorted(asyncio.run(send_all())) == [201] + [409] * 9
    assert invited.received == 1


def test_nothing_that_is_stored_links_an_invitation_to_a_submission(invited: Survey) -> None:
    """The hashes of invitation, blinded pass and pass stand in tables of their own, and no two of them are alike."""
    addresses = made(invited, 3)
    for address in addresses:
        identity = str(uuid.uuid4())
        assert spend(invited, redeemed(invited, address), submission(1, identity=identity)).status_code == 201
    engine = create_engine(invited.server.database.replace("postgresql:", "postgresql+psycopg:"))
    with engine.connect() as connection:
        tables = {
            name: [
                [bytes(value) if isinstance(value, memoryview) else value for value in row[1:]]
                for row in connection.execute(
                    text(f"SELECT * FROM {name} WHERE survey = :survey"), {"survey": invited.id}
                )
            ]
            for name in ("invitations", "spent", "submissions")
        }
    engine.dispose()
    assert [len(rows) for rows in tables.values()] == [3, 3, 3]
    ids = {value for row in tables["submissions"] for value in row if isinstance(value, bytes) and len(value) == 16}
    seen = [value for name in ("invitations", "spent") for row in tables[name] for value in row]
    assert len(set(seen)) == 9
    assert not ids.intersection(seen)
    codes = [address.rpartition("=")[2] for address in addresses]
    assert not any(code.encode() in repr(tables).encode() for code in codes)


def test_a_survey_without_invitations_makes_none(service: Server) -> None:
    survey = published(service)
    with pytest.raises(ServiceError, match="open to everybody"):
        made(survey, 1)
    assert "invitation_key" not in httpx.get(survey.address).json()


@pytest.mark.parametrize("count", [0, -1, 10_001, 1.5, "1", None, True])
def test_a_wrong_number_of_invitations_is_refused(invited: Survey, count: Any) -> None:
    answer = httpx.post(
        f"{invited.address}/invitations", json={"count": count}, headers=bearer(invited.owner_token), timeout=60
    )
    assert answer.status_code == 422


def test_only_the_owner_invites(invited: Survey) -> None:
    for headers in ({}, bearer(invited.server.administrator_token), bearer("mw_" + "a" * 43)):
        answer = httpx.post(f"{invited.address}/invitations", json={"count": 1}, headers=headers)
        assert answer.status_code in (401, 403)


def test_invitations_are_made_and_downloaded_in_the_studio(invited: Survey, service: Server) -> None:
    page = f"{service.url}/studio/surveys/{invited.id}/invitations"
    with httpx.Client(follow_redirects=True, timeout=60) as owner:
        assert owner.post(page, data={"count": "3"}).status_code == 401
        owner.post(f"{service.url}/api/session", json={"token": invited.owner_token}).raise_for_status()
        shown = owner.get(page).text
        assert "0 have been made so far" in shown
        assert "What can be linked, and what cannot" in shown
        made = owner.post(page, data={"count": "3"})
        assert made.headers["content-disposition"].startswith("attachment")
        head, *addresses = made.text.splitlines()
        assert head == "invitation"
        assert len(set(addresses)) == 3
        assert "3 have been made so far" in owner.get(page).text
        for wrong in ("", "0", "-1", "1.5", "10001", "9" * 10):
            assert owner.post(page, data={"count": wrong}).status_code == 422
        # A survey that is open to everybody has none, and does not offer any.
        other = published(service)
        owner.post(f"{service.url}/api/session", json={"token": other.owner_token}).raise_for_status()
        for survey, offered in ((invited, True), (other, False)):
            watch = owner.get(f"{service.url}/studio/surveys/{survey.id}").text
            assert (f"{survey.id}/invitations" in watch) is offered
        assert owner.post(page.replace(invited.id, other.id), data={"count": "1"}).status_code == 409
    assert spend(invited, redeemed(invited, addresses[1])).status_code == 201


# Nothing that is stored says in which order invitations were redeemed.


def invitations_of(folder: Path, count: int) -> tuple[str, str, list[str]]:
    """A database with so many invitations to one survey."""
    database = f"sqlite:///{folder}/invited.db"
    service = Service(Database(database), Settings())
    survey, _ = service.publish(document(invitations=True))
    codes = invite(service, survey, count)
    service.stop()
    return database, survey.id, codes


def redeem_all(database: str, survey: str, codes: list[str], signed: dict[str, bytes]) -> None:
    service = Service(Database(database), Settings())
    published = service.published(survey)
    assert published is not None
    for code in codes:
        redeem(service, published, code, signed[code])
    service.stop()


def blinded(codes: list[str]) -> dict[str, bytes]:
    """What each invitation is redeemed for: numbers that a key can sign."""
    return {code: (2 + at).to_bytes(256, "big") for at, code in enumerate(codes)}


def test_a_file_does_not_tell_in_which_order_invitations_were_redeemed(tmp_path: Path) -> None:
    """Two orders of the same redemptions leave the same bytes, but for the counts of changes in the file's head."""
    database, survey, codes = invitations_of(tmp_path, 90)
    path = Path(database.removeprefix("sqlite:///"))
    before, left = path.read_bytes(), []
    used = codes[:40]
    for order in (used, used[::-1], used[20:] + used[:20]):
        path.write_bytes(before)
        redeem_all(database, survey, order, blinded(codes))
        assert not Path(f"{path}-wal").exists()
        after = bytearray(path.read_bytes())
        for start in (24, 92):
            after[start : start + 4] = bytes(4)
        left.append(bytes(after))
    assert left[0] != before
    assert left[0] == left[1] == left[2]


@pytest.mark.parametrize(("made", "least"), [(60, 60), (1200, 200)])
def test_a_server_does_not_tell_in_which_order_invitations_were_redeemed(
    postgresql: str, made: int, least: int
) -> None:
    """PostgreSQL shows of each row in which transaction it was written: it shows the same of many."""
    database = new_database(postgresql)
    service = Service(Database(database), Settings())
    survey, _ = service.publish(document(invitations=True))
    codes = invite(service, survey, made)
    used = codes[::40]
    for code, request in blinded(used).items():
        redeem(service, survey, code, request)
    service.stop()
    with psycopg.connect(database) as connection:
        rows = connection.execute("SELECT xmin::text, redeemed FROM invitations ORDER BY ctid").fetchall()
    crowds = Counter(transaction for transaction, _ in rows)
    assert min(crowds.values()) >= least
    assert sum(any(mark) for _, mark in rows) == len(used)
