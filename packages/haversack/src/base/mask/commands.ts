/** Passwords on command lines: flags that say so in words, and the short ones of well-known programs. */
import { countDigits, isName, isOrdinaryWord, isPlaceholder, looksRandom, mask } from "./value.ts";

export function maskCommands(text: string, lower: string): string {
  const hasFlag = lower.includes("-") && FLAG_NAMES.some((name) => lower.includes(name));
  let result = hasFlag ? text.replace(FLAG, maskFlag) : text;
  for (const program of PROGRAMS) {
    if (program[0].split("|").some((name) => lower.includes(`${name} `))) result = maskProgram(result, program);
  }
  if (lower.includes("--from-literal")) result = result.replace(LITERAL, maskOption);
  if (lower.includes("echo") && lower.includes("|")) result = result.replace(PIPED, maskOption);
  return result;
}

const FLAG_NAMES = ["pass", "pwd", "token", "secret", "key"];
/** `--password x`, `-storepass x`, `--client-secret=x`. */
const FLAG =
  /(-(?<![\w-]-)-?(?:[a-z0-9]{1,20}-){0,3}(?:(?:store|key)?pass(?:word|wd|phrase|code)?|pwd|token|secret|(?:api|access|auth|secret|account|private)-?key)(?:=|\s{1,4})["']?)([^\s"'`-][^\s"'`]*)/gi;

function maskFlag(match: string, before: string, value: string, offset: number, whole: string): string {
  if (isPlaceholder(value) || isOrdinaryWord(value) || value.length < 3) return match;
  const isPassword = /pass(?:word|wd|phrase|code)?["'=\s]|pwd/i.test(before);
  const after = whole.slice(offset + match.length, offset + match.length + 3);
  // `--password flag that …` is prose; on a command line another flag, a pipe or the end of the line follows.
  const isLast = /^(?:["'`]|\s*$|\s?[\n|;&>]|\s-)/.test(after);
  const isSecret =
    countDigits(value) > 0 ? value.length >= 6 && !isPath(value) : isPassword && value.length >= 6 && isLast;
  return isSecret || looksRandom(value) ? before + mask(isPassword ? "password" : "secret") : match;
}

function isPath(value: string): boolean {
  return /^(?:~|\.{0,2})\/|\.(?:txt|json|ya?ml|pem|key|env)$/.test(value) && isName(value);
}

/** The names of programs, and the option that takes a password. */
type Program = readonly [names: string, option: string];

/** A value, perhaps quoted; the quotes stay. */
const VALUE = String.raw`(?:"([^"\n]{1,256})|'([^'\n]{1,256})|([^\s"'\x60;|&()<>-][^\s"'\x60;|&()<>]{0,255}))`;

/** Up to the end of the command: a pipe or the like, or the backtick that ends it in prose. */
const LINE = String.raw`(?:[^\n\\|;&"'\x60]|\\[^]|"[^"\n]{0,256}"|'[^'\n]{0,256}')`;

/** A program's name and the rest of its line, and in it the option. Made when a text names one: there are many, and most texts name none. */
function maskProgram(text: string, [names, option]: Program): string {
  const line = new RegExp(`\\b(?:${names})(?=["'\\s\\\\])${LINE}{0,4000}`, "g");
  const value = new RegExp(`(\\s${option})${VALUE}`, "g");
  return text.replace(line, (match) => match.replace(value, maskOption));
}

const PROGRAMS: readonly Program[] = [
  [
    "mysql|mysqldump|mysqladmin|mysqlimport|mysqlcheck|mysqlshow|mysqlsh|mysqlpump|mariadb|mariadb-dump|mariadb-admin|xtrabackup",
    "-p",
  ],
  ["7z|7za|7zr|rar|unrar", "-p"],
  [
    "sshpass|mongo|mongosh|mongodump|mongorestore|mongoexport|mongoimport|cqlsh|rabbitmqadmin|docker login|podman login|nerdctl login|buildah login|skopeo login|oras login|registry login|az login|acr login|oc login",
    "-p\\s{0,4}",
  ],
  ["redis-cli", "-a\\s{1,4}"],
  ["ldapsearch|ldapadd|ldapmodify|ldapdelete|ldappasswd|ldapwhoami", "-w\\s{0,4}"],
  ["sqlcmd|bcp|osql|zip|unzip|mosquitto_pub|mosquitto_sub|ipmitool", "-P\\s{1,4}"],
  ["curl", "(?:-u|-U|--user|--proxy-user)(?:\\s{1,4}|=)?[\"']?[^\\s:\"']{1,64}:"],
  ["http|https|xh", "(?:-a|--auth)(?:\\s{1,4}|=)?[\"']?[^\\s:\"']{1,64}:"],
  ["smbclient|rpcclient|smbmap|smbget", "(?:-U|--user)(?:\\s{1,4}|=)[\"']?[^\\s%\"']{1,64}%"],
  ["lftp", "-u\\s{1,4}[\"']?[^\\s,\"']{1,64},"],
  ["openssl", "-pass(?:in|out)?\\s{1,4}[\"']?pass:"],
  ["vault write|vault kv put|vault kv patch", "[\\w.-]{1,60}="],
  ["htpasswd", "-[a-zA-Z]*b[a-zA-Z]*\\s{1,4}(?:-[a-zA-Z]+\\s{1,4}){0,3}[^\\s-]\\S{0,255}\\s{1,4}\\S{1,64}\\s{1,4}"],
];

/** `kubectl create secret generic NAME --from-literal=KEY=VALUE`. */
const LITERAL = new RegExp(`(--from-literal(?:=|\\s{1,4})["']?[\\w.-]{1,100}=)${VALUE}`, "g");

/** `echo secret | sudo -S …`, `… | docker login --password-stdin`. */
const PIPED =
  /(\becho\s{1,4}(?:-\w{1,3}\s{1,4})?)(?:"([^"\n]{1,256})"|'([^'\n]{1,256})'|([^\s"'|]{1,256}))(?=\s{0,4}\|\s{0,4}(?:sudo\s{1,4}-\w{0,4}S|chpasswd|sudo chpasswd|[^\n|]{1,200}--?(?:password-?)?stdin\b))/g;

function maskOption(match: string, before: string, double?: string, single?: string, bare?: string): string {
  const value = double ?? single ?? bare ?? "";
  // Behind `-u user:` what is masked already ends the word.
  if (isPlaceholder(value) || isOrdinaryWord(value) || before.endsWith("[masked:")) return match;
  const at = match.indexOf(value, before.length);
  return match.slice(0, at) + mask("password") + match.slice(at + value.length);
}
