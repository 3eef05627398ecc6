import { expect, it } from "vitest";
import { maskSecrets } from "./mask.ts";

// These secrets are made up, and assembled here to keep secret scanners from reporting this file.
const alnum = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0u1V2w3X4";
const SECRETS = [
  `sk-ant-api03-${alnum}`,
  `ghp_${alnum.slice(0, 36)}`,
  ["AKIA", "IOSFODNN7EXAMPLQ"].join(""),
  `xoxb-1234567890-${alnum}`,
  "postgres://app:hunter22@db/main",
  "postgres://app:p4ss/w0rd#1@db:5432/x",
  "Authorization: Bearer abcdef0123456789abcdef",
  'password = "correct-horse-9"',
  "curl -u admin:s3cretpw1 https://x",
  "mysql -phunter2222",
  "sshpass -p hunter22 ssh h",
  "redis-cli -a hunter22",
  "echo hunter22 | sudo -S ls",
  "Cookie: sid=0a1b2c3d4e5f",
  "curl -b 'session=0a1b2c3d4e5f'",
  "machine a.dev login me password hunter2",
  "localhost:*:*:app:hunter2",
  "?a=b&sig=a1B2c3D4%2Be5F6",
  "CREATE USER a IDENTIFIED BY 'hunter2'",
  "the password is hunter2",
  "<password>hunter2</password>",
  "kind: Secret\ndata:\n  dsn: cG9zdGdyZXM=",
  "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA0123456789abcdef\n-----END RSA PRIVATE KEY-----",
];

it.each(SECRETS)("masks %s", (secret) => {
  expect(maskSecrets(secret)).not.toBe(secret);
});

it("leaves a maker's beginning before a plain word alone", () => {
  expect(maskSecrets("xoxb-Authorization")).toBe("xoxb-Authorization");
});

it.each([
  "continue",
  "fix the failing test in src/cart.ts",
  "set up the database connection string and the auth token",
  "packages/haversack/src/work/capture-shell.test.ts",
  "npm run test -- --reporter=verbose src/skills/matching",
])("leaves ordinary prompts, paths and commands alone: %s", (text) => {
  expect(maskSecrets(text)).toBe(text);
});
