/**
 * Assignments: `password=…`, `"api_key": "…"`, `export FOO_TOKEN=…`, `secret: …`, `<password>…</password>`, and prose that states a
 * password. The name must indicate a secret and the value must look like one; code, types and placeholders are left alone.
 */
import {
  countDigits,
  isJumble,
  isName,
  isOrdinaryWord,
  isPlaceholder,
  LINE_START,
  later,
  looksRandom,
  mask,
  masking,
} from "./value.ts";
import { ASSIGNED_WORDS } from "./words.ts";

/** `lower`: the text in lower case. */
export function maskAssignments(text: string, lower: string): string {
  if (!ASSIGNED_WORDS.some((name) => lower.includes(name))) return text;
  let result = text.replace(ENV_LINE(), maskEnvLine).replace(ASSIGNMENT(), maskAssignment);
  if (lower.includes("</")) result = result.replace(ELEMENT(), maskElement);
  if (lower.includes("value")) result = result.replace(PAIR(), maskPair);
  if (lower.includes("phrase") || lower.includes("mnemonic")) result = result.replace(PHRASE, masking("password"));
  return result.replace(SAID(), maskSaid);
}

/** Words for a secret. `key` alone counts only after certain words: see `kindOf`. */
const WORD =
  "pass(?:word|wd|phrase|code)|(?<=[_-])pass|(?<![a-z])pass(?=[\"']?\\s{0,2}[:=]\\s{0,2}\\\\{0,3}[\"'])|pwd|secret|token|credentials?|psk|mnemonic|_auth|(?<=[a-z0-9_ -])key";

type Kind = "password" | "secret" | "weak";

const SECRET_KEY =
  /(?:api|app|application|access|auth|private|secret|account|shared|preshared|signing|signature|encryption|decryption|master|session|client|consumer|service|storage|admin|license|subscription|deploy|webhook|instrumentation|ingest(?:ion)?|integration|write|server|security|hmac|jwt|fernet|aes|cipher|crypt(?:o|ography)?|ssh|functions?|primary|secondary)[ _-]?$/i;
const NO_SECRET_KEY =
  /(?:public|publishable|cache|foreign|sort|partition|object|s3|idempotency|row|group|dedup|dedupe|lookup|index|map|hash|range|unique|composite|routing|host|registry|site|primary)[ _-]?$/i;
/** Tokens that are not secrets: positions in a list, units of text, design tokens. */
const NO_SECRET_TOKEN =
  /(?:page|next|prev|continuation|cancell?ation|sync|progress|resume|cursor|design|color|style|eos|bos|pad|stop|unk|mask)[_-]?$/i;

/** `stem`: the part of the name before the word. */
function kindOf(word: string, stem: string): Kind | undefined {
  if (/^(?:pass|pwd|psk|mnemonic)/i.test(word)) return "password";
  if (/^token$/i.test(word)) return NO_SECRET_TOKEN.test(stem) ? undefined : "secret";
  if (!/^key$/i.test(word)) return "secret";
  // "primary key" is also a database term, whose value is a name or a number.
  if (SECRET_KEY.test(stem)) return /ary[ _-]?$/i.test(stem) ? "weak" : "secret";
  return NO_SECRET_KEY.test(stem) || !/[a-z0-9][_-]$/i.test(stem) ? undefined : "weak";
}

/** `token_url`, `password_min_length`: about the secret, not the secret. */
const ABOUT =
  /[_-](?:file|files|path|dir|url|uri|endpoint|arn|name|names|id|ids|len|length|type|kind|ttl|exp|expiry|expires|expiration|expired|timeout|age|count|limit|budget|usage|total|header|field|column|prefix|suffix|version|date|time|at|policy|rules?|min|max|format|regex|pattern|label|hint|title|text|message|error|status|state|strength|required|enabled|reset|rotation|ref|key_ref|store|manager|provider|source|index|size|bits|algo|algorithm|class|issuer|scope|scopes|audience|fingerprint|symbol|address)$/i;

interface Found {
  kind: Kind;
  name: string;
  suffix: string;
  separator: string;
  value: string;
  /** The character after the value. */
  next: string;
}

const ASSIGNMENT = later(
  `(${WORD})((?:[_-][a-z0-9]{1,16}){0,2})` +
    // `password: str = `: with a type in between.
    String.raw`((?:\[\d{0,4}\])?(?:\\{0,3}["'\x60]\]?)?\??(?:\s{0,4}:\s{0,2}[&*]?[A-Za-z_][\w.<>[\]|? ]{0,30}=(?![=>])\s{0,4}(?=\\{0,3}["'])|\s{0,4}(?::=|=>|[=:](?![=:]))\s{0,4}|(?<=["'])\s{0,4},\s{0,4}(?=\\{0,3}["'])))` +
    String.raw`(?:(\\{1,3}["'])([^"'\\\n]*)|"((?:[^"\\\n]|\\[^\n])*)|'((?:[^'\\\n]|\\[^\n])*)|\x60([^\x60\\\n$]*)(?=\x60)|([^\s"'\x60&,;()[\]{}<>|\\]+))`,
  "gi",
);

function maskAssignment(match: string, ...groups: unknown[]): string {
  const [word, suffix, separator, , escaped, double, single, tick, bare, offset, whole] = groups as [
    string,
    string,
    string,
    ...(string | undefined)[],
  ] & { 9: number; 10: string };
  const stem = stemBefore(whole, offset);
  const kind = kindOf(word, stem);
  if (!kind) return match;
  const value = escaped ?? double ?? single ?? tick ?? bare ?? "";
  // Neighbours in a list: the name must be a quoted string of its own.
  if (separator.includes(",") && !/["']/.test(whole[offset - stem.length - 1] ?? "")) return match;
  const found = { kind, name: stem + word, suffix, separator, value, next: whole[offset + match.length] ?? "\n" };
  if (bare === undefined ? !isQuotedSecret(found) : !isBareSecret(found)) return match;
  return match.slice(0, match.length - value.length) + maskAs(kind);
}

const NAME_CHARS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.$-";

/** The part of the name before the word, at most 40 characters; a space counts for `api key`. */
function stemBefore(text: string, offset: number): string {
  let start = offset;
  while (start > 0 && offset - start < 40 && NAME_CHARS.includes(text[start - 1]!)) start--;
  const stem = text.slice(start, offset);
  return stem === "" && text[offset - 1] === " " ? text.slice(Math.max(0, offset - 20), offset) : stem;
}

function maskAs(kind: Kind): string {
  return mask(kind === "password" ? "password" : "secret");
}

function isQuotedSecret({ kind, name, suffix, separator, value }: Found): boolean {
  // The quote ended a string: `"password: ", next`.
  if (/^[,;)\]}]/.test(value)) return false;
  if (isPlaceholder(value) || isOrdinaryWord(value) || value.toLowerCase() === name.toLowerCase()) return false;
  if (ABOUT.test(suffix)) return false;
  if (kind === "weak") return isStrong(value, name);
  if (suffix) return looksRandom(value);
  // `setProperty("password", "hunter2")`, but also two neighbours in a list.
  if (separator.includes(","))
    return (
      (looksRandom(value) && countDigits(value) > 0) ||
      (kind === "password" && hasDigitAndLetter(value) && /^[\w!@#%&*+.-]+$/.test(value))
    );
  const isEnv = separator === "=" && name === name.toUpperCase();
  if (isEnv) return /^\S.{2}/.test(value) && !isLabel(value) && !isPath(value);
  // Words with spaces are a message or a label, except in a passphrase.
  if (/\s/.test(value)) return /phrase|mnemonic/i.test(name);
  if (isLabel(value) || isPath(value)) return false;
  // `{ user: "me", pass: "hunter2" }`, but also `pass: "all"`.
  if (/^pass$/i.test(name)) return !isName(value) || hasDigitAndLetter(value) || value.length >= 10;
  if (kind === "password") return true;
  if (value.length < 6 || /^v?\d+(?:\.\d+)+$/.test(value)) return false;
  // `"token": "access_token"`, `secret: "my-app-secret"`, `token: "refresh"`: names of things.
  return (
    !isName(value) ||
    (hasDigitAndLetter(value) && (countDigits(value) > 2 || !/[-_.]/.test(value))) ||
    (value.length >= 11 && /^[a-z]+$/.test(value))
  );
}

function isBareSecret({ kind, name, suffix, separator, value, next }: Found): boolean {
  if (isPlaceholder(value) || isOrdinaryWord(value) || value.toLowerCase() === name.toLowerCase()) return false;
  if (ABOUT.test(suffix) || isCode(value, next) || isPath(value)) return false;
  if (kind === "weak") return isStrong(value, name);
  if (suffix) return looksRandom(value);

  const isWord = /^[a-z_.-]+$/i.test(value);
  const isUpper = name === name.toUpperCase();
  if (separator === "=") {
    // `login(user=name, password=entered)`: a named argument.
    if (isWord && !isUpper && (next === "," || next === ")" || isLabel(value))) return false;
    if (kind === "password") return value.length >= 3;
    return value.length >= 8 && (countDigits(value) > 0 || isUpper || looksRandom(value));
  }
  if (kind === "password") {
    if (isWord && !looksRandom(value)) {
      return (
        value.length >= 6 &&
        separator.includes(":") &&
        /^[\r\n]/.test(next) &&
        value === value.toLowerCase() &&
        !isLabel(value)
      );
    }
    return value.length >= 4 && !/^\d{1,3}$/.test(value);
  }
  if (looksRandom(value)) return true;
  return (
    value.length >= 8 &&
    countDigits(value) >= 2 &&
    hasDigitAndLetter(value) &&
    !/^v?\d+(?:\.\d+)+|^\d{4}-\d\d-\d\d/.test(value)
  );
}

/** A call, an element, a generic type, or a path of names: `settings.auth.token`. */
function isCode(value: string, next: string): boolean {
  if (next === "(" || next === "[" || next === "<" || value.startsWith(":")) return true;
  return /^[a-z_$@][\w$]*(?:[.?!:]+[a-z_$][\w$]*)+[?!.]*$/i.test(value) && isName(value.replace(/[$?!]/g, ""));
}

function isPath(value: string): boolean {
  return /^(?:~|\.{0,2})\/\w|^[A-Z]:\\/.test(value) && isName(value.replaceAll("\\", "/"));
}

/** `Passwort`, `user_password`, `tokenInput`: a name for the secret, not the secret. One lower-case word may be a real password. */
function isLabel(value: string): boolean {
  return (
    /[A-Z_.-]/.test(value) && /pass|pwd|secret|token|key|credential/i.test(value) && !/\d/.test(value) && isName(value)
  );
}

/** For names that say little: `stripe_key`, but also `row_key`. */
function isStrong(value: string, name: string): boolean {
  if (value.length < 20 || !looksRandom(value)) return false;
  return isJumble(value) || name === name.toUpperCase() || (countDigits(value) >= 4 && !/^[0-9a-f]{8}-/i.test(value));
}

function hasDigitAndLetter(value: string): boolean {
  return /\d/.test(value) && /[a-z]/i.test(value) && !/\s/.test(value);
}

/** Lines of .env and .properties files, whose values end with the line: `DB_PASSWORD=a&b;c(d`. */
const ENV_LINE = later(
  String.raw`^(${LINE_START}(?:export |set |- )?([\w.-]{0,60}?)(PASS(?:WORD|WD|PHRASE)?|PWD|SECRET|TOKEN|KEY)((?:[_.-][a-z0-9]{1,16}){0,2})(?:=|:[ \t]{1,4}))([^\s"'\x60$<{[(\\][^\s"'\x60\\]*)$`,
  "gim",
);

function maskEnvLine(match: string, before: string, stem: string, word: string, suffix: string, value: string): string {
  const kind = kindOf(word, stem);
  if (!kind || /^[\w.$]+\(/.test(value)) return match;
  // YAML has such lines too, but so do types and code.
  const isYaml = !before.endsWith("=");
  if (isYaml && (kind !== "password" || !hasDigitAndLetter(value) || /[<>(){}[\]]|[,;]$/.test(value))) return match;
  const found = { kind, name: stem + word, suffix, separator: isYaml ? ": " : "=", value, next: "\n" };
  return isBareSecret(found) ? before + maskAs(kind) : match;
}

/** `<password>…</password>` and `<string name="api_key">…</string>`. */
const ELEMENT = later(`<[\\w:.-]{0,40}?(${WORD})((?:[_-][a-z0-9]{1,16}){0,2})>([^<>\\n]{1,2000})(?=</)`, "gi");

function maskElement(
  match: string,
  word: string,
  suffix: string,
  value: string,
  offset: number,
  whole: string,
): string {
  const stem = stemBefore(whole, offset + match.indexOf(word));
  const kind = kindOf(word, stem);
  const found = { kind: kind ?? "weak", name: stem + word, suffix, separator: ":", value: value.trim(), next: "<" };
  return kind && isQuotedSecret(found) ? match.slice(0, match.length - value.length) + maskAs(kind) : match;
}

const QUOTE = String.raw`(?:\\{0,3}["'])?`;

/** `name: DB_PASSWORD` and on the next line `value: …`; `{"key": "ApiKey", "value": "…"}`; `<add key="ApiKey" value="…">`. */
const PAIR = later(
  String.raw`(\b(?:name|key)${QUOTE}\s{0,4}[:=]\s{0,4}${QUOTE}([\w.-]{0,60}?)(${WORD})((?:[_-][a-z0-9]{1,16}){0,2})${QUOTE},?\s{1,40}${LINE_START}${QUOTE}value${QUOTE}\s{0,4}[:=]\s{0,4}${QUOTE})([^\s"',<>{}()\\]{1,2000})`,
  "gi",
);

function maskPair(match: string, before: string, stem: string, word: string, suffix: string, value: string): string {
  const kind = kindOf(word, stem);
  const found = { kind: kind ?? "weak", name: stem + word, suffix, separator: ":", value, next: "\n" };
  return kind && isQuotedSecret(found) && !isCode(value, "") ? before + maskAs(kind) : match;
}

/** "the password is hunter2", "use token 9f8e…", `#define API_KEY "…"`, `ENV API_KEY …`, `set aws_secret_access_key …`. */
const SAID = later(
  `(${WORD})((?:[_-][a-z0-9]{1,16}){0,2}["'\`]?)([ \\t]{1,4}(?:for[ \\t]{1,4}[^\\s]{1,60}[ \\t]{1,4})?(?:(?:is|was|are|to|as|of)(?:[ \\t]{1,2}set[ \\t]{1,2}to)?:?[ \\t]{1,4})?(?:\\\\{0,3}["'\`])?)([^\\s"'\`<>(){}[\\],;\\\\]{6,})`,
  "gi",
);

function maskSaid(
  match: string,
  word: string,
  suffix: string,
  link: string,
  value: string,
  offset: number,
  whole: string,
): string {
  const kind = kindOf(word, stemBefore(whole, offset));
  const bare = value.replace(/[.!?:]+$/, "");
  if (!kind || kind === "weak" || ABOUT.test(suffix) || isPlaceholder(bare) || isOrdinaryWord(bare)) return match;
  if (isCode(bare, whole[offset + match.length] ?? "")) return match;
  const isSaid = /\b(?:is|was)\b/i.test(link) && kind === "password" && isPasswordLike(bare);
  return isSaid ||
    (looksRandom(bare) && (isJumble(bare) || countDigits(bare) >= 4) && !isPath(bare) && !isAddress(bare))
    ? word + suffix + link + maskAs(kind) + value.slice(bare.length)
    : match;
}

/** A quoted phrase of three words or more. */
const PHRASE =
  /((?:pass[ _-]?phrase|seed[ _-]?phrase|mnemonic)(?:\s{1,4}is)?:?\s{1,4}["'])([a-z]+(?: [a-z]+){2,30})(?=["'])/gi;

/** Letters with digits, but not an algorithm, version or size: `sha256-hashed`, `v2.1`, `16-byte`, `base64`. */
function isPasswordLike(value: string): boolean {
  if (!hasDigitAndLetter(value) || /^v?\d+(?:[.-]|[a-z]+$)/i.test(value)) return false;
  return !/^(?:sha|md|base|utf|aes|rsa|ed|hs|rs|es|ps|argon|pbkdf|bcrypt|oauth|http|ipv|x\.?509|rfc|k8s|ec2|python|node|web)-?\d/i.test(
    value,
  );
}

function isAddress(value: string): boolean {
  return /[/@:]/.test(value) && !isJumble(value);
}
