/**
 * Takes secrets out of text from outside before it is stored or shown: each is replaced by `[masked:<kind>]`. Control
 * characters go first (`stripControl` in clean-text.ts): a zero-width character inside a key would hide it.
 *
 * The hook loads this file: no imports, small. The text is hostile: every pattern is linear. Each quantifier is either
 * bounded or the last thing that can fail, so that no start position scans far in vain (1 MB of hostile text: tens of ms).
 *
 * A mask that misses is worse than one too many, but code must stay readable: a type annotation, an expression, a
 * placeholder or prose beside the word "password" is left alone. Masking twice changes nothing.
 */
export function maskSecrets(text: string): string {
  // The long patterns cost a new process 0.3 ms each at their first use: not for text that cannot hold such a secret.
  const keyless = text.includes("PRIVATE KEY") ? maskKeyTails(text.replace(PEM, mask("private-key"))) : text;
  return keyless
    .replace(KNOWN_KEYS, maskKnownKey)
    .replace(JWT, mask("jwt"))
    .replace(URL_PASSWORD, (match, before: string, value: string) =>
      isPlaceholder(value) || isOrdinaryWord(value) ? match : before + mask("password"),
    )
    .replace(SCHEME, maskScheme)
    .replace(FLAG, (match, before: string, value: string) =>
      value.length >= 6 && /\d/.test(value) && !isPlaceholder(value) ? before + mask("secret") : match,
    )
    .replace(CURL_USER, maskCurlUser)
    .replace(ASSIGNMENT, maskAssignment);
}

function mask(kind: string): string {
  return `[masked:${kind}]`;
}

/*
 * Private keys. Between two lines: white space or, inside JSON, the two characters \n; then perhaps a line number, a quote
 * mark or a diff sign. A block may be cut off at either end.
 */

const LINE_MARK = String.raw`(?:(?:\d{1,6}(?:→|:|\||\s|\\t)|[->|])[ \t]?)?`;
const BREAK = String.raw`(?:\s|\\[nrt])+${LINE_MARK}`;
const PEM = new RegExp(
  `-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:${BREAK}(?:Proc-Type|DEK-Info|Version|Comment|Hash): [^\\n\\\\]{0,200})*` +
    `(?:${BREAK}[A-Za-z0-9+/=]{16,})*(?:(?:${BREAK}[A-Za-z0-9+/=]{1,15}){0,2}(?:${BREAK})?-----END [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?`,
  "g",
);
const PEM_LINE = new RegExp(`^\\s*${LINE_MARK}[A-Za-z0-9+/=]+\\s*${LINE_MARK}$`);
const PEM_END = /-----END [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
const PEM_LINE_MAX = 200;

/** Keys whose first line was cut off, as `tail` does: from the end marker upwards as long as the lines are base64. */
function maskKeyTails(text: string): string {
  let result = "";
  let done = 0;
  for (const end of text.matchAll(PEM_END)) {
    let start = end.index;
    for (;;) {
      const from = Math.max(done, start - PEM_LINE_MAX);
      const lineStart = from + text.slice(from, Math.max(from, start - 1)).lastIndexOf("\n") + 1;
      const line = text.slice(lineStart, start);
      if (!PEM_LINE.test(line) || (line.length < 16 && start !== end.index)) break;
      start = lineStart;
    }
    result += text.slice(done, start) + mask("private-key");
    done = end.index + end[0].length;
  }
  return result + text.slice(done);
}

/* Keys known by their first letters. */

const KEY_FORMATS: readonly (readonly [kind: string, source: string])[] = [
  ["anthropic-key", "sk-ant-[\\w-]{16,}"],
  ["api-key", "(?:sk|pplx|xai|nvapi|tskey)-[\\w-]{20,}"],
  ["api-key", "(?:gsk|r8|figd|lin_api|sbp|rubygems|dop_v1|shpat|shpss|sntrys|dckr_pat)_[\\w-]{24,}"],
  ["github-token", "gh[opsur]_\\w{20,}|github_pat_\\w{20,}"],
  ["gitlab-token", "gl(?:pat|dt|ft|rt|soat|cbt|ptt|agent)-[\\w-]{16,}"],
  ["slack-token", "xox[abeoprs](?:\\.xox[a-z])?-[\\w-]{10,}|xapp-\\d-[\\w-]{10,}"],
  ["slack-webhook", "hooks\\.slack\\.com/services/\\w{6,20}/\\w{6,20}/\\w{10,}"],
  ["aws-key-id", "(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])"],
  ["google-key", "AIza[\\w-]{30,}|GOCSPX-[\\w-]{20,}|ya29\\.[\\w-]{20,}"],
  ["npm-token", "npm_[A-Za-z0-9]{30,}"],
  ["huggingface-token", "hf_[A-Za-z0-9]{30,}"],
  ["pypi-token", "pypi-[\\w-]{40,}"],
  ["sendgrid-key", "SG\\.[\\w-]{16,32}\\.[\\w-]{30,}"],
  ["stripe-key", "(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,}|whsec_[\\w+/=]{20,}"],
  ["twilio-key", "SK[0-9a-f]{32}(?![A-Za-z0-9])"],
  ["telegram-token", "\\d{8,10}:AA[\\w-]{32,}"],
  ["vault-token", "hv[sb]\\.[\\w-]{20,}"],
  ["age-key", "AGE-SECRET-KEY-1[A-Z0-9]{20,}"],
];
const KNOWN_KEYS = new RegExp(`(?<![A-Za-z0-9])(?:${KEY_FORMATS.map(([, source]) => `(${source})`).join("|")})`, "g");

function maskKnownKey(match: string, ...groups: unknown[]): string {
  // `sk-…` is also how CSS classes begin.
  if (match.startsWith("sk-") && !looksRandom(match)) return match;
  return mask(KEY_FORMATS[groups.findIndex((group) => group !== undefined)]![0]);
}

const JWT = /(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?/g;

/* Passwords known by their place. */

const URL_PASSWORD = /(:\/\/[^\s:@/?#"'`<>]{0,128}:)([^\s@/?#"'`<>]{1,256})(?=@)/g;

const SCHEME =
  /((?:authorization\\{0,3}["'`]?\s{0,4}[:=]\s{0,4}\\{0,3}["'`]?)?)(\b(?:bearer|basic|token|apikey)\s{1,4})([\w.~+/=:-]{6,})/gi;

function maskScheme(match: string, header: string, scheme: string, value: string): string {
  const isSecret = header
    ? !/^[a-z_-]+$/.test(value) && !isPlaceholder(value)
    : /^b/i.test(scheme) && value.length >= 16 && (looksRandom(value) || value.endsWith("="));
  return isSecret ? header + scheme + mask("authorization") : match;
}

const FLAG =
  /(--(?:[a-z]{1,20}-){0,3}(?:password|passwd|token|secret|(?:api|access|auth|secret)-?key)\s{1,4}["']?)([^\s"'`-][^\s"'`]*)/gi;

const CURL_USER = /(\s(?:-u|--user)[ =]["']?[^\s:"']{1,64}:)([^\s"']+)/g;

function maskCurlUser(match: string, before: string, value: string, offset: number, whole: string): string {
  // What stands there was a key.
  if (before.endsWith("[masked:")) return match;
  // Elsewhere `-u 1000:1000` is a user and a group.
  const isCurl = /\bcurl\b[^\n]*$/.test(whole.slice(Math.max(0, offset - 1_000), offset));
  return isCurl && !isPlaceholder(value) ? before + mask("password") : match;
}

/* Assignments: `password=…`, `"api_key": "…"`, `export FOO_TOKEN=…`, `secret: …`. */

const ASSIGNMENT =
  /(pass(?:word|wd|phrase|code)|(?<=[_-])pass|pwd|secret|token|(?:api|app|access|auth|private|secret|account|shared|signing|encryption|master|session|client|service|storage|admin)[_-]?key)((?:[_-][a-z0-9]{1,16}){0,2})(\\{0,3}(?:["'`]\]?)?\??\s{0,4}(?::=|=>|[=:](?![=:]))\s{0,4})(?:(\\{1,3}["'])([^"'\\\n]*)|"((?:[^"\\\n]|\\[^\n])*)|'((?:[^'\\\n]|\\[^\n])*)|([^\s"'`&,;()[\]{}<>|\\]+))/gi;

function maskAssignment(match: string, ...groups: unknown[]): string {
  const [key, suffix, separator, escapedQuote, escaped, double, single, bare, offset, whole] = groups as [
    string,
    string,
    string,
    ...(string | undefined)[],
  ] & { 8: number; 9: string };
  const value = escaped ?? double ?? single ?? bare ?? "";
  const isSecret =
    bare === undefined
      ? isQuotedSecret(key, { suffix, separator, value })
      : isBareSecret(key, { suffix, separator, value, next: whole[offset + match.length] ?? "\n" });
  if (!isSecret) return match;
  const quote = escapedQuote ?? (double === undefined ? (single === undefined ? "" : "'") : '"');
  return key + suffix + separator + quote + mask(isPasswordKey(key) ? "password" : "secret");
}

function isQuotedSecret(
  key: string,
  { suffix, separator, value }: { suffix: string; separator: string; value: string },
): boolean {
  if (isPlaceholder(value) || isOrdinaryWord(value)) return false;
  if (suffix) return looksRandom(value);
  if (separator === "=" && key === key.toUpperCase()) return /^\S/.test(value);
  // Words with spaces are a message or a label, except in a passphrase.
  if (/\s/.test(value)) return /phrase/i.test(key);
  if (isPasswordKey(key)) return true;
  // `"token": "access_token"`, `secret: "my-app-secret"`: names of things.
  return value.length >= 6 && !/^[a-z]+(?:[_.:-][a-z]+)+$/i.test(value);
}

function isBareSecret(
  key: string,
  { suffix, separator, value, next }: { suffix: string; separator: string; value: string; next: string },
): boolean {
  if (isPlaceholder(value) || isOrdinaryWord(value) || value.toLowerCase() === key.toLowerCase()) return false;
  if (suffix) return looksRandom(value);
  const isCall = next === "(" || next === "[";
  const isPath = /^[a-z_$][\w$]*(?:[.?!:]+[a-z_$][\w$]*)+$/i.test(value);
  if (isCall || (isPath && !looksRandom(value))) return false;

  const hasDigit = /\d/.test(value);
  const isWord = /^[a-z_.-]+$/i.test(value);
  if (separator === "=") {
    // `login(user=name, password=entered)`: a named argument.
    if (isWord && (next === "," || next === ")") && key !== key.toUpperCase()) return false;
    if (isPasswordKey(key)) return value.length >= 3;
    return value.length >= 8 && (hasDigit || key === key.toUpperCase());
  }
  if (isPasswordKey(key)) {
    if (isWord) return value.length >= 6 && separator.includes(":") && next === "\n" && value === value.toLowerCase();
    return value.length >= 4;
  }
  return value.length >= 8 && countDigits(value) >= 2 && /[a-z]/i.test(value);
}

function isPasswordKey(key: string): boolean {
  return /^(?:pass|pwd)/i.test(key);
}

/** `$TOKEN`, `${TOKEN}`, `<token>`, `{token}`, `%s`, `****`, `sk-...`, `xxx`, `your-key`, a URL, and what is masked already. */
function isPlaceholder(value: string): boolean {
  return /^(?:$|\$[({]?[\w.:-]*[)}]?$|<|\{|%[sd(]|[*.…•]+$|x{3,}$|\[masked:|your[_-]|https?:\/\/)|(?:\.{3}|…)$/i.test(
    value,
  );
}

/** Type names, literals and what stands after "password:" in forms and prose. */
function isOrdinaryWord(value: string): boolean {
  return /^(?:string|str|text|number|int|integer|boolean|bool|bytes|any|unknown|never|object|null|nil|none|undefined|true|false|required|optional|missing|invalid|incorrect|wrong|expired|hidden|empty|changed|password|passwd|pass|secret|token|bearer|env|prompt|input|option|self|this|process|await|async|new)[.?!*:]*$/i.test(
    value,
  );
}

/** At least 16 characters with a letter, and two digits or an unbroken run of 24. */
function looksRandom(value: string): boolean {
  if (value.length < 16 || !/[a-z]/i.test(value)) return false;
  return countDigits(value) >= 2 || /[a-z0-9]{24}/i.test(value);
}

function countDigits(value: string): number {
  let digits = 0;
  for (let index = 0; index < value.length; index++) {
    const code = value.charCodeAt(index);
    if (code >= 48 && code <= 57) digits++;
  }
  return digits;
}
