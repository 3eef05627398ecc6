/**
 * What a text with a secret contains. Most texts contain none of it and are not searched for secrets: the patterns are in files that a hook
 * then does not load. Words are in lower case.
 */

/** If a text contains none of these, then `maskAssignments` finds nothing. */
export const ASSIGNED_WORDS = [
  "pass",
  "pwd",
  "secret",
  "token",
  "key",
  "auth",
  "credential",
  "psk",
  "mnemonic",
  "phrase",
];

/** Words that indicate a place. */
export const PLACE = {
  address: ["://"],
  authorization: ["auth", "bearer"],
  scheme: ["bearer", "basic"],
  cookie: ["cookie", " -b"],
  session: ["_session=", "sessid=", ".sid="],
  basicAuth: ["auth"],
  query: ["sig", "key=", "sid=", "jwt=", "hmac=", "auth="],
  password: ["password"],
  sqlUser: ["identified"],
  directive: ["requirepass", "masterauth", "bindpw"],
  manifest: ["kind"],
};

/** The port in a line of a `.pgpass` file. */
export const PORT = /:(?:\d{4,5}|\*):/;

export const FLAG_NAMES = ["pass", "pwd", "token", "secret", "key"];

/** Program names, and the option that takes a password. */
export type Program = readonly [names: string, option: string];

export const PROGRAMS: readonly Program[] = [
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

export function namesOf([names]: Program): string[] {
  return names.split("|").map((name) => `${name} `);
}

/** Key bodies without markers: OpenSSH, PKCS #8, PKCS #1. A certificate has no version number at that position. */
export const BODIES = ["b3BlbnNzaC1rZXkt", "IBADANBgkqhkiG9w0B", "IBAAKC", "IBADAQBgcqhkjOPQ"];

/** Every key of a known format has a run of at least 16 letters, digits, `_` and `-`. */
export const KEY_ROW = /[\w-]{16,}/g;

/** A text without any of these, a `KEY_ROW` or a `PORT` holds no secret. */
export const SECRET_WORDS: readonly string[] = [
  // A text without any of these and without a `KEY_ROW` has no key.
  ...["private key", "webhook", "ls0tls1crudjti", "private-lines:", '"kty', ...BODIES].map((word) =>
    word.toLowerCase(),
  ),
  // Without any of these and a `PORT`, `maskPlaces` and `maskCommands` find nothing.
  ...Object.values(PLACE).flat(),
  ...FLAG_NAMES,
  ...PROGRAMS.flatMap(namesOf),
  ...["--from-literal", "echo"],
  ...ASSIGNED_WORDS,
];
