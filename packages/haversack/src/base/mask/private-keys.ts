/**
 * Private keys, whole or cut off at either end, as files hold them and as code, JSON, diffs and shell lines quote them; and the same keys
 * in base64, as Kubernetes keeps them.
 */
import { decodeBase64, mask } from "./value.ts";

export function maskPrivateKeys(text: string): string {
  let result = text;
  if (result.includes("PRIVATE KEY")) result = maskKeyTails(maskKeyHeads(maskWholeKeys(result)));
  if (result.includes("LS0tLS1CRUdJTi")) result = result.replace(BASE64_PEM, maskEncodedKey);
  if (result.includes("Private-Lines:"))
    result = result.replace(PUTTY, (_, head: string) => head + mask("private-key"));
  if (result.includes('"kty')) result = result.replace(JWK, (_, before: string) => before + mask("private-key"));
  return BODIES.some((start) => result.includes(start)) ? result.replace(BODY, mask("private-key")) : result;
}

const BEGIN = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
const END = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
/** A key of 16,384 bits has 13,000 characters. */
const KEY_MAX = 20_000;
/** Shorter than a line of any key, longer than the words of code between two mentions of the markers. */
const BASE64_RUN = /[A-Za-z0-9+/]{40}/;

/** From marker to marker, whatever quotes, escapes and line numbers are in between. */
function maskWholeKeys(text: string): string {
  const ends = [...text.matchAll(END)];
  const begins = ends.length > 0 ? [...text.matchAll(BEGIN)] : [];
  let result = "";
  let done = 0;
  let at = 0;
  for (const [number, begin] of begins.entries()) {
    while (ends[at] && ends[at]!.index < begin.index) at++;
    const end = ends[at];
    if (!end) break;
    const next = begins[number + 1]?.index ?? text.length;
    if (end.index > next || end.index - begin.index > KEY_MAX) continue;
    if (!BASE64_RUN.test(text.slice(begin.index + begin[0].length, end.index))) continue;
    result += text.slice(done, begin.index) + mask("private-key");
    done = end.index + end[0].length;
  }
  return result + text.slice(done);
}

/*
 * Between two lines: white space or, inside JSON, the two characters \n; then perhaps a line number, a quote mark or a diff sign. Or
 * the end of one string in code and the start of the next.
 */
const LINE_MARK = String.raw`(?:(?:\d{1,6}(?:→|:|\||\s|\\t)|[->|])[ \t]?)?`;
const BREAK = String.raw`(?:\s|\\[nrt]?)+${LINE_MARK}`;
const SEAM = String.raw`(?:\s|\\[nrt]?|["'+,.$\x60]){1,40}`;
const KEY_HEAD = new RegExp(
  `-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:${BREAK}(?:Proc-Type|DEK-Info|Version|Comment|Hash): [^\\n\\\\]{0,200})*` +
    `(?:${BREAK}[A-Za-z0-9+/=]{16,}|${SEAM}[A-Za-z0-9+/=]{40,})*(?:(?:${BREAK}[A-Za-z0-9+/=]{1,15}){0,2}(?:${BREAK})?-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?`,
  "g",
);

/** Keys without their end, and short ones. */
function maskKeyHeads(text: string): string {
  return text.includes("-----BEGIN ") ? text.replace(KEY_HEAD, mask("private-key")) : text;
}

const KEY_LINE = new RegExp(`^\\s*${LINE_MARK}["']?[A-Za-z0-9+/=]+["']?[,+]?\\s*${LINE_MARK}$`);
const KEY_LINE_MAX = 200;

/** Keys whose first line was cut off, as `tail` does: from the end marker upwards as long as the lines are base64. */
function maskKeyTails(text: string): string {
  let result = "";
  let done = 0;
  for (const end of text.matchAll(END)) {
    let start = end.index;
    for (;;) {
      const from = Math.max(done, start - KEY_LINE_MAX);
      const lineStart = from + text.slice(from, Math.max(from, start - 1)).lastIndexOf("\n") + 1;
      const line = text.slice(lineStart, start);
      if (!KEY_LINE.test(line) || (line.length < 16 && start !== end.index)) break;
      start = lineStart;
    }
    // The mark of an escaped line break: see mask.ts.
    if (text[start] === "\u2028") start++;
    result += text.slice(done, start) + mask("private-key");
    done = end.index + end[0].length;
  }
  return result + text.slice(done);
}

/** `client-key-data` of a kubeconfig, `tls.key` of a secret. A certificate begins alike, and is public. */
const BASE64_PEM = /LS0tLS1CRUdJTi[A-Za-z0-9+/=]{40,}/g;

function maskEncodedKey(match: string): string {
  return decodeBase64(match.slice(0, 80)).includes("PRIVATE KEY") ? mask("private-key") : match;
}

/** PuTTY's own format. */
const PUTTY = /(Private-Lines: \d{1,3}\s{1,2})[A-Za-z0-9+/=\s]{1,20000}(?:Private-MAC: [0-9a-f]+)?/g;

/** The private numbers of a JSON Web Key, and the key itself of a symmetric one. */
const JWK = /("(?:d|p|q|dp|dq|qi|k)\\?"\s{0,4}:\s{0,4}\\?")[\w-]{20,}/g;

/** Bodies without their markers: OpenSSH, PKCS #8, PKCS #1 (a certificate has no version number in that place). */
const BODIES = ["b3BlbnNzaC1rZXkt", "IBADANBgkqhkiG9w0B", "IBAAKC", "IBADAQBgcqhkjOPQ"];
const BODY =
  /b3BlbnNzaC1rZXkt[A-Za-z0-9+/=]{40,}|MI[A-Za-z0-9+/]{2,5}(?:IBADANBgkqhkiG9w0B|IBAAKC|IBADAQBgcqhkjOPQ)[A-Za-z0-9+/=]{40,}/g;
