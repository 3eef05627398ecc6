/**
 * The two sets for measuring masking: texts with a secret, and texts that only look like it. They are templates in `data/secrets/`.
 * Secrets are generated at run time from a seed, so no scanner takes the files for a leak, and each run can use different ones. In
 * a template `«…»` marks the secret, and `{base62:36}` stands for that many random characters.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";

export interface SecretSample {
  kind: string;
  text: string;
  /** Parts that must not be left in the masked text. */
  secrets: string[];
}

export interface LookAlike {
  kind: string;
  text: string;
}

const FOLDER = join(import.meta.dirname, "data", "secrets");

export function secretSamples(seed: number): SecretSample[] {
  const random = randomFrom(seed);
  return readTemplates("secrets.json").map(({ kind, text }) => {
    const filled = fill(text, random);
    const secrets = [...filled.matchAll(/«([^»]+)»/g)].map(([, secret]) => secret!);
    return { kind, text: filled.replace(/[«»]/g, ""), secrets };
  });
}

export function lookAlikes(seed: number): LookAlike[] {
  const random = randomFrom(seed);
  return readTemplates("look-alikes.json").map(({ kind, text }) => ({ kind, text: fill(text, random) }));
}

/** Whether nothing is left that helps to guess the secret: no six characters in a row of a long one, no complete short one. */
export function isMasked({ secrets }: SecretSample, masked: string): boolean {
  return secrets.every((secret) => {
    if (secret.length < 12) return !masked.includes(secret);
    for (const piece of piecesOf(secret)) if (masked.includes(piece)) return false;
    return true;
  });
}

/** Key markers and host names are public, so only the random parts count. */
function piecesOf(secret: string): string[] {
  const hidden = secret.replace(/-----(?:BEGIN|END)[A-Z ]+-----|[\s\\"'+,]+/g, " ");
  const pieces: string[] = [];
  for (const part of hidden.split(" ")) {
    for (let at = Math.min(12, part.length - 8); at >= 0 && at + 8 <= part.length; at += 8)
      pieces.push(part.slice(at, at + 8));
  }
  return pieces;
}

function readTemplates(file: string): { kind: string; text: string }[] {
  return JSON.parse(readFileSync(join(FOLDER, file), "utf8")) as { kind: string; text: string }[];
}

const ALPHABETS: Record<string, string> = {
  digits: "0123456789",
  digits1: "123456789",
  hex: "0123456789abcdef",
  HEX: "0123456789ABCDEF",
  upper: "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
  base32: "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
  base36: "abcdefghijklmnopqrstuvwxyz0123456789",
  base62: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
  base64: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
  base64url: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
};

/** How the lines of a private key may be joined, by the name of the template. */
const JOINTS: Record<string, string> = {
  pem: "\n",
  pemline: "\\n",
  pemjson: "\\n",
  pemcode: '\\n" +\n  "',
  pemargs: "' '",
};

function fill(template: string, random: () => number): string {
  const text = (alphabet: string, length: number) => {
    const letters = ALPHABETS[alphabet]!;
    return Array.from({ length }, () => letters[Math.floor(random() * letters.length)]).join("");
  };
  const key = (label: string, lines: number) => {
    const body = Array.from({ length: lines }, (_, at) => text("base64", at === lines - 1 ? 24 : 64));
    return [`-----BEGIN ${label}-----`, ...body, `-----END ${label}-----`];
  };
  return template.replace(/\{(\w+):([^{}]+)\}|\{uuid\}/g, (whole, name?: string, argument = "") => {
    if (whole === "{uuid}") {
      return [8, 4, 4, 4, 12].map((length) => text("hex", length)).join("-");
    }
    if (name === "b64") return Buffer.from(argument).toString("base64");
    if (name && ALPHABETS[name]) return text(name, Number(argument));
    const [label = "", lines = "1"] = argument.split(":");
    if (name === "pem64") return Buffer.from(`${key(label, Number(lines)).join("\n")}\n`).toString("base64");
    const joint = JOINTS[name ?? ""];
    return joint === undefined ? whole : key(label, Number(lines)).join(joint);
  });
}

/** Mulberry32: small, and the same on every platform. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
