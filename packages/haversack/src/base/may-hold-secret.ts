/**
 * Whether masking could change a text: so much cheaper than the patterns that most texts never meet them, and the hook does not even load
 * them. Wrong in one direction only; a test holds it against the patterns.
 */
import { isName } from "./mask/value.ts";

export function mayHoldSecret(text: string): boolean {
  // Masking takes such a text in pieces.
  if (text.length > PIECE) return true;
  const lines = realLines(text);
  return hasKey(lines) || hasPlace(lines);
}

/** The engine's stack for patterns overflows in a row of some millions of characters, so long texts are masked in pieces. */
export const PIECE = 250_000;

/** White space for a pattern, and the start of a line. */
const LINE_MARK = "\u2028";

/** In JSON and in code the two characters \n end a line. For the patterns they become one, with a mark to find them again. */
export function realLines(text: string): string {
  return text.includes("\\n") && !text.includes(LINE_MARK) ? text.replaceAll("\\n", `\n${LINE_MARK}`) : text;
}

/** The way back. */
export function escapedLines(text: string): string {
  return text.replaceAll(`\n${LINE_MARK}`, "\\n");
}

/** Every key of a known format has this many letters, digits, `_` and `-` in a row. */
const ROW = /[\w-]{16,}/g;

/** Whether there is such a row that is not made of words. */
export function hasKey(text: string): boolean {
  for (const { 0: row, index } of text.matchAll(ROW)) if (isKeyLike(row, text[index - 1] ?? "")) return true;
  return text.includes("PRIVATE KEY") || text.includes("webhook");
}

/** Hashes and UUIDs are no keys by themselves, nor are names of temporary folders; a key id of AWS looks like words in capitals. */
function isKeyLike(row: string, before: string): boolean {
  if (isName(row)) return /[A-Z0-9]{20}/.test(row);
  // After one of these signs they may be the second half of a key.
  if (/^[0-9a-f-]+$/.test(row)) return /^[0-9a-f]{32}-/.test(row) || /[.:$]/.test(before);
  return row.length >= 30 || /[A-Za-z0-9]{16}/.test(row) || BEGINNINGS.test(row);
}

/** Of the formats that are short and may hold a `-` or `_` anywhere. */
const BEGINNINGS =
  /(?:sk|gl[a-z]{2,5}|xox[a-z]|xapp|xwfp|xai|pplx|nvapi|tskey|pypi|NR[A-Z]{2}|GOCSPX|sq0[a-z]{3}|BBDC)-|AIza|AQVN|GR1348941|AT(?:ATT3|CTT3|BB|OA)|EAA|IGQ|_|eyJ/;

/** Whether there is a place where a secret may stand: a word for one with a value behind it, a header, an address with a password. */
export function hasPlace(text: string): boolean {
  const lower = text.toLowerCase();
  // .pgpass has no word for it, only its four colons.
  if (!WORDS.some((word) => lower.includes(word)) && lower.split(":", 5).length < 5) return false;
  return text.length > LONG || PLACES.test(lower);
}

/** A long text has such a place more often than not, and looking for one then takes as long as the patterns themselves. */
const LONG = 20_000;

const WORDS =
  "pass pwd secret token key auth cookie credential psk mnemonic bearer basic :// sig -p -a -u -w -b identified bindpw echo vault phrase hmac sid= jwt= session= sessid=".split(
    " ",
  );

const PLACES = new RegExp(
  [
    // A word for it and the sign of an assignment, or a quoted value; or the whole word, and a value with a digit on the same line.
    String.raw`(?:pass|pwd|secret|token|key|auth(?!or)|credential|psk|mnemonic)(?:[\w\\"'\x60\]?[\s.+|→-]{0,60}[:=>]|[\w-]{0,40}\\{0,3}["'],|\w{0,8}\s{0,4}\(?\s{0,4}["'])`,
    String.raw`(?:pass(?:word|wd|phrase|code)|pwd|secret|token|credentials?|psk|mnemonic|key|pass)(?:[_-][a-z0-9]{1,16}){0,2}["'\x60]?[ \t][^\n]{0,80}\d`,
    String.raw`-[a-z0-9-]{0,60}(?:pass|pwd|token|secret|key)[^\s]{0,12}[\s=]`,
    String.raw`bearer|basic\s|authorization|cookie|identified|kind["']?:\s{0,4}["']?secret|requirepass|masterauth|bindpw|\s-b|_session=|sessid=|\.sid=`,
    String.raw`:\/\/(?:[^\s/]{0,400}|[^\s:@/]{1,64}:[^\s@]{1,64})@|[?&;,\s](?:[\w-]{0,10}sig|hmac|sid|jwt)\w{0,8}=`,
    String.raw`machine\s|default\s{1,20}(?:login|account|password)|:(?:\d{4,5}|\*):`,
    String.raw`\b(?:mysql\w*|mariadb[\w-]*|7z\w?|rar|unrar|sshpass|mongo\w*|cqlsh|rabbitmqadmin|login|redis-cli|ldap\w+|sqlcmd|bcp|osql|zip|unzip|mosquitto_\w+|ipmitool|curl|https?|xh|smb\w+|rpcclient|lftp|openssl|htpasswd)["'\s\\][^\n]{0,4000}-`,
    String.raw`vault\s(?:kv\s)?(?:write|put|patch)\s|(?:phrase|mnemonic)[\s:]|echo\s[^\n|]{0,300}\|`,
  ].join("|"),
);
