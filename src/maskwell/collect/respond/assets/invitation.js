/**
 * Invitations: a pass is drawn here, blinded, signed by the service for the invitation, and unblinded here. What comes
 * with the reports is the pass and its signature, and the service cannot tell for which invitation it signed it.
 *
 * RFC 9474, variant RSABSSA-SHA384-PSS-Deterministic; the key is the survey's `invitation_key` (a JSON Web Key).
 */

const HASH = "SHA-384";
const HASH_BYTES = 48;
const SALT_BYTES = 48;
const PASS_BYTES = 32;

/** A pass that is to be signed: {pass, blinded, inverse}, as texts, so that it can be kept until it is spent. */
export async function newPass(key) {
  const { n } = numbers(key);
  const pass = crypto.getRandomValues(new Uint8Array(PASS_BYTES));
  const salt = crypto.getRandomValues(new Uint8Array(SALT_BYTES));
  for (;;) {
    const factor = toNumber(crypto.getRandomValues(new Uint8Array(byteLength(n))));
    if (factor > 1n && factor < n && inverseOf(factor, n) !== null) return blindWith(key, pass, salt, factor);
  }
}

/** Blind a pass by a given salt and factor. */
export async function blindWith(key, pass, salt, factor) {
  const { n, e } = numbers(key);
  const length = byteLength(n);
  const encoded = toNumber(await encode(pass, salt, bitLength(n) - 1));
  const blinded = (encoded * power(factor, e, n)) % n;
  const inverse = inverseOf(factor, n);
  return { pass: toText(pass), blinded: toText(toBytes(blinded, length)), inverse: toText(toBytes(inverse, length)) };
}

/** What the header of a submission says, from the signature of the blinded pass; null if it is none. */
export async function finish(key, { pass, inverse }, signed) {
  const { n } = numbers(key);
  const signature = toBytes((toNumber(fromText(signed)) * toNumber(fromText(inverse))) % n, byteLength(n));
  const imported = await crypto.subtle.importKey("jwk", key, { name: "RSA-PSS", hash: HASH }, false, ["verify"]);
  const check = { name: "RSA-PSS", saltLength: SALT_BYTES };
  const right = await crypto.subtle.verify(check, imported, signature, fromText(pass));
  return right ? `${pass}.${toText(signature)}` : null;
}

/** EMSA-PSS (RFC 8017, section 9.1.1). */
async function encode(message, salt, bits) {
  const length = Math.ceil(bits / 8);
  const digest = await hash(new Uint8Array(8), await hash(message), salt);
  const masked = new Uint8Array(length - HASH_BYTES - 1);
  masked[masked.length - salt.length - 1] = 1;
  masked.set(salt, masked.length - salt.length);
  for (let start = 0, counter = 0; start < masked.length; start += HASH_BYTES, counter += 1) {
    const mask = await hash(digest, Uint8Array.of(0, 0, counter >> 8, counter & 255));
    mask.slice(0, masked.length - start).forEach((byte, i) => {
      masked[start + i] ^= byte;
    });
  }
  masked[0] &= 255 >> (8 * length - bits);
  return join(masked, digest, Uint8Array.of(0xbc));
}

async function hash(...parts) {
  return new Uint8Array(await crypto.subtle.digest(HASH, join(...parts)));
}

function join(...parts) {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

function numbers(key) {
  return { n: toNumber(fromText(key.n)), e: toNumber(fromText(key.e)) };
}

function power(base, exponent, n) {
  let result = 1n;
  for (const bit of exponent.toString(2)) {
    result = (result * result) % n;
    if (bit === "1") result = (result * base) % n;
  }
  return result;
}

/** The inverse modulo n, or null if there is none (Euclid). */
function inverseOf(value, n) {
  let [a, b, x, y] = [n, value % n, 0n, 1n];
  while (b > 0n) {
    const quotient = a / b;
    [a, b] = [b, a - quotient * b];
    [x, y] = [y, x - quotient * y];
  }
  return a === 1n ? ((x % n) + n) % n : null;
}

function bitLength(number) {
  return number.toString(2).length;
}

function byteLength(number) {
  return Math.ceil(bitLength(number) / 8);
}

function toNumber(bytes) {
  return BigInt(`0x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("") || "0"}`);
}

function toBytes(number, length) {
  const digits = number.toString(16).padStart(2 * length, "0");
  return Uint8Array.from({ length }, (_, i) => Number.parseInt(digits.slice(2 * i, 2 * i + 2), 16));
}

function toText(bytes) {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
}

function fromText(text) {
  return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (character) => character.charCodeAt(0));
}
