/** Secrets recognized by their place: in a URL, a header, a cookie, a file of a known format, an SQL statement. */
import {
  countDigits,
  decodeBase64,
  isName,
  isOrdinaryWord,
  isPlaceholder,
  LINE_START,
  later,
  looksRandom,
  mask,
  masking,
} from "./value.ts";
import { FLAG_NAMES, namesOf, PLACE, PORT, PROGRAMS, type Program } from "./words.ts";

/** Words that indicate a place, and the function that masks it. A pattern is slow at its first use, so it runs only after a word matches. */
const PLACES: readonly (readonly [words: readonly string[], mask: (text: string) => string])[] = [
  [PLACE.address, (text) => text.replace(ADDRESS, maskAddress).replace(LOOSE_ADDRESS, maskLooseAddress)],
  [PLACE.authorization, (text) => text.replace(AUTHORIZATION, maskAuthorization)],
  [PLACE.scheme, (text) => text.replace(SCHEME, maskScheme)],
  [PLACE.cookie, (text) => text.replace(COOKIE, maskCookies)],
  [PLACE.session, (text) => text.replace(SESSION, maskSession)],
  [PLACE.basicAuth, (text) => text.replace(BASIC_AUTH, maskBasicAuth)],
  [PLACE.query, (text) => text.replace(QUERY, maskQuery)],
  [PLACE.password, (text) => text.replace(NETRC(), maskNetrc).replace(SQL_PASSWORD, maskQuotedWord)],
  [PLACE.sqlUser, (text) => text.replace(SQL_USER, maskQuotedWord)],
  [PLACE.directive, (text) => text.replace(DIRECTIVE, maskDirective)],
  [PLACE.manifest, (text) => (SECRET_MANIFEST.test(text) ? maskManifests(text) : text)],
];

/** `lower`: the text in lower case. */
export function maskPlaces(text: string, lower: string): string {
  let result = text;
  for (const [words, maskPlace] of PLACES) {
    if (words.some((word) => lower.includes(word))) result = maskPlace(result);
  }
  return PORT.test(result) ? result.replace(PGPASS, maskPgpass) : result;
}

/** URLs: `scheme://user:password@host`, or a key instead of the user. The password may contain an `@`. */
const ADDRESS = /(:\/\/(?:[^\s:@/?#"'`<>]{0,128}:)?)([^\s/?#"'`<>]{1,256})(?=@)/g;

function maskAddress(match: string, before: string, value: string): string {
  if (isPlaceholder(value) || isOrdinaryWord(value) || before.endsWith("[masked:")) return match;
  if (before.length > 3) return before + mask("password");
  return value.length >= 20 && looksRandom(value) && !value.includes(":") ? before + mask("token") : match;
}

/** A password with a `/`, `?` or `#`, which should be escaped but often is not. `host:3000/@scope` is a port, not a password. */
const LOOSE_ADDRESS =
  /(:\/\/[^\s:@/?#"'`<>]{1,64}:)(?!\d{1,5}[/?#])([^\s@:"'`<>[\]]{1,64})(?=@[\w.-]{1,100}(?:[:/?\s"']|$))/g;
const maskLooseAddress = masking(
  "password",
  (value, before) => /[/?#]/.test(value) && !isPlaceholder(value) && !before.endsWith("[masked:"),
);

/** The value of the header, with or without a scheme. */
const AUTHORIZATION =
  /(authorization(?:\\{0,3}["'`])?\]?\s{0,4}[:=,]\s{0,4}(?:\\{0,3}["'`])?)((?:[A-Za-z][\w-]{1,30}\s{1,4}){0,2})((?:token|key|apikey|auth)=)?([^\s"'`\\,;()[\]{}]{6,})/gi;

function maskAuthorization(match: string, ...groups: unknown[]): string {
  const [header, scheme, name = "", value, offset, whole] = groups as [string, string, string, string, number, string];
  const isCall = whole[offset + match.length] === "(";
  if (isPlaceholder(value) || isOrdinaryWord(value) || isCall || isExpression(value)) return match;
  const isKnown =
    name !== "" || /^(?:bearer|basic|token|api-?key|key|jwt|negotiate|bot|ssws|hmac|splunk)\s/i.test(scheme);
  const isSecret = isKnown ? !/^[a-z_-]+$/.test(value) : looksRandom(value);
  return isSecret ? header + scheme + name + mask("authorization") : match;
}

const SCHEME = /\b((?:bearer|basic)\s{1,4})([\w.~+/=-]{16,})/gi;
const maskScheme = masking("authorization", (value) => looksRandom(value) || (value.endsWith("=") && !isName(value)));

/** `req.headers.authorization` is code, not a value. */
function isExpression(value: string): boolean {
  return /^[a-z_$][\w$]*(?:[.?!:]+[a-z_$][\w$]*)+\W?$/i.test(value) && isName(value.replace(/[$?!]/g, ""));
}

/** The values of `Cookie: a=1; b=2`, of `Set-Cookie: a=1; Path=/`, and of cookie options such as curl's `-b`. */
const COOKIE =
  /((?:cookies?(?:\\{0,3}["'`])?\]?(?:\s{0,4}[:=,]\s{0,4}|\s{1,4})|\s-b\s{0,4})(?:\\{0,3}["'`])?)((?:[\w.$-]{1,100}=[^\s;"'`\\]{0,4096};?[ \t]{0,4}){1,50})/gi;
const COOKIE_ATTRIBUTE = /^(?:path|domain|expires|max-age|samesite|secure|httponly|priority|version)$/i;

function maskCookies(_match: string, before: string, pairs: string): string {
  return before + pairs.replace(/([\w.$-]{1,100})=([^\s;"'`\\]{1,4096})/g, maskCookie);
}

function maskCookie(match: string, name: string, value: string): string {
  if (COOKIE_ATTRIBUTE.test(name) || isPlaceholder(value) || isOrdinaryWord(value)) return match;
  const isSession = /sess|sid|auth|token|jwt|csrf|xsrf|login|remember|ident|user/i.test(name);
  const isSecret = isSession
    ? value.length >= 4 && !/^[a-z_-]{1,12}$/i.test(value)
    : value.length >= 12 && !isName(value);
  return isSecret ? `${name}=${mask("cookie")}` : match;
}

/** Cookies with the usual names, anywhere. */
const SESSION = /((?:_session|sessid|\.sid)=)([\w%.-]{16,4096})/gi;
const maskSession = masking("cookie", looksRandom);

/** `"auth": "dXNlcjpwYXNz"` of Docker, `_auth=dXNlcjpwYXNz` of npm: base64 of `user:password`. */
const BASIC_AUTH = /(\b_?auth(?:\\{0,3}["'`])?\s{0,4}[:=]\s{0,4}(?:\\{0,3}["'`])?)([A-Za-z0-9+/]{8,}={0,2})/gi;
const maskBasicAuth = masking("authorization", (value) =>
  /^[\x20-\x7e]{1,200}:[\x20-\x7e]+$/.test(decodeBase64(value)),
);

/** Signatures and keys in the query of a URL, and signatures in a header. */
const QUERY =
  /((?:[?&;](?:sig|hmac|sid|jwt|key|auth)|[?&;,\s](?:x-[a-z]{2,4}-|q-)?signature)=)([^(&\s"'`<>#;,\\]{8,2048})/gi;
const maskQuery = masking(
  "signature",
  (value, before) => !isPlaceholder(value) && (looksRandom(value) || (/sig|hmac/i.test(before) && !isName(value))),
);

/** `machine example.com login me password hunter2`, on one line or several. */
const GAP = String.raw`\s{1,20}${LINE_START}`;
const NETRC = later(
  String.raw`((?:\bmachine${GAP}([^\s]{1,255})|\bdefault)${GAP}(?:(?:login|account)${GAP}[^\s]{1,255}${GAP}){0,2}password${GAP})([^\s"'\x60\\]{1,256})`,
  "gi",
);

function maskNetrc(match: string, before: string, machine: string | undefined, value: string): string {
  if (isPlaceholder(value) || isOrdinaryWord(value)) return match;
  // Prose may use the same words, but has no host and no digits.
  const isFile = /[.\d]|^localhost/.test(machine ?? "") || !/^[a-z]+[.,]?$/i.test(value);
  return isFile ? before + mask("password") : match;
}

const SQL_USER =
  /(\bidentified\s{1,4}(?:with\s{1,4}[\w'"]{1,40}\s{1,4})?(?:by|as)\s{1,4}(?:password\s{1,4})?)(["'])([^"'\n]{1,256})/gi;
const SQL_PASSWORD = /(\bpassword(?:\s{1,4}|\s{0,4}\(\s{0,4}))(["'])([^"'\n\s]{1,256})(?=["'])/gi;

function maskQuotedWord(match: string, before: string, quote: string, value: string): string {
  return isPlaceholder(value) || isOrdinaryWord(value) || (isName(value) && !/identified|\d/i.test(before + value))
    ? match
    : before + quote + mask("password");
}

/** redis.conf, ldap.conf. */
const DIRECTIVE = /((?<![\w-])(?:requirepass|masterauth|bindpw)[ \t]{1,20})([^\s"'`\\]{3,256})/gi;

function maskDirective(match: string, before: string, value: string, offset: number, whole: string): string {
  if (isPlaceholder(value) || isOrdinaryWord(value)) return match;
  const isLine = /^\s*$/.test(whole.slice(Math.max(0, offset - 20), offset).replace(/^.*[\n\u2028]/s, ""));
  return isLine || !/^[a-z]+\W?$/i.test(value) ? before + mask("password") : match;
}

/** `host:port:database:user:password`. Code positions have a number in the third field; IPv6 addresses have only short fields. */
const PGPASS =
  /(?<![\w.*:/@-])([\w.*-]{1,255}:(?:\d{4,5}|\*):(?!\d+:)[\w*-]{1,63}:[\w*.@-]{1,63}:)((?:[^\s:"'`\])\\]|\\[:\\])(?:[^\s"'`\])\\]|\\[:\\]){0,255})(?=[\s"'`\])\\]|$)/g;
const maskPgpass = masking(
  "password",
  (value, before) => !/^(?:[0-9a-f]{1,4}:){4,}/i.test(before) && !isPlaceholder(value),
);

/** The values of a Kubernetes Secret in YAML or JSON. Everything under `data` is secret, whatever its name. */
function maskManifests(text: string): string {
  // One file may have several documents, and a page several code blocks.
  return text
    .split(/^(?=[ \t]*(?:---|```))/m)
    .map((part) => (SECRET_MANIFEST.test(part) ? maskManifest(part) : part))
    .join("");
}

const SECRET_MANIFEST = /kind["']?:\s{0,4}["']?Secret\b(?!\w)/;

function maskManifest(text: string): string {
  let inside = -1;
  const lines = text.split("\n").map((line) => {
    const prefix = MANIFEST_PREFIX().exec(line)![0];
    const rest = line.slice(prefix.length);
    const indent = rest.search(/\S/);
    if (/^\s*["']?(?:data|stringData)["']?:\s*\{?\s*$/.test(rest)) inside = indent;
    else if (inside >= 0 && indent >= 0 && indent <= inside) inside = -1;
    else if (inside >= 0) return prefix + rest.replace(MANIFEST_VALUE, maskManifestValue);
    return line;
  });
  return lines.join("\n");
}

const MANIFEST_PREFIX = later(`^${LINE_START.replace("{0,8})?", "{0,1})?")}`);
const MANIFEST_VALUE = /^(\s*["']?[\w.-]{1,253}["']?:\s{1,4}["']?)([^\s"',|>][^\s"',]{3,})/;
const maskManifestValue = masking("secret", (value) => !isPlaceholder(value) && countDigits(value) !== value.length);

// Passwords on command lines: long flags, and the short options of well-known programs.

export function maskCommands(text: string, lower: string): string {
  const hasFlag = lower.includes("-") && FLAG_NAMES.some((name) => lower.includes(name));
  let result = hasFlag ? text.replace(FLAG, maskFlag) : text;
  for (const program of PROGRAMS) {
    if (namesOf(program).some((name) => lower.includes(name))) result = maskProgram(result, program);
  }
  if (lower.includes("--from-literal")) result = result.replace(LITERAL(), maskOption);
  if (lower.includes("echo") && lower.includes("|")) result = result.replace(PIPED, maskOption);
  return result;
}

/** `--password x`, `-storepass x`, `--client-secret=x`. */
const FLAG =
  /(-(?<![\w-]-)-?(?:[a-z0-9]{1,20}-){0,3}(?:(?:store|key)?pass(?:word|wd|phrase|code)?|pwd|token|secret|(?:api|access|auth|secret|account|private)-?key)(?:=|\s{1,4})["']?)([^\s"'`-][^\s"'`]*)/gi;

function maskFlag(match: string, before: string, value: string, offset: number, whole: string): string {
  if (isPlaceholder(value) || isOrdinaryWord(value) || value.length < 3) return match;
  const isPassword = /pass(?:word|wd|phrase|code)?["'=\s]|pwd/i.test(before);
  const after = whole.slice(offset + match.length, offset + match.length + 3);
  // `--password flag that …` is prose. On a command line, another flag, a pipe or the end of the line follows.
  const isLast = /^(?:["'`]|\s*$|\s?[\n|;&>]|\s-)/.test(after);
  const isSecret =
    countDigits(value) > 0 ? value.length >= 6 && !isPath(value) : isPassword && value.length >= 6 && isLast;
  return isSecret || looksRandom(value) ? before + mask(isPassword ? "password" : "secret") : match;
}

function isPath(value: string): boolean {
  return /^(?:~|\.{0,2})\/|\.(?:txt|json|ya?ml|pem|key|env)$/.test(value) && isName(value);
}

/** A value, with or without quotes; the quotes stay. */
const VALUE = String.raw`(?:"([^"\n]{1,256})|'([^'\n]{1,256})|([^\s"'\x60;|&()<>-][^\s"'\x60;|&()<>]{0,255}))`;

/** Up to the end of the command: a pipe or similar, or the closing backtick in prose. */
const LINE = String.raw`(?:[^\n\\|;&"'\x60]|\\[^]|"[^"\n]{0,256}"|'[^'\n]{0,256}')`;

/** Finds a program's name and then the option in the rest of its line. Compiled only if a text names the program; most texts do not. */
function maskProgram(text: string, [names, option]: Program): string {
  const line = new RegExp(`\\b(?:${names})(?=["'\\s\\\\])${LINE}{0,4000}`, "g");
  const value = new RegExp(`(\\s${option})${VALUE}`, "g");
  return text.replace(line, (match) => match.replace(value, maskOption));
}

/** `kubectl create secret generic NAME --from-literal=KEY=VALUE`. */
const LITERAL = later(`(--from-literal(?:=|\\s{1,4})["']?[\\w.-]{1,100}=)${VALUE}`, "g");

/** `echo secret | sudo -S …`, `… | docker login --password-stdin`. */
const PIPED =
  /(\becho\s{1,4}(?:-\w{1,3}\s{1,4})?)(?:"([^"\n]{1,256})"|'([^'\n]{1,256})'|([^\s"'|]{1,256}))(?=\s{0,4}\|\s{0,4}(?:sudo\s{1,4}-\w{0,4}S|chpasswd|sudo chpasswd|[^\n|]{1,200}--?(?:password-?)?stdin\b))/g;

function maskOption(match: string, before: string, double?: string, single?: string, bare?: string): string {
  const value = double ?? single ?? bare ?? "";
  // After `-u user:` the value may already be masked.
  if (isPlaceholder(value) || isOrdinaryWord(value) || before.endsWith("[masked:")) return match;
  const at = match.indexOf(value, before.length);
  return match.slice(0, at) + mask("password") + match.slice(at + value.length);
}
